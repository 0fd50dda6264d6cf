"""Explanations of why a program has no value on its inputs: which numbers fit, which input causes the failure, and the
remedy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, log2

import numpy as np

from .errors import Undefined
from .hypergraph import Arrow, fold
from .integers import Check
from .operation import Operation, Values
from .types import Fixed

REMEDY = "use inputs that stay inside, or calibrate with examples that come this far"


def values_of(arrow: Arrow, inputs: Sequence[Values], names: Sequence[str]) -> list[Values]:
    """Return the value of every wire on numpy arrays; `names` are the names of the inputs. Raise Undefined, with the
    explanation that `explained` gives, if an edge has no value.
    """
    return fold(arrow, inputs, _explaining(arrow, names), keep=True)


def outputs_of(arrow: Arrow, inputs: Sequence[Values], names: Sequence[str]) -> list[Values]:
    """Return the values of an arrow's outputs as `values_of` does; the value of any other wire is dropped after its
    last reader.
    """
    values = fold(arrow, inputs, _explaining(arrow, names))
    return [value for wire in arrow.outputs.tolist() if (value := values[wire]) is not None]


def _explaining(arrow: Arrow, names: Sequence[str]) -> Callable[[int, Operation, list[Values]], Sequence[Values]]:

    def run(index: int, operation: Operation, sources: list[Values]) -> Sequence[Values]:
        try:
            return operation.run(*sources)
        except Undefined as error:
            raise explained(error, arrow, index, names) from None

    return run


def explained(error: Undefined, arrow: Arrow, index: int, names: Sequence[str] = ()) -> Undefined:
    """Return the error that an edge raises, with the edge's place and a remedy; `names` are the names of the inputs.
    Finding the edge without a value takes time linear in the number of edges.

    For a Check, the numbers that fit are given as real numbers, and the input is named if the Check depends on one
    input alone: most often a learning rate outside those in the examples.
    """
    edge = arrow.edge(index)
    message = str(error)
    if not message.startswith(edge.operation.name):
        message = f"{edge.operation.name}: {message}"
    message = f"{message}, in {edge.provenance}"
    if ";" in message:
        return Undefined(message)
    if not isinstance(edge.operation, Check):
        return Undefined(f"{message}; {REMEDY}")
    margin = _margin(error.times)
    bits = arrow.type(edge.sources[0]).fraction_bits  # type: ignore[union-attr]  # a check is of integers
    edges, inputs = _behind(arrow, index)
    if len(inputs) == 1 and inputs[0] < len(names):
        name, most = names[inputs[0]], _greatest(arrow, edges, int(arrow.inputs[inputs[0]]))
        if most is not None:
            alone = f"it comes of input {name!r} alone, of which at most {most:.6g} fits"
            return Undefined(f"{message}; {alone}: use less, or calibrate with examples that come this far{margin}")
    low, high = edge.operation.low * 2.0**-bits, edge.operation.high * 2.0**-bits
    format = ", or widen the format of that output" if edge.provenance.part.startswith("output ") else ""
    return Undefined(f"{message}; numbers from {low:.6g} to {high:.6g} fit there: {REMEDY}{margin}{format}")


def _margin(times: float | None) -> str:
    """Return the margin of calibration that would have accepted the given values: margins move the ends of intervals by
    powers of two.
    """
    return "" if times is None or times <= 1 else f", or with {2 ** ceil(log2(times)):,} times the margin"


def _behind(arrow: Arrow, index: int) -> tuple[list[int], list[int]]:
    """Return the edges on which an edge depends, in order and with the edge itself last, and the places of the
    inputs.
    """
    needed, edges = set(arrow.rows[index][1]), [index]
    for at in range(index - 1, -1, -1):
        _, sources, targets, _ = arrow.rows[at]
        if not needed.isdisjoint(targets):
            needed.update(sources)
            edges.append(at)
    return edges[::-1], [place for place, wire in enumerate(arrow.inputs.tolist()) if wire in needed]


def _greatest(arrow: Arrow, edges: Sequence[int], wire: int) -> float | None:
    """Return the greatest number for one input for which the given edges have a value, given that their results grow
    with the input; None if the input is no single number, or if its least or its greatest value already contradicts
    that.
    """
    format = arrow.type(wire)
    if not isinstance(format, Fixed) or format.shape:
        return None

    def fits(number: int) -> bool:
        values: dict[int, Values] = {wire: np.array(number, np.int64)}
        try:
            for at in edges:
                operation, sources, targets, _ = arrow.rows[at]
                made = arrow.operations[operation].run(*[values[source] for source in sources])
                values.update(zip(targets, made, strict=True))
        except Undefined:
            return False
        return True

    least, past = max(0, format.low), format.high
    if not least < past or not fits(least) or fits(past):
        return None
    while past - least > 1:
        middle = (least + past) // 2
        least, past = (middle, past) if fits(middle) else (least, middle)
    return float(least * 2.0**-format.fraction_bits)
