"""Draws a front: the first objective against each other one, a colour for each target."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.files import write_whole

from .quantities import ERROR, WORST, base, kind

if TYPE_CHECKING:
    from .front import Planned

COLOURS = {"r1cs": "#9a3412", "mirage": "#c2410c", "plonkish": "#7c3aed", "tensor": "#0369a1", "verilog": "#15803d"}
MARKS = {"r1cs": "s", "mirage": "o", "plonkish": "^", "tensor": "D", "verilog": "o"}
SAID = {
    ERROR: "error of nine in ten examples",
    WORST: "greatest error",
    "seconds": "processor seconds",
    "cycles": "clocks from frame to frame",
}
"""Quantities in words, where their names are not enough."""


def draw(planned: Planned, path: Path) -> None:
    """Draw the points of a front, numbered as its table is, as an SVG: the same bytes for the same front.

    Of one objective, what it takes by number. Raises CircuitizeError where there are no points, or nothing to draw
    with.
    """
    if not planned.points:
        raise CircuitizeError("expected a front to draw, found none; raise one of the limits")
    try:
        from matplotlib import rc_context
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
    except ImportError:
        raise CircuitizeError(
            "expected matplotlib to draw with, found none; install it: pip install 'circuitize[demo]'"
        ) from None
    first, *others = planned.query.objectives
    panels: list[tuple[str | None, str]] = [(first, other) for other in others] or [(None, first)]
    with rc_context({"svg.hashsalt": "circuitize", "svg.fonttype": "none"}):
        figure = Figure(figsize=(6 * len(panels), 4.2), layout="constrained")
        FigureCanvasSVG(figure)
        for axes, (across, up) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
            for target in dict.fromkeys(point.target for point in planned.points):
                own = [(number, point) for number, point in enumerate(planned.points, 1) if point.target == target]
                x = [number if across is None else point.takes[across] for number, point in own]
                y = [point.takes[up] for _, point in own]
                axes.plot(x, y, MARKS[target], color=COLOURS[target], label=target, markersize=5, alpha=0.85)
                for (number, _), *place in zip(own, x, y, strict=True):
                    axes.annotate(str(number), place, fontsize=7, xytext=(3, 3), textcoords="offset points")
            for name, scale in ((across, axes.set_xscale), (up, axes.set_yscale)):
                if name is not None:
                    _scale(scale, [point.takes[name] for point in planned.points])
            axes.set(xlabel="point" if across is None else _label(planned, across), ylabel=_label(planned, up))
            axes.grid(alpha=0.3)
            axes.legend(frameon=False)
        content = io.BytesIO()
        figure.savefig(content, format="svg", metadata={"Date": None})
    write_whole(path, [content.getbuffer()])


def _scale(scale: Any, values: list[float]) -> None:
    """Logarithmic, linear below the least where that is 0."""
    positive = [value for value in values if value > 0]
    if positive and min(values) <= 0:
        scale("symlog", linthresh=min(positive))
    elif positive:
        scale("log")


def _label(planned: Planned, name: str) -> str:
    """The quantity, and how its figures come about."""
    kinds = dict.fromkeys(kind(name, point.target) for point in planned.points)
    own = SAID.get(base(name), base(name).replace("_", " "))
    one = name.partition(":")[2]
    return f"{own}{' of ' + one if one else ''}, {' or '.join(kinds)}"
