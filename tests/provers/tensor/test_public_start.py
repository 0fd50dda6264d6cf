"""A public start: the verifier draws what a run begins with, and no run that begins with anything else holds."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from public_starts import MODEL, RATE, SEED, START, STEPS, TRAIN, prove, step
from tensor_runs import Folder

import circuitize as cz
from circuitize.api.exact import integers_of
from circuitize.api.runs.data import held
from circuitize.api.runs.proving import ProvedRun
from circuitize.api.runs.verdict import RunVerdict
from circuitize.backends.tensor.dataset import batch_ports, whole
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.values import to_integers
from circuitize.provers.tensor.runs.order import rows
from circuitize.provers.tensor.runs.proving import prove_run
from circuitize.provers.tensor.runs.setting import Run
from circuitize.provers.tensor.runs.start import Start


def verify(folder: Path, **more: Any) -> RunVerdict:
    return cz.verify_run(step(), folder, **{"initial_seed": START.hex(), "model": MODEL, **more})


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> ProvedRun:
    return prove(tmp_path_factory.mktemp("begun") / "run")


def test_a_run_begins_with_what_the_seed_draws(made: ProvedRun) -> None:
    verdict = verify(made.folder)
    assert verdict.valid and verdict.initial_seed == made.initial_seed == START.hex(), verdict.reason
    values = dict(cz.start(step(), MODEL, START))
    for number in range(1, STEPS + 1):
        own = rows(bytes.fromhex(SEED), len(TRAIN["inputs"]), 8, number)
        found = cz.run(step(), {**values, **{name: TRAIN[name][own] for name in TRAIN}, "learning_rate": RATE})
        values = {name: found[name] for name in values}
    for name, expected in values.items():
        np.testing.assert_array_equal(made.outputs[name], expected)
    again = prove(made.folder)
    assert again.resumed == STEPS


def test_another_seed_or_model_is_refused(made: ProvedRun, tmp_path: Path) -> None:
    assert "another seed" in str(verify(made.folder, initial_seed="00").reason)
    narrow = cz.dense(4, 5, initializer=lambda draw, shape: draw.normal(0.0, 0.5, shape))
    other = cz.sequential(narrow, cz.relu(), cz.dense(5, 3))
    assert "the run is of plans" in str(verify(made.folder, model=other).reason)
    given: dict[str, Any]
    for given in ({"initial_seed": None}, {"model": None}, {"initial_seed": None, "model": None}):
        with pytest.raises(CircuitizeError, match="whose start is public, found one or none"):
            verify(made.folder, **given)
    own = prove(tmp_path / "own", initial_seed=None, model=None, inputs=cz.start(step(), MODEL, START))
    assert "values of its prover's" in str(verify(own.folder).reason)


def test_a_seed_that_no_run_could_state(tmp_path: Path) -> None:
    """One of many bytes would make a manifest longer than any that is read, after all proofs."""
    for seed in (b"", bytes(65), bytes(10_000)):
        with pytest.raises(CircuitizeError, match=f"initial seed of 1 to 64 bytes, found {len(seed)}"):
            prove(tmp_path / "run", initial_seed=seed)
    assert not list(tmp_path.iterdir())


def test_a_start_that_is_not_the_seeds_has_no_proof(tmp_path: Path) -> None:
    """The prover draws one number otherwise: of what it begins with, or of the optimiser's zeros."""
    program = step()
    ports = [whole(port, len(TRAIN["inputs"])) for port in batch_ports(program)]
    data = {port.name: to_integers(port, TRAIN[port.name], "data") for port in ports}
    honest = integers_of(program, cz.start(program, MODEL, START), held(program))
    names = list(honest)
    for number, name in enumerate((names[0], names[-1])):
        other = honest[name].copy()
        other.flat[-1] += 1
        changed = {**honest, name: other}
        cheat, run = (run_from(Start(START, values)) for values in (changed, honest))
        folder = Folder(tmp_path / str(number))
        prove_run(cheat, changed, data, folder.path, folder.kept)
        folder.judged(cheat)
        assert "the run is of plans" in folder.verdict(run)
        folder.restate(plans=run.plans_digest)
        assert "the formats of what the run begins with are not shown" in folder.verdict(run)


def run_from(start: Start) -> Run:
    rate = {"learning_rate": Fraction(RATE)}
    return Run(step(), len(TRAIN["inputs"]), 1, b"seed", lambda _: rate, zero_knowledge=False, start=start)
