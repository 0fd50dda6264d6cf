"""The words that nets of a folded design hold in a clock, and Verilog's operators on words that are known numbers.

A word is an `int`, from 0 up, if the word is known whatever the data are; `Bits` if the word is a vector of forms of
symbols; an `AnyOf` if the word is one bit, the OR of functions of bits; `Unknown` if the word may be anything; and
`Mixed` if only some bits of the word may be anything.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import and_, or_, xor

from .bits import Bits


class Unknown:
    """A word that may be anything; copies of an unknown word are the same object."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, eq=False)
class Mixed:
    """A word that is a concatenation of words, the lowest first, each with its width; at least one of the parts is
    unknown.
    """

    parts: tuple[tuple[Word, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class AnyOf:
    """A word of one bit: the OR of functions of bits, each with the number of checks on which the function relies."""

    functions: frozenset[tuple[int, int]]


Word = int | Bits | AnyOf | Unknown | Mixed

UNKNOWN = Unknown()
OPAQUE = (Unknown, Mixed)
"""The classes of words of which some bits, or all, may be anything."""


def fits(word: Word, width: int) -> bool:
    """Return whether a word has the given width, or may have it."""
    if isinstance(word, int):
        return 0 <= word < 1 << width
    if isinstance(word, (Bits, Mixed)):
        return sum(part[1] for part in word.parts) == width
    return isinstance(word, Unknown) or width == 1


def unary(operator: str, word: int, width: int) -> int:
    """Return the result of a unary Verilog operator on a known number of `width` bits."""
    ones = (1 << width) - 1
    if operator == "~":
        return word ^ ones
    if operator == "-":
        return -word & ones
    found = {"&": word == ones, "|": word != 0, "~&": word != ones, "~|": word == 0}
    return int(found[operator]) if operator in found else word.bit_count() & 1


def repeated(word: int, width: int, count: int) -> int:
    """Return the concatenation of `count` copies of a known number of `width` bits, in time linear in the result."""
    made, copies = word, 1
    for more in bin(count)[3:]:
        made |= made << copies * width
        copies *= 2
        if more == "1":
            made = made << width | word
            copies += 1
    return made


def binary(operator: str, width: int, signed: bool) -> Callable[[int, int], int]:
    """Return a binary Verilog operator as a function of two known numbers of `width` bits. If `signed` is true,
    comparisons read the numbers as two's complement.
    """
    ones = (1 << width) - 1
    half = 1 << (width - 1) if signed else 0
    return {
        "<": lambda left, right: int(left ^ half < right ^ half),
        ">": lambda left, right: int(left ^ half > right ^ half),
        "==": lambda left, right: int(left == right),
        "!=": lambda left, right: int(left != right),
        "+": lambda left, right: (left + right) & ones,
        "-": lambda left, right: (left - right) & ones,
        "*": lambda left, right: (left * right) & ones,
        "&": and_,
        "|": or_,
        "^": xor,
    }[operator]
