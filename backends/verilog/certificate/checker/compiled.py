"""Compiled expressions of a folded design: the word of an expression is a function of the words of nets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
        made = words.checked(found, width)
        if signed and made is found and isinstance(found, Bits):
            return words.exact(found, width, True, False)
        return made

    return word
