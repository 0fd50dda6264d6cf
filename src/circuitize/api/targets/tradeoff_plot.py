"""A plot of the LUTs and clocks of designs with different numbers of lanes."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.files import write_whole

from ..plain_axes import plain


def plot(rows: Sequence[Mapping[str, int]], path: Path) -> None:
    """Draw, as an SVG, the clock cycles from frame to frame against LUTs, with a point for each number of lanes."""
    try:
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
    except ImportError:
        raise CircuitizeError(
            "expected matplotlib to draw with, found none; install it: pip install 'circuitize[demo]'"
        ) from None
    figure = Figure(figsize=(6, 4), layout="constrained")
    FigureCanvasSVG(figure)
    axes = figure.add_subplot()
    for name, label in (("lut", "LUTs"), ("ff", "registers"), ("dsp", "DSPs")):
        points = [(row["interval_cycles"], row[name]) for row in rows if row[name]]
        if points:
            axes.plot(*zip(*points, strict=True), marker="o", label=label)
    for row in rows:
        axes.annotate(f"P={row['lanes']}", (row["interval_cycles"], row["lut"] or row["dsp"]), fontsize=7)
    axes.set(xscale="log", yscale="log", xlabel="cycles from frame to frame", ylabel="amount")
    plain(axes)
    axes.legend()
    content = io.BytesIO()
    figure.savefig(content, format="svg", metadata={"Date": None})
    write_whole(path, [content.getbuffer()])
