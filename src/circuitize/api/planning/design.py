"""Designs and design problems: what is decided, what that takes at least, and how decisions compose.

A design problem in the sense of Censi's monotone theory of co-design (arXiv 1512.08055), read towards resources: it
takes a design and gives the ways to decide one thing more. Problems compose in series, where one decides on what the
other made, and in parallel, where either may do; the answer is an antichain of what they take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.program import IntegerProgram

Choice = int | str


@dataclass(frozen=True)
class Design:
    """A way to build a program, as far as it is decided.

    `choices` are the decisions by name; `takes` says of quantities how much the design takes at least, exactly so much
    when all is decided; of one that it does not name, at least 0. `made` is what the next problem decides on.
    """

    program: IntegerProgram
    target: str = ""
    choices: Mapping[str, Choice] = field(default_factory=dict)
    takes: Mapping[str, float] = field(default_factory=dict)
    made: Any = None

    def decided(self, choices: Mapping[str, Choice], takes: Mapping[str, float], made: Any = None) -> Design:
        """The design with more decisions. What it takes can only grow: a bound gives way to what is greater."""
        grown = {name: max(value, self.takes.get(name, value)) for name, value in takes.items()}
        return replace(self, choices={**self.choices, **choices}, takes={**self.takes, **grown}, made=made)


Problem = Callable[[Design], Iterator[Design]]
"""A design problem. It gives designs one at a time, and may learn from what came of the ones before."""

Keep = Callable[[Design, bool], bool]
"""Whether to go on with a design; the second argument says whether all of it is decided."""


Note = Callable[[str], object]
"""Hears why a problem has no more solutions for a design."""


class Remembered:
    """A problem whose solutions are kept, for whoever asks of the same design again."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._known: dict[tuple[object, ...], list[Design]] = {}

    def __call__(self, design: Design) -> Iterator[Design]:
        key = tuple(design.choices.items())
        if key not in self._known:
            made = []
            for further in self.problem(design):
                made.append(further)
                yield further
            self._known[key] = made
        else:
            yield from self._known[key]


def solutions(problems: Sequence[Problem], design: Design, keep: Keep, note: Note) -> Iterator[Design]:
    """What comes of problems in series, each solution as soon as it is found.

    Since `takes` only grows, what `keep` refuses for taking too much is refused with all that would come of it. Where
    a problem raises CircuitizeError, `note` hears it, and other designs are gone on with.
    """
    if not problems:
        yield design
        return
    found = problems[0](design)
    while True:
        try:
            further = next(found, None)
        except CircuitizeError as error:
            note(str(error))
            return
        if further is None:
            return
        if keep(further, len(problems) == 1):
            yield from solutions(problems[1:], further, keep, note)
