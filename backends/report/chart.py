"""Charts of values that were measured step by step, as SVG in a page of HTML."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .html import Markup, joined, tag

WIDTH, HEIGHT = 480, 220
LEFT, RIGHT, TOP, BOTTOM = 64, 12, 26, 34
POINTS = 200
"""The number of points of a curve: each point is the mean of equally many consecutive steps, so that a curve has about
this number.
"""

TICKS = 4


@dataclass(frozen=True)
class Curve:
    """A curve: its values at steps, with the name of the executor that computed them; `kind` is "one" for the main
    curve, and "two" for a second curve beside it.
    """

    label: str
    kind: str
    steps: Sequence[float]
    values: Sequence[float]


def chart(title: str, curves: Sequence[Curve]) -> Markup:
    """Return a chart of curves over steps, in which main curves are drawn over the others. A chart leaves out values
    that are not finite numbers.
    """
    drawn = [(curve, *_means(curve)) for curve in sorted(curves, key=lambda curve: curve.kind, reverse=True)]
    drawn = [(curve, x, y) for curve, x, y in drawn if len(x)]
    if not drawn:
        return Markup("")
    left, right = _ends(np.concatenate([x for _, x, _ in drawn]))
    low, high = _ends(np.concatenate([y for _, _, y in drawn]))
    across = (WIDTH - LEFT - RIGHT) / (right - left)
    up = (HEIGHT - TOP - BOTTOM) / (high - low)
    parts = [tag("text", title, x=LEFT, y=15, font_weight="bold")]
    for value in _ticks(low, high):
        y = round(HEIGHT - BOTTOM - (value - low) * up)
        parts += [tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, class_="axis")]
        parts += [tag("text", f"{value:.4g}", x=LEFT - 6, y=y + 4, text_anchor="end")]
    for value in _ticks(left, right):
        x = round(LEFT + (value - left) * across)
        parts += [
            tag("text", f"{value:,.0f}" if value >= 1 else f"{value:.3g}", x=x, y=HEIGHT - 16, text_anchor="middle")
        ]
    parts.append(tag("text", "step", x=WIDTH - RIGHT, y=HEIGHT - 3, text_anchor="end"))
    for place, (curve, xs, ys) in enumerate(drawn):
        points = " ".join(
            f"{LEFT + (x - left) * across:.1f},{HEIGHT - BOTTOM - (y - low) * up:.1f}"
            for x, y in zip(xs.tolist(), ys.tolist(), strict=True)
        )
        parts.append(tag("polyline", points=points, class_=curve.kind))
        if len(drawn) > 1:
            at = LEFT + 150 + 110 * place
            parts.append(tag("line", x1=at, x2=at + 18, y1=11, y2=11, class_=curve.kind, stroke_width=3))
            parts.append(tag("text", curve.label, x=at + 24, y=15))
    said = f"{title} over {len(drawn[-1][1])} points"
    return tag(
        "svg", joined(parts), viewBox=f"0 0 {WIDTH} {HEIGHT}", width=WIDTH, height=HEIGHT, role="img", aria_label=said
    )


def _means(curve: Curve) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    steps, values = np.array(curve.steps, np.float64), np.array(curve.values, np.float64)
    known = (np.abs(values) < 1e300) & (np.abs(steps) < 1e300)
    steps, values = steps[known], values[known]
    width = max(1, len(steps) // POINTS)
    whole = len(steps) // width * width
    return steps[:whole].reshape(-1, width).mean(axis=1), values[:whole].reshape(-1, width).mean(axis=1)


def _ends(values: NDArray[np.float64]) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    if low == high:
        return low - max(abs(low), 1.0) / 2, high + max(abs(high), 1.0) / 2
    return low, high


def _ticks(low: float, high: float) -> list[float]:
    """Return a few round numbers between the two ends of a chart's axis."""
    raw = (high - low) / TICKS
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * round_ for round_ in (1, 2, 5, 10) if power * round_ >= raw)
    first = math.ceil(low / step)
    return [step * k for k in range(first, math.floor(high / step) + 1)]
