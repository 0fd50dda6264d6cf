"""The numbers along logarithmic axes of pictures, as plain text: 6,800 and 0.01 instead of powers of ten."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plain(axes: Axes) -> None:
    """Write the numbers along each logarithmic axis as plain text; matplotlib chooses at which ticks there is one.

    Matplotlib typesets powers of ten as formulas, which takes most of the time of a small picture.
    """
    from matplotlib.ticker import LogFormatter

    class Plain(LogFormatter):
        def __call__(self, x: float, pos: int | None = None) -> str:
            return f"{x:,.12g}" if super().__call__(x, pos) else ""

    for axis in (axes.xaxis, axes.yaxis):
        if axis.get_scale() != "linear":
            axis.set_major_formatter(Plain())
            axis.set_minor_formatter(Plain())
