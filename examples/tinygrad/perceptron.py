"""A network and its training step written in tinygrad 0.14.0 and imported from tinygrad; the example needs
circuitize[tinygrad].

    circuitize prove examples/tinygrad/perceptron.py:step --prover tensor --not-zero-knowledge -o proof

DEV=PYTHON lets tinygrad compute without a compiler.
"""

from typing import Any

import numpy as np
from tinygrad import Context, Tensor, TinyJit, nn

import circuitize as cz

BATCH, LEARNING_RATE = 4, 2.0**-5
PIXELS = cz.Format.between(-4.0, 4.0, 8)
CLASSES = cz.Format.between(0.0, 2.0, 0)


class Network:
    def __init__(self) -> None:
        self.l1, self.l2 = nn.Linear(8, 16), nn.Linear(16, 3)

    def __call__(self, x: Any) -> Any:
        return self.l2(self.l1(x).relu())


Tensor.manual_seed(0)
model = Network()
optimizer = nn.optim.SGD(nn.state.get_parameters(model), lr=LEARNING_RATE)


def training(x: Any, y: Any) -> Any:
    with Context(TRAINING=1):
        optimizer.zero_grad()
        loss = model(x).sparse_categorical_crossentropy(y)
        loss.backward()
        return loss.realize(*optimizer.schedule_step())


train = TinyJit(training)


def batch() -> dict[str, Any]:
    generator = np.random.default_rng(0)
    x = np.round(generator.normal(0.0, 1.0, (BATCH, 8)) * 256) / 256
    return {"x": x.astype(np.float32), "y": np.argmax(x[:, :3], 1).astype(np.int32)}


def step() -> cz.Program:
    """Return tinygrad's own training step: parameters, x and y -> new parameters, and the loss as `output`."""
    example = batch()
    taken = cz.from_tinygrad(train, *example.values(), state=[model, optimizer])
    return taken.program({"x": PIXELS, "y": CLASSES}, examples=[example])


def predict() -> cz.Program:
    """Return a program from parameters and x to logits, as `output`."""
    example = {"x": batch()["x"]}
    return cz.from_tinygrad(model, *example.values()).program({"x": PIXELS}, examples=[example])
