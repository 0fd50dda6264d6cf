"""Random nodes of ONNX operators of training: normalization, losses, optimisers."""

from __future__ import annotations

import numpy as np
from onnx_draw import Draw, Recipe

from circuitize.frontends.onnx.elements import NAMED


def channels(count: int) -> Recipe:
    def recipe(draw: Draw) -> None:
        groups = draw.whole(1, 2)
        size = draw.whole(1, 3) * groups
        draw.give((draw.whole(1, 2), size, *draw.shape(1, 2, 3)), "small")
        for index in range(count):
            draw.give((size,), "positive" if index == count - 1 else "small")
        draw.maybe("epsilon", float(np.float32(draw.one([1e-5, 1e-3, 0.1]))))
        if draw.operator == "GroupNormalization":
            draw.attributes["num_groups"] = groups
        draw.maybe("momentum", 0.8, 0.1)

    return recipe


def layer(draw: Draw) -> None:
    shape = draw.shape(1, 3)
    axis = draw.axis(len(shape))
    draw.give(shape, "small")
    draw.maybe("axis", axis, 0.7)
    used = draw.attributes.get("axis", -1)
    rest = shape[used:] if -len(shape) <= used < len(shape) else shape
    draw.give(rest, "small")
    if draw.operator == "LayerNormalization" and draw.chance(0.5):
        draw.give(rest, "small")
        draw.outputs = draw.whole(1, 3)
    draw.maybe("epsilon", float(np.float32(draw.one([1e-5, 1e-3, 0.1]))))


def moments(draw: Draw) -> None:
    shape = draw.shape(4, 4, 3)
    draw.give(shape, "small")
    draw.maybe("axes", draw.axes(4) or [0])


def response(draw: Draw) -> None:
    draw.give(draw.shape(4, 4, 4), "small")
    draw.attributes["size"] = draw.whole(1, 5)
    for name, value in (("alpha", 0.3), ("beta", 0.5), ("bias", 2.0)):
        draw.maybe(name, value)


def loss(draw: Draw) -> None:
    batch, classes, rest = draw.whole(1, 3), draw.whole(2, 4), draw.shape(0, 2, 3)
    draw.give((batch, classes, *rest), "small")
    draw.fixed(draw.random.integers(0, classes, (batch, *rest)), 0.3)
    if draw.chance(0.4):
        draw.give((classes,), "positive")
    draw.maybe("reduction", draw.one(["none", "mean", "sum"]))
    draw.maybe("ignore_index", draw.one([0, 1, -1]), 0.3)
    if draw.operator == "SoftmaxCrossEntropyLoss":
        draw.outputs = draw.whole(1, 2)


def optimiser(draw: Draw) -> None:
    states = {"Adagrad": 3, "Momentum": 3, "Adam": 4}[draw.operator]
    draw.bound["T1"] = NAMED["tensor(float)"]
    draw.give(())
    draw.fixed(np.array(draw.whole(0, 3)))
    shape = draw.shape(0, 2)
    for index in range(states):
        draw.give(shape, "positive" if index == states - 1 else "small")
    draw.outputs = states - 1
    if draw.operator == "Momentum":
        draw.attributes |= {
            "alpha": 0.9,
            "beta": 0.5,
            "norm_coefficient": 0.1,
            "mode": draw.one(["standard", "nesterov"]),
        }


TRAINING: dict[str, Recipe] = {
    "BatchNormalization": channels(4),
    **dict.fromkeys(("InstanceNormalization", "GroupNormalization"), channels(2)),
    **dict.fromkeys(("LayerNormalization", "RMSNormalization"), layer),
    "MeanVarianceNormalization": moments,
    "LRN": response,
    **dict.fromkeys(("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"), loss),
    **dict.fromkeys(("Adagrad", "Adam", "Momentum"), optimiser),
}
