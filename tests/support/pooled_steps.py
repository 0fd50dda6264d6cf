"""A small training step with max pooling, whose passes and derivatives are stages of elementwise operations."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from shared_memories import small_step

from circuitize.circuits.program import IntegerProgram
from circuitize.frontends.image_layers import conv2d, flatten, image, max_pool2d
from circuitize.frontends.layers import dense, relu, sequential

Integers = NDArray[np.int64]

MODEL = sequential(image(6, 6), conv2d(1, 2, size=3), max_pool2d(2), relu(), flatten(), dense(8, 2))
BATCH = 2


@cache
def step() -> tuple[IntegerProgram, dict[str, Integers]]:
    """The step on a batch of 2, and the weights that it starts from."""
    return small_step(MODEL, BATCH, 36)


def frames(count: int, seed: int) -> dict[str, Integers]:
    """Frames of which about one in four has a learning rate so large that a weight leaves its interval."""
    made, _ = step()
    draw, found = np.random.default_rng(seed), dict[str, Integers]()
    for port in made.inputs:
        if not port.held:
            shape = (count, *port.format.shape)
            values = draw.integers(0, 17, shape) / 16 if port.name == "inputs" else np.full(shape, 0.125)
            found[port.name] = np.rint(values * 2.0**port.format.fraction_bits).astype(np.int64)
            if port.name == "learning_rate":
                found[port.name][draw.random(count) < 0.25] = port.format.high
    return found
