"""How often the roots of runs in zero knowledge are opened: over interruptions, by other commands, by two processes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hidden_runs import (
    Killed,
    Reader,
    after,
    follow,
    killed_after,
    proved,
    run_of,
)
from tensor_runs import RATE, Folder, values_of
from tiers import count

from circuitize.backends.tensor.groups import DATA
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.files import write_whole
from circuitize.provers.tensor.plan import OPENINGS
from circuitize.provers.tensor.runs import proving, state
from circuitize.provers.tensor.runs.checking import check
from circuitize.provers.tensor.runs.files import read_manifest
from circuitize.provers.tensor.runs.proving import prove_run
from circuitize.provers.tensor.runs.setting import Run

pytestmark = pytest.mark.usefixtures("few_share_a_root")


def others(run: Run, values: Any, data: Any) -> Iterator[tuple[Run, Any, Any]]:
    """The same command with something else: none of it may open a root that was made for the first one."""
    yield replace(run, scalars=lambda step: {"learning_rate": RATE / 2}), values, data
    late = run.last
    yield replace(run, scalars=lambda step: {"learning_rate": RATE / (1 + (step == late))}), values, data
    yield replace(run, seed=b"another"), values, data
    yield replace(run, steps=run.steps + 1), values, data
    yield replace(run, steps=run.steps - run.steps % 2 or 2, per_proof=2), values, data
    yield replace(run, zero_knowledge=False, begun=None), values, data
    yield run, values, {name: tensor + 1 for name, tensor in data.items()}


def test_no_root_is_opened_more_often_than_it_is_made_for(tmp_path: Path) -> None:
    """A run and the one after it, each killed before each of its writes, and given again otherwise, then as it was."""
    first, second, reader = Folder(tmp_path / "run"), Folder(tmp_path / "next"), Reader()
    held, data = values_of(run_of())
    kills, apart = 0, count(3, deep=1)
    for folder in (first, second):
        finished = False
        while not finished:
            run, values = (run_of(2), held) if folder is first else after(first)
            for writes in range(4):
                try:
                    with killed_after(writes):
                        prove_run(run, values, data, folder.path, folder.kept)
                    finished = True
                    break
                except Killed:
                    kills += 1
                reader.look(first, second)
            if finished or not folder.kept.exists():
                continue
            for other in list(others(run, values, data))[kills % apart :: apart]:
                with pytest.raises(CircuitizeError) as refused, killed_after(1):
                    prove_run(*other, folder.path, folder.kept)
                assert "\n" not in str(refused.value)
            reader.look(first, second)
    assert kills >= 16
    assert all(len(contents) == 1 for contents in reader.seen.values())
    assert reader.most() == {"parameters": 3, DATA: 5}
    for folder, run in ((first, run_of(2)), (second, after(first)[0])):
        check(run, folder.path, read_manifest(folder.path))
    # The budgets: those of the table in docs/zero-knowledge.md.
    assert OPENINGS == 4 and run_of(2).made_for == 6


def test_two_processes_in_one_folder(tmp_path: Path) -> None:
    """While one waits before the last proof no other may end the run, or go on from it; then one may."""
    folder, run, reader = Folder(tmp_path / "run"), run_of(2), Reader()
    one, other = Folder(tmp_path / "one"), Folder(tmp_path / "other")

    def meanwhile(done: int) -> None:
        if done == 1:
            with pytest.raises(CircuitizeError, match="no other process that proves this run"):
                proved(run, folder)
            with pytest.raises(CircuitizeError, match="prove the rest of it first"):
                follow(folder, one, 1)

    proved(run, folder, progress=meanwhile)
    follow(folder, one, 1)
    with pytest.raises(CircuitizeError, match="no other one goes on from"):
        follow(folder, other, 1, seed=b"other")
    reader.look(folder, one, other)
    assert reader.most()["parameters"] <= OPENINGS and reader.most()[DATA] <= run.made_for


def test_a_schedule_that_changes_its_mind(tmp_path: Path) -> None:
    """It gives every process the same at first, so that the fingerprint is the same, then something else each time."""
    folder, held_and_data, reader = Folder(tmp_path / "run"), values_of(run_of()), Reader()
    for attempt in range(1, 6):
        asked: set[int] = set()

        def schedule(step: int, attempt: int = attempt, asked: set[int] = asked) -> Mapping[str, Fraction]:
            again = step in asked
            asked.add(step)
            return {"learning_rate": RATE / (attempt if again else 1)}

        # Before the first proof there are two more writes: what is kept, what is claimed, and formats.
        with pytest.raises(Killed), killed_after(1 if attempt > 1 else 4):
            prove_run(run_of(2, scalars=schedule), *held_and_data, folder.path, folder.kept)
        reader.look(folder)
    assert reader.most()["parameters"] <= OPENINGS


def test_a_run_that_was_shown_stays_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run goes on, and is shown; then it is made again, from nothing, and fails as it begins: no other may go on."""
    folder, run, reader = Folder(tmp_path / "run"), run_of(2), Reader()
    one, again, other = (Folder(tmp_path / name) for name in ("one", "again", "other"))
    proved(run, folder)
    follow(folder, one, 1)
    with monkeypatch.context() as patch:
        patch.setattr(proving, "_show_formats", interrupted)
        with pytest.raises(KeyboardInterrupt):
            follow(folder, again, 1)
    assert not again.path.exists() and not again.kept.exists()
    with pytest.raises(CircuitizeError, match="no other one goes on from"):
        follow(folder, other, 1, seed=b"other")
    reader.look(folder, one, other)
    assert reader.most()["parameters"] <= OPENINGS


def test_a_run_that_failed_before_it_was_shown_leaves_no_mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, other = Folder(tmp_path / "run"), Folder(tmp_path / "other")
    proved(run_of(2), folder)
    with monkeypatch.context() as patch:
        patch.setattr(proving, "_show_formats", interrupted)
        with pytest.raises(KeyboardInterrupt):
            follow(folder, other, 1)
    follow(folder, other, 1, seed=b"other")


def test_who_takes_back_is_the_only_one_that_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run is begun twice at once, in two folders; one is shown, the other fails: it may not take back the mark."""
    folder, reader = Folder(tmp_path / "run"), Reader()
    one, again, other = (Folder(tmp_path / name) for name in ("one", "again", "other"))
    proved(run_of(2), folder)
    refused: list[str] = []

    def meanwhile(*_: Any) -> None:
        patch.undo()
        try:
            follow(folder, again, 1)
        except CircuitizeError as error:
            refused.append(str(error))
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(proving, "_show_formats", meanwhile)
        with pytest.raises(KeyboardInterrupt):
            follow(folder, one, 1)
    follow(folder, other, 1, seed=b"other")
    reader.look(folder, one, again, other)
    assert reader.most()["parameters"] <= OPENINGS
    assert "found one; wait until it ends" in refused[0] and not again.path.exists() and not one.kept.exists()


def test_a_run_that_cannot_be_kept_leaves_no_mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full when the file is written that the new run goes on with."""
    folder, other = Folder(tmp_path / "run"), Folder(tmp_path / "other")
    proved(run_of(2), folder)

    def full(path: Path, *given: Any, **more: Any) -> None:
        if path == other.kept:
            raise OSError(28, "No space left on device")
        write_whole(path, *given, **more)

    with monkeypatch.context() as patch:
        patch.setattr(state, "write_whole", full)
        with pytest.raises(OSError, match="No space"):
            follow(folder, other, 1)
    follow(folder, other, 1, seed=b"other")


def interrupted(*_: Any) -> None:
    raise KeyboardInterrupt


def test_a_refusal_makes_no_folder(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "new" / "place" / "run")
    before = Folder(tmp_path / "run")
    proved(run_of(2), before)
    with pytest.raises(CircuitizeError, match="expected to go on with step 3"):
        prove_run(run_of(2), after(before)[1], values_of(run_of())[1], folder.path, folder.kept)
    assert not (tmp_path / "new").exists()
