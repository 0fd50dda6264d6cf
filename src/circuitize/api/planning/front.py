"""The answer to a query: a front of points, or the limits that contradict each other; as text, JSON and a picture."""

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
    """A Planned, the answer to a query: `points`, none of which is better than another in all objectives; or the reason
    why there is none.

    A Planned is true if there is a design within the limits. The `conflicts` of a Planned are the smallest sets of
    limits that contradict each other. The errors in a plan are measured on `examples` examples, which are `held_out` if
    calibration did not see them. In a search, `sized` designs were decided completely and `let_go` designs were dropped
    early, since their known costs were too high; a search that is not `complete` ran out of time. The field `left_out`
    of a Planned says for each target why some designs are impossible, and how many.
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
        """Return the point with a given number in the table, from 1 on. Raise CircuitizeError if there is no point with
        the given number.
        """
        if type(number) is not int or not 1 <= number <= len(self.points):
            raise CircuitizeError(
                f"expected a point from 1 to {len(self.points)}, found {number!r}; choose one of them"
            )
        return self.points[number - 1]

    @property
    def origins(self) -> str:
        """Which figures are counted, measured and predicted, and on which examples."""
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
        """Return the object that `plan --json` prints."""
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
        """Return a line for each point, or for each set of limits that contradict each other; then the origin of the
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
        """Draw the front as an SVG. Raise CircuitizeError if there is no front, or if matplotlib is missing."""
        from .picture import draw

        draw(self, Path(path))

    def write(self, folder: Path | str, point: int = 1) -> Point:
        """Write the folder from which the point with a given number is built, whole or not at all: see `written`."""
        from .written import write

        return write(self, Path(folder), point)


def way(point: Point) -> str:
    """A way to build the program, in a few words: the target, the bits, the partition."""
    bits = [str(point.choices[name]) for name in FORMATS if name in point.choices]
    partition = [f"{name.replace('_', ' ')} {choice}" for name, choice in point.options.items()]
    return ", ".join([point.target, *(["bits " + "/".join(bits)] if bits else []), *partition])


def amount(name: str, value: float) -> str:
    """A quantity in the form in which people read it."""
    if QUANTITIES[base(name)].bytes:
        return amount_of_bytes(int(value))
    if base(name) in (*ERRORS, "seconds"):
        return f"{value:.3g}"
    return f"{value:,.0f}"
