"""catgrad needs an older numpy than the rest of the tests: those of its import run in an environment of their own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-catgrad" / "bin" / "python"


@pytest.mark.slow
def test_catgrad_in_its_own_environment() -> None:
    if not PYTHON.exists():
        pytest.skip("needs catgrad 0.2.2 in .venv-catgrad; make .stamps/catgrad")
    options = [
        "-q",
        "-p",
        "no:cacheprovider",
        "-o",
        "addopts=--import-mode=importlib",
        "-o",
        "pythonpath=src tests/support tests/catgrad",
    ]
    done = subprocess.run(
        [PYTHON, "-m", "pytest", *options, "--confcutdir", "tests/catgrad", "tests/catgrad"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout and "skipped" not in done.stdout, done.stdout


def test_without_catgrad() -> None:
    """Where it is not installed, one line says so."""
    from circuitize.circuits.errors import CircuitizeError
    from circuitize.frontends import catgrad

    with pytest.raises(
        CircuitizeError, match=r"expected catgrad 0.2.2, found none; pip install 'circuitize\[catgrad\]'"
    ):
        catgrad.predict(object())
