"""An interrupt during a tensor proof became an error of its own: `prove-run` ended with status 2, not 130."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_programs import STEP, run
from tensor_proofs import planned

from circuitize import _native
from circuitize.circuits.saved import save
from circuitize.frontends.datasets import iris
from circuitize.provers.tensor import prover


@pytest.fixture(autouse=True)
def _heard() -> Iterator[None]:
    """An interrupt is heard where a shell's background job ignores it too."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Interrupted:
    """The native prover, interrupted as it reports its first phase."""

    def __getattr__(self, name: str) -> Any:
        return getattr(_native, name)

    @staticmethod
    def tensor_prove(*given: Any) -> Any:
        arguments = [*given[:-1], lambda phase: os.kill(os.getpid(), signal.SIGINT)]
        return _native.tensor_prove(*arguments)


def test_prove_ends_as_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prover, "_native", Interrupted())
    made = run("prove", STEP, "--prover", "tensor", "--not-zero-knowledge", "-o", tmp_path / "proof")
    assert (made.status, made.line) == (130, "circuitize: interrupted; no file is half-written")
    assert not list(tmp_path.iterdir())


def test_prove_run_ends_as_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(planned("iris.py:step")[0], tmp_path / "step.arrow", examples=True)
    split = iris(0)
    np.savez(tmp_path / "iris.npz", inputs=split.train_inputs, targets=split.train_targets)
    given = ("--dataset", tmp_path / "iris.npz", "--not-zero-knowledge", "--seed", "5eed", "--steps", "1")
    before = sorted(tmp_path.iterdir())
    monkeypatch.setattr(prover, "_native", Interrupted())
    made = run("prove-run", tmp_path / "step.arrow", *given, "-o", tmp_path / "run")
    assert made.status == 130 and made.err.splitlines()[-1] == "circuitize: interrupted; no file is half-written"
    assert sorted(tmp_path.iterdir()) == before, "nothing was begun, so nothing is kept"
    monkeypatch.undo()
    assert run("prove-run", tmp_path / "step.arrow", *given, "-o", tmp_path / "run").status == 0


def test_the_status_is_130_wherever_the_interrupt_comes(tmp_path: Path) -> None:
    """In the midst of source that is compiled on the spot, as that of dataclasses is, Python ended by the signal."""
    (tmp_path / "mine.py").write_text("exec('raise KeyboardInterrupt')\n")
    command = [sys.executable, "-m", "circuitize.cli", "estimate", str(tmp_path / "mine.py:step")]
    made = subprocess.run(command, capture_output=True, text=True)
    assert (made.returncode, made.stderr) == (130, "circuitize: interrupted; no file is half-written\n")


def test_the_package_is_a_command() -> None:
    made = subprocess.run([sys.executable, "-m", "circuitize", "--version"], capture_output=True, text=True)
    assert made.returncode == 0 and made.stdout.startswith("circuitize "), made.stderr
