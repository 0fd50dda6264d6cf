"""Checks of what an operation requires of its sources' values: the error for an operation without a value names the
first wrong element.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from .array_module import array_module
from .errors import Undefined
from .operation import Values


class _Flags(Protocol):
    """An array of truth values, of numpy or of a similar module."""

    def all(self) -> object: ...
    def __invert__(self) -> object: ...


class _Element(Protocol):
    def item(self) -> object: ...


class _Elements(Protocol):
    """An array of numbers, of numpy or of a similar module."""

    def __getitem__(self, place: tuple[int, ...], /) -> _Element: ...


_noted: ContextVar[list[object] | None] = ContextVar("noted", default=None)


@contextmanager
def noting() -> Iterator[list[object]]:
    """Make a context in which requirements are recorded as truth values and nothing is raised, for values that are only
    being traced.
    """
    found: list[object] = []
    token = _noted.set(found)
    try:
        yield found
    finally:
        _noted.reset(token)


def require(name: str, allowed: _Flags, values: _Elements, expected: str, remedy: str = "") -> None:
    """Raise Undefined, naming the first element that is not allowed, unless all elements are. The required values must
    be concrete, unless the call is within `noting`.
    """
    noted = _noted.get()
    if noted is not None:
        noted.append(allowed.all())
        return
    if not allowed.all():
        at = tuple(int(i) for i in array_module(values).argwhere(~allowed)[0])
        found = values[at].item()
        shown = f"{found:g}" if isinstance(found, float) else str(found)
        told = f"{name}: expected {expected}, found {shown} at element {list(at)}"
        raise Undefined(f"{told}; {remedy}" if remedy else told)


def require_between(name: str, low: int, high: int, values: Values, what: str = "values") -> None:
    """Raise Undefined, naming the first integer outside [low, high], if there is one, as `require` does."""
    if _noted.get() is not None or values.min() < low or values.max() > high:
        require(name, (values >= low) & (values <= high), values, f"{what} in [{low}, {high}]")
