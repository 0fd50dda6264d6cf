"""A run while it is being proved: its setting, the folder for its proofs, and the callbacks."""

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
    """A run while it is being proved into `folder`; `found` is the point at which it began or continued.

    The callback `keep` is called with each state up to which all proofs of the run are written, `running` with the
    number of each step that is run, and `note` with each proof of the run.
    """

    run: Run
    found: Beginning
    data: Mapping[str, Integers]
    folder: Path
    keep: Callable[[State], object]
    running: Callable[[int], object]
    note: Callable[[Done], object]
