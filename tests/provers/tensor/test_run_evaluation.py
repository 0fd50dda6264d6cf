"""The judged end of a run: what is proved of it is what the executor says, and nothing else is accepted."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest
from tensor_proofs import both

import circuitize as cz
from circuitize.api.runs.proving import ProvedRun
from circuitize.api.runs.verdict import RunVerdict
from circuitize.backends.tensor.errors import Unprovable
from circuitize.backends.tensor.groups import INPUT, OUTPUT
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.values import to_integers
from circuitize.frontends.datasets import iris
from circuitize.provers.tensor.prover import prove_values
from circuitize.provers.tensor.runs.evaluation import Evaluation
from circuitize.provers.tensor.runs.files import EVALUATION, read_step

MODEL = cz.dense(4, 3)
RATE, SEED, STEPS, BATCH = 0.125, "c0ffee", 3, 10
SPLIT = iris(0)
TRAIN = {"inputs": SPLIT.train_inputs, "targets": SPLIT.train_targets}
TEST = {"inputs": SPLIT.test_inputs, "targets": SPLIT.test_targets}


@cache
def start() -> dict[str, Any]:
    return cz.start(_step(), MODEL, seed=0)


@cache
def _step() -> cz.Program:
    return cz.training_step(MODEL, cz.mean_squared_error, cz.SGD(), batch=8)


@cache
def step() -> cz.IntegerProgram:
    rows = [slice(8 * k, 8 * k + 8) for k in range(4)]
    batches = [{**{name: TRAIN[name][own] for name in TRAIN}, "learning_rate": RATE} for own in rows]
    return cz.quantize(cz.calibrated(_step(), start(), batches))


@cache
def judge(right: Callable[..., Any] | None = None) -> cz.IntegerProgram:
    examples = [{**start(), **{name: TEST[name][k : k + BATCH] for name in TEST}} for k in range(0, 30, BATCH)]
    return cz.quantize(cz.evaluation(MODEL, BATCH, right or cz.right_answers, cz.mean_squared_error, examples=examples))


def prove(folder: Path, **more: Any) -> ProvedRun:
    given: dict[str, Any] = {"dataset": TRAIN, "inputs": start(), "scalars": {"learning_rate": RATE}, "seed": SEED}
    judged = {"evaluate": judge(), "test": TEST, "public_test": True}
    return cz.prove_run(step(), folder, steps=STEPS, **{**given, **judged, **more})


def verify(folder: Path, **more: Any) -> RunVerdict:
    return cz.verify_run(step(), folder, **{"evaluate": judge(), **more})


@pytest.fixture(scope="module", params=[False, True], ids=["hidden", "plain"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ProvedRun:
    return prove(tmp_path_factory.mktemp("judged") / "run", not_zero_knowledge=request.param)


def test_the_worth_of_a_run_is_what_the_executor_says(made: ProvedRun) -> None:
    verdict = verify(made.folder, test=TEST, test_examples=30, expect={"test": made.roots["test"]})
    assert verdict.valid, verdict.reason
    assert verdict.evaluation is not None and made.evaluation is not None
    right, losses = 0, list[float]()
    for k in range(0, 30, BATCH):
        found = cz.run(judge(), {**made.outputs, **{name: TEST[name][k : k + BATCH] for name in TEST}})
        right, losses = right + int(found["right"]), [*losses, float(found["loss"])]
    for own in (verdict.evaluation, made.evaluation):
        assert (own.right, own.examples, own.batches) == (right, 30, 3)
        assert float(own.totals["loss"]) == sum(losses) and own.accuracy == right / 30
    assert verdict.security_bits == made.security_bits
    assert verdict.as_json()["evaluation"]["right"] == right


def test_other_claims_of_worth_are_refused(made: ProvedRun, tmp_path: Path) -> None:
    folder = Path(copytree(made.folder, tmp_path / "run"))
    honest = read_step(folder / EVALUATION)
    more = {**honest.publics, (OUTPUT, "right"): (honest.publics[OUTPUT, "right"][0] + 1,)}
    less = {**honest.publics, (OUTPUT, "loss"): (honest.publics[OUTPUT, "loss"][0] - 1,)}
    first = {**honest.roots, (INPUT, "parameters"): bytes.fromhex(made.roots["parameters"][2:])}
    for changed in (
        replace(honest, publics=more),
        replace(honest, publics=less),
        replace(honest, publics={**honest.publics, (OUTPUT, "right"): (31,)}),
        replace(honest, publics={}),
        replace(honest, roots=first),
        replace(honest, step=STEPS - 1),
        replace(honest, run=bytes(32)),
        replace(honest, proof=read_step(folder / "steps" / "000001.proof").proof),
    ):
        changed.write(folder / EVALUATION)
        assert str(verify(folder).reason).startswith("what the run is worth is not shown: "), changed.publics
    (folder / EVALUATION).unlink()
    assert "what the run is worth is not shown: expected" in str(verify(folder).reason)


def test_another_test_set_or_program_is_refused(made: ProvedRun, tmp_path: Path) -> None:
    """The name of the run binds the test set: it is the same before the first step and after the last."""
    other = {**TEST, "inputs": TEST["inputs"][::-1]}
    assert "the run is judged on another" in str(verify(made.folder, test=other).reason)
    assert "expected the 20" in str(verify(made.folder, test={n: v[:20] for n, v in TEST.items()}).reason)
    assert "expected 29" in str(verify(made.folder, test_examples=29).reason)
    assert "of root" not in str(verify(made.folder, expect={"test": "0x1"}).reason)
    easier = judge(lambda scores, targets: cz.right_answers(targets, targets))
    assert "the run is of plans" in str(verify(made.folder, evaluate=easier).reason)
    with pytest.raises(CircuitizeError, match="expected evaluate for this run, whose end is judged"):
        verify(made.folder, evaluate=None)
    folder = Path(copytree(made.folder, tmp_path / "run"))
    content = json.loads((folder / "run.json").read_text())
    content["roots"]["test"] = content["roots"]["data"]
    (folder / "run.json").write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")
    assert "step 1: it belongs to run" in str(verify(folder).reason)


def test_a_large_test_set_is_not_planned_for_on_the_runs_word(made: ProvedRun, tmp_path: Path) -> None:
    """A verifier would take minutes to plan for a million pictures that a run of few bytes says it is judged on."""
    folder = Path(copytree(made.folder, tmp_path / "run"))
    content = json.loads((folder / "run.json").read_text())
    model = cz.dense(1021, 3)
    batch = {"inputs": np.zeros((BATCH, 1021)), "targets": np.zeros((BATCH, 3))}
    wide = cz.quantize(cz.evaluation(model, BATCH, examples=[{**model.initial(0), **batch}]))
    for judged, claimed in ((wide, 8_200), (wide, 983_040), (wide, 2**40), (judge(), 2**20 + 4)):
        written = {**content, "test_examples": claimed}
        (folder / "run.json").write_text(json.dumps(written, indent=1, sort_keys=True) + "\n")
        with pytest.raises(CircuitizeError, match=f"unless you say so, found a claim of {claimed:,}; give test_exam"):
            verify(folder, evaluate=judged)
    assert "expected the 30" in str(verify(folder, test=TEST, test_examples=2**20 + 4).reason)


def test_a_secret_test_set_is_not_the_public_one(tmp_path: Path) -> None:
    made = prove(tmp_path / "run", public_test=False, not_zero_knowledge=True)
    assert verify(made.folder).valid
    assert "another or a secret one" in str(verify(made.folder, test=TEST).reason)
    again = prove(tmp_path / "run", public_test=False, not_zero_knowledge=True)
    assert again.resumed == STEPS and again.roots == made.roots
    with pytest.raises(CircuitizeError, match="found another"):
        prove(tmp_path / "run", public_test=True, not_zero_knowledge=True)
    with pytest.raises(CircuitizeError, match="found another"):
        prove(tmp_path / "run", test={**TEST, "inputs": TEST["inputs"][::-1]}, not_zero_knowledge=True)


def test_an_end_that_was_not_judged_is_judged_again_to_the_byte(tmp_path: Path) -> None:
    made = prove(tmp_path / "run")
    written = (made.folder / EVALUATION).read_bytes()
    (made.folder / EVALUATION).unlink()
    again = prove(tmp_path / "run")
    assert (made.folder / EVALUATION).read_bytes() == written and again.resumed == STEPS


def test_one_right_answer_more_has_no_proof() -> None:
    """A prover that says it made one more, by a batch or in all, proves nothing to either verifier."""
    made = Evaluation(judge(), 30, zero_knowledge=False)
    plan = made.chunk.plan
    data = {port.name: to_integers(port, TEST[port.name], "test") for port in made.tensors}
    held = {port.name: to_integers(port, start()[port.name], "start") for port in judge().inputs if port.held}
    trace = list(plan.trace(made.inputs(held, data)))
    assert claimed(made, data, trace) is None
    wires = dict(zip(plan.outputs, plan.arrow.outputs.tolist(), strict=True))
    more = list(trace)
    more[wires["right"]] = trace[wires["right"]] + 1
    assert claimed(made, data, more)
    more[wires["right of all steps"]] = trace[wires["right of all steps"]] + np.array([1, 0, 0])
    assert claimed(made, data, more)


def claimed(made: Evaluation, data: dict[str, Any], trace: list[Any]) -> str | None:
    """What both verifiers say of the proof that these values make."""
    program, plan = made.chunk.program, made.chunk.plan
    values = plan.values(trace, made.rows)
    for name, base in plan.tensors.items():
        values[base] = data[name]
    found = prove_values(program, plan, trace, values)
    known = {name: root for (_, name), root in found.statement.roots.items()}
    return both(program, found.statement, found.proof, plan, b"", known)


def test_what_judges_nothing(tmp_path: Path) -> None:
    with pytest.raises(CircuitizeError, match="whole batches of 10, found 29"):
        prove(tmp_path / "run", test={name: values[:29] for name, values in TEST.items()})
    with pytest.raises(Unprovable, match="an evaluation whose outputs are public"):
        prove(tmp_path / "run", evaluate=step())
    with pytest.raises(CircuitizeError, match=r"^test: expected it beside evaluate"):
        prove(tmp_path / "run", evaluate=None, public_test=False)
    assert not (tmp_path / "run").exists()


def test_an_end_that_cannot_be_judged_is_found_at_the_beginning(tmp_path: Path) -> None:
    """Where the evaluation has no value on what the run begins with, no step is proved in vain, and nothing written."""
    large = {name: np.full_like(values, 7.0) for name, values in start().items()}
    with pytest.raises(CircuitizeError, match=r"^evaluation of what the run begins with: .* numbers from .* fit there"):
        prove(tmp_path / "run", inputs=large)
    assert not list(tmp_path.iterdir())
    beyond = {**TEST, "inputs": TEST["inputs"] + 8.0}
    with pytest.raises(CircuitizeError, match=r"^test: expected input 'inputs' in "):
        prove(tmp_path / "run", test=beyond)
    with pytest.raises(CircuitizeError, match=r"^test: expected an array 'targets'"):
        prove(tmp_path / "run", test={"inputs": TEST["inputs"]})
    assert not list(tmp_path.iterdir())
