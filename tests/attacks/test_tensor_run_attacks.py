"""Attacks on runs: steps replayed, reordered, dropped, doubled, foreign; roots that are others."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tensor_runs import IN, OUT, PROOF, STEPS, Folder, honest, run_of, values_of

from circuitize.backends.tensor.groups import DATA, INPUT, OUTPUT
from circuitize.provers.tensor.runs import checking
from circuitize.provers.tensor.runs.chunk import BATCH
from circuitize.provers.tensor.runs.files import FORMATS, MANIFEST
from circuitize.provers.tensor.runs.setting import Run


def test_the_run_that_is_attacked_holds(attacked: Folder) -> None:
    assert attacked.judged().final == {"parameters": attacked.step(STEPS).roots[OUT], DATA: attacked.roots[DATA]}


# Steps.


def test_a_step_replayed(attacked: Folder) -> None:
    """As it is; under the next number; with the roots that should be there."""
    first, second = attacked.step(1), attacked.step(2)
    attacked.put(2, first)
    assert "step 2: the file is of step 1" in attacked.verdict()
    attacked.put(2, first, step=2)
    assert "step 2: it begins with parameters" in attacked.verdict()
    attacked.put(2, first, step=2, roots=second.roots)
    assert f"step 2: {PROOF}" in attacked.verdict()
    attacked.put(2, first, step=2, roots={**first.roots, IN: first.roots[OUT]})
    assert f"step 2: {PROOF}" in attacked.verdict()


def test_a_step_replayed_where_nothing_changes(tmp_path: Path) -> None:
    """With a rate of 0 the weights stay; the transcript still has the step."""
    folder = Folder(tmp_path / "run")
    still = run_of(steps=2, scalars=lambda step: {"learning_rate": Fraction(0)}, seed=b"still")
    folder.prove(still)
    folder.judged(still)
    first = folder.step(1)
    folder.put(2, first, step=2, roots={**first.roots, IN: first.roots[OUT]})
    assert PROOF in folder.verdict(still)


def test_steps_reordered(attacked: Folder) -> None:
    second, third = attacked.step(2), attacked.step(3)
    attacked.put(2, third)
    attacked.put(3, second)
    assert "step 2: the file is of step 3; steps were reordered" in attacked.verdict()
    attacked.put(2, third, step=2)
    assert "step 2: it begins with" in attacked.verdict()


@pytest.mark.parametrize("step", [1, 3, STEPS])
def test_a_step_dropped(attacked: Folder, step: int) -> None:
    attacked.step_path(step).unlink()
    assert f"step {step} is missing" in attacked.verdict()


def test_a_run_made_shorter(tmp_path: Path) -> None:
    """The number of steps is in the name of the run, so that its proofs are of no shorter one."""
    folder, longer, shorter = Folder(tmp_path / "run"), *(run_of(steps=n, zero_knowledge=False) for n in (3, 2))
    folder.prove(longer)
    folder.step_path(3).unlink()
    assert "the run is of steps 3, expected 2" in folder.verdict(shorter)
    folder.restate(steps=2)
    assert "the run is of steps 2, expected 3" in folder.verdict(longer)
    assert "step 1: it belongs to run" in folder.verdict(shorter)
    name = shorter.identity(folder.roots)
    for step in (1, 2):
        folder.put(step, folder.step(step), run=name)
    assert f"step 1: {PROOF}" in folder.verdict(shorter)


def test_a_run_made_shorter_in_zero_knowledge(attacked: Folder) -> None:
    """Its dataset's root is of a number of openings, too."""
    attacked.step_path(STEPS).unlink()
    attacked.restate(steps=5)
    assert "the run is of openings 10, expected 9" in attacked.verdict(run_of(steps=5))
    shorter = run_of(steps=5)
    attacked.restate(steps=5, openings=9, plans=shorter.plans_digest)
    assert "formats of what the run begins with are not shown" in attacked.verdict(shorter)


class Loose(Run):
    """Verifier and prover who leave out of the transcript what a proof belongs to."""

    def context(self, identity: bytes, step: int) -> bytes:
        return b""


def test_without_its_context_a_proof_is_of_any_run(tmp_path: Path) -> None:
    """The forgery of the test above, where the defence is gone: it passes."""
    folder = Folder(tmp_path / "run")
    loose = [run_of(steps=steps, kind=Loose, zero_knowledge=False) for steps in (3, 2)]
    folder.prove(loose[0])
    folder.step_path(3).unlink()
    folder.restate(steps=2)
    name = loose[1].identity(folder.roots)
    for step in (1, 2):
        folder.put(step, folder.step(step), run=name)
    folder.judged(loose[1])
    assert f"step 1: {PROOF}" in folder.verdict(run_of(steps=2, zero_knowledge=False))


def test_steps_moved_up_after_one_is_dropped(attacked: Folder) -> None:
    for step in range(3, STEPS):
        attacked.put(step, attacked.step(step + 1), step=step)
    assert "step 3: it begins with" in attacked.verdict()


def test_a_step_there_twice(attacked: Folder) -> None:
    for step, file in ((7, 7), (0, 0), (3, 33)):
        path = attacked.step_path(file)
        path.write_bytes(replace(attacked.step(3), step=step).encode())
        assert f"found {path.name!r} too" in attacked.verdict()
        path.unlink()


def test_a_step_of_another_run(attacked: Folder) -> None:
    """The same program, data, seed and beginning; only the secrets of commitments differ."""
    foreign, own = honest("second").step(3), attacked.step(3)
    attacked.put(3, foreign)
    assert "step 3: it belongs to run" in attacked.verdict()
    attacked.put(3, foreign, run=own.run)
    assert "step 3: it begins with" in attacked.verdict()
    attacked.put(3, foreign, run=own.run, roots=own.roots)
    assert f"step 3: {PROOF}" in attacked.verdict()
    attacked.put(3, own, proof=attacked.step(4).proof)
    assert f"step 3: {PROOF}" in attacked.verdict()


# Roots.


def test_roots_swapped(attacked: Folder) -> None:
    own = attacked.step(2)
    for changed in (
        {IN: own.roots[OUT], OUT: own.roots[IN]},
        {IN: own.roots[INPUT, DATA], (INPUT, DATA): own.roots[IN]},
        {(INPUT, DATA): bytes(32)},
    ):
        attacked.put(2, own, roots={**own.roots, **changed})
        assert "step 2: it begins with" in attacked.verdict()
    for roots in ({IN: own.roots[IN]}, {**own.roots, (OUTPUT, "loss"): bytes(32)}):
        attacked.put(2, own, roots=roots)
        assert "step 2: " in attacked.verdict()
    attacked.put(2, own, roots={**own.roots, OUT: own.roots[IN]})
    assert f"step 2: {PROOF}" in attacked.verdict()
    last = attacked.step(STEPS)
    attacked.put(2, own)
    attacked.put(STEPS, last, roots={**last.roots, OUT: honest("second").step(STEPS).roots[OUT]})
    assert f"step {STEPS}: {PROOF}" in attacked.verdict()


def test_the_roots_that_a_run_begins_with(attacked: Folder) -> None:
    """Whatever stands in the manifest: its formats are not shown, or the steps are of another run."""
    roots = json.loads((attacked.path / MANIFEST).read_text())["roots"]
    theirs = json.loads((honest("second").path / MANIFEST).read_text())["roots"]
    for changed in (
        {"parameters": roots["data"], "data": roots["parameters"]},
        {"data": theirs["data"]},
        {"parameters": attacked.step(1).roots[OUT].hex()},
    ):
        attacked.restate(roots={**roots, **changed})
        assert "formats of what the run begins with are not shown" in attacked.verdict()
    attacked.restate(roots={"parameters": roots["parameters"]})
    assert "states roots of" in attacked.verdict()
    attacked.restate(roots=theirs)
    (attacked.path / FORMATS).write_bytes((honest("second").path / FORMATS).read_bytes())
    assert "step 1: it belongs to run" in attacked.verdict()


def test_formats_that_are_not_shown(attacked: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps assume that what enters is in format; without the proof that begins the run, a label can be 2."""
    (attacked.path / FORMATS).write_bytes((honest("second").path / FORMATS).read_bytes())
    assert "formats of what the run begins with are not shown" in attacked.verdict()
    (attacked.path / FORMATS).unlink()
    assert "formats of what the run begins with are not shown" in attacked.verdict()
    run, large = run_of(steps=1, zero_knowledge=False), Folder(tmp_path / "large")
    _, data = values_of(run)
    data = {**data, "targets": np.array(data["targets"])}
    data["targets"][run.rows(1)[BATCH][0, 0]] = 2
    large.prove(run, data=data)
    assert "formats of what the run begins with are not shown" in large.verdict(run)
    monkeypatch.setattr(checking, "_check_formats", lambda *_: None)
    large.judged(run)
