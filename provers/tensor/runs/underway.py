"""A run that is being proved: its setting, the folder of its proofs, and the callbacks."""

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
    """A run that is being proved into `folder`, from the state `found` at its beginning or continuation.

    The callback `keep` is called with each state up to which all proofs of a run are written, `running` with each step
    that is run, `note` with each proof of the run.
    """

    run: Run
    found: Beginning
    data: Mapping[str, Integers]
    folder: Path
    keep: Callable[[State], object]
    running: Callable[[int], object]
    note: Callable[[Done], object]
