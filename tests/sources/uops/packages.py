"""tinygrad and polygrad by the names that they share, and networks written once for both."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from circuitize.frontends.imported import Imported
from circuitize.frontends.uops import from_polygrad, from_tinygrad
from circuitize.frontends.uops.objects import PolygradUOp, TinygradUOp
from circuitize.frontends.uops.polygrad import POLYGRAD
from circuitize.frontends.uops.system import System
from circuitize.frontends.uops.tinygrad import TINYGRAD


@dataclass(frozen=True)
class Package:
    name: str
    take: Callable[..., Imported]
    system: System[TinygradUOp] | System[PolygradUOp]

    def module(self, path: str = "") -> Any:
        return importlib.import_module(f"{self.name}.{path}" if path else self.name)

    @property
    def tensor(self) -> Any:
        return self.module().Tensor

    @property
    def nn(self) -> Any:
        return self.module("nn")

    @property
    def state(self) -> Any:
        return self.module("nn.state")

    def training(self) -> Any:
        return self.module().Context(TRAINING=1)


PACKAGES = {
    package.name: package
    for package in (Package("tinygrad", from_tinygrad, TINYGRAD), Package("polygrad", from_polygrad, POLYGRAD))
}


class Perceptron:
    def __init__(self, package: Package) -> None:
        self.l1, self.l2 = package.nn.Linear(4, 5), package.nn.Linear(5, 3)

    def __call__(self, x: Any) -> Any:
        return self.l2(self.l1(x).relu())


class Convolutional:
    """Convolution with padding, batch norm, max pooling, another convolution, a dense layer."""

    def __init__(self, package: Package) -> None:
        nn = package.nn
        self.c1, self.norm = nn.Conv2d(1, 3, 3, padding=1, bias=False), nn.BatchNorm(3)
        self.c2, self.out = nn.Conv2d(3, 4, 2), nn.Linear(16, 3)

    def __call__(self, x: Any) -> Any:
        x = self.norm(self.c1(x)).relu().max_pool2d((2, 2))
        return self.out(self.c2(x).relu().flatten(1))


class Block:
    """A block of a GPT: embeddings, layer norms, causal attention, GELU, and logits."""

    def __init__(self, package: Package, words: int = 7, length: int = 4, width: int = 8, heads: int = 2) -> None:
        nn = package.nn
        self.heads, self.length, self.tensor = heads, length, package.tensor
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attend, self.joined = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.last = nn.LayerNorm(width)
        self.out = nn.Linear(width, words, bias=False)

    def __call__(self, tokens: Any) -> Any:
        batch, length = tokens.shape
        x = self.words(tokens) + self.places(self.tensor.arange(length).reshape(1, length))
        q, k, v = (
            part.reshape(batch, length, self.heads, -1).transpose(1, 2)
            for part in self.attend(self.norm1(x)).chunk(3, -1)
        )
        scores = q @ k.transpose(-2, -1) * (1 / math.sqrt(q.shape[-1]))
        mask = self.tensor.ones(length, length).tril() == 0
        read = mask.where(-float("inf"), scores).softmax(-1) @ v
        x = x + self.joined(read.transpose(1, 2).reshape(batch, length, -1))
        x = x + self.narrow(self.wide(self.norm2(x)).gelu())
        return self.out(self.last(x))


MODELS: dict[str, tuple[Callable[[Package], Any], Callable[[np.random.Generator], tuple[Any, Any]]]] = {
    "mlp": (Perceptron, lambda g: (g.normal(0, 1, (2, 4)).astype(np.float32), np.array([0, 2], np.int32))),
    "cnn": (Convolutional, lambda g: (g.normal(0, 1, (2, 1, 6, 6)).astype(np.float32), np.array([2, 1], np.int32))),
    "gpt": (Block, lambda g: (g.integers(0, 7, (2, 4)).astype(np.int32), g.integers(0, 7, (2, 4)).astype(np.int32))),
}
"""Each network, and a batch for it."""


def loss_of(model: Any, x: Any, y: Any) -> Any:
    logits = model(x)
    return logits.reshape(-1, logits.shape[-1]).sparse_categorical_crossentropy(y.reshape(-1))


def step_of(package: Package, model: Any, optimizer: Any) -> Callable[[Any, Any], Any]:
    def step(x: Any, y: Any) -> Any:
        with package.training():
            optimizer.zero_grad()
            loss = loss_of(model, x, y)
            loss.backward()
            return loss.realize(*optimizer.schedule_step())

    return step
