"""Models in catgrad's own language: perceptrons, and a transformer with a softmax that brings its own derivative."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from circuitize.frontends.catgrad.installed import prepare

prepare()

import catgrad.core.operation as core  # noqa: E402
from catgrad.bidirectional.operation import (  # noqa: E402
    Compose,
    Lens,
    MatrixMultiply,
    NAdd,
    NCopy,
    Permute,
    Reshape,
    add,
    copy,
    exponentiate,
    increment,
    multiply,
    relu,
    scale,
    sigmoid,
    subtract,
)
from catgrad.combinators import identity, permutation  # noqa: E402
from catgrad.layers import dense  # noqa: E402
from catgrad.signature import Dtype, NdArrayType, obj, op  # noqa: E402
from catgrad.special.definition import Definition  # noqa: E402
from catgrad.special.parameter import parameter  # noqa: E402


def real(*shape: int) -> NdArrayType:
    return NdArrayType(shape, Dtype.float32)


def perceptron(batch: int, *widths: int) -> Any:
    """Dense layers, ReLU between them, a sigmoid at the end."""
    model = None
    for level, (inputs, outputs) in enumerate(pairwise(widths)):
        activation = sigmoid if level == len(widths) - 2 else relu
        layer = dense(real(batch), real(inputs), real(outputs), activation)
        model = layer if model is None else model >> layer
    return model


@dataclass(frozen=True)
class Softmax(Definition, Lens):
    """e^(x - max) / sum along the last axis: a definition in the core, where Max and Divide have no derivative."""

    N: NdArrayType
    T: NdArrayType

    def source(self) -> Any:
        return obj(self.N + self.T)

    def target(self) -> Any:
        return obj(self.N + self.T)

    def arrow(self) -> Any:
        whole = self.N + self.T
        spread = op(core.NCopy(self.N, self.T))
        two = op(core.Copy(whole))
        centred = two >> (identity(obj(whole)) @ (op(core.NMax(self.N, self.T)) >> spread)) >> op(core.Subtract(whole))
        power = centred >> core.exp1(whole)
        total = op(core.NAdd(self.N, self.T)) >> spread
        return power >> two >> (identity(obj(whole)) @ total) >> op(core.Divide(whole))

    def to_core(self) -> Any:
        return op(self)

    def fwd(self) -> Any:
        return op(self) >> copy(self.source())

    def rev(self) -> Any:
        """y * (dy - sum of y * dy), from y and dy."""
        whole = obj(self.N + self.T)
        along = op(NAdd(self.N, self.T)) >> op(NCopy(self.N, self.T))
        inner = identity(whole) @ (multiply(whole) >> along) @ identity(whole)
        centred = permutation(whole + whole + whole, [0, 2, 1]) >> (identity(whole) @ subtract(whole))
        return (copy(whole) @ copy(whole)) >> inner >> centred >> multiply(whole)


def linear(rows: NdArrayType, inputs: NdArrayType, outputs: NdArrayType) -> Any:
    return (identity(obj(rows + inputs)) @ parameter(obj(inputs + outputs))) >> op(Compose(rows, inputs, outputs))


def residual(whole: Any, inner: Any) -> Any:
    return copy(whole) >> (identity(whole) @ inner) >> add(whole)


def normalized(rows: NdArrayType, width: NdArrayType) -> Any:
    """x / sqrt(mean of x^2 + 2^-10), times a gain."""
    whole = obj(rows + width)
    mean = op(NAdd(rows, width)) >> scale(1 / width.shape[0])(obj(rows)) >> increment(2**-10)(obj(rows))
    inverse = copy(whole) >> multiply(whole) >> mean >> exponentiate(-0.5)(obj(rows)) >> op(NCopy(rows, width))
    gain = (parameter(whole) @ identity(whole)) >> multiply(whole)
    return copy(whole) >> (identity(whole) @ inverse) >> multiply(whole) >> gain


def attention(batch: int, length: int, heads: int, width: int) -> Any:
    each = width // heads
    rows, inner = real(batch, length), real(width)
    whole = obj(rows + inner)

    def split() -> Any:
        shape = real(batch, length, heads, each)
        return op(Reshape(rows + inner, shape)) >> op(Permute(shape, [0, 2, 1, 3]))

    query, key, value = (linear(rows, inner, inner) >> split() for _ in range(3))
    turned = key >> op(Permute(real(batch, heads, length, each), [0, 1, 3, 2]))
    apart = real(batch, heads)
    scores = op(MatrixMultiply(apart, real(length), real(each), real(length)))
    weights = scores >> scale(each**-0.5)(scores.target) >> op(Softmax(apart + real(length), real(length)))
    mixed = op(MatrixMultiply(apart, real(length), real(length), real(each)))
    shape = real(batch, heads, length, each)
    joined = op(Permute(shape, [0, 2, 1, 3])) >> op(Reshape(real(batch, length, heads, each), rows + inner))
    both = (query @ turned) >> weights
    three = copy(whole) >> (identity(whole) @ copy(whole)) >> (both @ value)
    return three >> mixed >> joined >> linear(rows, inner, inner)


def transformer(blocks: int, batch: int, length: int, heads: int, width: int, words: int) -> Any:
    """Words as indicators [batch, length, words] -> scores of the next word; positions are a parameter."""
    rows, inner, wide = real(batch, length), real(width), real(4 * width)
    whole = obj(rows + inner)
    model = linear(rows, real(words), inner) >> (identity(whole) @ parameter(whole)) >> add(whole)
    for _ in range(blocks):
        model = model >> residual(whole, normalized(rows, inner) >> attention(batch, length, heads, width))
        hidden = linear(rows, inner, wide) >> relu(obj(rows + wide)) >> linear(rows, wide, inner)
        model = model >> residual(whole, normalized(rows, inner) >> hidden)
    return model >> normalized(rows, inner) >> linear(rows, inner, real(words))
