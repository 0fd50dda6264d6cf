"""Programs of other systems are tested in environments of their own: a folder of tests/sources locks its packages."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from example_names import ALL
from example_programs import example

from circuitize.circuits.encode import digest
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.open_hypergraph import save_open_hypergraph
from circuitize.frontends import catgrad, uops

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path.parent.name for path in (ROOT / "tests" / "sources").glob("*/requirements.txt"))


DEEP = ("hgq", "sklearn")
"""The operators of what skl2onnx exports are those of onnx/test_onnx_ml.py."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "source", [pytest.param(name, marks=pytest.mark.deep if name in DEEP else ()) for name in SOURCES]
)
def test_a_source_in_its_own_environment(source: str, tmp_path: Path) -> None:
    """Pytest loads no plugins there, and leaves the folders of other runs to them."""
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
        "--basetemp",
        str(tmp_path / source),
    ]
    done = subprocess.run(
        [python, "-m", "pytest", *options, "--confcutdir", folder, folder],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout and "skipped" not in done.stdout, done.stdout


THROUGH_THE_OBJECT = """
import sys
from circuitize import digest, load_open_hypergraph
from circuitize.frontends import catgrad
for path in sys.argv[1:]:
    arrow = load_open_hypergraph(path).arrow
    assert digest(catgrad.arrow_of(catgrad.hypergraph(arrow))) == digest(arrow), path
    print(digest(arrow))
"""


@pytest.mark.slow
@pytest.mark.deep
def test_every_example_goes_through_the_object_of_open_hypergraphs(tmp_path: Path) -> None:
    """Its program of reals and that of integers, with their digests, where the package is."""
    python = ROOT / ".venv-catgrad" / "bin" / "python"
    if not python.exists():
        pytest.skip("needs the packages of tests/sources/catgrad/requirements.txt; make .stamps/source-catgrad")
    paths, digests = [], []
    for name in ALL:
        for number, program in enumerate((example(name).given, example(name).integer)):
            paths.append(tmp_path / f"{name.replace('.py:', '.')}.{number}.json")
            save_open_hypergraph(program, paths[-1])
            digests.append(digest(program.arrow))
    done = subprocess.run(
        [python, "-c", THROUGH_THE_OBJECT, *paths],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )
    assert done.stdout.split() == digests, done.stderr


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
