"""Pictures of trainings: the metrics of one training, and trainings in integers and in float64 side by side."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.files import write_whole

from ..plain_axes import plain
from . import metrics
from .side_by_side import Curve

PICTURE = "curves.png"
WINDOW = 200
"""The approximate number of points of a curve, each of which is the mean of several steps."""


def plotting() -> ModuleType:
    """Import matplotlib's pyplot, set to draw to files only. Raise CircuitizeError if matplotlib is missing."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        raise CircuitizeError(
            "expected matplotlib for the picture, found none; install it: pip install 'circuitize[demo]'"
        ) from None
    return pyplot


def draw_metrics(folder: Path, remark: Callable[[str], object]) -> Path | None:
    """Draw a training's metrics as a picture in its folder; without matplotlib, return None and pass the reason to
    `remark`.
    """
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
    """Return whether a metric is that of the float64 executor running beside the integer executor."""
    return name.endswith("_float64")


def _means(steps: NDArray[np.float64], values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the means of a curve over runs of equally many consecutive steps, at most about twice WINDOW runs; steps
    after the last whole run are left out.
    """
    width = max(1, len(steps) // WINDOW)
    whole = len(steps) // width * width
    return tuple(column[:whole].reshape(-1, width).mean(axis=1) for column in (steps, values))


def draw_side_by_side(curves: Mapping[str, Curve], path: Path) -> None:
    """Draw the losses and accuracies of several training runs as a PNG. Raise CircuitizeError if matplotlib is
    missing.
    """
    pyplot = plotting()
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
    styles = {"float64": {"color": "#9aa5b1", "linewidth": 5}, "integers": {"color": "#c2410c", "linewidth": 1.5}}
    for name, curve in curves.items():
        left.plot(range(1, len(curve.losses) + 1), curve.losses, label=name, **styles[name])
        right.plot(list(curve.accuracies), [100 * a for a in curve.accuracies.values()], label=name, **styles[name])
    left.set(xlabel="epoch", ylabel="mean squared error", title="training loss", yscale="log")
    plain(left)
    right.set(xlabel="epoch", ylabel="test accuracy (%)", title="digits not trained on")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=120)
    pyplot.close(figure)
    write_whole(path, [content.getvalue()])
