"""Proofs by the SAT solver of yosys."""

from __future__ import annotations

import subprocess
from pathlib import Path


def proved(script: str, folder: Path) -> bool:
    """Whether the proof at the end of a yosys script succeeds; False where yosys shows how what is bad can happen."""
    done = subprocess.run(["yosys", "-Q", "-p", script], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    success, failure = "SAT proof finished - no model found: SUCCESS!", "SAT proof finished - model found: FAIL!"
    assert (success in done.stdout) != (failure in done.stdout), done.stdout[-2000:]
    return success in done.stdout
