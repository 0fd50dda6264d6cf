"""Adam and AdamW in integers: the moments have formats that differ from the weights', and bias corrections are exact
public inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import Arrow

from .formats import Format, exact_rate
from .functions import relu, square, square_root
from .layers import Parameter, zeros
from .optimizers import SCALAR, Optimizer, scaled
from .tensor import Tensor
from .trace import trace

STEP_SIZE = Format.between(0.0, 1.0, 24)
"""The format of Adam's step size learning_rate / (1 - beta1^t), and of AdamW's learning_rate * weight_decay."""

CORRECTION = Format.between(0.0, 1024.0, 12)
"""The format of the bias correction 1 / (1 - beta2^t)."""

FIRST_MOMENT = Format.signed(26, 12)
"""The format of Adam's first moment, of gradients times 2^12: it holds 24 fraction bits of a gradient, and gradients
below 2 in magnitude.
"""

SECOND_MOMENT = Format.between(0.0, 2.0**24 - 2.0**-12, 12)
"""The format of the second moment, of squares of gradients times 2^12: 36 fraction bits of the square, squares below 1.
"""


@dataclass(frozen=True)
class Adam(Optimizer):
    """The optimiser Adam: Kingma and Ba, arXiv 1412.6980, algorithm 1.

    Adam's step is m' = beta1 * m + (1 - beta1) * g, v' = beta2 * v + (1 - beta2) * g^2, and W' = W - m' * step_size /
    (sqrt(v' * correction) + epsilon), where step_size = learning_rate / (1 - beta1^t) and correction = 1 / (1 -
    beta2^t) are inputs of step t = 1, 2, ...: `values(t, learning_rate)`.

    With Adam, the backward pass starts from 2^scale_bits instead of 1, and epsilon is scaled by the same factor. The
    scale of Adam's backward pass leaves W' unchanged, but the moments m and v are those of the scaled gradient, so that
    squares of small gradients keep fraction bits: as stored, m is 2^scale_bits times and v is 4^scale_bits times the
    textbook's. Values of Adam's betas that are short dyadic numbers are exact; a moment v of less than 2^-13 / (1 -
    beta2), as stored, no longer decays.
    """

    beta1: float = 1 - 2.0**-3
    beta2: float = 1 - 2.0**-10
    epsilon: float = 2.0**-14
    scale_bits: int = 12
    step_size: Format = STEP_SIZE
    correction: Format = CORRECTION
    first: Format = FIRST_MOMENT
    second: Format = SECOND_MOMENT

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, beta in (("beta1", self.beta1), ("beta2", self.beta2)):
            if not 0 <= beta < 1:
                raise CircuitizeError(f"expected 0 <= {name} < 1, found {beta}; 1 - 2^-k is exact")
        if self.epsilon <= 0:
            raise CircuitizeError(f"expected a positive epsilon, found {self.epsilon}; it keeps the divisor off 0")

    @property
    def scalars(self) -> Mapping[str, Format]:
        return {"step_size": self.step_size, "correction": self.correction}

    def values(self, t: int, learning_rate: Fraction | float) -> dict[str, float]:
        exact = exact_rate(learning_rate)
        return {
            "step_size": self.step_size.rounded(exact / (1 - Fraction(self.beta1) ** t), "step_size"),
            "correction": self.correction.rounded(1 / (1 - Fraction(self.beta2) ** t), "correction"),
        }

    def state(self, parameter: Parameter) -> tuple[Parameter, ...]:
        return (
            Parameter("first_moment", parameter.shape, zeros, self.first),
            Parameter("second_moment", parameter.shape, zeros, self.second),
        )

    def cotangent(self) -> Arrow:
        return scaled(self.scale_bits, len(self.scalars))

    def update(self, parameter: Parameter) -> Arrow:
        def descend(
            weight: Tensor, first: Tensor, second: Tensor, gradient: Tensor, step_size: Tensor, correction: Tensor
        ) -> tuple[Tensor, Tensor, Tensor]:
            step, mean, spread = self.step(first, second, gradient, step_size, correction)
            return weight - step, mean, spread

        return trace(descend, *[parameter.type] * 4, SCALAR, SCALAR)

    def step(
        self, first: Tensor, second: Tensor, gradient: Tensor, step_size: Tensor, correction: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the change that Adam subtracts from a weight, and both new moments, computed from the gradient of the
        scaled loss.
        """
        mean = first * self.beta1 + gradient * (1 - self.beta1)
        # Never negative; the rectifier says so to the types, which cannot see that a square is none.
        spread = relu(second * self.beta2 + square(gradient) * (1 - self.beta2))
        root = square_root(spread * correction) + self.epsilon * 2.0**self.scale_bits
        return mean / root * step_size, mean, spread


@dataclass(frozen=True)
class AdamW(Adam):
    """Adam with decoupled weight decay: W' = W - decay * W - (Adam's step), where decay = learning_rate * weight_decay.

    AdamW is from Loshchilov and Hutter, arXiv 1711.05101, algorithm 2. With AdamW, weights need enough fraction bits
    for the decay: a decay of less than half a unit of the weight's last bit is lost.
    """

    weight_decay: float = 2.0**-7

    @property
    def scalars(self) -> Mapping[str, Format]:
        return {**super().scalars, "decay": self.step_size}

    def values(self, t: int, learning_rate: Fraction | float) -> dict[str, float]:
        decay = self.step_size.rounded(exact_rate(learning_rate) * Fraction(self.weight_decay), "the decay")
        return {**super().values(t, learning_rate), "decay": decay}

    def update(self, parameter: Parameter) -> Arrow:
        def descend(
            weight: Tensor,
            first: Tensor,
            second: Tensor,
            gradient: Tensor,
            step_size: Tensor,
            correction: Tensor,
            decay: Tensor,
        ) -> tuple[Tensor, Tensor, Tensor]:
            step, mean, spread = self.step(first, second, gradient, step_size, correction)
            return weight - decay * weight - step, mean, spread

        return trace(descend, *[parameter.type] * 4, SCALAR, SCALAR, SCALAR)
