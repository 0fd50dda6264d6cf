"""Curves that polygrad computes piece by piece, recognised by comparing their values at many sample points."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits import arrays
from circuitize.circuits.operation import Operation

from .graph import Node
from .known import Known, evaluated

PLACES = np.concatenate([np.linspace(-30, 30, 241), np.linspace(-0.5, 0.5, 101)])
CLOSE = 5e-7
"""The greatest distance of a polynomial in single precision from the curve that it stands for."""
LONGEST = 64
"""The most operations of a curve that is recognised."""
_CURVES: list[tuple[Callable[[], Operation], Callable[[Known], Known]]] = [
    (arrays.Tanh, np.tanh),
    (arrays.Erf, lambda x: np.asarray(arrays.Erf().run(x)[0])),
]


def found_curve(nodes: Sequence[Node], place: int) -> tuple[int, Operation] | None:
    """Return the UOp that is the argument of a curve, and the operation for the curve, if a choice (WHERE) computes
    one; None if not.

    The choices (WHERE) that are tried as curves are those by |x| < 1/4 and by x < 0, as in the hyperbolic tangent and
    the error function.
    """
    argument = _argument(nodes, place)
    values = None if argument is None else _values(nodes, place, argument)
    if argument is None or values is None:
        return None
    for operation, curve in _CURVES:
        if np.abs(values - curve(PLACES)).max() < CLOSE:
            return argument, operation()
    return None


def _argument(nodes: Sequence[Node], place: int) -> int | None:
    """Return the UOp x if a choice (WHERE) is by |x| < c, where |x| is itself written as a choice; else None."""
    condition = nodes[nodes[place].sources[0]]
    if condition.name != "CMPLT":
        return None
    magnitude = nodes[condition.sources[0]]
    if magnitude.name != "WHERE" or nodes[magnitude.sources[0]].name != "CMPLT":
        return None
    argument = magnitude.sources[2]
    return argument if nodes[magnitude.sources[0]].sources[0] == argument else None


def _values(nodes: Sequence[Node], place: int, argument: int) -> NDArray[np.float64] | None:
    """Return the values of a UOp at all sample points, if the UOp is computed from x and constants alone."""
    found: dict[int, Known | None] = {argument: PLACES}
    waiting = [place]
    while waiting:
        index = waiting[-1]
        node = nodes[index]
        if index in found:
            waiting.pop()
            continue
        if len(found) > LONGEST or (not node.sources and node.name != "CONST"):
            return None
        missing = [source for source in node.sources if source not in found]
        if missing:
            waiting.extend(missing)
            continue
        waiting.pop()
        found[index] = _value(node, [found[source] for source in node.sources])
    values = found[place]
    return None if values is None else np.asarray(values, np.float64)


def _value(node: Node, sources: Sequence[Known | None]) -> Known | None:
    known = [source for source in sources if source is not None]
    if len(known) < len(sources) or node.name in ("REDUCE", "RESHAPE", "PERMUTE", "EXPAND", "SHRINK", "PAD", "FLIP"):
        return None
    return evaluated(node, known)
