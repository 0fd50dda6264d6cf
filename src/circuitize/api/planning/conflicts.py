"""The reasons why a query has no design: the smallest sets of limits that contradict each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from .antichain import Vectors
from .design import Design
from .explore import vector


@dataclass(frozen=True)
class Conflict:
    """A conflict: limits that no design meets together, although some design meets every smaller set of them.

    The field `nearest` of a conflict gives for each of its limits the least value to which the limit must be raised so
    that a design meets all limits of the conflict; `enough` says whether some design then meets all other limits of the
    query as well.
    """

    limits: Mapping[str, float]
    nearest: Mapping[str, float]
    enough: Mapping[str, bool]


def conflicts(designs: Sequence[Design], limits: Mapping[str, float]) -> tuple[Conflict, ...]:
    """Return every minimal set of limits that contradict each other, the smallest sets first.

    The argument `designs` holds the designs that are minimal in the limited quantities: if any design meets a set of
    limits, one of these meets the set too. Finding conflicts takes time exponential in the number of limits, which is
    small, and linear in the number of designs.
    """
    names = [*limits]
    values = np.array([vector(design, names) for design in designs]).reshape(len(designs), len(names))
    within = values <= np.array([limits[name] for name in names])
    found: list[tuple[int, ...]] = []
    for count in range(1, len(names) + 1):
        for some in combinations(range(len(names)), count):
            if any({*smaller} <= {*some} for smaller in found):
                continue
            if not within[:, some].all(axis=1).any():
                found.append(some)
    return tuple(_conflict(some, names, limits, values, within) for some in found)


def _conflict(
    some: tuple[int, ...], names: Sequence[str], limits: Mapping[str, float], values: Vectors, within: NDArray[np.bool_]
) -> Conflict:
    nearest: dict[str, float] = {}
    enough: dict[str, bool] = {}
    for place in some:
        others = [other for other in some if other != place]
        nearest[names[place]] = float(values[within[:, others].all(axis=1), place].min())
        every = [other for other in range(len(names)) if other != place]
        everywhere = values[within[:, every].all(axis=1), place]
        enough[names[place]] = bool(len(everywhere)) and float(everywhere.min()) == nearest[names[place]]
    return Conflict({names[place]: limits[names[place]] for place in some}, nearest, enough)
