"""ONNX operators of whole numbers alone, and Mod: remainders, shifts, and bits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from circuitize.frontends.functions import absolute, concatenate, floor, minimum, one_hot, sign, where
from circuitize.frontends.tensor import Tensor

from .elements import EXACT
from .node import NUMBERS, WHOLE_NUMBERS, Made, Node, Result, operator
from .whole import Interval, magnitude, quotient


@operator("Mod", kinds=NUMBERS)
def _remainder(node: Node) -> Result:
    """Return the remainder of an ONNX Mod, which has the divisor's sign, or with fmod the dividend's; it is undefined
    where the divisor is 0.
    """
    x, y = node.tensor(0), node.tensor(1)
    shape = np.broadcast_shapes(x.shape, y.shape)
    x, y = x.broadcast(shape), y.broadcast(shape)
    as_dividend = node.flag("fmod", 0)
    if not node.whole:
        # A quotient rounded up, or down, gives a remainder outside [0, y), which is mended.
        over, under = absolute(x), absolute(y)
        rest = over - floor(over / under) * under
        rest = rest + (rest < 0.0) * under
        rest = (rest - (1.0 - (rest < under)) * under) * sign(x)
        return rest if as_dividend else rest + (sign(rest) * sign(y) < 0.0) * y
    low, high = node.interval(0)
    least, most = node.interval(1)
    rest = x - quotient(x, y) * y
    widest = max(magnitude((least, most)) - 1, 0)
    reach = 2 * magnitude((low, high), (least, most))
    if as_dividend:
        return node.kept(rest, (max(low, -widest) if low < 0 else 0, min(max(high, 0), widest)), reach)
    rest = rest + (sign(rest) * sign(y) < 0.0) * y
    return node.kept(rest, (-widest if least < 0 else 0, widest if most > 0 else 0), reach)


@operator("BitShift", kinds=WHOLE_NUMBERS)
def _shift(node: Node) -> Result:
    """Return x shifted; a shift by at least as many bits as the element has leaves only copies of the sign, and from
    opset 28 on so does a shift by a negative count.
    """
    x, counts = node.tensor(0), node.tensor(1)
    left = node.choice("direction", "LEFT", "RIGHT") == "LEFT"
    low, high = node.interval()
    least, most = node.interval(1)
    if least < 0 and node.version < 28:
        raise node.fault(f"expected counts from 0 on, found some from {least} on; give the intervals of the inputs")
    most = node.element.bits if least < 0 else min(most, node.element.bits)
    shape = np.broadcast_shapes(x.shape, counts.shape)
    counts = where(counts < 0.0, float(most), counts) if least < 0 else counts
    wide, counts = x.broadcast(shape), minimum(counts, float(most)).broadcast(shape)
    each = [_shifted(node, wide, (low, high), count, left) for count in range(most + 1)]
    total, hull = each[0][0], each[0][1]
    if most:
        hot = one_hot(counts, most + 1)
        parts = [hot[..., count] * part for count, (part, _) in enumerate(each)]
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        hull = min(ends[0] for _, ends in each), max(ends[1] for _, ends in each)
    return Made(total, node.element, hull)


def _shifted(node: Node, x: Tensor, ends: Interval, count: int, left: bool) -> tuple[Tensor, Interval]:
    """Return x shifted by a known count, and the interval of the result."""
    element, (low, high) = node.element, ends
    if count >= element.bits and left:
        return x * 0.0, (0, 0)
    if not left:
        return floor(x * 2.0**-count) if count else x, (low >> count, high >> count)
    if element.low <= low << count and high << count <= element.high and magnitude(ends) << count <= EXACT:
        return x * 2.0**count, (low << count, high << count)
    if element.bits > 32:
        raise node.fault("expected results of at most 2^52 in magnitude, found greater ones; give the intervals")
    # What is shifted out goes first, so that nothing passes 2^bits on the way.
    kept = 2.0 ** (element.bits - count)
    rest = (x - floor(x * (1 / kept)) * kept) * 2.0**count
    if element.low < 0:
        rest = rest - (1.0 - (rest < 2.0 ** (element.bits - 1))) * 2.0**element.bits
    return rest, (element.low, element.high)


@operator("BitwiseNot", kinds=WHOLE_NUMBERS)
def _inverted(node: Node) -> Result:
    low, high = node.interval()
    top = -1 if node.element.low < 0 else node.element.high
    return node.kept(float(top) - node.tensor(), (top - high, top - low), magnitude((top, top)))


JOINED: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "BitwiseAnd": lambda a, b: a * b,
    "BitwiseOr": lambda a, b: a + b - a * b,
    "BitwiseXor": lambda a, b: a + b - a * b * 2.0,
}


@operator(*JOINED, kinds=WHOLE_NUMBERS)
def _bitwise(node: Node) -> Result:
    """Return the result of an operation bit by bit, on two's complements as wide as the inputs' intervals need."""
    x, y = node.tensor(0), node.tensor(1)
    shape = np.broadcast_shapes(x.shape, y.shape)
    ends = node.interval(0), node.interval(1)
    width = max(max(high, -low - 1).bit_length() for low, high in ends)
    signed = min(low for low, _ in ends) < 0
    node.bounded(int(np.prod(shape)) * (width + 1), "the bits")
    joined = JOINED[node.operator](*(_bits(z.broadcast(shape), width) for z in (x, y)))
    weights = 2.0 ** np.arange(width + 1)
    weights[width] *= -1
    made = (joined * weights).sum(-1)
    return node.kept(made, (-(1 << width) if signed else 0, (1 << width) - 1), 1 << width)


def _bits(x: Tensor, width: int) -> Tensor:
    """Return the bits of whole numbers from -2^width to 2^width - 1, along a new last axis, the sign last."""
    bits = []
    for _ in range(width + 1):
        half = floor(x * 0.5)
        bits.append((x - half * 2.0).reshape(*x.shape, 1))
        x = half
    return concatenate(bits, -1) if len(bits) > 1 else bits[0]
