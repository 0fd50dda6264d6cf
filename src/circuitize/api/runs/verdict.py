"""The verdict on a run, with the statement of a run that holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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
    """The values of one scalar at each step of a run, as integers of its format and as real numbers; `required` is true
    if the verifier demanded these values, and false if only the run states them.
    """

    required: bool
    fraction_bits: int
    integers: Integers
    reals: Reals


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RunVerdict(Steps):
    """The verdict on a run: whether the run holds, and its statement if it does; a verdict that refuses a run repeats
    nothing that the run states.

    The field `publics` holds the public outputs by name, in units of 2^-`fraction_bits`, for those training steps whose
    numbers are in `told`; `scalars` holds the scalars of each step. The field `hidden` names the ports whose values the
    proofs do not disclose, or do not disclose for all steps. The field `evaluation` is the result of the verifier's own
    evaluation program on the run's final values, if the run was evaluated.
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
        """Return the verdict as an object for JSON, with the run's steps and statement if the run holds."""
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
    """Return the verdict on a run that passed every check."""
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
    """Return the names of the ports that are not public, and of the public outputs that are not disclosed for all
    steps.
    """
    inputs = [port.name for port in run.program.inputs if port.visibility is not Visibility.PUBLIC]
    outputs = [
        port.name
        for port in run.program.outputs
        if port.visibility is not Visibility.PUBLIC or run.told is not Told.ALL
    ]
    return tuple(dict.fromkeys((*inputs, *outputs)))


def _course(port: Port[Fixed], integers: Integers, required: bool) -> Course:
    return Course(required, port.format.fraction_bits, integers, to_reals(port.format, integers))
