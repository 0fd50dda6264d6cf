"""Accuracy: errors of an integer program against float64, and formats that meet an error or a cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from circuitize.circuits.accuracy import Report, WireError, fit_to_cost, fit_to_error, report
from circuitize.circuits.encode import program_digest
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.phases import Progress, silent
from circuitize.circuits.program import Program
from circuitize.circuits.reading import Json

from .estimate import cost_of, costs
from .targets.registry import TARGETS


@dataclass(frozen=True)
class Accuracy:
    """The errors of a program on its own examples; if its formats were chosen for a target, also the errors in the
    program's own formats.

    The field `given` of an accuracy report is None if formats were not chosen, and if the program in its own formats
    has no value. The field `costs` of an accuracy report has for each target the cost "given" and "chosen", if formats
    were chosen and the target has circuits for both.
    """

    report: Report
    fitted: bool
    given: Report | None = None
    costs: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """The digest of the integer program on which the report is."""
        return program_digest(self.report.integers)

    def as_json(self) -> Json:
        """Return what `circuitize accuracy --json` prints."""
        told: Json = {
            "digest": self.digest,
            "examples": len(self.report.integers.examples),
            "precision": _precision(self.report.integers),
            "outputs": {name: _error(error) for name, error in self.report.outputs.items()},
            "tensors": [_place(error) | _error(error) for error in self.report.tensors],
        }
        if self.costs:
            told["costs"] = self.costs
        if self.given is not None:
            outputs = {name: _error(error) for name, error in self.given.outputs.items()}
            told["given"] = {"precision": _precision(self.given.integers), "outputs": outputs}
        return told


def accuracy(
    program: Program,
    *,
    errors: Sequence[tuple[str | None, float]] = (),
    cost: tuple[str, float] | None = None,
    progress: Progress = silent,
) -> Accuracy:
    """Compare a real program with float64 on its examples, in formats that meet `errors` or a `cost` if one is given.

    The argument `errors` is a list of pairs of an output, or None for all, and its greatest error in real units; `cost`
    is a target and the greatest cost by the target's measure. Raise CircuitizeError if no format meets the targets, and
    the errors of `report`.
    """
    try:
        chosen = _fitted(program, errors, cost, progress)
        if chosen is None:
            return Accuracy(report(program, progress), False)
        given = _report_or_none(program, progress)
        found = report(chosen, progress)
        return Accuracy(found, True, given, _costs(given, found, progress))
    finally:
        progress("")


def _fitted(
    given: Program, errors: Sequence[tuple[str | None, float]], cost: tuple[str, float] | None, progress: Progress
) -> Program | None:
    """The program with formats that meet the required errors or cost, if there is one."""
    if cost is not None:
        name, most = cost
        return fit_to_cost(given, partial(cost_of, name), most, say=progress)
    if not errors:
        return None
    wanted: dict[str, float] = {}
    for output, most in sorted(errors, key=lambda entry: entry[0] is not None):  # All of them, then single ones.
        wanted |= {output: most} if output is not None else {port.name: most for port in given.outputs}
    return fit_to_error(given, wanted, say=progress)


def _report_or_none(given: Program, progress: Progress) -> Report | None:
    """The report on a program in its own formats; None if its own formats cannot be made, or leave it undefined."""
    try:
        return report(given, progress)
    except CircuitizeError:
        return None


def _costs(before: Report | None, found: Report, progress: Progress) -> dict[str, dict[str, int]]:
    """For each target, the cost in the given and in the chosen formats; a target without a circuit of the program is
    left out.
    """
    given = costs(before.integers, progress) if before is not None else {}
    both = (("given", given), ("chosen", costs(found.integers, progress)))
    counted = {name: {key: own[name] for key, own in both if name in own} for name in TARGETS}
    return {name: own for name, own in counted.items() if own}


def _precision(program: Program) -> dict[str, int]:
    return {"fraction_bits": program.precision.fraction_bits, "significant_bits": program.precision.significant_bits}


def _place(error: WireError) -> Json:
    where = error.provenance
    return {"operation": error.operation, "part": where.part, "file": where.file, "line": where.line}


def _error(error: WireError) -> Json:
    format = {"shape": list(error.format.shape), "fraction_bits": error.format.fraction_bits}
    interval = {"low": error.format.low, "high": error.format.high}
    predicted = error.predicted if math.isfinite(error.predicted) else None
    return {**format, **interval, "greatest": error.scale, "predicted": predicted, "measured": error.measured}
