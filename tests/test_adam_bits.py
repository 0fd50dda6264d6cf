"""Adam with 16 fraction bits everywhere trains the digits network as Adam in floating point does."""

from __future__ import annotations

from typing import Any

import numpy as np

from circuitize.circuits.lowering import Precision
from circuitize.circuits.program import Role, to_reals
from circuitize.circuits.quantize import quantize
from circuitize.frontends import training
from circuitize.frontends.adam import Adam
from circuitize.frontends.datasets import Recipe, accuracy, digits
from circuitize.frontends.formats import Format
from circuitize.frontends.layers import dense, relu, sequential, zeros
from circuitize.frontends.losses import cross_entropy
from circuitize.sims import integer, real

WEIGHTS = Format.signed(20, 16)
MODEL = sequential(dense(64, 32, format=WEIGHTS), relu(), dense(32, 10, format=WEIGHTS, initializer=zeros))
ADAM = Adam(first=Format.signed(30, 16), second=Format.between(0.0, 2.0**24 - 2.0**-16, 16))
"""The moments are those of gradients times 2^12, so their 16 fraction bits are 28 of the gradient, 40 of its square."""
PRECISION = Precision(fraction_bits=16, significant_bits=16, margin=8.0)
RECIPE = Recipe(batch=16, epochs=6, learning_rate=0.004, optimizer=ADAM)


def reached(values: dict[str, Any], split: Any) -> float:
    predict = training.predict(MODEL, len(split.test_labels))
    held = {p.name: values[p.name] for p in MODEL.parameters}
    return accuracy(real.run(predict, held | {"inputs": split.test_inputs})["outputs"], split.test_labels)


def test_adam_at_sixteen_bits_is_within_a_point_of_float_adam() -> None:
    """On each of three splits."""
    program = training.training_step(MODEL, cross_entropy, ADAM, 16, precision=PRECISION)
    begin = training.start(program, MODEL, seed=0)
    program = training.with_examples(program, *real.record(program, begin, RECIPE.batches(digits(0)), count=16))
    integers = quantize(program)
    formats = {port.name: port.format for port in integers.outputs if port.format is not None}
    kept = [port for port in integers.outputs if port.role in (Role.PARAMETER, Role.OPTIMIZER)]
    assert len(kept) == 12 and all(formats[port.name].fraction_bits == 16 for port in kept)
    for seed in range(3):
        split = digits(seed)
        *_, floats = real.train(program, begin, RECIPE.batches(split))
        *_, exact = integer.train(integers, begin, RECIPE.batches(split))
        found = {name: to_reals(format, exact[name]) for name, format in formats.items()}
        expected = reached(floats, split)
        assert expected >= 0.9 and abs(reached(found, split) - expected) <= 0.01
        assert np.abs(found["dense2.bias"] - floats["dense2.bias"]).max() < 0.01
