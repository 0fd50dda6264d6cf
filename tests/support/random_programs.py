"""Random programs over the real operations, runnable in three ways: traced to an arrow, in numpy, and in JAX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.types import Shape
from circuitize.frontends import functions
from circuitize.frontends.trace import trace

Reals = NDArray[np.float64]
Call = Callable[..., Any]


class Traced:
    """The vocabulary on tensors under trace."""

    relu = staticmethod(functions.relu)
    exp = staticmethod(functions.exp)
    reciprocal = staticmethod(functions.reciprocal)
    square = staticmethod(functions.square)
    softmax = staticmethod(functions.softmax)
    where = staticmethod(lambda x, y, a, b: functions.where(x > y, a, b))
    einsum = staticmethod(functions.einsum)
    concatenate = staticmethod(functions.concatenate)
    argmax_one_hot = staticmethod(functions.argmax_one_hot)
    sum = staticmethod(lambda x, axes: x.sum(axes))
    mean = staticmethod(lambda x, axis: x.mean(axis))
    max = staticmethod(lambda x, axis: x.max(axis))
    reshape = staticmethod(lambda x, shape: x.reshape(*shape))
    transpose = staticmethod(lambda x, axes: x.transpose(*axes))
    broadcast = staticmethod(lambda x, shape: x.broadcast(shape))


class Numeric:
    """The same vocabulary on the arrays of a numpy-like module: numpy itself, or jax.numpy."""

    def __init__(self, module: Any) -> None:
        self.exp, self.square, self.einsum = module.exp, module.square, module.einsum
        self.concatenate, self.sum, self.mean, self.max = module.concatenate, module.sum, module.mean, module.max
        self.reshape, self.transpose, self.broadcast = module.reshape, module.transpose, module.broadcast_to
        self.module = module

    def relu(self, x: Any) -> Any:
        return self.module.where(x > 0, x, 0.0)

    def reciprocal(self, x: Any) -> Any:
        return 1.0 / x

    def softmax(self, x: Any) -> Any:
        shifted = self.module.exp(x - self.module.max(x, axis=-1, keepdims=True))
        return shifted / self.module.sum(shifted, axis=-1, keepdims=True)

    def where(self, x: Any, y: Any, a: Any, b: Any) -> Any:
        return self.module.where(x > y, a, b)

    def argmax_one_hot(self, x: Any) -> Any:
        return self.module.eye(x.shape[-1])[self.module.argmax(x, axis=-1)]


@dataclass(frozen=True)
class Step:
    """One call: `call(vocabulary, *the values at the given positions)`."""

    word: str
    positions: tuple[int, ...]
    call: Call


@dataclass(frozen=True)
class RandomProgram:
    """Input shapes, steps that each add one value, and the positions of the values returned."""

    inputs: tuple[Shape, ...]
    steps: tuple[Step, ...]
    outputs: tuple[int, ...]

    def run(self, vocabulary: Any, *values: Any) -> list[Any]:
        held = list(values)
        for step in self.steps:
            held.append(step.call(vocabulary, *[held[position] for position in step.positions]))
        return [held[position] for position in self.outputs]

    def arrow(self) -> Arrow:
        return trace(lambda *tensors: self.run(Traced, *tensors), *self.inputs)

    def __call__(self, *values: Reals) -> list[Reals]:
        return [np.asarray(value, np.float64) for value in self.run(Numeric(np), *values)]


SMOOTH = [
    "add",
    "subtract",
    "negate",
    "scale",
    "multiply",
    "divide",
    "exp",
    "square",
    "softmax",
    "sum",
    "mean",
    "reshape",
    "transpose",
    "broadcast",
    "slice",
    "einsum",
    "matmul",
    "concatenate",
]
"""Words whose meaning is differentiable everywhere."""

KINKED = [
    "relu",
    "max",
    "where",
    "greater",
    "argmax",
]
"""Words with kinks or jumps; `random_program` keeps its point away from them."""

MARGIN = 1e-3
"""How far from every kink the point stays, so that differences across 1e-6 see none."""


def random_program(
    seed: int, inputs: Sequence[Shape] | None = None, words: Sequence[str] = (*SMOOTH, *KINKED), length: int = 10
) -> tuple[RandomProgram, list[Reals]]:
    """A program and a point at which it is smooth, its values moderate; every input shape has at most three axes."""
    random = np.random.default_rng(seed)
    if inputs is None:
        inputs = [tuple(random.integers(1, 4, random.integers(0, 4)).tolist()) for _ in range(random.integers(1, 4))]
    point = [random.normal(size=shape) for shape in inputs]
    held: list[Any] = list(point)
    steps: list[Step] = []
    while len(steps) < length:
        step = _propose(random, [np.shape(value) for value in held], str(random.choice(list(words))))
        if step is None:
            continue
        operands = [held[position] for position in step.positions]
        if _near_a_kink(step.word, operands):
            continue
        value = np.asarray(step.call(Numeric(np), *operands), np.float64)
        if value.size <= 200 and np.abs(value).max() < 20:
            steps.append(step)
            held.append(value)
    count = min(int(random.integers(1, 4)), length)
    outputs = [len(held) - 1, *random.integers(0, len(held), count - 1).tolist()]
    return RandomProgram(tuple(inputs), tuple(steps), tuple(outputs)), point


def _near_a_kink(word: str, operands: list[Any]) -> bool:
    if word in ("relu", "where", "greater"):
        return bool(np.abs(operands[0] - (0 if word == "relu" else operands[1])).min() < MARGIN)
    if word in ("max", "argmax"):
        gaps = [np.diff(np.sort(operands[0], axis=axis), axis=axis) for axis in range(np.ndim(operands[0]))]
        return any(gap.size and gap.min() < MARGIN for gap in gaps)
    return False


def _propose(random: np.random.Generator, shapes: list[Shape], word: str) -> Step | None:
    """A step of this word on values picked at random, or None where none that was picked will do."""
    at = int(random.integers(0, len(shapes)))
    x = shapes[at]
    rank = len(x)
    alike = [i for i, shape in enumerate(shapes) if _broadcasts(shape, x)]
    other = int(random.choice(alike))
    factor = float(np.round(random.normal(), 3)) or 0.5
    axis = int(random.integers(0, rank)) if rank else 0
    unary: dict[str, Call] = {
        "negate": lambda v, a: -a,
        "scale": lambda v, a: factor * a,
        "exp": lambda v, a: v.exp(a * 0.25),
        "square": lambda v, a: v.square(a),
        "relu": lambda v, a: v.relu(a),
    }
    binary: dict[str, Call] = {
        "add": lambda v, a, b: a + b,
        "subtract": lambda v, a, b: a - b,
        "multiply": lambda v, a, b: a * b,
        "divide": lambda v, a, b: a * v.reciprocal(v.square(b) + 1.0),
        "greater": lambda v, a, b: (a > b) * 1.0,
        "where": lambda v, a, b: v.where(a, b, a * 2.0, b),
    }
    if word in unary:
        return Step(word, (at,), unary[word])
    if word in binary:
        return Step(word, (at, other), binary[word])
    if word == "broadcast":
        shape = (2, *x)
        return Step(word, (at,), lambda v, a: v.broadcast(a, shape)) if rank < 3 else None
    if word == "reshape":
        flat = (1, int(np.prod(x)))
        return Step(word, (at,), lambda v, a: v.reshape(a, flat))
    if not rank:
        return None
    if word == "sum":
        axes = tuple(sorted(random.choice(rank, int(random.integers(1, rank + 1)), replace=False).tolist()))
        return Step(word, (at,), lambda v, a: v.sum(a, axes))
    if word == "transpose":
        order = random.permutation(rank).tolist()
        return Step(word, (at,), lambda v, a: v.transpose(a, order) if v is not Traced else a.transpose(*order))
    if word == "slice":
        start = int(random.integers(0, x[axis]))
        stop = int(random.integers(start + 1, x[axis] + 1))
        index = (*[slice(None)] * axis, slice(start, stop))
        return Step(word, (at,), lambda v, a: a[index])
    along: dict[str, Call] = {
        "mean": lambda v, a: v.mean(a, axis),
        "max": lambda v, a: v.max(a, axis),
        "softmax": lambda v, a: v.softmax(a),
        "argmax": lambda v, a: v.argmax_one_hot(a) * a,
    }
    if word in along:
        return Step(word, (at,), along[word])
    if word == "concatenate":
        rest = x[:axis], x[axis + 1 :]
        fitting = [i for i, y in enumerate(shapes) if len(y) == rank and (y[:axis], y[axis + 1 :]) == rest]
        chosen = int(random.choice(fitting))
        return Step(word, (at, chosen), lambda v, a, b: v.concatenate([a, b], axis))
    letters = "abc"[:rank]
    partners = [i for i, y in enumerate(shapes) if y and y[0] == x[-1] and rank + len(y) <= 4]
    if word in ("einsum", "matmul") and partners:
        chosen = int(random.choice(partners))
        right = letters[-1] + "xyz"[: len(shapes[chosen]) - 1]
        kept = letters if word == "einsum" and random.random() < 0.5 else letters[:-1]
        equation = f"{letters},{right}->{kept}{right[1:]}"
        return Step(word, (at, chosen), lambda v, a, b: v.einsum(equation, a, b))
    return None


def _broadcasts(a: Shape, b: Shape) -> bool:
    try:
        return len(np.broadcast_shapes(a, b)) <= 3
    except ValueError:
        return False
