"""The programs of the examples folder, loaded once for all tests of a run."""

from __future__ import annotations

import fcntl
import os
import pickle
from functools import lru_cache
from pathlib import Path

from circuitize.api.exact import Exact
from circuitize.api.named import exact_named

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

SHARED = "CIRCUITIZE_TESTS_SHARED"
"""In the environment of a worker: the folder that all workers of a test run share."""


@lru_cache(maxsize=32)
def example(name: str) -> Exact:
    """`iris.py:step` and the like. Of several workers the first that wants it makes it, while the others wait."""
    shared = os.environ.get(SHARED)
    if shared is None:
        return exact_named(str(EXAMPLES / name))
    kept = Path(shared) / f"example-{name.replace('/', '-')}.pickle"
    with kept.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            made = kept.with_name(f"{kept.name}-{os.getpid()}")
            made.write_bytes(pickle.dumps(exact_named(str(EXAMPLES / name))))
            made.replace(kept)
    found: Exact = pickle.loads(kept.read_bytes())
    return found
