"""The judged end of a run, attacked by a prover who knows every secret: other weights, rows, test sets, runs, files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest
from hidden_runs import run_of
from judged_runs import held_out, judge
from tensor_runs import PROOF, Folder, values_of

from circuitize.backends.tensor.groups import DATA, INPUT, OUTPUT
from circuitize.provers.tensor.prover import commit, prove_values
from circuitize.provers.tensor.runs.beginning import HeldOut
from circuitize.provers.tensor.runs.checking import WORTH
from circuitize.provers.tensor.runs.chunk import BATCH
from circuitize.provers.tensor.runs.evaluation import PUBLIC_SECRET, TEST, Evaluation
from circuitize.provers.tensor.runs.files import EVALUATION, StepProof, read_step
from circuitize.provers.tensor.runs.proving import prove_run
from circuitize.provers.tensor.runs.setting import Run
from circuitize.provers.tensor.runs.state import State

EVALUATED = held_out(public=True)


@cache
def evaluation(size: int = 30) -> Evaluation:
    return Evaluation(judge().program, size, zero_knowledge=False)


@cache
def own() -> Run:
    return run_of(3, per_proof=2, zero_knowledge=False, evaluation=evaluation())


def proved(to: Path) -> Folder:
    folder = Folder(to)
    prove_run(own(), *values_of(own()), folder.path, folder.kept, EVALUATED)
    return folder


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    folder = proved(tmp_path_factory.mktemp("judged") / "run")
    folder.judged(own())
    return folder


@pytest.fixture
def folder(honest: Folder, tmp_path: Path) -> Folder:
    return Folder(Path(copytree(honest.path, tmp_path / "run")))


def forged(folder: Folder, honest: Folder, judged: Evaluation | None = None, **more: Any) -> StepProof:
    """The evaluation by a prover who takes some things otherwise, stated as that of the run."""
    made, state = judged or evaluation(), State.read(honest.kept)
    held, test = more.get("held", state.held), more.get("test", EVALUATED.tensors)
    rows = more.get("rows", made.rows)
    batches = {name: test[name][rows[BATCH]] for name in test}
    taken = {port.name: held[port.name] for port in made.program.inputs if port.held}
    plan = made.chunk.plan
    trace = plan.trace(taken | batches)
    ports = own().ports_plan
    every = ports.trace({**state.held, **held, **values_of(own())[1]})
    kept = {(INPUT, name): commit(ports, every, (INPUT, name), state.roots[name]) for name in made.kept}
    kept[INPUT, DATA] = made.commitment(test, PUBLIC_SECRET)
    context = more.get("context", own().evaluation_context(own().identity(folder.roots)))
    found = prove_values(made.chunk.program, plan, trace, plan.values(trace, rows), kept=kept, context=context)
    honestly = read_step(honest.path / EVALUATION)
    publics = {key: tuple(value.reshape(-1).tolist()) for key, value in found.statement.publics.items()}
    stated = {key: value for key, value in publics.items() if key[0] == OUTPUT}
    return replace(honestly, publics=stated, proof=found.proof, roots=more.get("roots", honestly.roots))


def refused(folder: Folder, found: StepProof) -> str:
    found.write(folder.path / EVALUATION)
    reason = folder.verdict(own())
    assert reason.startswith(WORTH)
    return reason


def test_the_forger_can_prove_what_is_true(folder: Folder, honest: Folder) -> None:
    found = forged(folder, honest)
    found.write(folder.path / EVALUATION)
    assert folder.judged(own()).results == {"right": read_step(honest.path / EVALUATION).publics[OUTPUT, "right"][0]}


def test_other_weights(folder: Folder, honest: Folder) -> None:
    """Those that the run began with, or others that nobody trained; with their own roots, or under the run's."""
    begun, state = values_of(own())[0], State.read(honest.kept)
    trained = {name: values + 1 for name, values in state.held.items()}
    for held in (begun, trained):
        assert refused(folder, forged(folder, honest, held=held))
    plan = own().ports_plan
    trace = plan.trace({**begun, **values_of(own())[1]})
    secret = state.root_secret("parameters", 0)
    roots = {**read_step(honest.path / EVALUATION).roots}
    roots[INPUT, "parameters"] = commit(plan, trace, (INPUT, "parameters"), secret).root
    assert "of other values" in refused(folder, forged(folder, honest, held=begun, roots=roots))


def rows() -> Iterator[np.ndarray[Any, Any]]:
    """Batches that are not all examples in order: one twice, in other places, an example twice, backwards."""
    usual = evaluation().rows[BATCH]
    yield usual[[0, 1, 0]]
    yield usual[[1, 0, 2]]
    yield np.where(usual == 29, 28, usual)
    yield usual[:, ::-1]
    yield np.zeros_like(usual)


@pytest.mark.parametrize("number", range(5))
def test_other_rows(folder: Folder, honest: Folder, number: int) -> None:
    """Even where the sums are the same."""
    assert refused(folder, forged(folder, honest, rows={BATCH: list(rows())[number]}))


def test_another_test_set_or_size(folder: Folder, honest: Folder) -> None:
    """Under the root of the run's, or with the root of its own."""
    other = {name: values[::-1] for name, values in EVALUATED.tensors.items()}
    assert refused(folder, forged(folder, honest, test=other))
    roots = {**read_step(honest.path / EVALUATION).roots}
    roots[INPUT, DATA] = evaluation().commitment(other, PUBLIC_SECRET).root
    assert "another test set" in refused(folder, forged(folder, honest, test=other, roots=roots))
    fewer = {name: values[:20] for name, values in EVALUATED.tensors.items()}
    assert refused(folder, forged(folder, honest, evaluation(20), test=fewer))
    roots[INPUT, DATA] = evaluation(20).commitment(fewer, PUBLIC_SECRET).root
    assert "another test set" in refused(folder, forged(folder, honest, evaluation(20), test=fewer, roots=roots))


def test_another_run_place_or_kind(folder: Folder, honest: Folder, tmp_path: Path) -> None:
    """The proof of another run with the same values, restated; and one in the context of a step, or of a renewal."""
    other = proved(tmp_path / "other")
    theirs, ours = read_step(other.path / EVALUATION), read_step(honest.path / EVALUATION)
    assert theirs.publics == ours.publics
    assert refused(folder, replace(theirs, run=ours.run, roots=ours.roots))
    assert refused(folder, replace(theirs, run=ours.run))
    assert refused(folder, theirs)
    identity = own().identity(folder.roots)
    contexts = [own().context(identity, 3), own().renewal_context(identity, 3), b""]
    contexts += [own().evaluation_context(bytes(32)), own().context(identity, 2) + b"evaluation"]
    for context in contexts:
        assert refused(folder, forged(folder, honest, context=context))


def test_nor_is_the_judge_another(folder: Folder) -> None:
    """All files say in agreement that nothing judges the end, or fewer examples: each step is of the run as it was."""
    for judged in (evaluation(20), None):
        run = replace(own(), evaluation=judged)
        roots = {name: root for name, root in folder.roots.items() if judged or name != TEST}
        size = None if judged is None else judged.size
        stated = {name: root.hex() for name, root in roots.items()}
        folder.restate(plans=run.plans_digest, test_examples=size, roots=stated)
        for step in run.beginnings:
            folder.put(step, folder.step(step), run=run.identity(roots))
        assert PROOF in folder.verdict(run)


@pytest.mark.parametrize("name", ["inputs", pytest.param("targets", marks=pytest.mark.deep)])
def test_a_test_set_out_of_format(tmp_path: Path, name: str) -> None:
    """Its prover commits to it before the first step, and proves all steps; what it is judged as is not shown."""
    (format,) = (port.format for port in evaluation().tensors if port.name == name)
    assert format is not None
    for value in (format.low - 1, format.high + 1):
        tensors = {name: values.copy() for name, values in EVALUATED.tensors.items()}
        tensors[name].flat[-1] = value
        folder = Folder(tmp_path / str(value))
        prove_run(own(), *values_of(own()), folder.path, folder.kept, HeldOut(tensors, True))
        assert folder.verdict(own()).startswith(WORTH)


def test_files_that_are_no_evaluation(folder: Folder, honest: Folder) -> None:
    path, content = folder.path / EVALUATION, (honest.path / EVALUATION).read_bytes()
    longest = len(content)
    for other in (b"", content[:20], content[:-1], content + b"0", bytes(longest), content[::-1], bytes(1 << 22)):
        path.write_bytes(other)
        assert folder.verdict(own()).startswith(WORTH)
    path.unlink()
    path.mkdir()
    assert folder.verdict(own()).startswith(WORTH)
