"""Optimisers as arrows: from a parameter, its state, its gradient and scalars to the next parameter and state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from inspect import signature
from typing import Self

import numpy as np

from circuitize.circuits.hypergraph import Arrow, identity
from circuitize.circuits.types import Array

from .formats import LEARNING_RATE, Format, exact_rate
from .layers import Parameter, zeros
from .operands import named
from .provenance import refused
from .tensor import Tensor
from .trace import trace

SCALAR = Array(())

VELOCITY = Format.signed(24, 20)
"""The format of Momentum's velocity: 24 bits, 20 of them fraction."""


class Optimizer(ABC):
    """The contract of an optimiser, as `training_step` requires it.

    The scalars of an optimiser are inputs that are new for each step (so that a schedule changes no key); its state is
    kept for each parameter, and enters and leaves a step in the same format. The method `cotangent` of an optimiser
    decides from which number the backward pass starts: a learning rate put there multiplies the batch-sized gradient of
    the loss, so that the gradients of the parameters are already scaled when they are computed, and are not rounded
    before.
    """

    def __new__(cls, *given: object, **named: object) -> Self:
        """Raise TypingError for an argument that the optimiser does not have: most often a learning rate."""
        parameters = signature(cls.__init__).parameters
        known = [name for name in parameters if name != "self"]
        for name, value in named.items():
            if name not in known and all(p.kind is not p.VAR_KEYWORD for p in parameters.values()):
                rate = name in ("lr", "learning_rate", "rate")
                remedy = _rate_of_steps(cls, "learning_rate", value) if rate else "leave it out"
                raise refused(f"{cls.__name__}: expected arguments among {known}, found {name}={value!r}; {remedy}")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        """Raise TypingError if an argument of an optimiser that must be a format is something else, most often a
        learning rate.
        """
        for field in fields(self):  # type: ignore[arg-type]  # optimisers are dataclasses
            value = getattr(self, field.name)
            if field.type in ("Format", Format) and not isinstance(value, Format):
                rate = isinstance(value, (int, float, Fraction)) and field.name in self.scalars
                remedy = (
                    _rate_of_steps(type(self), field.name, value)
                    if rate
                    else "write Format.signed(bits, fraction_bits=...)"
                )
                raise refused(
                    f"{type(self).__name__}: expected a Format for {field.name}, found {named(value)}; {remedy}"
                )

    @property
    def scalars(self) -> Mapping[str, Format]:
        """Return the formats of an optimiser's scalars, which are new for each step, by name, in the order of the
        arrows' inputs.
        """
        return {}

    def values(self, t: int, learning_rate: Fraction | float) -> dict[str, float]:
        """Return an optimiser's scalars of step t = 1, 2, ..., computed in exact arithmetic and rounded once to their
        formats, half to even.

        Raise CircuitizeError if a scalar of the optimiser is outside its format.
        """
        return {name: format.rounded(exact_rate(learning_rate), name) for name, format in self.scalars.items()}

    def state(self, parameter: Parameter) -> tuple[Parameter, ...]:
        """Return the state that an optimiser keeps from step to step for one parameter; the state's names are prefixed
        with the parameter's.
        """
        return ()

    @abstractmethod
    def cotangent(self) -> Arrow:
        """Return the arrow from an optimiser's scalars to the loss's cotangent, a number."""

    def together(self, parameters: Sequence[Array]) -> Arrow | None:
        """Return the arrow from all gradients x scalars to all gradients, which is applied before the updates; None if
        gradients are not changed.
        """
        return None

    @abstractmethod
    def update(self, parameter: Parameter) -> Arrow:
        """Return the arrow of an optimiser from parameter x its state x its gradient x scalars to next parameter x next
        state.
        """


class RateOptimizer(Optimizer):
    """An optimiser whose only scalar is its learning rate."""

    learning_rate: Format

    @property
    def scalars(self) -> Mapping[str, Format]:
        return {"learning_rate": self.learning_rate}


def _rate_of_steps(optimizer: type, name: str, value: object) -> str:
    """Return the text of the remedy for a learning rate that is given to the optimiser, which says where a learning
    rate belongs instead.
    """
    return (
        f"write {optimizer.__name__}(): a learning rate is an input of every step: among its examples "
        f"(optimizer.values(t, {value!r})), with --scalar {name}={value}, or by --schedule"
    )


@dataclass(frozen=True)
class SGD(RateOptimizer):
    """Stochastic gradient descent: W' = W - learning_rate * (dL/dW + weight_decay * W).

    The learning rate is a scalar input that multiplies the gradient of the loss.
    """

    learning_rate: Format = LEARNING_RATE
    weight_decay: float = 0.0

    def cotangent(self) -> Arrow:
        return identity(SCALAR)

    def update(self, parameter: Parameter) -> Arrow:
        def descend(weight: Tensor, gradient: Tensor, rate: Tensor) -> Tensor:
            return weight - decayed(weight, gradient, rate, self.weight_decay)

        return trace(descend, parameter.type, parameter.type, SCALAR)


@dataclass(frozen=True)
class Momentum(RateOptimizer):
    """Gradient descent with momentum: V' = decay * V + learning_rate * (dL/dW + weight_decay * W) and W' = W - V'.

    Momentum is from Sutskever et al., "On the importance of initialization and momentum in deep learning", 2013,
    equations 1 and 2. The velocity of Momentum keeps more fraction bits than the weight, so that small gradients add up
    in it.
    """

    decay: float = 0.9
    learning_rate: Format = LEARNING_RATE
    velocity: Format = VELOCITY
    weight_decay: float = 0.0

    def state(self, parameter: Parameter) -> tuple[Parameter, ...]:
        return (Parameter("velocity", parameter.shape, zeros, self.velocity),)

    def cotangent(self) -> Arrow:
        return identity(SCALAR)

    def update(self, parameter: Parameter) -> Arrow:
        def descend(weight: Tensor, velocity: Tensor, gradient: Tensor, rate: Tensor) -> tuple[Tensor, Tensor]:
            faster = velocity * self.decay + decayed(weight, gradient, rate, self.weight_decay)
            return weight - faster, faster

        return trace(descend, parameter.type, parameter.type, parameter.type, SCALAR)


def decayed(weight: Tensor, gradient: Tensor, rate: Tensor, weight_decay: float) -> Tensor:
    """Return gradient + rate * weight_decay * weight: if `gradient` is rate times the loss's gradient, the result is
    rate times the gradient of the loss plus weight_decay / 2 times the sum of all squared weights.
    """
    return gradient + weight * rate * weight_decay if weight_decay else gradient


def scaled(bits: int, scalars: int) -> Arrow:
    """Return the arrow from `scalars` scalars to 2^bits, from which the backward pass starts."""

    def scale(first: Tensor, *rest: Tensor) -> Tensor:
        return first.constant(np.float64(2.0**bits))

    return trace(scale, *[SCALAR] * scalars)
