"""Attacks on runs in zero knowledge: new roots of the dataset that are not shown, claims of openings."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hidden_runs import (
    IN_DATA,
    STEPS,
    after,
    copied,
    follow,
    honest,
    proved,
    run_of,
)
from tensor_proofs import both
from tensor_runs import Folder

from circuitize.backends.tensor.forms import Column
from circuitize.backends.tensor.groups import DATA, OUTPUT
from circuitize.circuits.program import Program
from circuitize.provers.tensor.proof import Proof
from circuitize.provers.tensor.prover import Proved, prove_values
from circuitize.provers.tensor.runs import checking
from circuitize.provers.tensor.runs import task as tasks
from circuitize.provers.tensor.runs.checking import check
from circuitize.provers.tensor.runs.files import read_manifest, renewal_path
from circuitize.provers.tensor.runs.setting import Run
from circuitize.provers.tensor.runs.task import Task
from circuitize.provers.tensor.security import bounds, union

pytestmark = pytest.mark.usefixtures("few_share_a_root")


honest_trace = tasks._trace
SAME = "the new root of the dataset is not shown to hold the same"


@pytest.fixture
def attacked(tmp_path: Path) -> Folder:
    return copied(tmp_path)


def test_the_run_that_is_attacked_holds() -> None:
    run = run_of()
    checked = honest().judged(run)
    roots = [honest().step(step).roots[IN_DATA] for step in range(1, STEPS + 1)]
    assert [roots.index(root) for root in roots] == [0, 0, 2, 2, 4]
    assert (checked.roots[DATA], checked.final[DATA]) == (roots[0], roots[4])
    assert (run.renewals, [step for step in run.beginnings if run.renews(step)]) == (2, [3, 5])


def _move(folder: Folder, at: int, to: int) -> None:
    shutil.copy(renewal_path(folder.path, at), renewal_path(folder.path, to))


def _swap(folder: Folder) -> None:
    third, fifth = (renewal_path(folder.path, step) for step in (3, 5))
    contents = third.read_bytes(), fifth.read_bytes()
    third.write_bytes(contents[1])
    fifth.write_bytes(contents[0])


def _cut(folder: Folder) -> None:
    path = renewal_path(folder.path, 3)
    path.write_bytes(path.read_bytes()[:-8])


def _turned(folder: Folder) -> None:
    path = renewal_path(folder.path, 3)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def _said_to_be_plain(folder: Folder) -> None:
    path = renewal_path(folder.path, 3)
    path.write_bytes(replace(Proof.read(path), zero_knowledge=False).encode())


def _old_root(folder: Folder) -> None:
    """The root stays; what is shown of it is another statement."""
    third = folder.step(3)
    folder.put(3, third, roots={**third.roots, IN_DATA: folder.step(1).roots[IN_DATA]})


def _no_root(folder: Folder) -> None:
    third = folder.step(3)
    folder.put(3, third, roots={key: root for key, root in third.roots.items() if key != IN_DATA})


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda folder: renewal_path(folder.path, 3).unlink(), f"step 3: {SAME}"),
        (lambda folder: _move(folder, 3, 5), f"step 5: {SAME}"),
        (_swap, f"step 3: {SAME}"),
        (_cut, f"step 3: {SAME}"),
        (_turned, f"step 3: {SAME}"),
        (_said_to_be_plain, f"step 3: {SAME}: the proof is not zero-knowledge"),
        (_old_root, f"step 3: {SAME}"),
        (_no_root, f"step 3: {SAME}"),
        (lambda folder: _move(folder, 3, 4), "found '000004.proof' too"),
        (lambda folder: _move(folder, 3, 1), "found '000001.proof' too"),
        (lambda folder: _move(folder, 3, 7), "found '000007.proof' too"),
    ],
)
def test_new_roots_that_are_not_shown(attacked: Folder, change: Callable[[Folder], None], reason: str) -> None:
    change(attacked)
    assert reason in attacked.verdict(run_of())


def test_a_later_step_that_goes_back_to_the_old_root(attacked: Folder) -> None:
    fourth, fifth = attacked.step(4), attacked.step(5)
    attacked.put(4, fourth, roots={**fourth.roots, IN_DATA: attacked.step(1).roots[IN_DATA]})
    assert "step 4: it begins with data" in attacked.verdict(run_of())
    attacked.put(4, fourth, roots={**fourth.roots, IN_DATA: fifth.roots[IN_DATA]})
    assert "step 4: it begins with data" in attacked.verdict(run_of())


class Liar:
    """Its new root holds another dataset, of which all later steps are true."""

    def __init__(self) -> None:
        self.changed: str | None = None

    def renew(self, run: Run, data: Mapping[str, Any], task: Task, commitments: Any) -> Proved:
        plan = run.renewal_plan(task.step)
        trace = plan.trace(data)
        values = list(plan.values(trace))
        number = plan.groups.index((OUTPUT, DATA))
        place = next(n for n, b in enumerate(plan.bases) if isinstance(b, Column) and b.commitment == number)
        values[place] = values[place] + 1
        changed = plan.bases[place]
        assert isinstance(changed, Column) and task.renewed is not None
        self.changed = next(n for n in data if data[n].shape == changed.shape)
        return prove_values(
            *(run.renewal, plan, trace, values),
            salts={(OUTPUT, DATA): task.renewed},
            secret=task.proofs,
            kept=commitments,
            context=run.renewal_context(task.identity, task.step),
            hook=lambda label, words: words,
        )

    def trace(self, run: Run, data: Mapping[str, Any], task: Task, running: Any) -> Any:
        if self.changed is not None:
            data = {**data, self.changed: data[self.changed] + 1}
        return honest_trace(run, data, task, running)


def test_a_new_root_of_other_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It passes where nobody asks for the proof that both roots hold the same."""
    folder = Folder(tmp_path / "run")
    run = run_of(3)
    liar = Liar()
    monkeypatch.setattr(tasks, "_renew", liar.renew)
    monkeypatch.setattr(tasks, "_trace", liar.trace)
    proved(run, folder)
    assert f"step 3: {SAME}" in folder.verdict(run)

    def careless(program: Program, *proof: Any, **more: Any) -> str | None:
        return None if program is run.renewal else both(program, *proof, **more)

    check(run, folder.path, read_manifest(folder.path), judge=careless)


class Loose(Run):
    """Verifier and prover who leave out of a new root's proof which step and which run it is of."""

    def renewal_context(self, identity: bytes, step: int) -> bytes:
        return b""


def test_the_new_root_of_another_run(attacked: Folder, tmp_path: Path) -> None:
    """Of the same dataset, whose first root has the same secret: only the transcripts differ."""
    for kind in (Run, Loose):
        folder, run = Folder(tmp_path / kind.__name__), run_of(3, kind, seed=b"other")
        # The same secret, though the scalars are other ones: what no prover does.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(secrets, "token_bytes", lambda count: bytes(count))
            proved(run_of(3, kind), Folder(tmp_path / f"{kind.__name__} first"))
            proved(run, folder)
        shutil.copy(renewal_path(tmp_path / f"{kind.__name__} first", 3), renewal_path(folder.path, 3))
        if kind is Run:
            assert f"step 3: {SAME}" in folder.verdict(run)
        else:
            folder.judged(run)


def test_kinds_and_openings_that_are_claimed(attacked: Folder) -> None:
    plain = run_of(zero_knowledge=False)
    assert "the run is of zero knowledge True, expected False" in attacked.verdict(plain)
    claimed = read_manifest(attacked.path)
    for openings in (1, claimed.openings and claimed.openings + 1, 1 << 48):
        attacked.restate(openings=openings)
        assert "the run is of openings" in attacked.verdict(run_of())


def test_openings_that_a_later_run_claims(tmp_path: Path) -> None:
    """They are in the hash of the dataset's root: any other number makes it another root."""
    next_one = Folder(tmp_path / "next")
    before = copied(tmp_path)
    follow(before, next_one)
    run, found = after(before)
    next_one.judged(run)
    for openings in (1, run.openings - 1, run.openings + 1, 1 << 12):
        claims = replace(run, begun=openings)
        next_one.restate(openings=openings)
        assert "the run is of plans" in next_one.verdict(claims)
        next_one.restate(openings=openings, plans=claims.plans_digest)
        assert "the formats of what the run begins with are not shown" in next_one.verdict(claims)
    next_one.restate(openings=run.openings, plans=run.plans_digest)
    renewal_path(next_one.path, 6).unlink()
    assert f"step 6: {SAME}" in next_one.verdict(run)
    assert found.next == 6


def test_the_errors_of_all_proofs_are_added() -> None:
    for run in (run_of(), run_of(first=4, begun=9)):
        plans = [run.formats_plan, *(run.chunk(step).plan for step in run.beginnings)]
        plans += [run.renewal_plan(step) for step in run.beginnings if run.renews(step)]
        error = sum(2.0 ** -union(bounds(plan)) for plan in plans)
        assert 0 < checking.security_bits(run) <= -np.log2(error)
