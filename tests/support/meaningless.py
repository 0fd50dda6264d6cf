"""A theory whose operations mean nothing: boxes with any sources and targets, and random arrows made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from circuitize.circuits.builder import generator
from circuitize.circuits.hypergraph import Arrow, compose, identity, permute, tensor
from circuitize.circuits.operation import Operation, Values
from circuitize.circuits.types import Array, Type

TYPES = tuple(Array((extent,)) for extent in (1, 2, 3))


@dataclass(frozen=True)
class Box(Operation):
    """A box with a label; it runs as nothing."""

    label: int
    sources: tuple[Type, ...]
    targets: tuple[Type, ...]

    def target_types(self, *sources: Type) -> tuple[Type, ...]:
        assert sources == self.sources
        return self.targets

    def run(self, *values: Values) -> tuple[Values, ...]:
        raise AssertionError("boxes mean nothing")


Box.name = "meaningless.box"  # set here, not in the class: the registry of the two languages does not want it


class Terms:
    """A source of random arrows, reproducible from its seed."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def types(self, least: int = 0, most: int = 4) -> list[Type]:
        return [TYPES[i] for i in self.random.integers(0, len(TYPES), self.random.integers(least, most + 1))]

    def arrow(self, source: Sequence[Type] | None = None, stages: int = 4) -> Arrow:
        """An arrow in which every edge reaches an output: boxes between permutations and copies, and no discards."""
        types = list(self.types() if source is None else source)
        result = identity(*types)
        for _ in range(int(self.random.integers(0, stages + 1))):
            wiring = self.wiring(types)
            types = list(wiring.target)
            start = int(self.random.integers(0, len(types) + 1))
            stop = int(self.random.integers(start, min(len(types), start + 3) + 1))
            box = self.box(types[start:stop])
            layer = tensor(identity(*types[:start]), box, identity(*types[stop:]))
            result = compose(result, wiring, layer)
            types = list(layer.target)
        return result

    def box(self, source: Sequence[Type]) -> Arrow:
        """One box, one to three targets."""
        made = Box(int(self.random.integers(0, 3)), tuple(source), tuple(self.types(1, 3)))
        return generator(made, *source)

    def wiring(self, types: Sequence[Type], copies: int = 1) -> Arrow:
        """A permutation of the types, some copied."""
        choice = list(range(len(types)))
        if choice and len(choice) < 8:
            choice += self.random.choice(choice, int(self.random.integers(0, copies + 1))).tolist()
        return permute(types, self.random.permutation(choice).astype(int).tolist())
