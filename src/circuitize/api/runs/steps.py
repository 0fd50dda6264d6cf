"""The setting of a run, meaning its program, steps, batches and roots, in the words of its prover and its verifier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import index
from typing import Self

from circuitize.circuits.errors import CircuitizeError, excerpt
from circuitize.circuits.reading import Json
from circuitize.provers.tensor.runs.checking import security_bits
from circuitize.provers.tensor.runs.setting import Run


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Steps:
    """Consecutive steps of the program with this digest: the first and last step, the batch size and the roots.

    `roots` commit to the run's starting values and dataset, `final` to its last values and the same dataset:
    hexadecimal, as the run's name and seed are. `security_bits` is the soundness of all proofs of the run together.
    `losses` tells which steps' public outputs are stated: "none", "ends" (the first and the last of each proof) or
    "all". From the `initial_seed` of a public start anybody can draw the starting values of the run.
    """

    digest: str
    name: str = ""
    first: int = 0
    steps: int = 0
    per_proof: int = 0
    examples: int = 0
    seed: str = ""
    roots: Mapping[str, str] = field(default_factory=dict)
    final: Mapping[str, str] = field(default_factory=dict)
    security_bits: float = 0.0
    zero_knowledge: bool = False
    losses: str = "none"
    initial_seed: str | None = None

    @classmethod
    def of(cls, run: Run, name: bytes, roots: Mapping[str, bytes], final: Mapping[str, bytes], **more: object) -> Self:
        """Return the report of a setting, the name of a run, and its roots."""
        return cls(
            digest=run.digest,
            name=name.hex(),
            first=run.first,
            steps=run.steps,
            per_proof=run.per_proof,
            examples=run.size,
            seed=run.seed.hex(),
            roots={name: f"0x{root.hex()}" for name, root in roots.items()},
            final={name: f"0x{root.hex()}" for name, root in final.items()},
            security_bits=security_bits(run),
            zero_knowledge=run.zero_knowledge,
            losses=run.told.value,
            initial_seed=None if run.start is None else run.start.seed.hex(),
            **more,
        )

    @property
    def extent(self) -> str:
        """Return the number of steps in words, with the first step's number if the run continues a training."""
        return f"{self.steps:,} steps{from_step(self.first)}"

    @property
    def kind(self) -> str:
        """Return whether the proofs disclose information about the hidden values."""
        return "zero-knowledge" if self.zero_knowledge else "NOT zero-knowledge"

    def as_json(self) -> Json:
        """Return the entries that the reports of prover and verifier share."""
        names = ("first", "steps", "per_proof", "examples", "losses", "seed", "initial_seed", "roots", "final")
        return {"run": self.name} | {name: getattr(self, name) for name in names}


def whole_number(where: str, number: object) -> int:
    """Return a whole number as an int. Raise CircuitizeError for a value that is no whole number."""
    try:
        return index(number)  # type: ignore[arg-type]
    except TypeError:
        raise CircuitizeError(f"{where}: expected a whole number, found {excerpt(number)}; give one") from None


def from_step(first: int) -> str:
    """Return the words beside a number of steps that tell the first step, if that is not the first of a training."""
    return f", from step {first:,} on," if first > 1 else ""
