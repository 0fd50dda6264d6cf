"""What numba compiles is kept in build/numba, for all processes and for later runs, until its source changes.

Of two processes that fill numba's cache at a time, each may load what the other has written in part, and crash. So who
imports a compiled module holds a lock meanwhile.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba

FOLDER = Path(__file__).parents[3] / "build" / "numba"


@contextmanager
def compiled_once() -> Iterator[None]:
    """For the time of an import: numba's cache is in FOLDER, and of this process alone."""
    config: Any = numba.config  # It has no types.
    before = config.CACHE_DIR
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        config.CACHE_DIR = str(FOLDER)
        yield
        config.CACHE_DIR = before
