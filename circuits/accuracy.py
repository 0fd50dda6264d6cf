"""How far an integer program is from the real one, wire by wire: predicted from the formats, and measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .calibrate import example_inputs
from .errors import CircuitizeError
from .hypergraph import Arrow, fold
from .operation import Operation, Provenance
from .program import Program, to_integers, to_reals
from .quantize import lowered, quantize
from .types import Fixed

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class WireError:
    """The greatest errors of one tensor over the examples, in real units, and how it is represented.

    `predicted`: of the real program whose every tensor is rounded to its fraction bits, each result of an operation
    being exact before that. `measured`: of the integer program. They differ by what lowering adds to one rounding: a
    unit of a table or a polynomial, the error of a coefficient. `scale` is the greatest magnitude of the exact values.
    """

    operation: str
    provenance: Provenance
    format: Fixed
    scale: float
    predicted: float
    measured: float

    @property
    def units(self) -> float:
        """The measured error in units of the last bit."""
        return float(np.ldexp(self.measured, self.format.fraction_bits))

    def __str__(self) -> str:
        return (
            f"{self.operation} in {self.provenance}: predicted {self.predicted:.3g}, measured {self.measured:.3g}, "
            f"of {self.scale:.3g}, with {self.format.fraction_bits} fraction bits"
        )


def error_report(program: Program) -> tuple[WireError, ...]:
    """Predicted and measured error of each tensor of a real program, in order, on the program's own examples.

    The tensors are those of the program with composites expanded and simplified. Raises CircuitizeError for an integer
    program and where calibration is impossible, Undefined where an example has no value in integers. Three runs an
    example.
    """
    if program.is_integer:
        raise CircuitizeError("expected a real program, found one of integers; report on it before it is quantized")
    integers, arrow, wires = lowered(program)
    formats = [_fixed(integers.arrow, wire) for wire in wires]
    found = np.zeros((3, arrow.wire_count))
    for number, batch in enumerate(program.examples):
        exact = _run(arrow, example_inputs(program, batch, f"example {number}"))
        rounded = _run(arrow, example_inputs(program, batch, f"example {number}"), formats)
        values = [to_integers(port, batch[port.name], f"example {number}") for port in integers.inputs]
        whole = fold(integers.arrow, values, lambda _, operation, sources: operation.run(*sources), keep=True)
        for wire, (target, format) in enumerate(zip(wires, formats, strict=True)):
            value: Any = whole[target]
            made = to_reals(format, value)
            found[:, wire] = np.maximum(found[:, wire], _greatest(exact[wire], rounded[wire], made))
    names = {w: (arrow.operations[row[0]].name, arrow.provenances[row[3]]) for row in arrow.rows for w in row[2]}
    names |= {
        wire: ("input", Provenance(port.name)) for wire, port in zip(arrow.inputs.tolist(), program.inputs, strict=True)
    }
    return tuple(WireError(*names[wire], formats[wire], *found[:, wire].tolist()) for wire in range(arrow.wire_count))


def output_errors(program: Program) -> dict[str, float]:
    """The greatest measured error of each output over the program's examples, in real units."""
    integers, arrow, _ = lowered(program)
    errors = {port.name: 0.0 for port in integers.outputs}
    for number, batch in enumerate(program.examples):
        exact = _run(arrow, example_inputs(program, batch, f"example {number}"))
        values = [to_integers(port, batch[port.name], f"example {number}") for port in integers.inputs]
        whole = fold(integers.arrow, values, lambda _, operation, sources: operation.run(*sources))
        ends = zip(integers.outputs, arrow.outputs.tolist(), integers.arrow.outputs.tolist(), strict=True)
        for port, real, integer in ends:
            assert port.format is not None
            value: Any = whole[integer]
            error = float(np.abs(to_reals(port.format, value) - exact[real]).max())
            errors[port.name] = max(errors[port.name], error)
    return errors


def fit_to_error(program: Program, errors: Mapping[str, float], bits: Sequence[int] = range(6, 25)) -> Program:
    """The program with the fewest fraction bits for which every output named stays within its error, in real units.

    Fraction bits and significant bits are tried together, from the first of `bits` on. Raises CircuitizeError where
    none is enough.
    """
    known = {port.name for port in program.outputs}
    if unknown := sorted(set(errors) - known):
        raise CircuitizeError(f"expected outputs among {sorted(known)}, found {unknown[0]!r}; name one of these")
    best: dict[str, float] = {}
    for count in bits:
        tried = _with_bits(program, count)
        try:
            best = output_errors(tried)
        except CircuitizeError:
            continue  # Too coarse to be defined on the examples, or too fine for 62 bits.
        if all(best[name] <= most for name, most in errors.items()):
            return tried
    reached = ", ".join(f"{name} {best[name]:.3g}" for name in errors if name in best) or "none defined"
    raise CircuitizeError(
        f"expected errors of at most {dict(errors)} with {bits[0]} to {bits[-1]} fraction bits, found {reached}; "
        "give the inputs and parameters more fraction bits, or allow more"
    )


def fit_to_cost(
    program: Program, cost: Callable[[Program], float], most: float, bits: Sequence[int] = range(6, 25)
) -> Program:
    """The program with the most fraction bits whose integer program costs at most so much, by any measure of it.

    Raises CircuitizeError where even the fewest cost more.
    """
    least = None
    for count in reversed(bits):
        tried = _with_bits(program, count)
        try:
            found = cost(quantize(tried))
        except CircuitizeError:
            continue
        if found <= most:
            return tried
        least = found
    raise CircuitizeError(
        f"expected a cost of at most {most:g}, found {least} with {bits[0]} fraction bits; allow more"
    )


def _with_bits(program: Program, count: int) -> Program:
    return replace(program, precision=replace(program.precision, fraction_bits=count, significant_bits=count))


def _run(arrow: Arrow, inputs: Sequence[Values], formats: Sequence[Fixed] | None = None) -> list[Any]:
    """Every wire's value; with formats, each rounded to the fraction bits of its own, half up."""
    rows = arrow.rows

    def interpret(index: int, operation: Operation, sources: list[Any]) -> Sequence[Any]:
        results = operation.run(*sources)
        if formats is None:
            return results
        bits = [formats[wire].fraction_bits for wire in rows[index][2]]
        return [np.ldexp(np.floor(np.ldexp(r, b) + 0.5), -b) for r, b in zip(results, bits, strict=True)]

    return fold(arrow, inputs, interpret, keep=True)


def _greatest(exact: Values, rounded: Values, made: Values) -> list[float]:
    return [float(np.abs(x).max()) for x in (exact, rounded - exact, made - exact)]


def _fixed(arrow: Arrow, wire: int) -> Fixed:
    found = arrow.type(wire)
    assert isinstance(found, Fixed)
    return found
