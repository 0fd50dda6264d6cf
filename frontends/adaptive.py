"""RMSprop, Lion and LAMB: optimisers that adapt the length of each step to the gradients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from circuitize.circuits.hypergraph import Arrow

from .adam import FIRST_MOMENT, SECOND_MOMENT, Adam
from .formats import LEARNING_RATE, Format, exact_rate
from .functions import maximum, reciprocal_square_root, relu, sign, square, square_root, where
from .layers import Parameter, zeros
from .optimizers import SCALAR, RateOptimizer, scaled
from .tensor import Tensor
from .trace import trace

FAIRNESS = Format.between(0.0, 16.0, 16)
"""The format of the bias correction 1 / (1 - beta1^t)."""


@dataclass(frozen=True)
class RMSprop(RateOptimizer):
    """The optimiser RMSprop: v' = decay * v + (1 - decay) * g^2 and W' = W - learning_rate * g / (sqrt(v') + epsilon).

    RMSprop is from Tieleman and Hinton, "Lecture 6.5: rmsprop", 2012. RMSprop's gradients are scaled by 2^scale_bits,
    as in `Adam`.
    """

    decay: float = 1 - 2.0**-4
    epsilon: float = 2.0**-14
    scale_bits: int = 12
    learning_rate: Format = LEARNING_RATE
    second: Format = SECOND_MOMENT

    def state(self, parameter: Parameter) -> tuple[Parameter, ...]:
        return (Parameter("second_moment", parameter.shape, zeros, self.second),)

    def cotangent(self) -> Arrow:
        return scaled(self.scale_bits, 1)

    def update(self, parameter: Parameter) -> Arrow:
        def descend(weight: Tensor, second: Tensor, gradient: Tensor, rate: Tensor) -> tuple[Tensor, Tensor]:
            spread = relu(second * self.decay + square(gradient) * (1 - self.decay))
            root = square_root(spread) + self.epsilon * 2.0**self.scale_bits
            return weight - gradient / root * rate, spread

        return trace(descend, *[parameter.type] * 3, SCALAR)


@dataclass(frozen=True)
class Lion(RateOptimizer):
    """The optimiser Lion: W' = W - learning_rate * (sign(beta1 * m + (1 - beta1) * g) + weight_decay * W); m' = beta2
    m + (1 - beta2) g.

    Lion is from Chen et al., arXiv 2302.06675, algorithm 2. Lion keeps one value of state per weight, and computes no
    square, root or division. Lion's gradients are scaled by 2^scale_bits, which changes the sign of none.
    """

    beta1: float = 1 - 2.0**-3
    beta2: float = 1 - 2.0**-7
    weight_decay: float = 0.0
    scale_bits: int = 12
    learning_rate: Format = LEARNING_RATE
    first: Format = FIRST_MOMENT

    def state(self, parameter: Parameter) -> tuple[Parameter, ...]:
        return (Parameter("first_moment", parameter.shape, zeros, self.first),)

    def cotangent(self) -> Arrow:
        return scaled(self.scale_bits, 1)

    def update(self, parameter: Parameter) -> Arrow:
        def descend(weight: Tensor, mean: Tensor, gradient: Tensor, rate: Tensor) -> tuple[Tensor, Tensor]:
            direction = sign(mean * self.beta1 + gradient * (1 - self.beta1))
            if self.weight_decay:
                direction = direction + weight * self.weight_decay
            return weight - direction * rate, mean * self.beta2 + gradient * (1 - self.beta2)

        return trace(descend, *[parameter.type] * 3, SCALAR)


@dataclass(frozen=True)
class LAMB(Adam):
    """The optimiser LAMB: Adam's direction r, with weight decay, scaled to the length of the parameter: W' = W -
    learning_rate * |W| / |r| * r.

    LAMB's direction is r = m' / (1 - beta1^t) / (sqrt(v' / (1 - beta2^t)) + epsilon) + weight_decay * W. LAMB is from
    You et al., arXiv 1904.00962, algorithm 2. In LAMB, if W is 0, or the sum of squares of r is below 2^-8, the ratio
    |W| / |r| is 1. LAMB's input `fairness` is 1 / (1 - beta1^t).
    """

    weight_decay: float = 2.0**-7
    learning_rate: Format = LEARNING_RATE
    fairness: Format = FAIRNESS

    @property
    def scalars(self) -> Mapping[str, Format]:
        return {"learning_rate": self.learning_rate, "fairness": self.fairness, "correction": self.correction}

    def values(self, t: int, learning_rate: Fraction | float) -> dict[str, float]:
        return {
            "learning_rate": self.learning_rate.rounded(exact_rate(learning_rate), "learning_rate"),
            "fairness": self.fairness.rounded(1 / (1 - Fraction(self.beta1) ** t), "fairness"),
            "correction": self.correction.rounded(1 / (1 - Fraction(self.beta2) ** t), "correction"),
        }

    def update(self, parameter: Parameter) -> Arrow:
        def descend(
            weight: Tensor,
            first: Tensor,
            second: Tensor,
            gradient: Tensor,
            rate: Tensor,
            fairness: Tensor,
            correction: Tensor,
        ) -> tuple[Tensor, Tensor, Tensor]:
            step, mean, spread = self.step(first, second, gradient, fairness, correction)
            direction = step + weight * self.weight_decay
            size, length = square(weight).sum(), square(direction).sum()
            ratio = square_root(size) * reciprocal_square_root(maximum(length, 2.0**-8))
            trusted = where((size > 0.0) * (length > 2.0**-8), ratio, 1.0)
            return weight - direction * (trusted * rate), mean, spread

        return trace(descend, *[parameter.type] * 4, *[SCALAR] * 3)
