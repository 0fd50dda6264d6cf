"""Designs and design problems: the decisions, the least costs that follow from them, and the composition of decisions.

A design problem in the sense of Censi's monotone theory of co-design (arXiv 1512.08055) maps a design to the ways to
make one more decision. Design problems compose in series, where one decides on the result of the other, and in
parallel, where either may decide; the answer is an antichain of costs.
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
    """A Design: a way to build a program, as far as it is decided.

    The `choices` of a design are its decisions by name; `takes` has for each quantity how much the design takes at
    least, which is exact once everything is decided, and 0 for a quantity that is not named. The field `made` of a
    design is the object on which the next problem decides.
    """

    program: IntegerProgram
    target: str = ""
    choices: Mapping[str, Choice] = field(default_factory=dict)
    takes: Mapping[str, float] = field(default_factory=dict)
    made: Any = None

    def decided(self, choices: Mapping[str, Choice], takes: Mapping[str, float], made: Any = None) -> Design:
        """Return the design with more decisions. The costs of a design can only grow: a bound is only replaced by a
        greater one.
        """
        grown = {name: max(value, self.takes.get(name, value)) for name, value in takes.items()}
        return replace(self, choices={**self.choices, **choices}, takes={**self.takes, **grown}, made=made)


Problem = Callable[[Design], Iterator[Design]]
"""A design problem: a function from a design to the designs with one more decision. A design problem yields designs one
at a time, and may use whether earlier ones were accepted.
"""

Keep = Callable[[Design, bool], bool]
"""A function that says whether to go on with a design; its second argument says whether the design is completely
decided.
"""


Note = Callable[[str], object]
"""A callback that gets the reason why a problem has no more solutions for a design."""


class Remembered:
    """A problem whose solutions are cached for repeated designs."""

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
    """The solutions of problems in series, each yielded as soon as it is found.

    Since a design's costs `takes` only grow, a design that `keep` refuses is refused with all designs that would follow
    from it. If a problem raises CircuitizeError, `note` is called with the error, and the search goes on with other
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
