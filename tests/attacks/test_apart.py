"""Proofs of a run that others make, in any order: what they may not say, and a prover that is interrupted."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hidden_runs import STEPS, Killed, killed_after, proved, run_of
from tensor_runs import Folder, values_of

from circuitize.circuits.errors import CircuitizeError
from circuitize.provers.tensor.proof import Proof
from circuitize.provers.tensor.runs.apart import Judge, Place, Sent
from circuitize.provers.tensor.runs.commitments import commitments
from circuitize.provers.tensor.runs.files import step_path
from circuitize.provers.tensor.runs.setting import Run
from circuitize.provers.tensor.runs.state import State
from circuitize.provers.tensor.runs.task import Done, Task, prove_task

pytestmark = pytest.mark.usefixtures("few_share_a_root", "one_secret")


@pytest.fixture
def one_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """All runs have one secret, so that equal runs have equal bytes."""
    monkeypatch.setattr(secrets, "token_bytes", lambda count: bytes(range(count)))


def done(run: Run, task: Task) -> Done:
    """What an honest worker gives."""
    data = values_of(run)[1]
    return prove_task(run, data, task, commitments(run, task.step, task.held, task.roots, data)).done


def in_reverse(run: Run) -> Place:
    """The last proof comes first."""

    def place(tasks: Iterator[Sent], judge: Judge) -> Iterator[tuple[Sent, Done]]:
        for sent in reversed(list(tasks)):
            made = done(run, sent.task)
            assert judge(sent, made) is None
            yield sent, made

    return place


def files_of(folder: Folder) -> dict[str, bytes]:
    return {str(path.relative_to(folder.path)): path.read_bytes() for path in folder.path.rglob("*") if path.is_file()}


def test_the_run_is_the_same(tmp_path: Path) -> None:
    """To the byte, and what its prover keeps: with proofs of new roots, and results of steps."""
    run, here, apart = run_of(), Folder(tmp_path / "here"), Folder(tmp_path / "apart")
    proved(run, here)
    held, data = values_of(run)
    made = apart.prove(run, data=data, place=in_reverse(run))
    assert files_of(here) == files_of(apart) and len(files_of(here)) == STEPS + 4
    kept, expected = State.read(apart.kept), State.read(here.kept)
    assert kept.roots == expected.roots and kept.step == expected.step == STEPS
    assert all(np.array_equal(kept.held[name], expected.held[name]) for name in held)
    again = here.prove(run, data=data)
    assert made.final == again.final and made.results["loss"].shape == (STEPS,) and len(made.seconds) == STEPS
    apart.judged(run)


def test_a_prover_that_is_killed_goes_on(tmp_path: Path) -> None:
    """Before each of its writes: proofs that came before others are not made again, and what is damaged is."""
    run, here, apart = run_of(), Folder(tmp_path / "here"), Folder(tmp_path / "apart")
    proved(run, here)
    made: list[int] = []

    def place(tasks: Iterator[Sent], judge: Judge) -> Iterator[tuple[Sent, Done]]:
        for sent, answer in in_reverse(run)(tasks, judge):
            made.append(sent.task.step)
            yield sent, answer

    kills = 0
    while True:
        try:
            with killed_after(kills % 4 + 3):
                apart.prove(run, data=values_of(run)[1], place=place)
            break
        except Killed:
            kills += 1
            last = step_path(apart.path, STEPS)
            if kills == 2:
                last.write_bytes(last.read_bytes()[:-1])
    assert kills >= 3 and files_of(here) == files_of(apart)
    assert made.count(STEPS) >= 2 and made.count(1) <= 2


def test_no_value_at_a_step(tmp_path: Path) -> None:
    """The proofs of the steps before it are made and kept."""
    run = run_of(scalars=lambda step: {"learning_rate": 1 if step == 4 else 0})
    here, apart = Folder(tmp_path / "here"), Folder(tmp_path / "apart")
    said = []
    for folder, place in ((here, None), (apart, in_reverse(run))):
        with pytest.raises(CircuitizeError, match=r"step 4: .*the proofs of the steps before 4 are kept") as refused:
            folder.prove(run, data=values_of(run)[1], place=place)
        said.append(str(refused.value))
    assert said[0] == said[1] and files_of(here) == files_of(apart)


def _values(run: Run, sent: Sent) -> Done:
    """Other weights, with the secrets of the right ones."""
    name, held = next(iter(sent.task.held.items()))
    return done(run, replace(sent.task, held={**sent.task.held, name: held + 1}))


def _randomness(run: Run, sent: Sent) -> Done:
    """A true proof, whose end the next proof does not begin with."""
    return done(run, replace(sent.task, made={name: bytes(32) for name in sent.task.made}))


def _scalars(run: Run, sent: Sent) -> Done:
    other = run_of(scalars=lambda step: {"learning_rate": 0})
    return done(other, sent.task)


def _byte(run: Run, sent: Sent) -> Done:
    made = done(run, sent.task)
    changed = bytearray(made.steps.proof.messages)
    changed[len(changed) // 2] ^= 1
    proof = replace(made.steps.proof, messages=bytes(changed))
    return replace(made, steps=replace(made.steps, proof=proof))


def _step(run: Run, sent: Sent) -> Done:
    made = done(run, sent.task)
    return replace(made, steps=replace(made.steps, step=sent.task.step + 1))


def _run(run: Run, sent: Sent) -> Done:
    return done(run, replace(sent.task, identity=bytes(32)))


def _no_renewal(run: Run, sent: Sent) -> Done:
    return replace(done(run, sent.task), renewal=None)


def _own_renewal(run: Run, sent: Sent) -> Done:
    """A new root of the dataset by another secret: later proofs do not begin with it."""
    return done(run, replace(sent.task, renewed=bytes(32)))


def _damaged_renewal(run: Run, sent: Sent) -> Done:
    made = done(run, sent.task)
    assert isinstance(made.renewal, Proof)
    changed = bytearray(made.renewal.messages)
    changed[-1] ^= 1
    return replace(made, renewal=replace(made.renewal, messages=bytes(changed)))


LIES: dict[Callable[[Run, Sent], Done], str] = {
    _values: "it begins with parameters",
    _randomness: "it ends with other roots",
    _scalars: "it is with learning_rate",
    _byte: "",
    _step: "the file is of step 4",
    _run: "it belongs to run 0000",
    _no_renewal: "the proof of a new root",
    _own_renewal: "it begins with data",
    _damaged_renewal: "",
}


def test_lies_are_refused(tmp_path: Path) -> None:
    """One after another in place of one proof, which a true one then takes."""
    run, folder, refused = run_of(3), Folder(tmp_path / "run"), dict[str, tuple[str | None, str]]()

    def place(tasks: Iterator[Sent], judge: Judge) -> Iterator[tuple[Sent, Done]]:
        for sent in tasks:
            if sent.task.step == 3:
                refused.update({lie.__name__: (judge(sent, lie(run, sent)), why) for lie, why in LIES.items()})
            made = done(run, sent.task)
            assert judge(sent, made) is None
            yield sent, made

    folder.prove(run, data=values_of(run)[1], place=place)
    wrong = {lie: said for lie, (said, why) in refused.items() if said is None or why not in said or "\n" in said}
    assert not wrong and len(refused) == len(LIES)
    folder.judged(run)


@pytest.mark.parametrize(("lie", "unknown"), [(_randomness, {"leaving": {}}), (_run, {})])
def test_each_defence_is_needed(tmp_path: Path, lie: Callable[[Run, Sent], Done], unknown: Any) -> None:
    """Who does not compare roots takes a proof that joins no other; who forgets the run, one of another run."""
    run, folder, taken = run_of(1), Folder(tmp_path / "run"), []

    def place(tasks: Iterator[Sent], judge: Judge) -> Iterator[tuple[Sent, Done]]:
        for sent in tasks:
            made = lie(run, sent)
            careless = replace(sent, task=replace(sent.task, identity=made.steps.run), **unknown)
            taken.append((judge(sent, made), judge(careless, made)))
            yield sent, done(run, sent.task)

    folder.prove(run, data=values_of(run)[1], place=place)
    assert taken[0][0] is not None and taken[0][1] is None
