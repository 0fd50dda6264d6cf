"""Tensors in formats that the program states: rounded by a stated rule, and either saturated, checked, or shown never
to wrap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType, ModuleType

from circuitize.circuits import integers
from circuitize.circuits.array_module import array_module
from circuitize.circuits.errors import CircuitizeError, TypingError
from circuitize.circuits.integers.term import Integer
from circuitize.circuits.lowering import Lowering
from circuitize.circuits.operation import Values
from circuitize.circuits.requirement import require
from circuitize.circuits.types import LIMIT, Array

from .. import expect
from ..language import RealOperation, Rounding
from ..term import Real
from .comparison import Select
from .rounding import is_odd

OVERFLOWS = ("saturate", "check", "wrap")
MOST_BITS = 1024
"""The most fraction bits, of either sign: more would leave float64."""


def _away(module: ModuleType, x: Values, rounded: Values) -> Values:
    """Return the rounded magnitude of x, with the sign of x."""
    signed: Values = module.where(x < 0, -rounded, rounded)
    return signed


Floats = Callable[[ModuleType, Values], Values]

IN_FLOATS: Mapping[str, Floats] = MappingProxyType(
    {
        "half even": lambda module, x: module.rint(x),
        "half up": lambda module, x: _half(module, x, lambda part: part >= 0.5),
        "half down": lambda module, x: _half(module, x, lambda part: part > 0.5),
        "half away": lambda module, x: _away(module, x, _half(module, abs(x), lambda part: part >= 0.5)),
        "half zero": lambda module, x: _away(module, x, _half(module, abs(x), lambda part: part > 0.5)),
        "floor": lambda module, x: module.floor(x),
        "ceil": lambda module, x: module.ceil(x),
        "zero": lambda module, x: module.trunc(x),
        "away": lambda module, x: _away(module, x, module.ceil(abs(x))),
    }
)
"""The rules of rounding as functions of floats: x + 1/2 may round in float64, while what is left after the floor does
not.
"""


def _half(module: ModuleType, x: Values, up: Callable[[Values], Values]) -> Values:
    below = module.floor(x)
    rounded: Values = module.where(up(x - below), below + 1.0, below)
    return rounded


def in_integers(x: Integer, bits: int, rule: str) -> Integer:
    """Return x rounded to `bits` fraction bits fewer, at least one: floor((x + offset) / 2^bits).

    The offset of a rounding rule is a number, or a number together with a bit: whether the floor is odd, or whether x
    is negative.
    """
    most, half = (1 << bits) - 1, 1 << (bits - 1)
    if rule == "half even":
        return integers.Shift(bits)(x.offset(half - 1) + integers.Scale(1, bits)(is_odd(integers.Shift(bits)(x))))
    alike = {"floor": 0, "ceil": most, "half up": half, "half down": half - 1}
    if rule in alike:
        return integers.Shift(bits)(x.offset(alike[rule]) if alike[rule] else x)
    of_positive, of_negative = {
        "zero": (0, most),
        "away": (most, 0),
        "half away": (half, half - 1),
        "half zero": (half - 1, half),
    }[rule]
    if x.type.low >= 0 or x.type.high < 0:
        return integers.Shift(bits)(x.offset(of_positive if x.type.low >= 0 else of_negative))
    negative = integers.Scale(of_negative - of_positive, x.fraction_bits)(integers.IsNegative()(x))
    return integers.Shift(bits)(x.offset(of_positive) + negative)


@dataclass(frozen=True)
class Quantize(RealOperation):
    """Quantize: n * 2^-fraction_bits, where n is the whole number to which x * 2^fraction_bits is rounded, kept within
    [low, high].

    The rounding `rule` of Quantize is one of "half even", "half up", "half down", "half away", "half zero", "floor",
    "ceil", "zero" and "away". The field `overflow` of Quantize says what happens if n is outside [low, high]:
    "saturate" gives the nearer end, "check" gives no value, and "wrap" promises that no n is outside, which the
    intervals must show when the program is compiled. Quantize reads its operand unrounded, and its result is not
    rounded again. The derivative of Quantize is the straight-through estimate: dz where n lies within [low, high], else
    0. The straight-through estimate is from Bengio et al., arXiv 1308.3432.
    """

    name = "real.quantize"
    rounding = Rounding.FORMAT

    fraction_bits: int
    low: int
    high: int
    rule: str = "half even"
    overflow: str = "saturate"

    def __post_init__(self) -> None:
        if not -MOST_BITS <= self.fraction_bits <= MOST_BITS:
            raise TypingError(
                f"expected fraction bits within {MOST_BITS}, found {self.fraction_bits}; choose another format"
            )
        if not -LIMIT < self.low <= self.high < LIMIT:
            raise TypingError(
                f"expected an interval within 2^62, found [{self.low}, {self.high}]; choose another format"
            )
        for what, found, known in (("rounding", self.rule, IN_FLOATS), ("overflow", self.overflow, OVERFLOWS)):
            if found not in known:
                raise TypingError(f"expected {what} among {list(known)}, found {found!r}; choose one of these")

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        return (expect.one_shape(sources, 1),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        module = array_module(values[0])
        found = IN_FLOATS[self.rule](module, values[0] * 2.0**self.fraction_bits)
        if self.overflow == "saturate":
            found = module.minimum(module.maximum(found, float(self.low)), float(self.high))
        else:
            within = (found >= self.low) & (found <= self.high)
            require(self.name, within, found, f"a number in [{self.low}, {self.high}]", "widen the format")
        return (module.asarray(found * 2.0**-self.fraction_bits + 0.0),)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        """Return the derivative of Quantize reads the operand unrounded, as the forward pass does: by the same rounding
        to a format that is wider by one at each end.
        """
        if self.overflow != "saturate":
            return [dz]
        below, above = self.low - 1, self.high + 1
        unit = 2.0**-self.fraction_bits
        wide = Quantize(self.fraction_bits, below, above, self.rule)(*sources)
        inside = (wide > below * unit) * (wide.constant(above * unit) > wide)
        return [Select()(inside, dz, z.constant(0.0))]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        (x,) = sources
        bits = x.fraction_bits - self.fraction_bits
        found = in_integers(x, bits, self.rule) if bits > 0 else x
        low, high = self.low, self.high
        type = found.type
        if bits < 0:
            # x is coarser than the format: its own bits are enough unless an end of the format has to be made.
            if low <= type.low << -bits and type.high << -bits <= high:
                return found
            found = found.refine(self.fraction_bits)
            type = found.type
        if low <= type.low and type.high <= high:
            return found
        if self.overflow == "wrap":
            raise CircuitizeError(
                f"{self.name}: expected an interval within [{low}, {high}], where nothing wraps, found [{type.low}, "
                f"{type.high}]; saturate, check, or give the format more bits"
            )
        return integers.Clamp(low, high)(found) if self.overflow == "saturate" else integers.Check(low, high)(found)
