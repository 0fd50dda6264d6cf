"""The judged end of runs in zero knowledge: openings of what is judged and of test sets, and secrets of their roots."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hidden_runs import Killed, Reader, after, killed_after, run_of
from judged_runs import held_out, judge
from tensor_runs import Folder, values_of

from circuitize.circuits.errors import CircuitizeError
from circuitize.provers.tensor.plan import OPENINGS
from circuitize.provers.tensor.runs.beginning import HeldOut
from circuitize.provers.tensor.runs.evaluation import PUBLIC_SECRET, TEST, Evaluation
from circuitize.provers.tensor.runs.files import EVALUATION
from circuitize.provers.tensor.runs.proving import prove_run
from circuitize.provers.tensor.runs.setting import Run


def judged(steps: int = 1) -> Run:
    return run_of(steps, evaluation=judge())


def prove(run: Run, initial: Any, to: Folder, test: HeldOut) -> None:
    prove_run(run, initial, values_of(run)[1], to.path, to.kept, test)


def test_what_is_judged_is_opened_as_often_as_it_was_made_for(tmp_path: Path) -> None:
    """By the proof that made it, the one that judges it, and of a run that follows those of formats and steps."""
    first, second, reader = Folder(tmp_path / "run"), Folder(tmp_path / "next"), Reader()
    prove(judged(2), values_of(judged())[0], first, held_out())
    run, found = after(first, 1, evaluation=judge())
    prove(run, found, second, held_out())
    reader.look(first, second)
    assert (first.path / EVALUATION).exists() and (second.path / EVALUATION).exists()
    # Both are judged on one test set, whose root is the same: each run opens it at its end.
    assert reader.most()["parameters"] == OPENINGS and reader.most()[TEST] == 2 <= OPENINGS
    assert first.roots[TEST] == second.roots[TEST]
    second.judged(run)


def test_other_test_sets_have_other_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One pad under two test sets would tell their difference, in one run after another as in two that follow."""
    secrets: list[bytes] = []
    commitment = Evaluation.commitment

    def noted(own: Evaluation, data: Any, secret: bytes) -> Any:
        secrets.append(secret)
        return commitment(own, data, secret)

    monkeypatch.setattr(Evaluation, "commitment", noted)
    first, second = Folder(tmp_path / "run"), Folder(tmp_path / "next")
    prove(judged(), values_of(judged())[0], first, held_out())
    run, found = after(first, 1, evaluation=judge())
    prove(run, found, second, held_out(-1))
    assert len(set(secrets)) == 2 and PUBLIC_SECRET not in secrets
    public = Folder(tmp_path / "public")
    prove(judged(), values_of(judged())[0], public, held_out(public=True))
    assert secrets[-1] == PUBLIC_SECRET


def test_content_is_the_list_and_every_value() -> None:
    made, tensors = judge(), held_out().tensors
    found = {made.content(tensors), made.content(held_out(-1).tensors)}
    for name, values in tensors.items():
        changed = values.copy()
        changed.flat[-1] ^= 1
        found.add(made.content({**tensors, name: changed}))
    exchanged = Evaluation(made.program, 30, zero_knowledge=False)
    found.add(exchanged.content(tensors))
    assert len(found) == 5


@pytest.mark.deep
def test_a_judged_run_that_was_killed_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    """A run, and one that follows it with another test set, killed before each of its writes; others are refused."""
    first, second, reader = Folder(tmp_path / "run"), Folder(tmp_path / "next"), Reader()
    kills = 0
    for folder, test, other in ((first, held_out(), held_out(-1)), (second, held_out(-1), held_out())):
        while True:
            run, given = (judged(), values_of(judged())[0])
            if folder is second:
                run, given = after(first, 1, evaluation=judge())
            try:
                with killed_after(kills % 5):
                    prove(run, given, folder, test)
                break
            except Killed:
                kills += 1
            reader.look(first, second)
            if folder.kept.exists():
                with pytest.raises(CircuitizeError) as refused, killed_after(1):
                    prove(run, given, folder, other)
                assert "\n" not in str(refused.value)
        prove(run, given, folder, test)
        reader.look(first, second)
        folder.judged(run)
    assert kills >= 4 and all(len(contents) == 1 for contents in reader.seen.values())
    assert reader.most()["parameters"] == OPENINGS and reader.most()[TEST] <= OPENINGS
