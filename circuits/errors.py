"""The errors that a user may see, each of one line: what was expected, what was found, where, and what to do about
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar


class CircuitizeError(Exception):
    """An error of the user: a wrong use or a wrong input. The command line prints the message of a CircuitizeError on
    one line and exits with status 2.
    """


class TypingError(CircuitizeError):
    """An operation was applied to wires whose types do not fit it."""


class OverflowRisk(CircuitizeError):
    """An interval cannot be shown to stay within 2^62, or within what a target can hold."""


class Undefined(CircuitizeError):
    """A partial program was run on inputs where it has no value: a Check failed.

    The field `times` of Undefined is the ratio of the values that a Check reaches to its interval, if that ratio is
    known.
    """

    times: float | None = None


class FormatError(CircuitizeError):
    """A file is truncated, corrupted, of another version, or of another kind than its name says."""


E = TypeVar("E", bound=CircuitizeError)

MOST_SHOWN = 100


def excerpt(found: object) -> str:
    """Return the given value as Python writes it in one line, or the beginning of that line if it is long.

    In an excerpt, text that somebody else wrote is quoted and printable, and fits on a screen.
    """
    shown = " ".join(repr(found).splitlines())
    return shown if len(shown) <= MOST_SHOWN else f"{shown[:MOST_SHOWN]}..."


def restated(error: E, text: str) -> E:
    """Return the error with another text; its class and its other fields stay, whatever arguments its constructor
    takes.
    """
    error.args = (text,)
    return error


@contextmanager
def remedy(text: str) -> Iterator[None]:
    """A context in which errors that name no remedy end with the given remedy."""
    try:
        yield
    except CircuitizeError as error:
        told = str(error)
        raise restated(error, told if ";" in told else f"{told}; {text}") from None
