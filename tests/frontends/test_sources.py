"""Programs of other systems are tested in environments of their own: a folder of tests/sources locks its packages."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from circuitize.circuits.errors import CircuitizeError
from circuitize.frontends import catgrad, uops

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path.parent.name for path in (ROOT / "tests" / "sources").glob("*/requirements.txt"))


@pytest.mark.slow
@pytest.mark.parametrize("source", SOURCES)
def test_a_source_in_its_own_environment(source: str) -> None:
    python, folder = ROOT / f".venv-{source}" / "bin" / "python", f"tests/sources/{source}"
    if not python.exists():
        pytest.skip(f"needs the packages of {folder}/requirements.txt in .venv-{source}; make .stamps/source-{source}")
    options = [
        "-q",
        "-p",
        "no:cacheprovider",
        "-o",
        "addopts=--import-mode=importlib",
        "-o",
        f"pythonpath=src tests/support {folder}",
    ]
    done = subprocess.run(
        [python, "-m", "pytest", *options, "--confcutdir", folder, folder],
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
    with pytest.raises(
        CircuitizeError, match=r"expected catgrad 0.2.2, found none; pip install 'circuitize\[catgrad\]'"
    ):
        catgrad.predict(object())


def test_without_tinygrad_and_polygrad() -> None:
    for take, package in ((uops.from_tinygrad, "tinygrad 0.14.0"), (uops.from_polygrad, "polygrad 0.7.1")):
        words = f"expected {package}, found none; pip install 'circuitize\\[{package.split()[0]}\\]'"
        with pytest.raises(CircuitizeError, match=words):
            take(object())
