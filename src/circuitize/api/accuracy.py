"""Accuracy: the errors of an integer program against float64, and the search for formats that meet a limit on errors or
cost.
"""

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
    """A report on the errors of a program on its own examples; if its formats were chosen to meet a limit, also the
    errors in the program's own formats.

    The field `given` of an accuracy report holds the errors in the program's own formats; it is None if no formats were
    chosen, or if the program has no value in its own formats. The field `costs` of an accuracy report gives for each
    target the cost in the "given" and in the "chosen" formats; it has only targets with circuits for both, and is empty
    if no formats were chosen.
    """

    report: Report
    fitted: bool
    given: Report | None = None
    costs: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Return the digest of the integer program whose errors the report gives."""
        return program_digest(self.report.integers)

    def as_json(self) -> Json:
        """Return the accuracy report as the object that `circuitize accuracy --json` prints."""
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
    """Compare a real program with float64 on the program's examples; if `errors` or a `cost` is given, in formats
    chosen to meet that limit.

    The argument `errors` lists pairs of an output's name (None for all outputs) and the greatest error allowed, in real
    units; `cost` is a pair of a target and the greatest cost allowed, in the target's measure. Raise CircuitizeError if
    no format meets the limits, and for the reasons for which `report` raises it.
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
    """Return the program in formats that meet the required errors or cost, if such formats exist."""
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
    """Return the accuracy report on a program in its own formats, or None if the program cannot be quantized in these
    formats or has no value in them.
    """
    try:
        return report(given, progress)
    except CircuitizeError:
        return None


def _costs(before: Report | None, found: Report, progress: Progress) -> dict[str, dict[str, int]]:
    """Return, for each target, the program's cost in the given and in the chosen formats; a target that has no circuit
    of the program is left out.
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
