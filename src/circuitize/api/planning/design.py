"""Designs and design problems: the decisions of a design, lower bounds on its costs that follow from them, and the
composition of decisions.

A design problem, in the sense of Censi's monotone theory of co-design (arXiv 1512.08055), maps a design to the designs
with one more decision. Design problems compose in series, so that one problem decides about the results of another, and
in parallel, so that either problem may decide; the answer is an antichain of costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.program import IntegerProgram

if TYPE_CHECKING:
    from circuitize.backends.verilog.folded.sizes import Sizes

Choice = int | str


@dataclass(frozen=True)
class Design:
    """A way to build a program, as far as it has been decided.

    The `choices` of a design are its decisions by name; `takes` gives for each quantity a lower bound on how much of it
    the design takes, which is exact once everything is decided, and is 0 for a quantity without an entry. The field
    `made` of a design is the object about which the next design problem decides.
    """

    program: IntegerProgram
    target: str = ""
    choices: Mapping[str, Choice] = field(default_factory=dict)
    takes: Mapping[str, float] = field(default_factory=dict)
    made: Sizes | None = None

    def decided(self, choices: Mapping[str, Choice], takes: Mapping[str, float], made: Sizes | None = None) -> Design:
        """Return the design with further decisions added. Further decisions only raise the lower bounds on a design's
        costs: a bound is only replaced by a greater one.
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
    """A design problem that caches its solutions for designs that occur again."""

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
    """Yield the solutions of a series of design problems, each solution as soon as it is found.

    The costs `takes` of a design only grow with further decisions: if `keep` refuses a design, all designs that would
    follow from it are skipped. If a design problem raises CircuitizeError, `note` is called with the error's text, and
    the search goes on with other designs.
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
