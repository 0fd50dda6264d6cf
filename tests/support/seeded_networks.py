"""Ten networks from seeds, to compare estimates of their hardware with its synthesis: none was used to fit them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

import circuitize as cz
from circuitize.backends.verilog.bound import Bound
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.program import IntegerProgram, Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.types import Fixed
from circuitize.frontends.attention import softmax_attention
from circuitize.frontends.formats import Format
from circuitize.frontends.layers import Model
from circuitize.frontends.training import predict, with_examples
from circuitize.frontends.transformer import positions, tokens, transformer_block
from circuitize.frontends.trees.programs import from_trees
from circuitize.sims.real import record
from circuitize.sims.rtl.frames import bound_somehow

FEATURES = Format.between(-1.0, 1.0, 7)


class Network(NamedTuple):
    """A network, its scheduler and its options."""

    made: Callable[[], Bound]
    scheduler: str
    options: Mapping[str, Any]


def rounded(widths: tuple[int, ...], seed: int, bits: int, zeros: float = 0.0) -> Bound:
    """Dense layers of whole numbers: weights of so many bits, a part of them zero, activations of eight."""
    random, most = np.random.default_rng(seed), (1 << (bits - 1)) - 1
    builder = Builder()
    source = Fixed((widths[0],), 0, -128, 127)
    x = builder.input(source)
    for number, (rows, columns) in enumerate(pairwise(widths), 1):
        drawn = random.integers(-most, most + 1, (rows, columns))
        weight = np.where(random.random(drawn.shape) < zeros, 0, drawn)
        x = builder.add(integers.Contract("i,ij->j"), x, builder.add(integers.Constant.of(weight)))
        held = builder.type(x)
        assert isinstance(held, Fixed)
        bias = integers.Constant.of(random.integers(-1000, 1001, columns), held.fraction_bits)
        x = builder.add(integers.Add(), x, builder.add(bias))
        if number < len(widths) - 1:
            x = builder.add(integers.Shift(bits), builder.add(integers.ReLU(), x))
            x = builder.add(integers.Clamp(0, 255), x)
    arrow = builder.build([x])
    (result,) = arrow.target
    assert isinstance(result, Fixed)
    public = cz.Visibility.PUBLIC
    return bound_somehow(IntegerProgram(arrow, (cz.Port("x", public, source),), (cz.Port("y", public, result),)))


def calibrated(model: Model, seed: int) -> Bound:
    """A model's prediction by the weights that it begins with, calibrated on random inputs."""
    random = np.random.default_rng(seed)
    program: Program = predict(model, 1, FEATURES, precision=cz.Precision(margin=2.0))
    (inputs,) = [port.format.shape for port in program.inputs if port.name == "inputs"]
    weights = model.initial(seed)
    batches = [{**weights, "inputs": FEATURES.nearest(random.uniform(-1, 1, inputs))} for _ in range(16)]
    return bound_somehow(quantize(with_examples(program, *batches)))


def step(widths: tuple[int, ...], batch: int, seed: int) -> Bound:
    """A training step with momentum on random data."""
    random = np.random.default_rng(seed)
    layers = [layer for pair in pairwise(widths) for layer in (cz.dense(*pair), cz.relu())]
    model = cz.sequential(*layers[:-1])
    made = cz.training_step(model, cz.mean_squared_error, cz.Momentum(), batch, inputs=FEATURES)
    scalars = {name: np.array(float(value)) for name, value in cz.Momentum().values(1, 1 / 32).items()}
    batches = [
        {
            "inputs": FEATURES.nearest(random.uniform(-1, 1, (batch, widths[0]))),
            "targets": np.eye(widths[-1])[random.integers(0, widths[-1], batch)],
            **scalars,
        }
        for _ in range(8)
    ]
    return bound_somehow(quantize(with_examples(made, *record(made, cz.start(made, model, seed), batches, 4))))


def trees(rounds: int, classes: int, seed: int) -> Bound:
    """Boosted trees of at most eight leaves on whole features."""
    from sklearn.ensemble import GradientBoostingClassifier  # It takes a second.

    random = np.random.default_rng(seed)
    data = random.integers(0, 17, (300, 8))
    labels = (data[:, :classes] + random.integers(0, 6, (300, classes))).argmax(axis=1)
    estimator = GradientBoostingClassifier(n_estimators=rounds, random_state=seed).fit(data, labels)
    return bound_somehow(from_trees(estimator, Format(fraction_bits=0, low=0, high=16), data=data[:8]))


def transformer(seed: int) -> Bound:
    """One block on four tokens of width eight, two heads."""
    block = transformer_block(8, heads=2, hidden=8, attention=softmax_attention)
    layers = [tokens(4, 4), cz.dense(4, 8), positions(4, 8, deviation=0.5), block, cz.flatten(), cz.dense(32, 4)]
    return calibrated(cz.sequential(*layers), seed)


def convolution(seed: int) -> Bound:
    """A convolution of 3 by 3, pooling and a dense layer on images of eight by eight."""
    layers = [cz.image(8, 8), cz.conv2d(1, 4, size=3), cz.max_pool2d(2), cz.relu(), cz.flatten(), cz.dense(36, 5)]
    return calibrated(cz.sequential(*layers), seed)


PARALLEL, FOLDED = "parallel", "folded"
NETWORKS: dict[str, Network] = {
    "dense 6-10-4, 6 bits, seed 11": Network(lambda: rounded((6, 10, 4), 11, 6), PARALLEL, {}),
    "dense 10-16-5, 6 bits, 3/4 zeros, seed 12": Network(
        lambda: rounded((10, 16, 5), 12, 6, 0.75), PARALLEL, {"levels_per_stage": 2}
    ),
    "dense 8-8-8-3, 4 bits, seed 13": Network(lambda: rounded((8, 8, 8, 3), 13, 4), PARALLEL, {}),
    "trees, 4 rounds of 3, seed 14": Network(lambda: trees(4, 3, 14), PARALLEL, {}),
    "dense 32-24-6, 6 bits, seed 15": Network(lambda: rounded((32, 24, 6), 15, 6), FOLDED, {"lanes": 8}),
    "dense 16-48-24-5, 7 bits, seed 16": Network(
        lambda: rounded((16, 48, 24, 5), 16, 7), FOLDED, {"interval_budget": 64}
    ),
    "convolution, seed 17": Network(lambda: convolution(17), FOLDED, {"lanes": 12}),
    "step 6-12-3, batch 4, seed 18": Network(lambda: step((6, 12, 3), 4, 18), FOLDED, {"lanes": 16}),
    "transformer, seed 19": Network(lambda: transformer(19), FOLDED, {"lanes": 16}),
    "trees, 3 rounds of 3, seed 20": Network(lambda: trees(3, 3, 20), FOLDED, {}),
}
