"""The plain values that parameters of operations may hold, under the names that these values have in saved programs."""

from __future__ import annotations

from typing import ClassVar, TypeVar

T = TypeVar("T")


class Parts:
    """The table that `part` fills when a class is defined; only classes in this table are ever restored from a file."""

    registry: ClassVar[dict[str, type]] = {}


def part(kind: type[T]) -> type[T]:
    """Decorate a frozen dataclass that is a parameter of an operation, so that saved programs may hold it."""
    if Parts.registry.setdefault(kind.__name__, kind) is not kind:
        raise ValueError(f"expected one class called {kind.__name__} in saved programs, found two; rename one")
    return kind
