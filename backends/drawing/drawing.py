"""Drawing an arrow as SVG or DOT, with a box for each of its operations or for each of its parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.files import write_whole
from circuitize.circuits.folder import require_file
from circuitize.circuits.hypergraph import Arrow

from . import cost as costs
from . import dot
from .diagram import Diagram, diagram
from .folding import folded, unfolded
from .glyphs import Measure, Style
from .picture import Picture
from .rows import rows

PAGE = 1000
"""The greatest width of a picture in pixels, unless a single column is wider: rows are cut at this width."""

DEPTH = 2
"""How many names of a nested layer a folded picture keeps, unless told otherwise."""

ENDINGS = (".svg", ".dot")


@dataclass(frozen=True, repr=False)
class Drawing:
    """A picture of an arrow, which a notebook can show. The picture of an arrow has the same bytes on every machine."""

    arrow: Arrow
    diagram: Diagram
    style: Style
    title: str
    legend: Sequence[tuple[int, str]] = ()

    def __repr__(self) -> str:
        return f"Drawing({self.boxes:,} boxes of {self.arrow.edge_count:,} operations)"

    @property
    def boxes(self) -> int:
        """Return the number of boxes in the picture."""
        return sum(bool(box.edges) for box in self.diagram.boxes)

    @cached_property
    def svg(self) -> str:
        """Return the picture as SVG: without scripts, with nothing loaded from a network, and dark if the reader's
        settings ask for it.
        """
        measure = Measure(self.diagram, self.names, self.style)
        placed = rows(self.diagram, measure, self.style, PAGE)
        return Picture(self.arrow, self.diagram, self.style).drawn(placed, self.title, self.legend)

    @cached_property
    def dot(self) -> str:
        """Return the boxes and wires of the picture as a graph for Graphviz."""
        return dot.graph(self.diagram, self.names, self.title)

    @cached_property
    def names(self) -> list[str]:
        """Return, for each wire, the name that marks its ends if the wire continues in another row of the picture."""
        made = self.diagram
        found = [f"%{wire}" for wire in range(len(made.types))]
        for box in made.boxes if self.style.fold else ():
            for number, wire in enumerate(box.targets, 1):
                found[wire] = box.title if len(box.targets) == 1 else f"{box.title} {number}"
        for wire, name in made.entering.items():
            found[wire] = name
        return found

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: Path | str) -> None:
        """Write the picture to a file FILE.svg or FILE.dot, which appears complete or not at all. Raise CircuitizeError
        if the file's name has another ending than .svg or .dot.
        """
        file = Path(path)
        require_ending(file)
        require_file(file)
        write_whole(file, [(self.dot if file.suffix == ".dot" else self.svg).encode()])


def require_ending(path: Path) -> None:
    """Raise CircuitizeError unless the file's name ends in .svg or .dot."""
    if path.suffix not in ENDINGS:
        raise CircuitizeError(
            f"{path}: expected a file that ends in .svg (a picture) or .dot (a graph for Graphviz), found "
            f"{path.suffix or 'no ending'!r}; rename it"
        )


def drawing(
    arrow: Arrow,
    inputs: Sequence[str],
    outputs: Sequence[str],
    *,
    fold: bool = True,
    depth: int | None = DEPTH,
    types: bool = False,
    cost: tuple[str, Sequence[int]] | None = None,
    title: str = "",
) -> Drawing:
    """Return the picture of an arrow whose inputs and outputs have the given names.

    A folded picture has a box for each part of the arrow: each layer, named by the first `depth` parts of its name,
    each layer's derivative, and each layer's update. An unfolded picture has a box for each operation. The argument
    `types` says whether the picture shows the format and range of each wire. The argument `cost` colours the boxes: it
    is a measure, and the cost of each operation by this measure.
    """
    groups = folded(arrow, depth) if fold else unfolded(arrow)
    made = diagram(arrow, groups, inputs, outputs, fold)
    if cost is None:
        return Drawing(arrow, made, Style(fold, types), title)
    measure, each = cost
    found = [costs.of_box(each, box.edges, measure) for box in made.boxes]
    greatest = max(found, default=0)
    boxes = [
        replace(box, cost=(costs.step(amount, greatest), f"{amount:,} {costs.MEASURES[measure][0]}"))
        for box, amount in zip(made.boxes, found, strict=True)
    ]
    return Drawing(arrow, replace(made, boxes=boxes), Style(fold, types), title, costs.legend(measure, greatest))
