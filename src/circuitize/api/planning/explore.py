"""The search through the designs of a query: it skips designs that cannot be on the front, and ends after a given
time.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from circuitize.circuits.phases import Progress

from .antichain import covered, minimal
from .design import Design, Problem, solutions
from .query import Query


class _Over(Exception):
    """The exception that ends a search for designs when its time is over."""


@dataclass
class Explored:
    """The result of a search for designs: the minimal designs of a query, how many designs were sized completely, and
    how many were dropped before that.

    The field `left_out` of a search's result gives for each target the reasons why some designs are impossible, with
    the number of designs for each reason; `complete` says whether the search tried all designs in its time.
    """

    front: list[Design] = field(default_factory=list)
    sized: int = 0
    let_go: int = 0
    left_out: dict[str, dict[str, int]] = field(default_factory=dict)
    complete: bool = True


def explore(
    query: Query,
    formats: Iterable[Design],
    circuits: Mapping[str, Sequence[Problem]],
    until: float,
    progress: Progress,
) -> Explored:
    """Return the minimal designs of a query within its limits: the search decides the formats first, and then, for each
    target, the target's design problems in series.

    A design is dropped if its known costs exceed a limit, or if in every objective they are at least those of a design
    already found: no design that follows from it could be on the front, except one with equal costs. The search for
    designs ends when the clock `time.monotonic` reaches `until`.
    """
    found = Explored()
    vectors = np.empty((0, len(query.objectives)))

    def keep(design: Design, decided: bool) -> bool:
        found.sized += decided
        if time.monotonic() > until:
            raise _Over
        over = any(design.takes.get(name, 0) > most for name, most in query.limits.items())
        if over or covered(vector(design, query.objectives), vectors):
            found.let_go += not decided
            return False
        return True

    try:
        for design in formats:
            if not keep(design, False):
                continue
            for target in query.targets:
                told = found.left_out.setdefault(target, {})

                def note(reason: str, told: dict[str, int] = told) -> None:
                    told[reason] = told.get(reason, 0) + 1

                problems = circuits[target]
                for solution in solutions(problems, _of(design, target), keep, note):
                    found.front.append(solution)
                    vectors = np.vstack([vectors, vector(solution, query.objectives)])
                    progress(f"{found.sized:,} designs sized, {found.let_go:,} let go")
    except _Over:
        found.complete = False
    finally:
        progress("")
    found.front = [found.front[place] for place in minimal(vectors)]
    return found


def vector(design: Design, names: Sequence[str]) -> list[float]:
    """Return a design's lower bounds on the given quantities."""
    return [design.takes.get(name, 0.0) for name in names]


def _of(design: Design, target: str) -> Design:
    return Design(design.program, target, design.choices, design.takes)
