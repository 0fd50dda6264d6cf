"""Runs that workers of Ray prove: workers that die, what is asked for wrongly, and the command line."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from cli_programs import run
from tensor_proofs import planned
from tensor_runs import run_of
from tiers import TIER, count

from circuitize.api.runs import cluster as clusters
from circuitize.api.runs.cluster import Cluster, cluster
from circuitize.api.runs.pin import Pin
from circuitize.api.runs.spelling import PYTHON
from circuitize.api.runs.worker import Board, _run
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.saved import save
from circuitize.provers.tensor.runs.dividing import Limit, divided

GB = 10**9


def test_workers_that_die(tmp_path: Path) -> None:
    """The run ends, and its files are those of one that nothing disturbed; so does one of the command line."""
    kills = count(1, deep=20)
    script = Path(__file__).resolve().parents[2] / "support" / "killed_workers.py"
    name = "digits.py:step" if TIER == "deep" else "iris.py:step"
    process = subprocess.run((sys.executable, script, str(kills), "1", tmp_path, name), capture_output=True, check=True)
    # Nothing is printed that was not asked for.
    found = json.loads(process.stdout)
    assert found["kills"] == kills and found["renewals"] and not found["remarks"]
    report = found["reported"]
    assert report["steps"] == 8 and report["per_proof"] < 8 and "cluster" in report["phases"]
    assert "Traceback" not in process.stderr.decode() and "raylet" not in process.stderr.decode()
    assert run("verify-run", tmp_path / "run", "--program", tmp_path / "step.arrow").status == 0


@pytest.mark.parametrize(("cores", "steps", "most"), [(1, 100, 64), (2, 13_350, 4096), (64, 10, 1), (3, 8, 2)])
def test_there_is_a_proof_for_each_core(cores: int, steps: int, most: int) -> None:
    found = Cluster(cores, GB, GB).most_steps(steps)
    assert found == most and -(-steps // found) >= min(cores, steps)


def test_cores_limit_steps() -> None:
    made = divided(run_of(steps=64), GB, most=16)
    assert (made.per_proof, made.limit) == (16, Limit.CORES)
    assert divided(run_of(steps=16), GB, most=16).limit is Limit.STEPS


def test_what_is_asked_for_wrongly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        CircuitizeError, match=r"ray: expected a machine with 2\.0 GB for a proof, found at most 1\.0 GB"
    ):
        Cluster(2, GB, GB).require_memory(2 * GB, PYTHON)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    save(planned("iris.py:step")[0], tmp_path / "step.arrow", examples=True)
    command = ("prove-run", tmp_path / "step.arrow", "--steps", "8", "--seed", "aa", "-o", tmp_path / "run")
    outcome = run(*command, "--ray", f"127.0.0.1:{port}")
    assert outcome.status == 2 and not outcome.out
    assert "expected a cluster of Ray, found [Errno 111] Connection refused; start it" in outcome.err.splitlines()[-1]
    assert not (tmp_path / "run").exists()
    monkeypatch.setattr(clusters, "import_module", lambda name: __import__("no_such_package"))
    with pytest.raises(CircuitizeError, match=r"expected ray, found none; install it: pip install 'circuitize\[ray\]'"):
        cluster("local", PYTHON).__enter__()


def test_a_worker_of_another_version() -> None:
    made = run_of()
    with pytest.raises(CircuitizeError, match="install one version on all machines"):
        _run(Pin(made, "00" * 32, {}, {}).encode())
    assert _run(Pin(made, made.plans_digest, {}, {}).encode()).digest == made.digest


def test_a_worker_that_died_is_forgotten() -> None:
    board = Board()
    for worker, step in (("a", 1), ("b", 2), ("c", 1), ("b", None)):
        board.note(worker, step)
    assert board.read() == {"c": 1}
