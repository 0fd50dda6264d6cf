"""Drawing a front of designs: the first objective against each of the others, with a colour for each target."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.files import write_whole

from ..plain_axes import plain
from .quantities import ERROR, QUANTITIES, WORST, base, kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .front import Planned

COLOURS = {"r1cs": "#9a3412", "mirage": "#c2410c", "plonkish": "#7c3aed", "tensor": "#0369a1", "verilog": "#15803d"}
APART = (14, 9)
"""The distance, in points across and up, below which numbers of points would be unreadable."""

MARKS = {"r1cs": "s", "mirage": "o", "plonkish": "^", "tensor": "D", "verilog": "o"}
SAID = {
    ERROR: "error of nine in ten examples",
    WORST: "greatest error",
    "seconds": "processor seconds",
    "cycles": "clocks from frame to frame",
}
"""The labels of quantities, if their names are not enough."""


def draw(planned: Planned, path: Path) -> None:
    """Draw the points of a front as an SVG, numbered as in the front's table; equal fronts give equal bytes.

    If there is only one objective, the picture shows it against the numbers of the points. Raise CircuitizeError if
    there are no points to draw, or if matplotlib is missing.
    """
    if not planned.points:
        raise CircuitizeError("expected a front to draw, found none; raise one of the limits")
    try:
        from matplotlib import rc_context
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError:
        raise CircuitizeError(
            "expected matplotlib to draw with, found none; install it: pip install 'circuitize[demo]'"
        ) from None
    first, *others = planned.query.objectives
    panels: list[tuple[str | None, str]] = [(first, other) for other in others] or [(None, first)]
    targets = [*dict.fromkeys(point.target for point in planned.points)]
    with rc_context({"svg.hashsalt": "circuitize", "svg.fonttype": "none"}):
        layout = ConstrainedLayoutEngine()
        figure = Figure(figsize=(6 * len(panels), 4.2), layout=layout)
        FigureCanvasSVG(figure)
        drawn = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, (across, up) in zip(drawn, panels, strict=True):
            for target in targets:
                at = [number for number, point in enumerate(planned.points, 1) if point.target == target]
                places = [_place(planned, number, across, up) for number in at]
                style = {"color": COLOURS[target], "markersize": 5, "alpha": 0.85, "linestyle": "none"}
                axes.plot(*zip(*places, strict=True), marker=MARKS[target], label=target, **style)
            for name, scale in ((across, axes.set_xscale), (up, axes.set_yscale)):
                if name is not None:
                    _scale(scale, [point.takes[name] for point in planned.points])
            plain(axes)
            axes.set(xlabel="point" if across is None else _label(planned, across), ylabel=_label(planned, up))
            axes.grid(alpha=0.3)
        figure.legend(*drawn[0].get_legend_handles_labels(), loc="outside upper right", ncols=5, frameon=False)
        layout.execute(figure)
        for axes, (across, up) in zip(drawn, panels, strict=True):
            _number(axes, [_place(planned, number + 1, across, up) for number in range(len(planned.points))])
        content = io.BytesIO()
        figure.savefig(content, format="svg", metadata={"Date": None})
    write_whole(path, [content.getbuffer()])


def _place(planned: Planned, number: int, across: str | None, up: str) -> tuple[float, float]:
    """Return the coordinates at which a point of the front is drawn."""
    takes = planned[number].takes
    return number if across is None else takes[across], takes[up]


def _number(axes: Axes, places: list[tuple[float, float]]) -> None:
    """Write the number of each point beside it; for points that are drawn close together, write only the lowest
    number.
    """
    written = np.empty((0, 2))
    for number, (place, shown) in enumerate(zip(places, axes.transData.transform(places), strict=True), 1):
        if not (np.abs(written - shown) < APART).all(axis=1).any():
            axes.annotate(str(number), place, fontsize=7, xytext=(4, 3), textcoords="offset points")
            written = np.vstack([written, shown])


def _scale(scale: Callable[..., object], values: list[float]) -> None:
    """Set a logarithmic scale on an axis of the picture; if the least value is 0, the scale is linear near 0."""
    positive = [value for value in values if value > 0]
    if positive and min(values) <= 0:
        scale("symlog", linthresh=min(positive))
    elif positive:
        scale("log")


def _label(planned: Planned, name: str) -> str:
    """Return the label of a quantity in a picture: its name, and the origin of its figures."""
    kinds = dict.fromkeys(kind(name, point.target) for point in planned.points)
    own = SAID.get(base(name), base(name).replace("_", " "))
    one = name.partition(":")[2]
    unit = " in bytes" if QUANTITIES[base(name)].bytes and own != "bytes" else ""
    return f"{own}{' of ' + one if one else ''}{unit}, {' or '.join(kinds)}"
