"""The verdict on a run, and what is said of one that holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.reading import Json
from circuitize.circuits.scan import Told
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import to_reals
from circuitize.provers.tensor.runs.checking import Checked
from circuitize.provers.tensor.runs.setting import Run

from ..exact import Integers, Reals
from .evaluated import Evaluated, evaluated
from .steps import Steps


@dataclass(frozen=True, eq=False)
class Course:
    """A scalar step by step, exactly, in integers of its format; `required` by the verifier, else the run states it."""

    required: bool
    fraction_bits: int
    integers: Integers
    reals: Reals


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RunVerdict(Steps):
    """Whether a run holds, and what it says if it does; of one that does not, nothing that it states is here.

    `publics` are the public outputs by name, of the steps whose numbers `told` has, in steps of 2^-`fraction_bits`;
    `scalars` what each step was given. `hidden` names the ports whose values the proofs do not tell, or not of all
    steps. `evaluation` is what the run is worth, by the verifier's own program, if it was judged.
    """

    valid: bool
    reason: str | None = None
    plan_seconds: float
    scalars: Mapping[str, Course] = field(default_factory=dict)
    publics: Mapping[str, Reals] = field(default_factory=dict)
    fraction_bits: Mapping[str, int] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    told: Sequence[int] = ()
    evaluation: Evaluated | None = None

    def as_json(self) -> Json:
        """What is said of any run, and of one that holds its steps."""
        told = {
            "valid": self.valid,
            "digest": self.digest,
            "roots": self.roots,
            "final": self.final,
            "scalars": {
                name: vars(scalar) | {"integers": scalar.integers.tolist(), "reals": scalar.reals.tolist()}
                for name, scalar in self.scalars.items()
            },
            "told": list(self.told),
            "evaluation": None if self.evaluation is None else self.evaluation.as_json(),
            "publics": {
                name: {"fraction_bits": self.fraction_bits[name], "reals": reals.tolist()}
                for name, reals in self.publics.items()
            },
            "setup": "none",
            "zero_knowledge": self.zero_knowledge,
            "reason": self.reason,
        }
        return told | super().as_json() | {"security_bits": round(self.security_bits, 1)} if self else told

    def __bool__(self) -> bool:
        return self.valid

    def __repr__(self) -> str:
        if not self.valid:
            reason = str(self.reason)
            return f"RunVerdict(NOT valid: {reason if reason.isprintable() else repr(reason)})"
        stated = "".join(f", {name} as the run states" for name, one in self.scalars.items() if not one.required)
        return (
            f"RunVerdict(valid, {self.extent} of program {self.digest[:16]}..., seed {self.seed[:16]}, "
            f"{self.kind}{stated})"
        )


def verdict_of(setting: Run, checked: Checked, planned: float) -> RunVerdict:
    """The verdict on a run that holds."""
    formats = {port.name: port.format for port in setting.program.outputs if port.format is not None}
    return RunVerdict.of(
        *(setting, checked.identity, checked.roots, checked.final),
        valid=True,
        plan_seconds=planned,
        scalars={
            port.name: _course(port, checked.scalars[port.name], port.name not in setting.stated)
            for port in setting.program.inputs
            if port.name in checked.scalars
        },
        publics={name: to_reals(formats[name], values) for name, values in checked.outputs.items()},
        fraction_bits={name: format.fraction_bits for name, format in formats.items()},
        hidden=_hidden(setting) if setting.zero_knowledge else (),
        told=tuple(checked.told),
        evaluation=evaluated(setting.evaluation, checked.results),
    )


def _hidden(run: Run) -> tuple[str, ...]:
    """The names of ports that are not public, and of public outputs that are not told of all steps."""
    inputs = [port.name for port in run.program.inputs if port.visibility is not Visibility.PUBLIC]
    outputs = [
        port.name
        for port in run.program.outputs
        if port.visibility is not Visibility.PUBLIC or run.told is not Told.ALL
    ]
    return tuple(dict.fromkeys((*inputs, *outputs)))


def _course(port: Port[Fixed], integers: Any, required: bool) -> Course:
    return Course(required, port.format.fraction_bits, integers, to_reals(port.format, integers))
