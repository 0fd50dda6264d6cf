"""Attacks on runs: steps replayed, reordered, dropped, doubled, foreign; other roots, seeds, rates and batches."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tensor_proofs import entering, planned
from tensor_runs import (
    RATE,
    SEED,
    STEPS,
    batches_of,
    copied,
    honest,
    judged,
    prove_into,
    put,
    run_of,
    step_of,
    values_of,
    verdict,
)

from circuitize.circuits.program import Program
from circuitize.provers.tensor import independent
from circuitize.provers.tensor.forms import Integers
from circuitize.provers.tensor.groups import DATA, INPUT, OUTPUT
from circuitize.provers.tensor.plan import plan
from circuitize.provers.tensor.prover import commit, prove_values
from circuitize.provers.tensor.runs import checking
from circuitize.provers.tensor.runs.checking import Refused, check
from circuitize.provers.tensor.runs.files import FORMATS, MANIFEST, read_manifest, step_path
from circuitize.provers.tensor.runs.proving import prove_run
from circuitize.provers.tensor.runs.setting import Run
from circuitize.provers.tensor.statement import Statement
from circuitize.provers.tensor.verifier import refusal

PROOF = "the proof does not show it"
IN, OUT = (INPUT, "parameters"), (OUTPUT, "parameters")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return copied(tmp_path)


def manifest_with(folder: Path, **changed: object) -> None:
    content = {**json.loads((folder / MANIFEST).read_text()), **changed}
    (folder / MANIFEST).write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")


def test_the_run_that_is_attacked_holds(folder: Path) -> None:
    assert judged(folder).final == {"parameters": step_of(folder, STEPS).roots[OUT]}


# Steps.


def test_a_step_replayed(folder: Path) -> None:
    """As it is; under the next number; with the roots that should be there."""
    first, second = step_of(folder, 1), step_of(folder, 2)
    put(folder, 2, first)
    assert "step 2: the file is of step 1" in verdict(folder)
    put(folder, 2, first, step=2)
    assert "step 2: it begins with parameters" in verdict(folder)
    put(folder, 2, first, step=2, roots=second.roots)
    assert f"step 2: {PROOF}" in verdict(folder)
    put(folder, 2, first, step=2, roots={**first.roots, IN: first.roots[OUT]})
    assert f"step 2: {PROOF}" in verdict(folder)


def test_a_step_replayed_where_nothing_changes(tmp_path: Path) -> None:
    """With a rate of 0 the weights stay; the transcript still has the step."""
    still = run_of(steps=2, scalars=lambda step: {"learning_rate": Fraction(0)}, seed=b"still")
    prove_into(tmp_path / "run", still)
    judged(tmp_path / "run", still)
    first = step_of(tmp_path / "run", 1)
    put(tmp_path / "run", 2, first, step=2, roots={**first.roots, IN: first.roots[OUT]})
    assert PROOF in verdict(tmp_path / "run", still)


def test_steps_reordered(folder: Path) -> None:
    second, third = step_of(folder, 2), step_of(folder, 3)
    put(folder, 2, third)
    put(folder, 3, second)
    assert "step 2: the file is of step 3; steps were reordered" in verdict(folder)
    put(folder, 2, third, step=2)
    assert "step 2: it begins with" in verdict(folder)


@pytest.mark.parametrize("step", [1, 3, STEPS])
def test_a_step_dropped(folder: Path, step: int) -> None:
    step_path(folder, step).unlink()
    assert f"step {step} is missing" in verdict(folder)


def test_a_run_made_shorter(folder: Path) -> None:
    """The number of steps is in the name of the run, so that its proofs are of no shorter one."""
    step_path(folder, STEPS).unlink()
    assert "the run is of steps 6, expected 5" in verdict(folder, run_of(steps=5))
    manifest_with(folder, steps=5)
    assert "the run is of steps 5, expected 6" in verdict(folder)
    shorter = run_of(steps=5)
    assert "step 1: it belongs to run" in verdict(folder, shorter)
    name = shorter.identity(read_manifest(folder).roots)
    for step in range(1, 6):
        put(folder, step, step_of(folder, step), run=name)
    assert f"step 1: {PROOF}" in verdict(folder, shorter)


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


def test_steps_moved_up_after_one_is_dropped(folder: Path) -> None:
    for step in range(3, STEPS):
        put(folder, step, step_of(folder, step + 1), step=step)
    assert "step 3: it begins with" in verdict(folder)


def test_a_step_there_twice(folder: Path) -> None:
    for step, file in ((7, 7), (0, 0), (3, 33)):
        path = step_path(folder, file)
        path.write_bytes(replace(step_of(folder, 3), step=step).encode())
        assert f"found {path.name} too" in verdict(folder)
        path.unlink()


def test_a_step_of_another_run(folder: Path) -> None:
    """The same program, data, seed and beginning; only the secrets of commitments differ."""
    foreign, own = step_of(honest("second"), 3), step_of(folder, 3)
    put(folder, 3, foreign)
    assert "step 3: it belongs to run" in verdict(folder)
    put(folder, 3, foreign, run=own.run)
    assert "step 3: it begins with" in verdict(folder)
    put(folder, 3, foreign, run=own.run, roots=own.roots)
    assert f"step 3: {PROOF}" in verdict(folder)
    put(folder, 3, own, proof=step_of(folder, 4).proof)
    assert f"step 3: {PROOF}" in verdict(folder)


# Roots.


def test_roots_swapped(folder: Path) -> None:
    own = step_of(folder, 2)
    for changed in (
        {IN: own.roots[OUT], OUT: own.roots[IN]},
        {IN: own.roots[INPUT, DATA], (INPUT, DATA): own.roots[IN]},
        {(INPUT, DATA): bytes(32)},
    ):
        put(folder, 2, own, roots={**own.roots, **changed})
        assert "step 2: it begins with" in verdict(folder)
    for roots in ({IN: own.roots[IN]}, {**own.roots, (OUTPUT, "loss"): bytes(32)}):
        put(folder, 2, own, roots=roots)
        assert "step 2: " in verdict(folder)
    put(folder, 2, own, roots={**own.roots, OUT: own.roots[IN]})
    assert PROOF in verdict(folder) or "step 3: it begins with" in verdict(folder)
    last = step_of(folder, STEPS)
    put(folder, 2, own)
    put(folder, STEPS, last, roots={**last.roots, OUT: step_of(honest("second"), STEPS).roots[OUT]})
    assert f"step {STEPS}: {PROOF}" in verdict(folder)


def test_the_roots_that_a_run_begins_with(folder: Path) -> None:
    """Whatever stands in the manifest: its formats are not shown, or the steps are of another run."""
    roots = json.loads((folder / MANIFEST).read_text())["roots"]
    theirs = json.loads((honest("second") / MANIFEST).read_text())["roots"]
    for changed in (
        {"parameters": roots["data"], "data": roots["parameters"]},
        {"data": theirs["data"]},
        {"parameters": step_of(folder, 1).roots[OUT].hex()},
    ):
        manifest_with(folder, roots={**roots, **changed})
        assert "formats of what the run begins with are not shown" in verdict(folder)
    manifest_with(folder, roots={"parameters": roots["parameters"]})
    assert "states roots of" in verdict(folder)
    manifest_with(folder, roots=theirs)
    (folder / FORMATS).write_bytes((honest("second") / FORMATS).read_bytes())
    assert "step 1: it belongs to run" in verdict(folder)


def test_formats_that_are_not_shown(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps assume that what enters is in format; without the proof that begins the run, a label can be 2."""
    (folder / FORMATS).write_bytes((honest("second") / FORMATS).read_bytes())
    assert "formats of what the run begins with are not shown" in verdict(folder)
    (folder / FORMATS).unlink()
    assert "formats of what the run begins with are not shown" in verdict(folder)
    run = run_of(steps=1)
    held, data = values_of(run)
    data = {**data, "targets": np.array(data["targets"])}
    data["targets"][run.rows(1)["1"][0]] = 2
    prove_run(run, held, data, tmp_path / "large", tmp_path / "large.kept.npz")
    assert "formats of what the run begins with are not shown" in verdict(tmp_path / "large", run)
    monkeypatch.setattr(checking, "_check_formats", lambda *_: None)
    judged(tmp_path / "large", run)


# What the verifier computes for itself.


def test_another_seed(folder: Path) -> None:
    other = run_of(seed=b"other")
    assert "the run is of seed" in verdict(folder, other)
    manifest_with(folder, seed=other.seed.hex())
    assert "step 1: it belongs to run" in verdict(folder, other)
    name = other.identity(read_manifest(folder).roots)
    for step in range(1, STEPS + 1):
        put(folder, step, step_of(folder, step), run=name)
    assert f"step 1: {PROOF}" in verdict(folder, other)


def test_another_learning_rate(folder: Path) -> None:
    """In all steps, in the last one; and stated to be the one that the verifier expects."""
    double = run_of(scalars=lambda step: {"learning_rate": 2 * RATE})
    assert "step 1: it is with learning_rate = 8192" in verdict(folder, double)
    late = run_of(scalars=lambda step: {"learning_rate": RATE * (1 + step // STEPS)})
    assert f"step {STEPS}: it is with learning_rate = 8192" in verdict(folder, late)
    key = (INPUT, "learning_rate")
    for step in range(1, STEPS + 1):
        own = step_of(folder, step)
        put(folder, step, own, publics={**own.publics, key: (16384,)})
    assert f"step 1: {PROOF}" in verdict(folder, double)
    own = step_of(folder, 1)
    put(folder, 1, own, publics={k: v for k, v in own.publics.items() if k != key})
    assert "learning_rate = none" in verdict(folder)


@dataclass(frozen=True)
class Choosy(Run):
    """A prover that trains on the examples it likes, and says that the seed chose them."""

    def rows(self, step: int) -> dict[str, Integers]:
        return {"1": np.arange(8, dtype=np.int64)}


def test_batches_that_the_seed_did_not_choose(tmp_path: Path) -> None:
    run = run_of(steps=2)
    cheat = Choosy(run.program, run.size, run.steps, run.seed, run.scalars)
    found = prove_into(tmp_path / "run", cheat)
    assert found.identity == run.identity(found.roots)
    judged(tmp_path / "run", cheat)
    assert f"step 1: {PROOF}" in verdict(tmp_path / "run", run)


@dataclass(frozen=True)
class Outside(Run):
    def rows(self, step: int) -> dict[str, Integers]:
        return {"1": np.array([0, 1, 2, 3, 4, 5, 6, self.size], np.int64)}


def test_rows_outside_of_the_dataset_are_no_rows(folder: Path) -> None:
    run = run_of()
    assert "rows below 120" in verdict(folder, Outside(run.program, run.size, run.steps, run.seed, run.scalars))


def test_values_that_are_not_the_rows(tmp_path: Path) -> None:
    """A prover that commits to the dataset, and runs the step on other values than it has in those rows."""
    run = run_of(steps=1)
    held, data = values_of(run)
    found = prove_into(tmp_path / "run", run)
    inputs = {**held, **batches_of(run, data, 1)}
    inputs["inputs"] = inputs["inputs"][::-1].copy()
    trace, rows = run.plan.trace(inputs), run.rows(1)
    values = run.plan.values(trace, rows)
    values[run.plan.tensors["inputs"]] = data["inputs"]
    values[run.plan.tensors["targets"]] = data["targets"]
    forged = prove_values(run.unrolled, run.plan, trace, values, context=run.context(found.identity, 1))
    context = run.context(found.identity, 1)
    for judge in (refusal, independent.refusal):
        reason = judge(run.unrolled, forged.statement, forged.proof, run.plan, context, entering(forged.statement))
        assert reason is not None and "assumes" not in reason


def test_another_program(folder: Path) -> None:
    other = replace(run_of(), program=renamed(planned("iris.py:step")[0]))
    assert "the run is of program" in verdict(folder, other)
    manifest_with(folder, program=other.digest)
    assert "the run is of plan" in verdict(folder, other)
    manifest_with(folder, program=other.digest, plan=other.plan.digest.hex())
    assert "formats" in verdict(folder, other) or "run" in verdict(folder, other)


def renamed(program: Program) -> Program:
    outputs = tuple(replace(port, name="error") if port.name == "loss" else port for port in program.outputs)
    return replace(program, outputs=outputs)


def test_a_step_proved_alone_is_none_of_a_run(folder: Path) -> None:
    """Its plan assumes formats, its transcript absorbs the run: as a proof by itself it is nothing."""
    run, own = run_of(), step_of(folder, 1)
    publics = {key: np.array(value, np.int64).reshape(()) for key, value in own.publics.items()}
    statement = Statement(publics | run.publics(1), own.roots)
    context, known = run.context(own.run, 1), read_manifest(folder).roots
    assert refusal(run.unrolled, statement, own.proof, run.plan, context, known) is None
    assert "assumes" in str(refusal(run.unrolled, statement, own.proof, run.plan, context))
    for other in (b"", context[:-1], run.context(own.run, 2), run.context(bytes(32), 1)):
        assert refusal(run.unrolled, statement, own.proof, run.plan, other, known)
    assert refusal(run.program, replace(statement, publics=publics), own.proof, plan(run.program))


# Files.


def test_damaged_files_are_a_no(folder: Path) -> None:
    path = step_path(folder, 3)
    content, draw = path.read_bytes(), np.random.default_rng(7)
    for length in (0, 10, 27, 28, 100, len(content) - 1):
        path.write_bytes(content[:length])
        assert "step 3" in verdict(folder)
    path.write_bytes(content + b"\0")
    assert "step 3" in verdict(folder)
    limit = content[:20] + (2**63).to_bytes(8, "little") + content[28:]
    path.write_bytes(limit)
    assert "step 3" in verdict(folder)
    for _ in range(16):
        damaged = bytearray(content)
        damaged[int(draw.integers(len(content)))] ^= 1 << int(draw.integers(8))
        path.write_bytes(damaged)
        assert "step " in verdict(folder)
    for text in (b'{"run": 1}', b"[]", b"[" * 5000, b"\xff"):
        path.write_bytes(content[:20] + len(text).to_bytes(8, "little") + text + step_of(honest(), 3).proof.encode())
        assert "step 3" in verdict(folder)


def test_numbers_that_no_port_has(folder: Path) -> None:
    own = step_of(folder, 2)
    loss = (OUTPUT, "loss")
    changes: list[Mapping[tuple[str, str], tuple[int, ...]]] = [
        {loss: (10**30,)},
        {loss: (-1, 2)},
        {loss: ()},
        {(OUTPUT, "other"): (1,)},
        {loss: (own.publics[loss][0] + 1,)},
    ]
    for change in changes:
        put(folder, 2, own, publics={**own.publics, **change})
        assert "step 2" in verdict(folder)
    put(folder, 2, own, publics={key: value for key, value in own.publics.items() if key != loss})
    assert "step 2: expected integers of shape [] for output loss" in verdict(folder)


def test_both_verifiers_refuse(tmp_path: Path) -> None:
    """A run of one step, judged by the independent verifier: as it is, with another step's proof, with other roots."""
    run = run_of(steps=1)
    prove_into(tmp_path / "run", run)
    prove_into(tmp_path / "other", run)
    own, other = step_of(tmp_path / "run", 1), step_of(tmp_path / "other", 1)
    for changed in ({"proof": other.proof}, {"roots": {**own.roots, OUT: other.roots[OUT]}}):
        put(tmp_path / "run", 1, own, **changed)
        with pytest.raises(Refused, match=PROOF):
            check(run, tmp_path / "run", read_manifest(tmp_path / "run"), judge=independent.refusal)
        assert PROOF in verdict(tmp_path / "run", run)


def test_seeds_are_bytes(folder: Path) -> None:
    """No two seeds make one run: lengths are hashed."""
    run = run_of()
    assert run.rows(1)["1"].tolist() != run_of(seed=SEED + b"\0").rows(1)["1"].tolist()


def test_a_root_does_not_say_how_many_examples(tmp_path: Path) -> None:
    """119 examples, and 120 whose last is all zero, have one root: a verifier of the dataset expects both."""
    run = run_of(steps=1)
    held, data = values_of(run)
    secret = bytes(range(32))
    roots = {}
    for size in (119, 120):
        given = {name: np.array(tensor) for name, tensor in data.items()}
        for tensor in given.values():
            tensor[119:] = 0
        one = replace(run, size=size)
        trace = one.formats_plan.trace({**held, **{name: tensor[:size] for name, tensor in given.items()}})
        roots[size] = commit(one.formats_plan, trace, (INPUT, DATA), secret).root
    assert roots[119] == roots[120]
    fewer = replace(run, size=119)
    prove_run(fewer, held, {name: tensor[:119] for name, tensor in data.items()}, tmp_path / "run", tmp_path / "k.npz")
    judged(tmp_path / "run", fewer)
    assert "examples 119, expected 120" in verdict(tmp_path / "run", run)
