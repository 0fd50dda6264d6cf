"""The picture of a training: what was measured, by step."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from circuitize.api.training import metrics
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.files import write_whole

from .curves import plotting
from .output import remark

PICTURE = "curves.png"
WINDOW = 200
"""Points of a curve: each is the mean of so many steps that there are about as many."""


def draw_metrics(folder: Path) -> Path | None:
    """Draw what a training measured into its folder: None, which is said, where matplotlib is missing."""
    try:
        pyplot = plotting()
    except CircuitizeError as error:
        remark(str(error))
        return None
    series: dict[str, list[tuple[int, float]]] = {}
    for row in metrics.read(folder):
        for name, value in row.items():
            if name not in ("step", "epoch"):
                series.setdefault(name, []).append((int(row["step"]), float(value)))
    panels = [[n for n in series if n.removesuffix("_float64") == name] for name in series if not _is_beside(name)]
    figure, axes = pyplot.subplots(1, len(panels), figsize=(5 * len(panels), 4), layout="constrained", squeeze=False)
    for names, panel in zip(panels, axes[0], strict=True):
        for name in reversed(names):
            steps, values = np.array(series[name]).T
            thin = {"color": "#9aa5b1", "linewidth": 4} if _is_beside(name) else {"color": "#c2410c", "linewidth": 1.5}
            panel.plot(*_means(steps, values), label="float64" if _is_beside(name) else "integers", **thin)
        panel.set(xlabel="step", title=names[0].replace("_", " "))
        panel.grid(alpha=0.3)
        if len(names) > 1:
            panel.legend(frameon=False)
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=120)
    pyplot.close(figure)
    write_whole(folder / PICTURE, [content.getvalue()])
    return folder / PICTURE


def _is_beside(name: str) -> bool:
    """Whether this is of float64 beside integers."""
    return name.endswith("_float64")


def _means(steps: NDArray[np.float64], values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means of steps that follow one another, at most WINDOW of them or twice as many."""
    width = max(1, len(steps) // WINDOW)
    whole = len(steps) // width * width
    return tuple(column[:whole].reshape(-1, width).mean(axis=1) for column in (steps, values))
