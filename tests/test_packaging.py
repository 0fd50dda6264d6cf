"""What is published: the source distribution builds, and a wheel holds the package and nothing else."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("circuits", "frontends", "backends", "provers", "sims")
SETUP = "from setuptools import setup; setup()"


def setuptools(folder: Path, *arguments: str) -> None:
    command = [sys.executable, "-W", "error", "-c", SETUP, "-q", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, set[str]]:
    """The unpacked source distribution, and the Python half of what a wheel built from it installs."""
    work = tmp_path_factory.mktemp("published")
    source = work / "source"
    ignored = shutil.ignore_patterns("target", "node_modules", "__pycache__", "*.so", "*.egg-info", "interop")
    for name in (*FOLDERS, "src", "tests", "examples"):
        shutil.copytree(ROOT / name, source / name, symlinks=True, ignore=ignored)
    for name in ("pyproject.toml", "setup.cfg", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    setuptools(source, "sdist", "-d", str(work))
    (archive,) = work.glob("circuitize-*.tar.gz")
    with tarfile.open(archive) as files:
        files.extractall(work, filter="data")
    unpacked = work / archive.name.removesuffix(".tar.gz")
    setuptools(unpacked, "build_py", "--build-lib", "installed")
    installed = unpacked / "installed"
    return unpacked, {str(path.relative_to(installed)) for path in installed.rglob("*") if path.is_file()}


def test_a_wheel_holds_every_module(published: tuple[Path, set[str]]) -> None:
    _, installed = published
    modules = {f"circuitize/{path.relative_to(ROOT)}" for name in FOLDERS for path in (ROOT / name).rglob("*.py")}
    modules |= {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*.py")}
    assert {path for path in installed if path.endswith(".py")} == modules
    assert {"circuitize/py.typed", "circuitize/_native.pyi"} <= installed


def test_a_wheel_holds_nothing_else(published: tuple[Path, set[str]]) -> None:
    _, installed = published
    assert {path.split("/")[0] for path in installed} == {"circuitize"}
    assert {Path(path).suffix for path in installed} <= {".py", ".typed", ".pyi"}


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
