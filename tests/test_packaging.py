"""What is published: the source distribution builds, and a wheel holds the package and nothing else.

What the package does where its native part is missing, and where a checkout has no symbolic links.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("circuits", "frontends", "backends", "provers", "sims")
PROGRAM = ROOT / "tests" / "support" / "cli_programs.py"


def setuptools(folder: Path, *arguments: str) -> None:
    command = [sys.executable, "-W", "error", "setup.py", "-q", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, set[str]]:
    """The unpacked source distribution, and the Python half of what a wheel built from it installs."""
    work = tmp_path_factory.mktemp("published")
    source = work / "source"
    ignored = shutil.ignore_patterns("target", "node_modules", "__pycache__", "*.so", "*.egg-info", "interop")
    for name in (*FOLDERS, "src", "examples"):
        shutil.copytree(ROOT / name, source / name, symlinks=True, ignore=ignored)
    (source / "tests").mkdir()
    for name in (
        "tests/conftest.py",
        "tests/test_packaging.py",
        "pyproject.toml",
        "setup.py",
        "setup.cfg",
        "MANIFEST.in",
        "README.md",
        "LICENSE",
    ):
        shutil.copy(ROOT / name, source / name)
    setuptools(source, "sdist", "--formats", "tar", "-d", str(work))
    (archive,) = work.glob("circuitize-*.tar")
    with tarfile.open(archive) as files:
        # Of what setuptools has just made; the filter is the default later, and unknown before Python 3.11.4.
        safely: Any = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        files.extractall(work, **safely)
    unpacked = work / archive.stem
    setuptools(unpacked, "build_py", "--build-lib", "installed")
    installed = unpacked / "installed"
    return unpacked, {str(path.relative_to(installed)) for path in installed.rglob("*") if path.is_file()}


def test_a_wheel_holds_every_module(published: tuple[Path, set[str]]) -> None:
    _, installed = published
    modules = {f"circuitize/{path.relative_to(ROOT)}" for name in FOLDERS for path in (ROOT / name).rglob("*.py")}
    modules |= {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*.py")}
    assert {path for path in installed if path.endswith(".py")} == modules
    assert {"circuitize/py.typed", "circuitize/_native.pyi"} <= installed
    for kind in ("*.v", "*.tcl"):
        texts = {f"circuitize/{path.relative_to(ROOT)}" for path in (ROOT / "backends").rglob(kind)}
        assert texts and texts <= installed


def test_a_wheel_holds_nothing_else(published: tuple[Path, set[str]]) -> None:
    _, installed = published
    assert {path.split("/")[0] for path in installed} == {"circuitize"}
    assert {Path(path).suffix for path in installed} <= {".py", ".typed", ".pyi", ".v", ".cpp", ".tcl"}


def test_the_source_distribution_can_build_the_extension(published: tuple[Path, set[str]]) -> None:
    unpacked, _ = published
    native = ROOT / "provers" / "native"
    built = native / "target"
    found = [*native.rglob("Cargo.*"), *native.rglob("*.rs")]
    needed = [path for path in found if not path.is_relative_to(built)]
    assert {path.name for path in needed} >= {"Cargo.toml", "Cargo.lock", "lib.rs"}
    assert all((unpacked / path.relative_to(ROOT)).is_file() for path in needed)
    assert (unpacked / "LICENSE").is_file()
    assert not (unpacked / "tests").exists()


def without_links(folder: Path) -> Path:
    """The package's sources as git writes them where there are no symbolic links: each link a file of its text."""
    for path in (ROOT / "src" / "circuitize").iterdir():
        copy = folder / "src" / "circuitize" / path.name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            copy.write_text(os.readlink(path))
        elif path.suffix == ".py":
            shutil.copy(path, copy)
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.mark.parametrize("command", [["setup.py", "-q", "build_py"], ["-c", "import circuitize.circuits.program"]])
def test_a_checkout_without_links_says_so(tmp_path: Path, command: list[str]) -> None:
    environment = {**os.environ, "PYTHONPATH": "src"}
    done = subprocess.run(
        [sys.executable, *command],
        cwd=without_links(tmp_path),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "git config core.symlinks true && git checkout -- src, or install a wheel" in done.stderr.splitlines()[-1]


def without_native(folder: Path, *lines: Sequence[str | Path]) -> list[tuple[int, str, str]]:
    """What command lines do, one after another in a process with the package installed without its native part: the
    status of each, and what it said.
    """
    package = folder / "circuitize"
    package.mkdir()
    for path in (ROOT / "src" / "circuitize").iterdir():
        if not path.match("_native*.so"):
            (package / path.name).symlink_to(path)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(PROGRAM.parent)])}
    asked = json.dumps([[*map(str, line)] for line in lines])
    command = [sys.executable, "-c", RUN, asked]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [(status, out, err) for status, out, err in json.loads(done.stdout)]


RUN = """
import json, sys
from cli_programs import run
made = [run(*line) for line in json.loads(sys.argv[1])]
print(json.dumps([(one.status, one.out, one.err) for one in made]))
"""


@pytest.mark.rtl
def test_circuits_without_the_native_part(tmp_path: Path) -> None:
    step = f"{PROGRAM}:step"
    compiled = [("compile", step, "--target", name, "-o", tmp_path / name) for name in ("r1cs", "plonkish")]
    done = without_native(tmp_path, ("estimate", step), *compiled, ("check", step, "--vectors", "2"))
    assert [status for status, _, _ in done] == [0, 0, 0, 0], done
    estimated, checked = done[0][1], done[3][1]
    assert "tensor: left out, there is no native prover" in estimated
    assert "r1cs" in checked and "plonkish" in checked and "tensor" not in checked


def test_proofs_need_the_native_part(tmp_path: Path) -> None:
    provers = ("groth16", "mirage", "halo2", "tensor")
    keys = {prover: () if prover == "tensor" else ("--keys", "keys") for prover in provers}
    lines = [("prove", f"{PROGRAM}:step", "--prover", prover, *keys[prover], "-o", "proof") for prover in provers]
    for status, _, said in without_native(tmp_path, *lines):
        (line,) = said.splitlines()
        assert status == 2
        assert line.startswith("circuitize: expected the native prover, found none for this Python; install a wheel")
