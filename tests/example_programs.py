"""The programs of the examples folder, loaded once for all tests of a process."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from circuitize.api.exact import Exact
from circuitize.cli.loading import load_program

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


@lru_cache(maxsize=32)
def example(name: str) -> Exact:
    """`iris.py:step` and the like."""
    return load_program(str(EXAMPLES / name))
