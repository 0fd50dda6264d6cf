"""Operations of a program as text."""

from __future__ import annotations

from collections.abc import Sequence

from circuitize.circuits.integers import operation_classes

RULES = operation_classes()
"""All are listed."""


def lines(names: Sequence[str], capitals: bool) -> list[str]:
    """Names as they are written."""
    return [name.upper() for name in names] if capitals else list(names)
