"""Calibration: observes, on example batches, how large the values on every wire of a real arrow get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from .arrays.language import RealOperation, Rounding
from .errors import CircuitizeError
from .hypergraph import Arrow, fold
from .operation import Operation, Values
from .program import Program
from .values import Given, to_integers, to_reals


def calibrate(arrow: Arrow, program: Program) -> NDArray[np.float64]:
    """Return the greatest magnitude on each wire of `arrow` over the program's examples, with inputs rounded to their
    formats.

    The argument `arrow` may be a rewriting of the program's own arrow with the same inputs. Raise CircuitizeError if
    the program has no examples, if an example lacks an input or has values that do not fit it, or if a value is not
    finite.
    """
    if not program.examples:
        raise CircuitizeError(
            "expected example inputs to calibrate the program with, found none; give Program(examples=...), or "
            "with_examples(program, *batches); a saved program has them if it was saved with examples=True"
        )
    magnitudes = np.zeros(arrow.wire_count)
    for number, batch in enumerate(program.examples):
        np.maximum(magnitudes, observe(arrow, example_inputs(program, batch, f"example {number}")), out=magnitudes)
    return magnitudes


def example_inputs(program: Program, batch: Mapping[str, Given], where: str) -> list[NDArray[np.float64]]:
    """Return a batch's values in the order of the program's inputs, each rounded once to its port's format."""
    values = []
    for port in program.inputs:
        if port.name not in batch:
            raise CircuitizeError(f"{where}: expected a value for input {port.name!r}, found {sorted(batch)}; add it")
        values.append(to_reals(port.format, to_integers(port, batch[port.name], where)))
    return values


CANCELLED = 2.0**-40
"""A sum that is smaller than its operands by this factor is only what float64 leaves of 0."""
SPREAD = 2.0**-20
"""The factor by which results of a sum that are only rounding errors are smaller than the operands of the sum."""


def observe(arrow: Arrow, inputs: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the greatest magnitude on each wire in one run of a real arrow.

    The magnitude of a result counts as 0 if only float64's rounding can have caused it: for a linear operation or a
    product, if the result is below 2^-40 times its operands (the least of them, for a sum); for any operation with an
    operand whose magnitude counts as 0, if the result is below 2^-20. A tensor whose magnitude counts as 0 is 0 by its
    mathematics: the gradient of a bias before a normalisation, its square, the root of that square times 2^12. The
    rounding of an integer program leaves greater values in a tensor that is 0 by its mathematics, so the tensor needs a
    format.
    """
    magnitudes = np.zeros(arrow.wire_count)
    for wire, value in zip(arrow.inputs.tolist(), inputs, strict=True):
        magnitudes[wire] = np.abs(value).max()

    rows = arrow.rows

    def interpret(index: int, operation: Operation, sources: list[Values]) -> Sequence[Values]:
        results = operation.run(*sources)
        for wire, result in zip(rows[index][2], results, strict=True):
            greatest = abs(result).max()
            if not isfinite(greatest):
                raise CircuitizeError(
                    f"expected finite values while calibrating, found {greatest} out of {operation.name} in "
                    f"{arrow.edge(index).provenance}; give examples on which the program is defined"
                )
            magnitudes[wire] = 0.0 if greatest < _noise(operation, magnitudes[rows[index][1]]) else greatest
        return results

    with np.errstate(all="ignore"):
        fold(arrow, inputs, interpret)
    return magnitudes


def _noise(operation: Operation, sources: NDArray[np.float64]) -> float:
    """Return the magnitude below which a result counts as 0, from the magnitudes of its operands."""
    kind = operation.rounding if isinstance(operation, RealOperation) else None
    if kind is Rounding.LINEAR and sources.any():
        # The least, since a condition or an index says nothing of the size of what it chooses.
        return float(CANCELLED * sources[sources > 0].min())
    if kind is Rounding.PRODUCT and sources.all():
        return float(CANCELLED * sources.prod())
    return 0.0 if sources.all() else SPREAD
