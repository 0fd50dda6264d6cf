"""Runs of consecutive steps: proved, checked, interrupted, several steps at once."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensor_proofs import refusals, refused
from tensor_runs import SEED, STEPS, Folder, interrupt_after, run_of, trained, values_of
from tiers import count

from circuitize.circuits.quantize import quantize
from circuitize.frontends.datasets import iris
from circuitize.frontends.formats import Format
from circuitize.frontends.layers import dense, sequential
from circuitize.frontends.losses import mean_squared_error
from circuitize.frontends.optimizers import Momentum
from circuitize.frontends.schedules import cosine
from circuitize.frontends.training import start, training_step, with_examples
from circuitize.provers.tensor.config import HIDDEN_TYPE
from circuitize.provers.tensor.runs import budget
from circuitize.provers.tensor.runs.files import FORMATS
from circuitize.provers.tensor.runs.setting import Run
from circuitize.provers.tensor.runs.state import State
from circuitize.provers.tensor.statement import Statement

MANY = count(20, deep=100)


def test_a_run_is_what_the_executor_does(tmp_path: Path) -> None:
    run, folder = run_of(), Folder(tmp_path / "run")
    found = folder.prove(run)
    values, losses = trained(run)
    assert all(np.array_equal(found.held[name], value) for name, value in values.items())
    checked = folder.judged()
    assert [int(loss) for loss in checked.outputs["loss"]] == losses
    assert (checked.roots, checked.final, checked.identity) == (found.roots, found.final, found.identity)
    assert len(found.seconds) == STEPS and found.resumed == 0


def test_each_kind_of_proof_in_a_run(tmp_path: Path) -> None:
    """The proof of formats, proofs with rows of a dataset and assumed formats, two steps in one."""
    for per_proof in (1, 2):
        run = run_of(steps=2, per_proof=per_proof)
        Folder(tmp_path / str(per_proof)).prove(run)
        Folder(tmp_path / str(per_proof)).judged(run)
    step = Folder(tmp_path / "1").step(1)
    run = run_of(steps=2)
    chunk = run.chunk(1)
    assert all(refusals(chunk.program, Statement({}, step.roots), step.proof, chunk.plan))


@pytest.mark.parametrize("per_proof", [pytest.param(2, marks=pytest.mark.deep), 6])
def test_several_steps_in_one_proof(tmp_path: Path, per_proof: int) -> None:
    run, folder = run_of(per_proof=per_proof), Folder(tmp_path / "run")
    found = folder.prove(run)
    values, losses = trained(run_of())
    assert all(np.array_equal(found.held[name], value) for name, value in values.items())
    assert [int(loss) for loss in folder.judged(run).outputs["loss"]] == losses
    assert len(list((tmp_path / "run" / "steps").iterdir())) == STEPS // per_proof
    assert "steps per proof" in folder.verdict(run_of())


def test_many_steps_on_digits(tmp_path: Path) -> None:
    """Every proof of the run, whose rate changes, is seen by both verifiers."""
    folder = Folder(tmp_path / "run")
    name = "digits.py:step"
    run = run_of(name, MANY, 10, scalars=lambda step: {"learning_rate": Fraction(1, 10 + step // (MANY // 2))})
    found = folder.prove(run, name)
    checked = folder.judged(run)
    values, losses = trained(run, name)
    assert all(np.array_equal(found.held[key], value) for key, value in values.items())
    assert [int(loss) for loss in checked.outputs["loss"]] == losses and len(losses) == MANY
    assert run.size == 1437


def test_the_state_of_an_optimiser_is_a_link_of_its_own(tmp_path: Path) -> None:
    """Momentum: two groups are chained, and the scalars follow a schedule."""
    folder = Folder(tmp_path / "run")
    network = sequential(dense(4, 3))
    step = training_step(network, mean_squared_error, Momentum(decay=0.875), 8, inputs=Format.between(0.0, 1.0, 8))
    split = iris(0)
    batch: dict[str, Any]
    batch = {"inputs": split.train_inputs[:8], "targets": split.train_targets[:8], "learning_rate": 0.25}
    program = quantize(with_examples(step, {**start(step, network, 0), **batch}))
    falling = cosine(0.25, 4)
    run = Run(program, 120, 4, SEED, lambda step: {"learning_rate": falling(step)}, 2)
    assert run.kept == ("parameters", "optimizer")
    found = folder.prove(run)
    checked = folder.judged(run)
    assert set(checked.final) == {"parameters", "optimizer", "data"} and checked.final == found.final
    first, second = folder.step(1), folder.step(3)
    for name in run.kept:
        assert first.roots["output", name] == second.roots["input", name]
    swapped = {("input", a): second.roots["input", b] for a, b in (run.kept, run.kept[::-1])}
    folder.put(3, second, roots={**second.roots, **swapped})
    assert "step 3: it begins with" in folder.verdict(run)


# Runs that are interrupted.


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    run, folder = run_of(), Folder(tmp_path / "run")
    interrupt_after(run, folder, 2)
    kept = folder.kept
    assert kept.stat().st_mode & 0o77 == 0
    assert "step 3 is missing" in folder.verdict()
    earlier = kept.read_bytes()
    interrupt_after(run, folder, 4)
    before = [folder.step_path(step).read_bytes() for step in (1, 2)]
    kept.write_bytes(earlier)
    found = folder.prove(run)
    assert (found.resumed, len(found.seconds)) == (2, 4), "steps 3 and 4 are proved again, to the same roots"
    assert [folder.step_path(step).read_bytes() for step in (1, 2)] == before
    assert folder.judged().final == found.final
    assert folder.prove(run).resumed == STEPS, "nothing is left to prove"


def test_the_bytes_of_a_run_are_what_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Callable[[str, str], None]
) -> None:
    """With one secret. Where they change the type of the proof must, too: its digest is in the key of all randomness.

    Else one secret would, in an older version and in this one, use one pad for two values.
    """
    monkeypatch.setattr(secrets, "token_bytes", lambda length: bytes(range(length)))
    monkeypatch.setattr(budget, "SHARING", 2)
    folder = Folder(tmp_path / "run")
    folder.prove(run_of(steps=3))
    paths = sorted(path for path in folder.path.rglob("*") if path.is_file())
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder.path)}\n" for path in paths]
    golden("run.sha256", "".join([f"{HIDDEN_TYPE}\n", *lines]))


def test_only_the_same_run_goes_on(tmp_path: Path) -> None:
    run, folder = run_of(), Folder(tmp_path / "run")
    interrupt_after(run, folder, 1)
    _, data = values_of(run)
    kept = folder.kept
    others = (replace(run, seed=b"other"), run_of(steps=12), run_of(per_proof=2))
    for other in others:
        assert "expected" in refused(lambda other=other: folder.prove(other))
    changed = {**data, "inputs": data["inputs"][::-1].copy()}
    assert "dataset" in refused(lambda: folder.prove(run, data=changed))
    formats = (folder.path / FORMATS).read_bytes()
    (folder.path / FORMATS).unlink()
    assert "put it back" in refused(lambda: folder.prove(run))
    (folder.path / FORMATS).write_bytes(formats)
    state = State.read(kept)
    replace(state, roots={**state.roots, "parameters": bytes(32)}).write(kept)
    assert "expected" in refused(lambda: folder.prove(run))
    kept.unlink()
    assert "begin again" in refused(lambda: folder.prove(run))
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "file").touch()
    assert "something else" in refused(lambda: Folder(tmp_path / "else").prove(run))
