"""Of the processes of a test run one compiles what numba compiles, and the others load it.

Of two processes that fill numba's cache at a time, each may load what the other has written in part, and crash. So the
cache is a folder of the run alone, and who imports a compiled module holds a lock meanwhile.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba

SHARED = os.environ.get("CIRCUITIZE_TESTS_SHARED")
"""The folder that all workers of a test run share; a process of no run compiles for itself."""
CACHED = SHARED is not None


@contextmanager
def compiled_once() -> Iterator[None]:
    """For the time of an import: numba's cache is of this run, and of this process alone."""
    if SHARED is None:
        yield
        return
    config: Any = numba.config  # It has no types.
    before = config.CACHE_DIR
    with (Path(SHARED) / "numba.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        config.CACHE_DIR = str(Path(SHARED) / "numba")
        yield
        config.CACHE_DIR = before
