"""The distance between an integer program and the real program that it comes from, wire by wire: the error predicted
from the formats, and the measured error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .calibrate import example_inputs
from .errors import CircuitizeError
from .hypergraph import Arrow, fold
from .operation import Operation, Provenance
from .phases import Progress, silent
from .program import IntegerProgram, Program, as_integers
from .quantize import lowered, quantize
from .types import Fixed
from .values import to_integers, to_reals

Values = NDArray[np.float64]

BITS = range(6, 25)
"""Fraction bits that are tried to meet an error or a cost."""


@dataclass(frozen=True, slots=True)
class WireError:
    """The greatest errors of one tensor over a program's examples, in real units, and the format of the tensor.

    The field `predicted` of a WireError is the error of the real program with every tensor rounded to the fraction bits
    of its format, and nothing else rounded; it is infinite if that program has no value. The field `measured` of a
    WireError is the error of the tensor in the integer program. The measured error of a tensor exceeds the predicted
    one by what lowering adds to a single rounding: a unit of a table or a polynomial, the error of a coefficient. The
    field `scale` of a WireError is the greatest magnitude of the tensor's exact values.
    """

    operation: str
    provenance: Provenance
    format: Fixed
    scale: float
    predicted: float
    measured: float

    @property
    def units(self) -> float:
        """Return the measured error of a tensor in units of its last bit."""
        return float(np.ldexp(self.measured, self.format.fraction_bits))

    @property
    def bits_kept(self) -> float:
        """Return how many bits of a tensor's greatest value are right: log2(scale / measured), infinite if all bits are
        right.
        """
        if not self.measured:
            return math.inf
        return math.log2(self.scale / self.measured) if self.scale else -math.inf

    def __str__(self) -> str:
        return (
            f"{self.operation} in {self.provenance}: predicted {self.predicted:.3g}, measured {self.measured:.3g}, "
            f"of {self.scale:.3g}, with {self.format.fraction_bits} fraction bits"
        )


@dataclass(frozen=True, slots=True)
class Report:
    """The errors of a real program's tensors, in order, and of its outputs, by name, after tensors and outputs are
    rounded to their formats.

    The tensors of a report are those of the real program after its composites are expanded and the arrow is simplified;
    `integers` is the integer program.
    """

    tensors: tuple[WireError, ...]
    outputs: Mapping[str, WireError]
    integers: IntegerProgram


def report(program: Program, say: Progress = silent) -> Report:
    """Return the predicted and the measured error of each tensor and each output of a real program, on the program's
    own examples.

    Raise CircuitizeError for an integer program and if calibration is impossible; raise Undefined if the integer
    program has no value on an example. The report runs the program three times for each example, and calls `say` before
    each; memory holds every tensor of one run in integers, and the live tensors of two runs in float64.
    """
    _expect_real(program)
    say("quantizing")
    integers, arrow, wires = lowered(program)
    comparison = _Comparison(arrow, [integers.arrow.format(wire) if wire >= 0 else None for wire in wires])
    ports = [(port.name, port.format) for port in integers.outputs if port.format is not None]
    ends = [integers.arrow.format(wire) for wire in integers.arrow.outputs.tolist()]
    greatest = np.zeros((3, len(ends)))
    for number, batch in enumerate(program.examples):
        where = f"example {number}"
        say(f"comparing example {number + 1} of {len(program.examples)}")
        exact_inputs = example_inputs(program, batch, where)
        whole = [to_integers(port, batch[port.name], where) for port in integers.inputs]
        made = _in_integers(integers.arrow, whole, {*wires, *integers.arrow.outputs.tolist()}, where)
        pairs = comparison.run(exact_inputs, [made.get(wire) for wire in wires])
        for index, (pair, wire) in enumerate(zip(pairs, integers.arrow.outputs.tolist(), strict=True)):
            exact, rounded = pair[0], _round(pair[1], ends[index])
            greatest[:, index] = np.maximum(greatest[:, index], _errors(exact, rounded, made[wire], ends[index]))
    outputs = {
        name: WireError("output", Provenance(name), format, *greatest[:, index].tolist())
        for index, (name, format) in enumerate(ports)
    }
    return Report(comparison.tensors(program), outputs, integers)


def error_report(program: Program) -> tuple[WireError, ...]:
    """Return `report(program).tensors`: the predicted and the measured error of each tensor, in order, on the program's
    examples.
    """
    return report(program).tensors


def output_errors(program: Program) -> dict[str, float]:
    """Return the greatest measured error of each output over the program's examples, in real units."""
    return {name: error.measured for name, error in report(program).outputs.items()}


def fit_to_error(
    program: Program, errors: Mapping[str, float], bits: Sequence[int] = BITS, say: Progress = silent
) -> Program:
    """Return the program with the fewest fraction bits for which every named output keeps its error within the given
    bound, in real units.

    The numbers in `bits` are tried in order, each as the number of fraction bits and of significant bits; `say` is
    called with each try. Raise CircuitizeError if none of the `bits` keeps every error within its bound.
    """
    known = {port.name for port in program.outputs}
    if unknown := sorted(set(errors) - known):
        raise CircuitizeError(f"expected outputs among {sorted(known)}, found {unknown[0]!r}; name one of these")
    _expect_real(program)
    reached = ""
    for count in bits:
        say(f"trying {count} fraction bits")
        tried = with_bits(program, count)
        try:
            found = output_errors(tried)
        except CircuitizeError as error:
            reached = reached or str(error)  # Too coarse to be defined on the examples, or too fine for 62 bits.
            continue
        if all(found[name] <= most for name, most in errors.items()):
            return tried
        name = max(errors, key=lambda name: found[name] / errors[name] if errors[name] else found[name])
        reached = f"{name} {found[name]:.3g} with {count}"
    wanted = ", ".join(f"{name} {most:g}" for name, most in errors.items())
    raise CircuitizeError(
        f"expected errors of at most {wanted} with {bits[0]} to {bits[-1]} fraction bits, found {reached}; "
        "give the inputs and parameters more fraction bits, or allow more"
    )


def fit_to_cost(
    program: Program,
    cost: Callable[[IntegerProgram], float],
    most: float,
    bits: Sequence[int] = BITS,
    say: Progress = silent,
) -> Program:
    """Return the program with the most fraction bits whose integer program costs at most `most`, by a given measure of
    integer programs.

    The numbers in `bits` are tried from the last to the first, each as the number of fraction bits and of significant
    bits; `say` is called with each try. A program that is undefined on its own examples is never chosen. Raise
    CircuitizeError if none of the `bits` gives a program that is defined and costs at most `most`.
    """
    _expect_real(program)
    reached = ""
    for count in reversed(bits):
        say(f"trying {count} fraction bits")
        tried = with_bits(program, count)
        try:
            found = cost(quantize(tried))
            if found <= most:
                report(tried)
                return tried
            reached = f"{found:,} with {count} fraction bits"
        except CircuitizeError as error:
            reached = reached or str(error)
    raise CircuitizeError(f"expected a cost of at most {most:,.10g}, found {reached}; allow more")


def with_bits(program: Program, count: int) -> Program:
    """Return the program with `count` fraction bits and as many significant bits, otherwise unchanged."""
    return replace(program, precision=replace(program.precision, fraction_bits=count, significant_bits=count))


class _Comparison:
    """A comparison that runs a real arrow and the same arrow with every tensor rounded, and keeps the greatest errors
    of each wire.

    A wire without a format is a constant that the integer program lacks, since the integer program keeps only results
    computed from that constant.
    """

    def __init__(self, arrow: Arrow, formats: Sequence[Fixed | None]) -> None:
        self.arrow = arrow
        self.formats = formats
        self.greatest = np.zeros((3, arrow.wire_count))

    def run(self, inputs: Sequence[Values], made: Sequence[NDArray[np.int64] | None]) -> list[tuple[Values, Values]]:
        """Return the outputs of a run, each as a pair (exact, rounded); `made` holds the values of each wire in
        integers.
        """
        rows = self.arrow.rows

        def noted(wire: int, exact: Values, rounded: Values) -> tuple[Values, Values]:
            format, here = self.formats[wire], made[wire]
            if format is None or here is None:
                return exact, rounded
            rounded = _round(rounded, format)
            found = _errors(exact, rounded, here, format)
            self.greatest[:, wire] = np.maximum(self.greatest[:, wire], found)
            return exact, rounded

        def interpret(
            index: int, operation: Operation, sources: list[tuple[Values, Values]]
        ) -> Sequence[tuple[Values, Values]]:
            exact = operation.run(*[pair[0] for pair in sources])
            rounded = operation.run(*[pair[1] for pair in sources])
            return [noted(*each) for each in zip(rows[index][2], exact, rounded, strict=True)]

        entering = [noted(wire, x, x) for wire, x in zip(self.arrow.inputs.tolist(), inputs, strict=True)]
        with np.errstate(all="ignore"):
            values = fold(self.arrow, entering, interpret)
        return [pair for wire in self.arrow.outputs.tolist() if (pair := values[wire]) is not None]

    def tensors(self, program: Program) -> tuple[WireError, ...]:
        arrow = self.arrow
        names = {w: (arrow.operations[row[0]].name, arrow.provenances[row[3]]) for row in arrow.rows for w in row[2]}
        entering = zip(arrow.inputs.tolist(), program.inputs, strict=True)
        names |= {wire: ("input", Provenance(port.name)) for wire, port in entering}
        return tuple(
            WireError(*names[wire], format, *self.greatest[:, wire].tolist())
            for wire, format in enumerate(self.formats)
            if format is not None
        )


def _in_integers(
    arrow: Arrow, inputs: list[NDArray[np.int64]], wanted: set[int], where: str
) -> dict[int, NDArray[np.int64]]:
    """Return the values that the wanted wires have when an arrow runs in integers."""
    rows = arrow.rows
    kept: dict[int, NDArray[np.int64]] = {}

    def interpret(index: int, operation: Operation, sources: list[NDArray[np.int64]]) -> Sequence[NDArray[np.int64]]:
        try:
            results = operation.run(*sources)
        except CircuitizeError as error:
            raise error.__class__(
                f"{where}: {error}, in {arrow.edge(index).provenance}; give the program more fraction bits or a "
                "greater margin"
            ) from None
        kept.update((w, r) for w, r in zip(rows[index][2], results, strict=True) if w in wanted)
        return results

    kept.update(zip(arrow.inputs.tolist(), inputs, strict=True))
    fold(arrow, inputs, interpret)
    return kept


def _expect_real(program: Program) -> None:
    if as_integers(program) is not None:
        raise CircuitizeError("expected a real program, found one of integers; report on it before it is quantized")
    if not program.examples:
        raise CircuitizeError(
            "expected example inputs to compare on, found none; give Program(examples=...), or "
            "with_examples(program, *batches)"
        )
    for number, batch in enumerate(program.examples):
        example_inputs(program, batch, f"example {number}")


def _round(values: Values, format: Fixed) -> Values:
    """Return the values rounded half up to a format's fraction bits."""
    rounded: Values = np.ldexp(np.floor(np.ldexp(values, format.fraction_bits) + 0.5), -format.fraction_bits)
    return rounded


def _errors(exact: Values, rounded: Values, made: NDArray[np.int64], format: Fixed) -> list[float]:
    """Return the greatest magnitude of a tensor, its predicted error (infinite where rounding leaves no number) and its
    measured error.
    """
    predicted = float(np.abs(rounded - exact).max())
    measured = float(np.abs(to_reals(format, made) - exact).max())
    return [float(np.abs(exact).max()), predicted if math.isfinite(predicted) else math.inf, measured]
