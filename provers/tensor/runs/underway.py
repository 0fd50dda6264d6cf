"""A run that is being proved: its setting, where its proofs go, and which callbacks are called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from circuitize.backends.tensor.forms import Integers

from .beginning import Beginning
from .setting import Run
from .state import State
from .task import Done


@dataclass(frozen=True)
class Underway:
    """A run that is being proved into `folder`, from the state `found` when it was begun or continued.

    `keep` is called with each state up to which all proofs are written, `running` with each step that is run, `note`
    with each proof that is made.
    """

    run: Run
    found: Beginning
    data: Mapping[str, Integers]
    folder: Path
    keep: Callable[[State], object]
    running: Callable[[int], object]
    note: Callable[[Done], object]
