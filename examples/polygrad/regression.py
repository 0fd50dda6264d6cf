"""A Model of polygrad 0.7.1 that fits y = 3x + 2, and a step of its training with circuitize's derivative.

    circuitize prove examples/polygrad/regression.py:step --prover tensor --not-zero-knowledge -o proof

POLY_DEV=INTERP lets polygrad compute without a compiler; the example needs circuitize[polygrad].
"""

from typing import Any

import numpy as np
from polygrad import Model, Tensor

import circuitize as cz
from circuitize.frontends.uops import polygrad_model

NUMBERS = cz.Format.between(-16.0, 16.0, 8)
DATA: dict[str, Any] = {"x": np.arange(-2, 3, dtype=np.float32), "y": np.arange(-4, 11, 3, dtype=np.float32)}


class Linear:
    def __init__(self) -> None:
        self.a, self.b = Tensor([0.0]), Tensor([0.0])

    def __call__(self, x: Any) -> Any:
        return self.a * x + self.b


def predict() -> cz.Program:
    """Return the program of the model that polygrad has fitted: a, b and x -> prediction."""
    line = Linear()
    model = Model(
        lambda x: {"prediction": line(x)},
        inputs={"x": Tensor.empty(5)},
        targets={"y": Tensor.empty(5)},
        loss=lambda outputs, y: (outputs["prediction"] - y).square().mean(),
        params={"a": line.a, "b": line.b},
    )
    model.fit(DATA, epochs=50, optimizer="sgd", lr=0.1)
    return cz.from_polygrad(model).program({"x": NUMBERS}, examples=[{"x": DATA["x"]}])


def step() -> cz.Program:
    """Return one training step by SGD from the starting values: a, b, inputs, targets and learning_rate -> a, b and the
    loss.
    """
    model = polygrad_model(Linear(), DATA["x"])
    example = {**model.initial(0), "inputs": DATA["x"], "targets": DATA["y"], "learning_rate": np.float64(0.125)}
    return cz.training_step(
        model, cz.mean_squared_error, cz.SGD(), batch=5, inputs=NUMBERS, targets=NUMBERS, examples=[example]
    )
