"""The folder of a board with a small network that trains and predicts, compiled once for all tests of a run."""

from __future__ import annotations

import atexit
import os
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import modal_designs
from cli_programs import run
from example_programs import SHARED

SMALL = f"{modal_designs.__file__}:"
TRAINS = (SMALL + "single_step", "--predict", SMALL + "single_predict", "--lanes", "2", "--mhz", "10")


def compiled(folder: Path, program: str, *options: str) -> Path:
    """Compile a program for a board into a folder."""
    done = run("compile", program, "--target", "verilog", "--board", "ulx3s-85f", "-o", folder, *options)
    assert done.status == 0, done
    return folder


@cache
def trains() -> Path:
    """The folder; do not change it. Of several workers the first that wants it leaves it for the others."""
    kept = _shared() / "board-that-trains"
    if not kept.exists():
        made = compiled(kept.with_name(f"{kept.name}-{os.getpid()}"), *TRAINS, "--scheduler", "folded")
        try:
            made.rename(kept)
        except OSError:  # Another worker has left it meanwhile.
            return made
    return kept


def _shared() -> Path:
    shared = os.environ.get(SHARED)
    if shared is not None:
        return Path(shared)
    folder = Path(mkdtemp(prefix="circuitize-tests-"))
    atexit.register(shutil.rmtree, folder)
    return folder
