"""Activations built from other functions: leaky and capped rectifiers, hard gates, SiLU, softplus, ELU and mish."""

from __future__ import annotations

from circuitize.circuits import arrays

from .functions import clip, relu, sigmoid, tanh
from .tensor import Tensor


def leaky_relu(x: Tensor, slope: float = 0.01) -> Tensor:
    """Return the leaky rectifier: x where x > 0, else slope * x, computed with a single rectifier. The derivative of
    the leaky rectifier at 0 is its slope for negative numbers.
    """
    return x * slope + relu(x) * (1.0 - slope)


def relu6(x: Tensor) -> Tensor:
    """Return the activation relu6: x clipped to [0, 6]; the slope is 0 at both ends. `relu6` is from Howard et al.,
    arXiv 1704.04861.
    """
    return clip(x, 0.0, 6.0)


def hard_tanh(x: Tensor) -> Tensor:
    """Return the hard hyperbolic tangent: x clipped to [-1, 1]; the slope is 0 at both ends."""
    return clip(x, -1.0, 1.0)


def hard_sigmoid(x: Tensor) -> Tensor:
    """Return the hard sigmoid: x / 6 + 1 / 2 clipped to [0, 1], which is relu6(x + 3) / 6."""
    return relu6(x + 3.0) * (1.0 / 6.0)


def hard_swish(x: Tensor) -> Tensor:
    """Return the hard swish x * hard_sigmoid(x) of each element. The hard swish is from Howard et al., arXiv
    1905.02244.
    """
    return x * hard_sigmoid(x)


def silu(x: Tensor) -> Tensor:
    """Return the activation SiLU: x * sigmoid(x), also called swish; its derivative reads the same sigmoid. SiLU is
    from Elfwing et al., arXiv 1702.03118.
    """
    return x * sigmoid(x)


def softplus(x: Tensor) -> Tensor:
    """Return the softplus log(1 + e^x) of each element."""
    return x.apply(arrays.Softplus())


def elu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """Return the exponential linear unit: x where x > 0, else alpha * (e^x - 1)."""
    return x.apply(arrays.ELU(alpha))


def mish(x: Tensor) -> Tensor:
    """Return the mish x * tanh(softplus(x)) of each element. Mish is from Misra, arXiv 1908.08681."""
    return x * tanh(softplus(x))
