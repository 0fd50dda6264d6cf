"""Gradients bounded before an optimiser reads them: each element on its own, or all gradients by their common norm."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import Arrow, compose, identity, permute, tensor
from circuitize.circuits.types import Array

from .formats import Format
from .functions import clip, maximum, reciprocal_square_root, square
from .layers import Parameter
from .operands import named
from .optimizers import SCALAR, Optimizer, scaled
from .provenance import refused
from .tensor import Tensor
from .trace import trace


@dataclass(frozen=True)
class _Clipped(Optimizer):
    """An optimiser that is applied to clipped gradients. With clipped gradients the backward pass starts from
    2^scale_bits, and the clipped gradients are multiplied by 2^-scale_bits and by the number from which the optimiser
    alone would have started the backward pass.
    """

    optimizer: Optimizer
    bound: float
    scale_bits: int = 8

    def __post_init__(self) -> None:
        if not isinstance(self.optimizer, Optimizer):
            raise refused(
                f"{type(self).__name__}: expected an optimiser, found {named(self.optimizer)}; "
                f"write {type(self).__name__}(SGD(), bound)"
            )
        super().__post_init__()
        if self.bound <= 0:
            raise CircuitizeError(f"expected a positive bound, found {self.bound}; gradients are kept below it")

    @property
    def scalars(self) -> Mapping[str, Format]:
        return self.optimizer.scalars

    def values(self, t: int, learning_rate: Fraction | float) -> dict[str, float]:
        return self.optimizer.values(t, learning_rate)

    def state(self, parameter: Parameter) -> tuple[Parameter, ...]:
        return self.optimizer.state(parameter)

    def cotangent(self) -> Arrow:
        return scaled(self.scale_bits, len(self.scalars))

    def update(self, parameter: Parameter) -> Arrow:
        return self.optimizer.update(parameter)

    def together(self, parameters: Sequence[Array]) -> Arrow:
        def clipped(*tensors: Tensor) -> list[Tensor]:
            *gradients, seed = tensors
            return [gradient * (seed * 2.0**-self.scale_bits) for gradient in self.clipped(gradients)]

        scalars = [SCALAR] * len(self.scalars)
        seeded = tensor(identity(*parameters), self.optimizer.cotangent())
        made = compose(seeded, trace(clipped, *parameters, SCALAR))
        inner = self.optimizer.together(parameters)
        if inner is None:
            return made
        types = [*parameters, *scalars]
        kept = permute(types, [*range(len(types)), *range(len(parameters), len(types))])
        return compose(kept, tensor(made, identity(*scalars)), inner)

    @abstractmethod
    def clipped(self, gradients: Sequence[Tensor]) -> list[Tensor]:
        """Return the clipped gradients, which are 2^scale_bits times those of the loss, as they are passed on to the
        optimiser.
        """


@dataclass(frozen=True)
class ClippedByValue(_Clipped):
    """An optimiser with each element of each gradient clipped to [-bound, bound]."""

    def clipped(self, gradients: Sequence[Tensor]) -> list[Tensor]:
        limit = self.bound * 2.0**self.scale_bits
        return [clip(gradient, -limit, limit) for gradient in gradients]


@dataclass(frozen=True)
class ClippedByNorm(_Clipped):
    """An optimiser with all gradients multiplied by bound / norm if the norm of all their elements exceeds the bound.

    ClippedByNorm is from Pascanu et al., arXiv 1211.5063, algorithm 1. The factor of clipping by norm is bound /
    sqrt(max(sum of squares, bound^2)), so that it is defined everywhere.
    """

    def clipped(self, gradients: Sequence[Tensor]) -> list[Tensor]:
        limit = self.bound * 2.0**self.scale_bits
        total = square(gradients[0]).sum()
        for gradient in gradients[1:]:
            total = total + square(gradient).sum()
        factor = reciprocal_square_root(maximum(total, limit * limit)) * limit
        return [gradient * factor for gradient in gradients]
