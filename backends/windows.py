"""Windows, by which values are checked to be in an interval: how wide a window is, and which values it excludes."""

from __future__ import annotations

from dataclasses import dataclass

from circuitize.circuits.errors import TypingError
from circuitize.circuits.types import Fixed


@dataclass(frozen=True, slots=True)
class Window:
    """A window: x is checked to be in [low, low + 2^bits), and x - low is also compared with `bound`, unless `bound` is
    None.
    """

    low: int
    bits: int
    bound: int | None


def window(low: int, high: int, least: int, greatest: int, sign: bool) -> Window:
    """Return the cheapest window that contains, of the possible values [least, greatest], exactly those in [low, high].

    An end of the interval that is also an end of the possible values needs no check. If `sign` is true, a window whose
    top bit is the sign is preferred, if it is exact too.
    """
    size = high - low
    bits = size.bit_length()
    slack = (1 << bits) - 1 - size
    low_free, high_free = low == least, high == greatest
    if low_free and high_free:
        width = Fixed((), 0, low, high).width
        if low < 0 and (width == bits or sign):
            return Window(-(1 << (width - 1)), width, None)
        return Window(low, bits, None)
    if slack == 0 or high_free:
        return Window(low, bits, None)
    if low_free:
        return Window(low - slack, bits, None)
    return Window(low, bits, size)


def meet(type: Fixed, low: int, high: int) -> tuple[int, int]:
    """Return the interval of the values of a type that pass a check of [low, high]; raise TypingError if no value can
    pass.
    """
    if type.high < low or high < type.low:
        raise TypingError(
            f"expected that some value passes Check [{low}, {high}], found the interval [{type.low}, {type.high}]; "
            "correct the Check, which makes the program undefined everywhere"
        )
    return max(type.low, low), min(type.high, high)


def quotients(type: Fixed, by: int, low: int, high: int, sign: bool) -> tuple[int, int, Window]:
    """Return, for floor(x / 2^by) of an x of the given type, where the result is checked to be in [low, high], the
    interval of the results that pass, and the window of the check.

    Raise TypingError if no result can pass the check.
    """
    least, greatest = type.low >> by, type.high >> by
    low, high = meet(type.with_interval(least, greatest), low, high)
    return low, high, window(low, high, least, greatest, sign)


def deviation(type: Fixed, by: int, chosen: Window) -> int:
    """Return the greatest distance between an x that `shift` accepts, whatever x consists of, and any x of its type;
    `by` must be at least 1.
    """
    first, last = chosen.low << by, ((chosen.low + (1 << chosen.bits)) << by) - 1
    return max(last - type.low, type.high - first)
