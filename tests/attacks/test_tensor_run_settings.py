"""Attacks on runs: what a verifier computes for itself is another: seed, rate, batch, program, number of examples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from tensor_proofs import both, entering, planned
from tensor_runs import PROOF, RATE, SEED, STEPS, Folder, chunk_inputs, run_of, values_of

from circuitize.backends.tensor.forms import Integers
from circuitize.backends.tensor.groups import DATA, INPUT
from circuitize.circuits.program import IntegerProgram
from circuitize.provers.tensor.plan import plan
from circuitize.provers.tensor.prover import commit, prove_values
from circuitize.provers.tensor.runs.chunk import BATCH
from circuitize.provers.tensor.runs.setting import Run
from circuitize.provers.tensor.statement import Statement


def test_another_seed(attacked: Folder) -> None:
    other = run_of(seed=b"other")
    assert "the run is of seed" in attacked.verdict(other)
    attacked.restate(seed=other.seed.hex())
    assert "step 1: it belongs to run" in attacked.verdict(other)
    name = other.identity(attacked.roots)
    for step in range(1, STEPS + 1):
        attacked.put(step, attacked.step(step), run=name)
    assert f"step 1: {PROOF}" in attacked.verdict(other)


def test_another_learning_rate(attacked: Folder) -> None:
    """In all steps, in the last one; and stated to be the one that the verifier expects."""
    double = run_of(scalars=lambda step: {"learning_rate": 2 * RATE})
    assert "step 1: it is with learning_rate = 8192" in attacked.verdict(double)
    late = run_of(scalars=lambda step: {"learning_rate": RATE * (1 + step // STEPS)})
    assert f"step {STEPS}: it is with learning_rate = 8192" in attacked.verdict(late)
    key = (INPUT, "learning_rate")
    for step in range(1, STEPS + 1):
        own = attacked.step(step)
        attacked.put(step, own, publics={**own.publics, key: (16384,)})
    assert f"step 1: {PROOF}" in attacked.verdict(double)
    own = attacked.step(1)
    attacked.put(1, own, publics={k: v for k, v in own.publics.items() if k != key})
    assert "learning_rate = none" in attacked.verdict()


def test_a_learning_rate_that_the_verifier_does_not_say(attacked: Folder) -> None:
    """Then the proofs state it, and bind it: another one, none, or one out of format is refused, in any step."""
    free = run_of(scalars=lambda step: {}, stated=frozenset({"learning_rate"}))
    units = int(RATE * 2**16)
    assert [int(value) for value in attacked.judged(free).scalars["learning_rate"]] == [units] * STEPS
    key = (INPUT, "learning_rate")
    for step in (1, STEPS):
        own = attacked.step(step)
        for publics, reason in (
            ({**own.publics, key: (units // 2,)}, PROOF),
            ({**own.publics, key: (1 << 40,)}, "found it outside"),
            ({**own.publics, key: (units, units)}, "own ports and shapes"),
            ({k: v for k, v in own.publics.items() if k != key}, "expected integers of shape [1]"),
            ({**own.publics, (INPUT, "momentum"): (0,)}, "own ports and shapes"),
        ):
            attacked.put(step, own, publics=publics)
            assert f"step {step}: " in (said := attacked.verdict(free)) and reason in said
        attacked.put(step, own)
    attacked.judged(free)


@dataclass(frozen=True)
class Choosy(Run):
    """A prover that trains on the examples it likes, and says that the seed chose them."""

    def rows(self, step: int) -> dict[str, Integers]:
        return {BATCH: np.arange(8, dtype=np.int64)[None]}


def test_batches_that_the_seed_did_not_choose(tmp_path: Path) -> None:
    run, folder = run_of(steps=2), Folder(tmp_path / "run")
    cheat = run_of(steps=2, kind=Choosy)
    found = folder.prove(cheat)
    assert found.identity == run.identity(found.roots)
    folder.judged(cheat)
    assert f"step 1: {PROOF}" in folder.verdict(run)


@dataclass(frozen=True)
class Outside(Run):
    def rows(self, step: int) -> dict[str, Integers]:
        return {BATCH: np.array([[0, 1, 2, 3, 4, 5, 6, self.size]], np.int64)}


def test_rows_outside_of_the_dataset_are_no_rows(attacked: Folder) -> None:
    assert "rows below 120" in attacked.verdict(run_of(kind=Outside))


def test_values_that_are_not_the_rows(tmp_path: Path) -> None:
    """A prover that commits to the dataset, and runs the step on other values than it has in those rows."""
    run, folder = run_of(steps=1, zero_knowledge=False), Folder(tmp_path / "run")
    held, data = values_of(run)
    found = folder.prove(run)
    program, plan = run.chunk(1).program, run.chunk(1).plan
    inputs = chunk_inputs(run, held, data, 1)
    inputs["inputs"] = inputs["inputs"][:, ::-1].copy()
    trace, rows = plan.trace(inputs), run.rows(1)
    values = plan.values(trace, rows)
    values[plan.tensors["inputs"]] = data["inputs"]
    values[plan.tensors["targets"]] = data["targets"]
    forged = prove_values(program, plan, trace, values, context=run.context(found.identity, 1))
    context = run.context(found.identity, 1)
    reason = both(program, forged.statement, forged.proof, plan, context, entering(forged.statement))
    assert reason is not None and "assumes" not in reason


def test_another_program(attacked: Folder) -> None:
    other = replace(run_of(), program=renamed(planned("iris.py:step")[0]))
    assert "the run is of program" in attacked.verdict(other)
    attacked.restate(program=other.digest)
    assert "the run is of plan" in attacked.verdict(other)
    attacked.restate(program=other.digest, plans=other.plans_digest)
    assert "step 1: it belongs to run" in attacked.verdict(other)


def renamed(program: IntegerProgram) -> IntegerProgram:
    outputs = tuple(replace(port, name="error") if port.name == "loss" else port for port in program.outputs)
    return replace(program, outputs=outputs)


def test_a_step_proved_alone_is_none_of_a_run(attacked: Folder) -> None:
    """Its plan assumes formats, its transcript absorbs the run: as a proof by itself it is nothing."""
    run, own = run_of(), attacked.step(1)
    chunk = run.chunk(1)
    publics = {key: np.array(value, np.int64) for key, value in own.publics.items()}
    statement = Statement(publics | run.publics(1), own.roots)
    context, known = run.context(own.run, 1), attacked.roots
    assert both(chunk.program, statement, own.proof, chunk.plan, context, known) is None
    assert "assumes" in str(both(chunk.program, statement, own.proof, chunk.plan, context))
    for other in (b"", context[:-1], run.context(own.run, 2), run.context(bytes(32), 1)):
        assert both(chunk.program, statement, own.proof, chunk.plan, other, known)
    assert both(run.program, replace(statement, publics=publics), own.proof, plan(run.program))


def test_seeds_are_bytes(attacked: Folder) -> None:
    """No two seeds make one run: lengths are hashed."""
    run = run_of()
    assert run.rows(1)[BATCH].tolist() != run_of(seed=SEED + b"\0").rows(1)[BATCH].tolist()


def test_a_root_says_how_many_examples(tmp_path: Path) -> None:
    """119 examples, and 120 whose last is all zero as padding is, have two roots: who expects one fixes the number."""
    run, folder = run_of(steps=1), Folder(tmp_path / "run")
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
    assert roots[119] != roots[120]
    fewer = replace(run, size=119)
    folder.prove(fewer)
    folder.judged(fewer)
    assert "examples 119, expected 120" in folder.verdict(run)
