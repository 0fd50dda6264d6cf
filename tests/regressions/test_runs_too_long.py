"""A run whose proofs do not fit on the disk is refused before it begins; a long one says what it will take."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from cli_programs import Outcome, run

from circuitize.provers.tensor.runs import proving

PROGRAM = """
import numpy as np
from circuitize import SGD, dense, mean_squared_error, training_step
from circuitize.frontends.training import with_examples

def step():
    model = dense(3, 2)
    program = training_step(model, mean_squared_error, SGD(), 2)
    data = {"inputs": np.full((2, 3), 0.5), "targets": np.zeros((2, 2)), "learning_rate": np.float64(0.125)}
    return with_examples(program, {**model.initial(0), **data})
"""


@pytest.fixture(autouse=True)
def _no_run_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    def begins(*_: Any) -> NoReturn:
        raise AssertionError("the run begins")

    monkeypatch.setattr(proving, "prove_run", begins)


def prove_run(folder: Path, steps: int, *more: str) -> Outcome:
    (folder / "program.py").write_text(PROGRAM)
    given: tuple[str | Path, ...]
    given = ("--steps", str(steps), "--per-proof", "1", "--seed", "5eed", "-o", folder / "run", *more)
    return run("prove-run", f"{folder / 'program.py'}:step", *given)


def test_too_many_steps_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=10**12))
    outcome = prove_run(tmp_path, 10**12)
    line = outcome.err.splitlines()[-1]
    assert outcome.status == 2 and "the run begins" not in line
    assert "--steps: expected at most about" in line and "fit in the 1000.0 GB free" in line
    assert "found 1,000,000,000,000, which take" in line and "years" in line and "--after" in line
    assert not (tmp_path / "run").exists()
    most = int(line.partition("about ")[2].partition(" steps")[0].replace(",", ""))
    assert "the run begins" in prove_run(tmp_path, most - 1).err
    assert "expected at most" in prove_run(tmp_path, most + most // 100).err


def test_a_long_run_says_what_it_will_take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=10**15))
    told = prove_run(tmp_path, 10**8).err
    assert "circuitize: 100,000,000 steps take about" in told and "of the 1000000.0 GB free; an interrupted run" in told
    assert told.index("take about") < told.index("the run begins")
    assert "take about" not in prove_run(tmp_path, 3).err
