"""Programs written in tinygrad 0.14.0 and polygrad 0.7.1: the graphs of both have one language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from circuitize.frontends.imported import Imported

from .polygrad import POLYGRAD
from .taken import taken
from .tinygrad import TINYGRAD

__all__ = ["from_polygrad", "from_tinygrad"]


def from_tinygrad(
    source: Any, *examples: Any, inputs: Mapping[str, Any] | None = None, state: object = None
) -> Imported:
    return taken(TINYGRAD, source, examples, inputs, state)


def from_polygrad(
    source: Any, *examples: Any, inputs: Mapping[str, Any] | None = None, state: object = None
) -> Imported:
    return taken(POLYGRAD, source, examples, inputs, state)
