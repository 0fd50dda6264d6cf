"""Compiled expressions of a folded design: the word of an expression is a function of the words of nets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from .bits import Bits
from .syntax import Binary, Choice, Expression, within
from .word import Word
from .words import Words

Values = list[Any]
"""The word of each net by its number; for a memory, the list of its entries."""

Function = Callable[[Values], Word]


@dataclass(frozen=True, slots=True)
class Compiled:
    """A compiled expression: the number of its bits, whether it is signed, the nets that it reads, and its word as a
    function of the words of these nets.
    """

    width: int
    signed: bool
    reads: frozenset[int]
    word: Function


def masks(value: Expression) -> bool:
    """Return whether an expression masks or chooses bits, so that the function that it computes may be written in many
    ways.
    """
    return any(
        isinstance(part, Choice) or (isinstance(part, Binary) and part.operator in ("&", "|", "^"))
        for part in within(value)
    )


def joined(words: Words, parts: Sequence[Compiled]) -> Function:
    """Return the concatenation of expressions, the lowest first."""
    reads, sizes = [part.word for part in parts], [part.width for part in parts]
    starts = [0, *accumulate(sizes)]

    def word(values: Values) -> Word:
        found = [read(values) for read in reads]
        number = 0
        for part, start in zip(found, starts, strict=False):
            if part.__class__ is not int:
                return words.join(list(zip(found, sizes, strict=True)))
            number |= part << start
        return number

    return word


def sliced(words: Words, read: Function, low: int, width: int, whole: int) -> Function:
    """Return `width` bits, from bit `low` on, of a net of `whole` bits."""
    mask = (1 << width) - 1

    def word(values: Values) -> Word:
        found = read(values)
        if found.__class__ is int:
            return (found >> low) & mask
        return words.slice(found, low, width, whole)

    return word


def exact(words: Words, read: Function, width: int, masks: bool) -> Function:
    """Return the integer that a signed net holds, as one form."""

    def word(values: Values) -> Word:
        found = read(values)
        return words.exact(found, width, True, masks) if found.__class__ is Bits else found

    return word


def checked(words: Words, read: Function, width: int, signed: bool) -> Function:
    """Return the number that a net holds as long as a check of this net passes."""

    def word(values: Values) -> Word:
        found = read(values)
        if found.__class__ is int:
            return found
        made = words.checked(found, width)
        if signed and made is found and isinstance(found, Bits):
            return words.exact(found, width, True, False)
        return made

    return word
