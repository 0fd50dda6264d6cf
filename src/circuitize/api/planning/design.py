"""Designs and design problems: what is decided, what it takes at least, and how decisions compose.

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

    `choices` are the decisions by name; `takes` has for each quantity how much the design takes at least, which is
    exact when all is decided; a quantity that is not named is at least 0. `made` is the object on which the next
    problem decides.
    """

    program: IntegerProgram
    target: str = ""
    choices: Mapping[str, Choice] = field(default_factory=dict)
    takes: Mapping[str, float] = field(default_factory=dict)
    made: Any = None

    def decided(self, choices: Mapping[str, Choice], takes: Mapping[str, float], made: Any = None) -> Design:
        """The design with more decisions. The costs can only grow: a bound is replaced by a greater one."""
        grown = {name: max(value, self.takes.get(name, value)) for name, value in takes.items()}
        return replace(self, choices={**self.choices, **choices}, takes={**self.takes, **grown}, made=made)


Problem = Callable[[Design], Iterator[Design]]
"""A design problem: a function from a design to the designs with one more decision. A problem gives designs one at a
time, and may learn from what became of the ones before.
"""

Keep = Callable[[Design, bool], bool]
"""A function that says whether to go on with a design; its second argument says whether all of it is decided."""


Note = Callable[[str], object]
"""A function that is told why a problem has no more solutions for a design."""


class Remembered:
    """A problem whose solutions are kept, in case the same design is asked about again."""

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
    """The solutions of problems in series, each as soon as it is found.

    Since `takes` only grows, a design that `keep` refuses for taking too much is refused with everything that would
    follow from it. If a problem raises CircuitizeError, `note` is called with it, and the search goes on with other
    designs.
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
