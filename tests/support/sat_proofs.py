"""Proofs by the SAT solver of yosys."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path


def proved(script: str, folder: Path) -> bool:
    """Whether the proof at the end of a yosys script succeeds; False where yosys shows how what is bad can happen."""
    done = subprocess.run(["yosys", "-Q", "-p", script], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    success, failure = "SAT proof finished - no model found: SUCCESS!", "SAT proof finished - model found: FAIL!"
    assert (success in done.stdout) != (failure in done.stdout), done.stdout[-2000:]
    return success in done.stdout


def never_bad(files: Mapping[str, str], wrapper: str, steps: int, folder: Path) -> bool:
    """Whether the output `bad` of the module `wrapper` is 0 for so many clocks after a reset, whatever its inputs."""
    for name, text in {**files, "wrapper.v": wrapper}.items():
        (folder / name).write_text(text)
    script = (
        f"read_verilog wrapper.v {' '.join(files)}; hierarchy -check -top wrapper; proc; flatten; memory; opt -full; "
        f"dffunmap; opt -full; sat -seq {steps} -set-at 1 rst 1 -prove bad 0 -prove-skip 1 wrapper"
    )
    return proved(script, folder)
