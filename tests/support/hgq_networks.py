"""Small networks of HGQ2 with random weights and bits by element, calibrated on random inputs."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import Any

os.environ.setdefault("KERAS_BACKEND", "jax")

import hgq
import keras
import numpy as np
from hgq.config import QuantizerConfigScope
from hgq.layers import (
    QAveragePooling2D,
    QBatchNormalization,
    QBatchNormDense,
    QConv1D,
    QConv2D,
    QDense,
    QDenseT,
    QEinsumDense,
    QMaxPool2D,
    QSoftmax,
)
from hgq.utils import trace_minmax

Layers = Callable[[], list[Any]]

KINDS: dict[str, Layers] = {
    "perceptron": lambda: [keras.Input((8,)), QDense(12, activation="relu"), QDense(5)],
    "convolution": lambda: [
        keras.Input((5, 5, 2)),
        QConv2D(3, 3, activation="relu"),
        QMaxPool2D(2, padding="same"),
        keras.layers.Flatten(),
        QDense(3),
    ],
    "series": lambda: [
        keras.Input((9, 2)),
        QConv1D(3, 3, strides=2, activation="relu"),
        keras.layers.Flatten(),
        QDense(3),
    ],
    "averages": lambda: [
        keras.Input((6, 6, 2)),
        QConv2D(3, 3, activation="relu"),
        QAveragePooling2D(2),
        keras.layers.Flatten(),
        QDense(3),
    ],
    "tables": lambda: [keras.Input((6,)), QDenseT(5), QDenseT(3)],
    "softmax": lambda: [keras.Input((8,)), QDense(6, activation="relu"), QDense(4), QSoftmax()],
    "normalized": lambda: [
        keras.Input((8,)),
        QBatchNormDense(10, activation="relu"),
        QBatchNormalization(),
        QEinsumDense("bi,io->bo", 4, bias_axes="o"),
    ],
}
"""The layers of each kind."""


@cache
def network(kind: str, seed: int, overflow: str = "WRAP", rounding: str = "RND") -> Any:
    """A network whose activations have from 2 to 5 fraction bits by element, drawn as training would find them."""
    assert hgq
    keras.utils.set_random_seed(seed)
    random = np.random.default_rng(seed)
    modes = {"overflow_mode": overflow, "round_mode": rounding}
    with (
        QuantizerConfigScope(place="datalane", default_q_type="kif", i0=2, f0=4, **modes),
        QuantizerConfigScope(place="weight", b0=5, i0=1),
    ):
        model = keras.Sequential(KINDS[kind]())
    for weight in model.weights:
        if weight.path.split("/")[-1] in ("f", "_f"):
            weight.assign(random.integers(2, 6, weight.shape))
        elif weight.path.split("/")[-1] in ("gamma", "moving_variance"):
            weight.assign(random.uniform(0.5, 2, weight.shape))
    x = random.normal(size=(64, *model.input_shape[1:])).astype(np.float32)
    trace_minmax(model, x, verbose=False)
    return model


def predicted(model: Any, x: Any) -> Any:
    """What the network makes of rows of numbers, as rows."""
    made = model.predict(x.reshape(-1, *model.input_shape[1:]).astype(np.float32), verbose=0)
    return np.asarray(made, np.float64).reshape(len(x), -1)
