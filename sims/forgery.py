"""Traces that a cheating prover could make up on inputs where a program has no value: no target may accept such a
trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import Undefined
from circuitize.circuits.hypergraph import Arrow, fold
from circuitize.circuits.integers import Check, Expansion
from circuitize.circuits.operation import Operation, Values
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import Raw, raw, to_integers

from .executor import in_order

Integers = NDArray[np.int64]
Forge = Callable[[Integers, Check], Integers]


def forgeries(program: IntegerProgram, inputs: Mapping[str, Integers | Raw]) -> Iterator[tuple[str, list[Integers]]]:
    """Yield forged values of every wire, in the form that `sims.integer.trace` gives, in which each failing Check is
    ignored, and what was done.

    In a forged trace a value that fails a Check either passes unchanged or is moved to the nearer end of the Check's
    interval, so that everything after the Check is consistent. Raise CircuitizeError for inputs that are missing,
    misshapen or outside their formats.
    """
    values = [to_integers(port, value, "inputs") for port, value in in_order(program, raw(inputs))]
    yield "a value outside its Check passed", _trace(program.arrow, values, _passed)
    yield "a value outside its Check was put at the end of the interval", _trace(program.arrow, values, _clipped)


def _passed(value: Integers, check: Check) -> Integers:
    return value


def _clipped(value: Integers, check: Check) -> Integers:
    return np.clip(value, check.low, check.high)


def _trace(arrow: Arrow, inputs: Sequence[Integers], forge: Forge) -> list[Values]:
    rows = arrow.rows

    def interpret(index: int, operation: Operation, sources: list[Integers]) -> Sequence[Values]:
        if isinstance(operation, Check):
            return [forge(sources[0], operation)]
        try:
            return operation.run(*sources)
        except Undefined:
            return _forced(operation, sources, [arrow.format(wire) for wire in rows[index][1]], forge)

    return fold(arrow, list(inputs), interpret, keep=True)


def _forced(operation: Operation, sources: list[Integers], types: Sequence[Fixed], forge: Forge) -> Sequence[Values]:
    """Return a forged value for an operation that has no value on the given sources: for a core operation, the sources
    are outside their intervals.
    """
    inside = [np.clip(value, type.low, type.high) for value, type in zip(sources, types, strict=True)]
    if not isinstance(operation, Expansion):
        return operation.run(*inside)
    definition = operation.definition(*types)
    made = _trace(definition, inside, forge)
    return [made[wire] for wire in definition.outputs.tolist()]
