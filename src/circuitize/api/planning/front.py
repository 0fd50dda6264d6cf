"""The answer to a query about designs: a front of points, or the limits that contradict each other, as text, JSON and a
picture.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.memory import amount_of_bytes
from circuitize.circuits.reading import Json

from .conflicts import Conflict
from .point import FORMATS, Point
from .quantities import ERRORS, QUANTITIES, base, kind
from .query import Query

MOST_REASONS = 3
"""The number of reasons for left-out designs of a target that are shown; --json has all reasons."""


@dataclass(frozen=True)
class Planned:
    """The answer to a query about designs: `points`, none of which another point beats in all objectives, or the reason
    why there is none.

    A Planned is true if some design is within the limits. The `conflicts` of a Planned are the smallest sets of limits
    that contradict each other. The errors in the answer to a query are measured on `examples` examples; `held_out` says
    that calibration did not see these examples. In the search, `sized` designs were decided completely, and `let_go`
    designs were dropped early, since their known costs were too high; `complete` is false if the search ran out of
    time. The field `left_out` of a Planned gives for each target the reasons why some designs are impossible, with the
    number of designs for each reason.
    """

    query: Query
    points: tuple[Point, ...]
    conflicts: tuple[Conflict, ...]
    examples: int
    held_out: bool
    sized: int
    let_go: int
    complete: bool
    left_out: Mapping[str, Mapping[str, int]]
    steps: int

    def __bool__(self) -> bool:
        return bool(self.points)

    def __repr__(self) -> str:
        asked = ", ".join(self.query.objectives)
        told = f"{len(self.points)} points" if self else f"infeasible, {len(self.conflicts)} conflicts of limits"
        return f"Planned({told}, by {asked}, {self.sized:,} designs sized)"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(chr(10).join(self.shown()))}</pre>"

    def __getitem__(self, number: int) -> Point:
        """Return the point of the front that has a given number in the table; numbers begin at 1. Raise CircuitizeError
        if the front has no point with the given number.
        """
        if type(number) is not int or not 1 <= number <= len(self.points):
            raise CircuitizeError(
                f"expected a point from 1 to {len(self.points)}, found {number!r}; choose one of them"
            )
        return self.points[number - 1]

    @property
    def origins(self) -> str:
        """Return a text that says which figures of the answer are counted, measured and predicted, and on which
        examples.
        """
        told = dict.fromkeys((kind(name, target), base(name)) for name in self.query.named for target in self._targets)
        by_kind: dict[str, list[str]] = {}
        for own, name in told:
            by_kind.setdefault(own, []).append(name)
        said = "; ".join(f"{own}: {', '.join(names)}" for own, names in sorted(by_kind.items()))
        if not {base(name) for name in self.query.named} & {*ERRORS}:
            return said
        seen = "that calibration did not see" if self.held_out else "that calibrated the formats"
        return f"{said}; errors are of {self.examples:,} examples {seen}"

    @property
    def _targets(self) -> list[str]:
        return [*dict.fromkeys(point.target for point in self.points)] or [*self.query.targets]

    def as_json(self) -> Json:
        """Return the answer to the query as the object that `circuitize plan --json` prints."""
        return {
            "feasible": bool(self),
            "objectives": list(self.query.objectives),
            "limits": dict(self.query.limits),
            "targets": list(self.query.targets),
            "steps": self.steps,
            "points": [point.as_json() for point in self.points],
            "conflicts": [
                {"limits": dict(c.limits), "nearest": dict(c.nearest), "enough": dict(c.enough)} for c in self.conflicts
            ],
            "examples": self.examples,
            "held_out": self.held_out,
            "sized": self.sized,
            "let_go": self.let_go,
            "complete": self.complete,
            "left_out": {name: dict(reasons) for name, reasons in self.left_out.items()},
        }

    def shown(self) -> Iterator[str]:
        """Yield a line for each point, or for each set of limits that contradict each other, and then the origin of the
        figures.
        """
        if self:
            yield from self._table()
        for number, conflict in enumerate(self.conflicts):
            said = " and ".join(f"{name} <= {amount(name, most)}" for name, most in conflict.limits.items())
            contradict = "contradict each other" if len(conflict.limits) > 1 else "is met by no design"
            yield f"{'also, ' if number else ''}{said} {contradict}"
            others = "with the others of these, " if len(conflict.limits) > 1 else ""
            for name, least in conflict.nearest.items():
                rest = ", then all limits can be met" if conflict.enough[name] else ""
                yield f"  {others}the nearest feasible {name} is {amount(name, least)}{rest}"
        yield self.origins
        over = "" if self.complete else "; the time was over before all designs were tried"
        yield f"{self.sized:,} designs sized, {self.let_go:,} let go by what was known of them{over}"
        for target, reasons in self.left_out.items():
            for reason, count in [*reasons.items()][:MOST_REASONS]:
                yield f"left out of {target}, {count:,} of them: {reason}"
            if len(reasons) > MOST_REASONS:
                yield f"left out of {target}: {sum([*reasons.values()][MOST_REASONS:]):,} more, for other reasons"

    def _table(self) -> Iterator[str]:
        names = self.query.named
        ways = [way(point) for point in self.points]
        wide = max(map(len, ways))
        yield f"{'':>4} {'':<{wide}}" + "".join(f"  {name:>12}" for name in names)
        for number, (point, told) in enumerate(zip(self.points, ways, strict=True), 1):
            cells = "".join(f"  {amount(name, point.takes[name]):>12}" for name in names)
            yield f"{number:>4} {told:<{wide}}{cells}"

    def plot(self, path: Path | str) -> None:
        """Draw the front of designs as an SVG. Raise CircuitizeError if there is no front to draw, or if matplotlib is
        missing.
        """
        from .picture import draw

        draw(self, Path(path))

    def write(self, folder: Path | str, point: int = 1) -> Point:
        """Write a folder from which the point with a given number can be built; the folder appears complete or not at
        all: see `written`.
        """
        from .written import write

        return write(self, Path(folder), point)


def way(point: Point) -> str:
    """Return a short text for a way to build the program: the target, the bits and the partition."""
    bits = [str(point.choices[name]) for name in FORMATS if name in point.choices]
    partition = [f"{name.replace('_', ' ')} {choice}" for name, choice in point.options.items()]
    return ", ".join([point.target, *(["bits " + "/".join(bits)] if bits else []), *partition])


def amount(name: str, value: float) -> str:
    """Return the amount of a quantity as a text that people can read."""
    if QUANTITIES[base(name)].bytes:
        return amount_of_bytes(int(value))
    if base(name) in (*ERRORS, "seconds"):
        return f"{value:.3g}"
    return f"{value:,.0f}"
