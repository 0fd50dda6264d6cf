"""Observes, on example batches, how large the values on every wire of a real arrow get."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import CircuitizeError
from .hypergraph import Arrow, fold
from .operation import Operation
from .program import Program, to_integers, to_reals


def calibrate(arrow: Arrow, program: Program) -> NDArray[np.float64]:
    """The greatest magnitude seen on each wire of `arrow` over the program's examples, inputs rounded to their formats.

    `arrow` may be a rewriting of the program's own arrow with the same inputs. Raises CircuitizeError when the
    program has no examples, when one is missing or does not fit, or when a value is not finite.
    """
    if not program.examples:
        raise CircuitizeError(
            "expected example inputs to calibrate the program with, found none; give Program(examples=...)"
        )
    magnitudes = np.zeros(arrow.wire_count)
    for number, batch in enumerate(program.examples):
        np.maximum(magnitudes, observe(arrow, example_inputs(program, batch, f"example {number}")), out=magnitudes)
    return magnitudes


def example_inputs(program: Program, batch: Any, where: str) -> list[NDArray[np.float64]]:
    """A batch's values in the order of the inputs, each rounded once to its port's format."""
    values = []
    for port in program.inputs:
        if port.name not in batch:
            raise CircuitizeError(f"{where}: expected a value for input {port.name!r}, found {sorted(batch)}; add it")
        assert port.format is not None
        values.append(to_reals(port.format, to_integers(port, batch[port.name], where)))
    return values


def observe(arrow: Arrow, inputs: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The greatest magnitude on each wire in one run of a real arrow."""
    magnitudes = np.zeros(arrow.wire_count)
    for wire, value in zip(arrow.inputs.tolist(), inputs, strict=True):
        magnitudes[wire] = np.abs(value).max()

    rows = arrow.rows

    def interpret(index: int, operation: Operation, sources: list[Any]) -> Sequence[Any]:
        results = operation.run(*sources)
        for wire, result in zip(rows[index][2], results, strict=True):
            greatest = abs(result).max()
            if not isfinite(greatest):
                raise CircuitizeError(
                    f"expected finite values while calibrating, found {greatest} out of {operation.name} in "
                    f"{arrow.edge(index).provenance}; give examples on which the program is defined"
                )
            magnitudes[wire] = greatest
        return results

    with np.errstate(all="ignore"):
        fold(arrow, inputs, interpret)
    return magnitudes
