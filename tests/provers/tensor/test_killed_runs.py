"""A run of proofs that is killed at any moment, and again, goes on where it was, and verifies."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from subprocess import DEVNULL, PIPE

import numpy as np
import pytest
from cli_programs import run
from tensor_proofs import planned
from tiers import count, seeds

from circuitize.circuits.saved import save
from circuitize.frontends.datasets import iris

STEPS = "8"
LONGEST = 4.0
"""Seconds after which a process is killed at the latest: some end before."""


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a step and a dataset."""
    folder = tmp_path_factory.mktemp("given")
    save(planned("iris.py:step")[0], folder / "step.arrow", examples=True)
    split = iris(0)
    np.savez(folder / "iris.npz", inputs=split.train_inputs, targets=split.train_targets)
    return folder


def test_killed_between_any_two_writes(tmp_path: Path) -> None:
    """A retry makes the same bytes, other scalars are refused, no root is opened more often than it was made for."""
    kills = count(8, deep=400)
    script = Path(__file__).resolve().parents[2] / "support" / "killed_writes.py"
    given = (sys.executable, script, str(kills), "1", tmp_path)
    totals = json.loads(subprocess.run(given, stdout=PIPE, check=True).stdout)
    assert totals["kills"] >= kills and totals["joined"] and totals["runs"] >= 2 and totals["renewals"] >= 2


@pytest.mark.deep
@pytest.mark.parametrize("seed", seeds(1, deep=60))
def test_a_killed_run_goes_on(seed: int, given: Path, tmp_path: Path) -> None:
    random, folder = np.random.default_rng(seed), tmp_path / "run"
    command: list[str | Path]
    command = ["prove-run", given / "step.arrow", "--dataset", given / "iris.npz"]
    command += ["--seed", "c0ffee", "--steps", STEPS, "--per-proof", "1", "-o", folder]
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-m", "circuitize.cli", *map(str, command)], stdout=DEVNULL, stderr=DEVNULL
        )
        time.sleep(random.uniform(0.2, LONGEST))
        process.kill()
        process.wait()
    outcome = run(*command, "--json")
    assert outcome.status == 0, outcome
    assert json.loads(outcome.out)["steps"] == int(STEPS)
    assert not list(folder.rglob("*.part"))
    checked = ("--program", given / "step.arrow", "--steps", STEPS, "--seed", "c0ffee")
    assert run("verify-run", folder, *checked).status == 0
