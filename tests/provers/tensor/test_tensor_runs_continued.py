"""Runs that go on where others ended: one training, proved in parts that roots join."""

from __future__ import annotations

import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensor_proofs import refused
from tensor_runs import PROOF, STEPS, Folder, interrupt_after, run_of, trained, values_of

from circuitize.backends.tensor.groups import DATA
from circuitize.provers.tensor.runs.continuing import Earlier, earlier
from circuitize.provers.tensor.runs.setting import Run

HALF = STEPS // 2


def falling(step: int) -> dict[str, Fraction]:
    return {"learning_rate": Fraction(1, 8 + step)}


def first_half() -> Run:
    return run_of(steps=HALF, scalars=falling)


def second_half(**more: Any) -> Run:
    settled: dict[str, Any] = {"steps": HALF, "first": HALF + 1, "begun": first_half().made_for, **more}
    return run_of(**settled, scalars=falling)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    folder = Folder(tmp_path_factory.mktemp("runs") / "first")
    folder.prove(first_half())
    return folder


@pytest.fixture
def half(whole: Folder, tmp_path: Path) -> Folder:
    """A finished run that none goes on from yet."""
    copy = Folder(Path(shutil.copytree(whole.path, tmp_path / "half" / "first")))
    shutil.copy(whole.kept, copy.kept)
    return copy


def contents(folder: Folder) -> dict[str, bytes]:
    return {str(path.relative_to(folder.path)): path.read_bytes() for path in folder.path.rglob("*") if path.is_file()}


def after(folder: Folder) -> Earlier:
    return earlier(folder.path, folder.kept)


def test_two_runs_are_one_training(half: Folder, tmp_path: Path) -> None:
    """Values and losses are those of one run with as many steps: batches and rates go on too."""
    values, losses = trained(run_of(scalars=falling))
    ended = half.judged(first_half())
    run, folder = second_half(per_proof=3), Folder(tmp_path / "run")
    found = folder.prove(run, after=after(half))
    assert all(np.array_equal(found.held[name], value) for name, value in values.items())
    checked = folder.judged(run)
    assert checked.roots == ended.final and checked.final[DATA] != checked.roots[DATA]
    assert [int(loss) for run in (ended, checked) for loss in run.outputs["loss"]] == losses
    assert folder.kept.stat().st_mode & 0o77 == 0


def test_one_run_goes_on_in_zero_knowledge(half: Folder, tmp_path: Path) -> None:
    """The last roots are made for one. The same one may be made again, even if nothing of it is left: to the byte."""
    first, again, other = (Folder(tmp_path / name) for name in ("first", "again", "other"))
    run = second_half()
    first.prove(run, after=after(half))
    again.prove(run, after=after(half))
    assert contents(first) == contents(again)
    for changed in (
        second_half(per_proof=3),
        second_half(seed=b"other"),
        replace(run, scalars=lambda step: falling(step + 1)),
    ):
        said = refused(lambda changed=changed: other.prove(changed, after=after(half)))
        assert "expected a run that no other one goes on from" in said
        assert not other.path.exists() and not other.kept.exists()


def test_several_runs_go_on_where_nothing_is_hidden(tmp_path: Path) -> None:
    plain: dict[str, Any] = {"zero_knowledge": False, "scalars": falling}
    half = Folder(tmp_path / "half")
    half.prove(run_of(steps=1, **plain))
    for per_proof in (1, 2):
        run = run_of(steps=2, first=2, per_proof=per_proof, **plain)
        folder = Folder(tmp_path / str(per_proof))
        folder.prove(run, after=after(half))
        assert folder.judged(run).roots == half.judged(run_of(steps=1, **plain)).final
    hiding = run_of(steps=2, first=2, scalars=falling)
    assert "not in zero knowledge" in refused(lambda: Folder(tmp_path / "no").prove(hiding, after=after(half)))


def test_the_numbers_of_steps_are_the_verifiers(half: Folder, tmp_path: Path) -> None:
    """A run cannot pass for another part of the training, whatever its folder says."""
    run, folder = second_half(), Folder(tmp_path / "hiding")
    folder.prove(run, after=after(half))
    folder.restate(first=1)
    assert "step 1 is missing" in folder.verdict(replace(run, first=1))
    half, folder = Folder(tmp_path / "plain"), Folder(tmp_path / "run")
    half.prove(replace(first_half(), zero_knowledge=False))
    run = second_half(zero_knowledge=False, begun=None)
    folder.prove(run, after=after(half))
    for first in (1, HALF, HALF + 2):
        other = replace(run, first=first)
        assert f"of first step {HALF + 1}, expected {first}" in folder.verdict(other)
    folder.restate(first=1)
    other = replace(run, first=1)
    assert "step 1 is missing" in folder.verdict(other)
    name = other.identity(folder.roots)
    for step in range(1, HALF + 1):
        folder.put(step, folder.step(HALF + step), run=name, step=step)
    assert "step 1: it is with learning_rate" in folder.verdict(other)
    other = replace(other, scalars=lambda step: falling(HALF + step))
    assert f"step 1: {PROOF}" in folder.verdict(other)


def test_an_interrupted_run_that_goes_on_from_another(half: Folder, tmp_path: Path) -> None:
    run, folder = second_half(), Folder(tmp_path / "run")
    interrupt_after(run, folder, HALF + 1, after=after(half))
    assert f"step {HALF + 2} is missing" in folder.verdict(run)
    assert "rest of it first" in refused(lambda: after(folder))
    found = folder.prove(run, after=after(half))
    assert (found.resumed, len(found.seconds)) == (1, HALF - 1)
    assert folder.judged(run).final == found.final
    assert after(folder).next == STEPS + 1


def test_what_no_run_goes_on_from(half: Folder, tmp_path: Path) -> None:
    """Each is told before anything is written."""
    folder, held = Folder(tmp_path / "run"), after(half)
    _, data = values_of(run_of())
    changed = {**data, "inputs": data["inputs"][::-1].copy()}
    assert "the dataset that it was proved with" in refused(
        lambda: folder.prove(second_half(), data=changed, after=held)
    )
    state = replace(held.state, held={name: value + 1 for name, value in held.state.held.items()})
    assert "the parameters that it ended with" in refused(
        lambda: folder.prove(second_half(), after=replace(held, state=state))
    )
    assert "go on with step 4, found step 1" in refused(lambda: folder.prove(first_half(), after=held))
    digits = run_of("digits.py:step", first=HALF + 1)
    assert "found one of" in refused(lambda: folder.prove(digits, "digits.py:step", after=held))
    assert "expected what the prover of the run keeps" in refused(lambda: earlier(half.path, tmp_path / "none.npz"))
    assert "expected a run" in refused(lambda: earlier(tmp_path, half.kept))
    assert [path.name for path in tmp_path.iterdir()] == ["half"]
    for first in (0, 2**48):
        assert "expected steps from 1" in refused(lambda first=first: second_half(first=first))
