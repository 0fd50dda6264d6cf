"""How far an integer program is from the real one, wire by wire: the error predicted from the formats, and the measured
one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

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
    """The greatest errors of one tensor over the examples, in real units, and the bits by which it is represented.

    `predicted` is the error of the real program whose every tensor is rounded to its fraction bits, each result of an
    operation being exact before that; it is infinite where that program has no value. `measured` is the error of the
    integer program. The measured error exceeds the predicted one by what lowering adds to one rounding: a unit of a
    table or a polynomial, the error of a coefficient. `scale` is the greatest magnitude of the exact values.
    """

    operation: str
    provenance: Provenance
    format: Fixed
    scale: float
    predicted: float
    measured: float

    @property
    def units(self) -> float:
        """The measured error of a tensor in units of its last bit."""
        return float(np.ldexp(self.measured, self.format.fraction_bits))

    @property
    def bits_kept(self) -> float:
        """How many bits of a tensor's greatest value are right: log2(scale / measured), infinite where all bits are
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
    """The errors of a real program's tensors, in order, and of its outputs, by name, after they are rounded to their
    formats.

    The tensors of a report are those of the program with composites expanded and simplified; `integers` is the program
    in integers.
    """

    tensors: tuple[WireError, ...]
    outputs: Mapping[str, WireError]
    integers: IntegerProgram


def report(program: Program, say: Progress = silent) -> Report:
    """Predicted and measured error of each tensor and each output of a real program, on the program's own examples.

    Raise CircuitizeError for an integer program and where calibration is impossible, Undefined where an example has no
    value in integers. The report makes three runs for each example, and calls `say` with each; memory holds every
    tensor of one run in integers, and the live tensors of two in float64.
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
    """`report(program).tensors`: predicted and measured error of each tensor, in order, on the program's examples."""
    return report(program).tensors


def output_errors(program: Program) -> dict[str, float]:
    """The greatest measured error of each output over the program's examples, in real units."""
    return {name: error.measured for name, error in report(program).outputs.items()}


def fit_to_error(
    program: Program, errors: Mapping[str, float], bits: Sequence[int] = BITS, say: Progress = silent
) -> Program:
    """The program with the fewest fraction bits for which every named output stays within its error, in real units.

    Fraction bits and significant bits are tried together, from the first of `bits` on; `say` is called with each try.
    Raise CircuitizeError if none of the `bits` is enough.
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
    """The program with the most fraction bits whose integer program costs at most `most`, by any measure of an integer
    program.

    Fraction bits and significant bits are tried together, from the last of `bits` on; `say` is called with each try. A
    program that is undefined on its own examples is never chosen. Raise CircuitizeError if no program is left to
    choose.
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
    """A program with `count` fraction bits and as many significant bits, otherwise unchanged."""
    return replace(program, precision=replace(program.precision, fraction_bits=count, significant_bits=count))


class _Comparison:
    """Runs of a real arrow beside the same arrow with every tensor rounded; keeps the greatest errors of each wire.

    A wire without a format is a constant that the integer program lacks, since only results computed from it are kept.
    """

    def __init__(self, arrow: Arrow, formats: Sequence[Fixed | None]) -> None:
        self.arrow = arrow
        self.formats = formats
        self.greatest = np.zeros((3, arrow.wire_count))

    def run(self, inputs: Sequence[Values], made: Sequence[NDArray[np.int64] | None]) -> list[tuple[Values, Values]]:
        """The outputs of a run, exact and rounded; `made` holds the values of each wire in integers."""
        rows = self.arrow.rows

        def noted(wire: int, exact: Values, rounded: Values) -> tuple[Values, Values]:
            format, here = self.formats[wire], made[wire]
            if format is None or here is None:
                return exact, rounded
            rounded = _round(rounded, format)
            found = _errors(exact, rounded, here, format)
            self.greatest[:, wire] = np.maximum(self.greatest[:, wire], found)
            return exact, rounded

        def interpret(index: int, operation: Operation, sources: list[Any]) -> Sequence[Any]:
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


def _in_integers(arrow: Arrow, inputs: list[NDArray[np.int64]], wanted: set[int], where: str) -> dict[int, Any]:
    """The values of the wanted wires in a run in integers."""
    rows = arrow.rows
    kept: dict[int, Any] = {}

    def interpret(index: int, operation: Operation, sources: list[Any]) -> Sequence[Any]:
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
    """The nearest values that have a format's fraction bits, rounded half up."""
    rounded: Values = np.ldexp(np.floor(np.ldexp(values, format.fraction_bits) + 0.5), -format.fraction_bits)
    return rounded


def _errors(exact: Values, rounded: Values, made: NDArray[np.int64], format: Fixed) -> list[float]:
    """The greatest magnitude of a tensor, its predicted error (infinite where rounding leaves no number) and its
    measured error.
    """
    predicted = float(np.abs(rounded - exact).max())
    measured = float(np.abs(to_reals(format, made) - exact).max())
    return [float(np.abs(exact).max()), predicted if math.isfinite(predicted) else math.inf, measured]
