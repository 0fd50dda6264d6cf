"""What a net of a folded design holds in a clock, and Verilog's operators on known numbers.

A word is an `int`, from 0 up, where it is known whatever happens; `Bits` where it is a form of symbols; an `AnyOf`
where it is one bit, the OR of functions; `Unknown` where it may be anything; `Mixed` where some of its bits may be
anything.
"""

from __future__ import annotations

from dataclasses import dataclass

from .bits import Bits


class Unknown:
    """A word that may be anything; copies of it are one object."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, eq=False)
class Mixed:
    """Words side by side, the lowest first, each with its width; at least one of them is unknown."""

    parts: tuple[tuple[Word, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class AnyOf:
    """One bit: the OR of functions of bits, each with the number of checks on which it relies."""

    functions: frozenset[tuple[int, int]]


Word = int | Bits | AnyOf | Unknown | Mixed

UNKNOWN = Unknown()


def fits(word: Word, width: int) -> bool:
    """Whether a word has this width, or may have."""
    if isinstance(word, int):
        return 0 <= word < 1 << width
    if isinstance(word, Bits | Mixed):
        return sum(part[1] for part in word.parts) == width
    return isinstance(word, Unknown) or width == 1


def unary(operator: str, word: int, width: int) -> int:
    """The result of an operator on a number of `width` bits."""
    ones = (1 << width) - 1
    if operator == "~":
        return word ^ ones
    if operator == "-":
        return -word & ones
    found = {"&": word == ones, "|": word != 0, "~&": word != ones, "~|": word == 0}
    return int(found[operator]) if operator in found else word.bit_count() & 1


def binary(operator: str, left: int, right: int, width: int, signed: bool) -> int:
    """The result of an operator on two numbers of `width` bits; comparisons read them as two's complement if asked."""
    ones = (1 << width) - 1
    if operator in ("<", ">"):
        half = 1 << (width - 1) if signed else 0
        a, b = (left ^ half) - half, (right ^ half) - half
        return int(a < b if operator == "<" else a > b)
    if operator in ("==", "!="):
        return int((left == right) == (operator == "=="))
    if operator == "+":
        return (left + right) & ones
    if operator == "-":
        return (left - right) & ones
    if operator == "*":
        return (left * right) & ones
    return left & right if operator == "&" else left | right if operator == "|" else left ^ right
