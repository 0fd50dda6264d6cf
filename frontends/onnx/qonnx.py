"""QONNX's operators, which quantize numbers to any width, as the ONNX node says, and return them as real numbers.

QONNX is described in Pappalardo et al., arXiv 2206.07527; the package is qonnx 1.0.
"""

from __future__ import annotations

import math
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits import arrays
from circuitize.frontends.formats import Format
from circuitize.frontends.functions import exact, quantized, rescaled
from circuitize.frontends.tensor import Tensor

from .node import Node, constant, operator

RULES = MappingProxyType(
    {
        "ROUND": "half even",
        "HALF_EVEN": "half even",
        "CEIL": "ceil",
        "FLOOR": "floor",
        "UP": "away",
        "DOWN": "zero",
        "ROUND_TO_ZERO": "zero",
        "HALF_UP": "half away",
        "HALF_DOWN": "half zero",
    }
)
"""The names of QONNX's rules: its "up" is away from zero, and its "down" toward zero."""
MOST_BITS = 60
Reals = NDArray[np.float64]


@operator("Quant", "IntQuant", folds=False)
def _quant(node: Node) -> Tensor:
    """Return the result of Quant: (x / scale + zero), rounded and saturated, less zero, times scale; a signed single
    bit is -1 or 1.
    """
    scale, zero = _known(node, 1, "the scale"), _known(node, 2, "the zero point")
    bits, signed = _bits(node, 3), node.flag("signed", 1)
    rule, format = _rule(node, "ROUND"), _format(node, bits, signed)
    if bits == 1 and signed:
        whole = _bipolar(node, _shifted(node, scale, zero))
    else:
        whole = _rounded(node, _shifted(node, scale, zero), format, rule)
    return rescaled(_plus(whole, -zero), scale)


@operator("BipolarQuant", folds=False)
def _bipolar_quant(node: Node) -> Tensor:
    """Return the result of BipolarQuant: scale where x is at least 0, else -scale. The derivative of BipolarQuant is
    zero.
    """
    return rescaled(_bipolar(node, _content(node)), _known(node, 1, "the scale"))


@operator("Trunc", folds=False)
def _truncated(node: Node) -> Tensor:
    """Return the result of Trunc, which removes the last bits of whole numbers: (x / scale + zero) over a power of two,
    rounded, less zero, times scale.

    From version 2 of Trunc on, the scale of the result determines how many bits are removed, and the result saturates.
    """
    scale, zero, before = _known(node, 1, "the scale"), _known(node, 2, "the zero point"), _bits(node, 3)
    rule, widest = _rule(node, "FLOOR"), Format.signed(MOST_BITS, 0)
    if node.version < 2:
        dropped, after, format = before - _bits(node, 4), scale, widest
        shifted = zero
    else:
        after = _known(node, 4, "the scale of the result")
        format = _format(node, _bits(node, 5), node.flag("signed", 1))
        steps = np.rint(np.log2(after / scale))
        if (steps != steps.flat[0]).any():
            raise node.fault("expected scales whose quotient is the same everywhere, found others; split the tensor")
        dropped = int(steps.flat[0])
        shifted = zero * 2.0**-dropped
    whole = quantized(_tensor(node, _shifted(node, scale, zero)), widest)
    fewer = quantized(rescaled(whole, 2.0**-dropped), format, rule)
    return rescaled(_plus(fewer, -shifted), after)


def _known(node: Node, index: int, what: str) -> Reals:
    """Return a known input of finite numbers of a QONNX node; raise an error for a scale that is not above 0."""
    found = np.asarray(node.known(index, what), np.float64)
    if not found.size or not np.isfinite(found).all() or ("scale" in what and (found <= 0).any()):
        wanted = "above 0" if "scale" in what else "that are finite"
        raise node.fault(f"expected numbers {wanted} as {what}, found others; correct the model")
    return found.reshape(()) if found.size == 1 else found


def _bits(node: Node, index: int) -> int:
    found = float(node.scalar(index, "the bit width"))
    if not (math.isfinite(found) and found == int(found) and 1 <= found <= MOST_BITS):
        raise node.fault(f"expected a width of 1 to {MOST_BITS} bits, found {found:g}; correct the model")
    return int(found)


def _rule(node: Node, default: str) -> str:
    found = str(node.attribute("rounding_mode", default)).upper()
    if found not in RULES:
        raise node.fault(f"expected rounding_mode among {list(RULES)}, found {found!r}; choose one of these")
    return RULES[found]


def _format(node: Node, bits: int, signed: bool) -> Format:
    narrow = node.flag("narrow", 0)
    if signed:
        return Format(0, -(1 << bits - 1) + narrow, (1 << bits - 1) - 1)
    return Format(0, 0, (1 << bits) - 1 - narrow)


def _content(node: Node) -> Tensor | Reals:
    content = node.value(0).content
    return content if isinstance(content, Tensor) else np.asarray(content, np.float64)


def _shifted(node: Node, scale: Reals, zero: Reals) -> Tensor | Reals:
    """Return x / scale + zero; if x is known, the result is computed in float64."""
    x = _content(node)
    return _plus(rescaled(x, scale, divides=True), zero) if isinstance(x, Tensor) else x / scale + zero


def _plus(x: Tensor, zero: Reals) -> Tensor:
    return exact(x + zero) if zero.any() else x


def _tensor(node: Node, x: Tensor | Reals) -> Tensor:
    return x if isinstance(x, Tensor) else constant(node.builder, x)


def _rounded(node: Node, x: Tensor | Reals, format: Format, rule: str) -> Tensor:
    """Return x rounded and saturated; a known x is rounded when the ONNX graph is read, so that the rounding of the
    scale's coefficient does not affect the result.
    """
    if isinstance(x, Tensor):
        return quantized(x, format, rule)
    (whole,) = arrays.Quantize(0, format.low, format.high, rule).run(x)
    return constant(node.builder, whole)


def _bipolar(node: Node, x: Tensor | Reals) -> Tensor:
    """Return 1 where x is at least 0, else -1."""
    if isinstance(x, Tensor):
        return 1.0 - 2.0 * (x < 0.0)
    return constant(node.builder, np.where(x >= 0.0, 1.0, -1.0))
