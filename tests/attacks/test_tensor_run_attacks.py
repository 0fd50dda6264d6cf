"""Attacks on runs: steps replayed, reordered, dropped, doubled, foreign; roots that are others."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tensor_runs import (
    IN,
    OUT,
    PROOF,
    STEPS,
    honest,
    judged,
    manifest_with,
    prove_into,
    put,
    run_of,
    step_of,
    values_of,
    verdict,
)

from circuitize.provers.tensor.groups import DATA, INPUT, OUTPUT
from circuitize.provers.tensor.runs import checking
from circuitize.provers.tensor.runs.files import FORMATS, MANIFEST, read_manifest, step_path
from circuitize.provers.tensor.runs.proving import prove_run
from circuitize.provers.tensor.runs.setting import Run


def test_the_run_that_is_attacked_holds(attacked: Path) -> None:
    assert judged(attacked).final == {"parameters": step_of(attacked, STEPS).roots[OUT]}


# Steps.


def test_a_step_replayed(attacked: Path) -> None:
    """As it is; under the next number; with the roots that should be there."""
    first, second = step_of(attacked, 1), step_of(attacked, 2)
    put(attacked, 2, first)
    assert "step 2: the file is of step 1" in verdict(attacked)
    put(attacked, 2, first, step=2)
    assert "step 2: it begins with parameters" in verdict(attacked)
    put(attacked, 2, first, step=2, roots=second.roots)
    assert f"step 2: {PROOF}" in verdict(attacked)
    put(attacked, 2, first, step=2, roots={**first.roots, IN: first.roots[OUT]})
    assert f"step 2: {PROOF}" in verdict(attacked)


def test_a_step_replayed_where_nothing_changes(tmp_path: Path) -> None:
    """With a rate of 0 the weights stay; the transcript still has the step."""
    still = run_of(steps=2, scalars=lambda step: {"learning_rate": Fraction(0)}, seed=b"still")
    prove_into(tmp_path / "run", still)
    judged(tmp_path / "run", still)
    first = step_of(tmp_path / "run", 1)
    put(tmp_path / "run", 2, first, step=2, roots={**first.roots, IN: first.roots[OUT]})
    assert PROOF in verdict(tmp_path / "run", still)


def test_steps_reordered(attacked: Path) -> None:
    second, third = step_of(attacked, 2), step_of(attacked, 3)
    put(attacked, 2, third)
    put(attacked, 3, second)
    assert "step 2: the file is of step 3; steps were reordered" in verdict(attacked)
    put(attacked, 2, third, step=2)
    assert "step 2: it begins with" in verdict(attacked)


@pytest.mark.parametrize("step", [1, 3, STEPS])
def test_a_step_dropped(attacked: Path, step: int) -> None:
    step_path(attacked, step).unlink()
    assert f"step {step} is missing" in verdict(attacked)


def test_a_run_made_shorter(attacked: Path) -> None:
    """The number of steps is in the name of the run, so that its proofs are of no shorter one."""
    step_path(attacked, STEPS).unlink()
    assert "the run is of steps 6, expected 5" in verdict(attacked, run_of(steps=5))
    manifest_with(attacked, steps=5)
    assert "the run is of steps 5, expected 6" in verdict(attacked)
    shorter = run_of(steps=5)
    assert "step 1: it belongs to run" in verdict(attacked, shorter)
    name = shorter.identity(read_manifest(attacked).roots)
    for step in range(1, 6):
        put(attacked, step, step_of(attacked, step), run=name)
    assert f"step 1: {PROOF}" in verdict(attacked, shorter)


class Loose(Run):
    """Verifier and prover who leave out of the transcript what a proof belongs to."""

    def context(self, identity: bytes, step: int) -> bytes:
        return b""


def test_without_its_context_a_proof_is_of_any_run(tmp_path: Path) -> None:
    """The forgery of the test above, where the defence is gone: it passes."""
    loose = [
        Loose(run.program, run.size, run.steps, run.seed, run.scalars) for run in (run_of(steps=3), run_of(steps=2))
    ]
    prove_into(tmp_path / "run", loose[0])
    folder = tmp_path / "run"
    step_path(folder, 3).unlink()
    manifest_with(folder, steps=2)
    name = loose[1].identity(read_manifest(folder).roots)
    for step in (1, 2):
        put(folder, step, step_of(folder, step), run=name)
    judged(folder, loose[1])
    assert f"step 1: {PROOF}" in verdict(folder, run_of(steps=2))


def test_steps_moved_up_after_one_is_dropped(attacked: Path) -> None:
    for step in range(3, STEPS):
        put(attacked, step, step_of(attacked, step + 1), step=step)
    assert "step 3: it begins with" in verdict(attacked)


def test_a_step_there_twice(attacked: Path) -> None:
    for step, file in ((7, 7), (0, 0), (3, 33)):
        path = step_path(attacked, file)
        path.write_bytes(replace(step_of(attacked, 3), step=step).encode())
        assert f"found {path.name} too" in verdict(attacked)
        path.unlink()


def test_a_step_of_another_run(attacked: Path) -> None:
    """The same program, data, seed and beginning; only the secrets of commitments differ."""
    foreign, own = step_of(honest("second"), 3), step_of(attacked, 3)
    put(attacked, 3, foreign)
    assert "step 3: it belongs to run" in verdict(attacked)
    put(attacked, 3, foreign, run=own.run)
    assert "step 3: it begins with" in verdict(attacked)
    put(attacked, 3, foreign, run=own.run, roots=own.roots)
    assert f"step 3: {PROOF}" in verdict(attacked)
    put(attacked, 3, own, proof=step_of(attacked, 4).proof)
    assert f"step 3: {PROOF}" in verdict(attacked)


# Roots.


def test_roots_swapped(attacked: Path) -> None:
    own = step_of(attacked, 2)
    for changed in (
        {IN: own.roots[OUT], OUT: own.roots[IN]},
        {IN: own.roots[INPUT, DATA], (INPUT, DATA): own.roots[IN]},
        {(INPUT, DATA): bytes(32)},
    ):
        put(attacked, 2, own, roots={**own.roots, **changed})
        assert "step 2: it begins with" in verdict(attacked)
    for roots in ({IN: own.roots[IN]}, {**own.roots, (OUTPUT, "loss"): bytes(32)}):
        put(attacked, 2, own, roots=roots)
        assert "step 2: " in verdict(attacked)
    put(attacked, 2, own, roots={**own.roots, OUT: own.roots[IN]})
    assert PROOF in verdict(attacked) or "step 3: it begins with" in verdict(attacked)
    last = step_of(attacked, STEPS)
    put(attacked, 2, own)
    put(attacked, STEPS, last, roots={**last.roots, OUT: step_of(honest("second"), STEPS).roots[OUT]})
    assert f"step {STEPS}: {PROOF}" in verdict(attacked)


def test_the_roots_that_a_run_begins_with(attacked: Path) -> None:
    """Whatever stands in the manifest: its formats are not shown, or the steps are of another run."""
    roots = json.loads((attacked / MANIFEST).read_text())["roots"]
    theirs = json.loads((honest("second") / MANIFEST).read_text())["roots"]
    for changed in (
        {"parameters": roots["data"], "data": roots["parameters"]},
        {"data": theirs["data"]},
        {"parameters": step_of(attacked, 1).roots[OUT].hex()},
    ):
        manifest_with(attacked, roots={**roots, **changed})
        assert "formats of what the run begins with are not shown" in verdict(attacked)
    manifest_with(attacked, roots={"parameters": roots["parameters"]})
    assert "states roots of" in verdict(attacked)
    manifest_with(attacked, roots=theirs)
    (attacked / FORMATS).write_bytes((honest("second") / FORMATS).read_bytes())
    assert "step 1: it belongs to run" in verdict(attacked)


def test_formats_that_are_not_shown(attacked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps assume that what enters is in format; without the proof that begins the run, a label can be 2."""
    (attacked / FORMATS).write_bytes((honest("second") / FORMATS).read_bytes())
    assert "formats of what the run begins with are not shown" in verdict(attacked)
    (attacked / FORMATS).unlink()
    assert "formats of what the run begins with are not shown" in verdict(attacked)
    run = run_of(steps=1)
    held, data = values_of(run)
    data = {**data, "targets": np.array(data["targets"])}
    data["targets"][run.rows(1)["1"][0]] = 2
    prove_run(run, held, data, tmp_path / "large", tmp_path / "large.kept.npz")
    assert "formats of what the run begins with are not shown" in verdict(tmp_path / "large", run)
    monkeypatch.setattr(checking, "_check_formats", lambda *_: None)
    judged(tmp_path / "large", run)
