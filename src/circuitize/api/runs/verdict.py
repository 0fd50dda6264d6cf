"""The verdict on a run, and what is said of it where it holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from circuitize.api.exact import Reals

from .proving import from_step


@dataclass(frozen=True)
class Course:
    """A scalar step by step, exactly, in integers of its format; `required` by the verifier, else the run states it."""

    required: bool
    fraction_bits: int
    integers: NDArray[np.int64]
    reals: Reals


@dataclass(frozen=True)
class RunVerdict:
    """Whether a run holds, and what it says if it does; of one that does not, nothing that it states is here.

    `publics` are the public outputs by name, step by step; `scalars` what each step was given. `roots` commit to what
    the run begins with and its dataset, `final` to what it ends with, in hexadecimal. `hidden` names the ports whose
    values the proofs do not tell: none.
    """

    valid: bool
    reason: str | None
    digest: str
    seconds: float
    plan_seconds: float = 0.0
    identity: str = ""
    first: int = 0
    steps: int = 0
    per_proof: int = 0
    examples: int = 0
    seed: str = ""
    roots: Mapping[str, str] = field(default_factory=dict)
    final: Mapping[str, str] = field(default_factory=dict)
    scalars: Mapping[str, Course] = field(default_factory=dict)
    publics: Mapping[str, Reals] = field(default_factory=dict)
    security_bits: float | None = None
    hidden: tuple[str, ...] = ()
    zero_knowledge: bool = False

    def __bool__(self) -> bool:
        return self.valid

    def __repr__(self) -> str:
        if not self.valid:
            return f"RunVerdict(NOT valid: {self.reason})"
        stated = ", ".join(name for name, course in self.scalars.items() if not course.required)
        said = f", {stated} as the run states" if stated else ""
        return (
            f"RunVerdict(valid, {self.steps:,} steps{from_step(self.first)} of program {self.digest[:16]}..., "
            f"seed {self.seed[:16]}, NOT zero-knowledge{said})"
        )
