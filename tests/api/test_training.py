"""Training without proofs: what it leaves, how it goes on, what it refuses, and that a run proves it afterwards."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trained_programs
from tiers import count

import circuitize as cz
from circuitize.api.exact import exact
from circuitize.api.runs.proving import prove_run
from circuitize.api.runs.verifying import verify_run
from circuitize.api.training.train import Trained, train
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.phases import Phases
from circuitize.circuits.values import Raw
from circuitize.frontends.checkpoint import load_safetensors
from circuitize.provers.tensor.runs.order import rows
from circuitize.sims import integer

STEP = exact(trained_programs.step(), Phases())
STEPS = 10
SEED = b"\x5e\xed"


def trained(folder: Path, **more: Any) -> Trained:
    given = {"seed": SEED, "steps": STEPS, "dataset": trained_programs.data(), **more}
    return train(STEP, folder, **given)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    more = {"executor": "both", "every": 4, "evaluate": trained_programs.judge(), "test": trained_programs.data()}
    return trained(tmp_path_factory.mktemp("trained") / "t", schedule=trained_programs.rates, **more)


def test_steps_are_those_of_the_integer_executor_on_the_batches_of_a_run(tmp_path: Path) -> None:
    made = trained(tmp_path / "t")
    data, example = trained_programs.data(), STEP.integer.examples[0]
    held: dict[str, Any] = {port.name: example[port.name] for port in STEP.integer.inputs if port.held}
    for number in range(1, STEPS + 1):
        chosen = rows(SEED, 20, 4, number)
        batch = {name: values[chosen] for name, values in data.items()}
        scalars = {port.name: example[port.name] for port in STEP.integer.inputs if port.role.value == "scalar"}
        outputs = integer.run(STEP.integer, {**held, **batch, **scalars})
        held = {name: Raw(outputs[name]) for name in held}
    written = load_safetensors(made.folder / "checkpoints-integer" / "00000010.safetensors")
    assert written.keys() == held.keys()
    for name, value in held.items():
        np.testing.assert_array_equal(written[name], value.array, strict=True)
    weights = load_safetensors(made.folder / "weights.safetensors")
    for name, values in made.outputs.items():
        np.testing.assert_array_equal(weights[name], values, strict=True)


def test_the_folder_is_its_owner_s(whole: Trained) -> None:
    assert whole.folder.stat().st_mode & 0o777 == 0o700


def test_metrics_are_lines_and_a_table(whole: Trained) -> None:
    lines = [json.loads(line) for line in (whole.folder / "metrics.jsonl").read_text().splitlines()]
    with (whole.folder / "metrics.csv").open() as file:
        table = list(csv.DictReader(file))
    assert [line["step"] for line in lines] == list(range(1, STEPS + 1))
    assert [line["epoch"] for line in lines] == [1] * 5 + [2] * 5
    for line, row in zip(lines, table, strict=True):
        assert {name: float(value) for name, value in row.items() if value} == line
        assert abs(line["loss"] - line["loss_float64"]) < 0.01 and 0 <= line["drift"] < 0.01
    judged = [line["step"] for line in lines if "accuracy" in line]
    assert judged == [4, 8, 10] and whole.last == lines[-1]
    assert {"test_loss", "accuracy_float64", "test_loss_float64"} <= lines[-1].keys()


def test_a_live_line_says_loss_accuracy_and_what_is_left(tmp_path: Path) -> None:
    said: list[str] = []
    judging = {"evaluate": trained_programs.judge(), "test": trained_programs.data()}
    made = trained(tmp_path / "t", every=4, progress=said.append, **judging)
    lines = [line for line in said if line.startswith("step ")]
    assert len(lines) == STEPS and lines[-1].startswith("step 10 of 10, epoch 2: loss ")
    assert all(line.endswith(" left") for line in lines) and "accuracy" not in lines[2]
    assert all("accuracy" in line for line in lines[3:]) and f"accuracy {made.last['accuracy']:.4g}" in lines[-1]


def test_it_says_where_it_begins(tmp_path: Path) -> None:
    said: list[str] = []
    trained(tmp_path / "t", say=said.append)
    assert any(line.startswith("it begins as the first example") and "initial_seed" in line for line in said)
    said.clear()
    drawn = trained(tmp_path / "u", say=said.append, initial_seed="00", model=trained_programs.MODEL)
    assert not any("begins as the first" in line for line in said) and drawn.folder == tmp_path / "u"


def test_the_judge_is_the_evaluation_on_the_whole_test_set(whole: Trained) -> None:
    judging, data = exact(trained_programs.judge(), Phases()).integer, trained_programs.data()
    right = 0
    for start in range(0, 20, 4):
        batch = {name: values[start : start + 4] for name, values in data.items()}
        weights = {port.name: whole.outputs[port.name] for port in judging.inputs if port.held}
        right += int(integer.run(judging, {**weights, **batch})["right"])
    assert whole.last["accuracy"] == right / 20


@pytest.mark.proof
@pytest.mark.parametrize("hides", [True, False])
def test_a_run_proves_it_with_the_roots_that_were_written(hides: bool, tmp_path: Path) -> None:
    more: dict[str, Any] = {"schedule": trained_programs.rates, "not_zero_knowledge": not hides}
    made = trained(tmp_path / "t", **more)
    said = json.loads((made.folder / "training.json").read_text())
    assert said["roots"] == made.roots and said["final"] == made.final
    assert set(made.final) == {"parameters", "optimizer"} and ("data" in made.roots) is not hides
    more |= {"steps": STEPS, "seed": SEED, "dataset": made.folder / "data.npz"}
    more |= {"inputs": made.folder / "initial.npz", "raw_inputs": True, "per_proof": 4}
    proved = prove_run(STEP.integer, made.folder / "run", **more)
    assert made.roots.items() <= proved.roots.items() and made.final.items() <= proved.final.items()
    for name, values in proved.outputs.items():
        np.testing.assert_array_equal(values, made.outputs[name], strict=True)
    expected = {**made.roots, **{f"final.{name}": root for name, root in made.final.items()}}
    shutil.copytree(made.folder / "run", tmp_path / "received")
    course: dict[str, Any] = {"steps": STEPS, "seed": SEED, "schedule": trained_programs.rates}
    assert verify_run(STEP.integer, tmp_path / "received", expect=expected, **course)
    with pytest.raises(CircuitizeError, match="expected"):  # The secret is this run's now: no other takes it.
        prove_run(STEP.integer, made.folder / "run", **{**more, "steps": 6})
    shutil.rmtree(made.folder / "run")
    with pytest.raises(CircuitizeError, match="expected no file yet, found what the prover of a run keeps"):
        prove_run(STEP.integer, made.folder / "run", **{**more, "steps": 6})


@pytest.mark.proof
def test_with_steps_per_proof_the_dataset_has_its_root_too(tmp_path: Path) -> None:
    made = trained(tmp_path / "t", per_proof=5)
    more: dict[str, Any] = {"inputs": made.folder / "initial.npz", "raw_inputs": True, "per_proof": 5}
    more |= {"dataset": made.folder / "data.npz"}
    proved = prove_run(STEP.integer, made.folder / "run", steps=STEPS, seed=SEED, scalars=rate(), **more)
    assert made.roots == proved.roots and "data" in made.roots


def rate() -> dict[str, Any]:
    example, *_ = STEP.integer.examples
    return {port.name: example[port.name] for port in STEP.integer.inputs if port.role.value == "scalar"}


def test_killed_between_any_two_writes(tmp_path: Path) -> None:
    kills = count(4, deep=200)
    script = Path(__file__).resolve().parents[1] / "support" / "killed_trainings.py"
    done = subprocess.run(
        [sys.executable, script, str(kills), "1", tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["kills"] >= kills and found["resumed"] >= kills // 4


def test_made_longer_it_is_the_longer_one(tmp_path: Path) -> None:
    first = trained(tmp_path / "t", steps=5)
    longer = trained(tmp_path / "t")
    alone = trained(tmp_path / "alone")
    assert (longer.resumed, longer.steps) == (5, STEPS) and longer.roots == first.roots
    assert longer.outputs.keys() == alone.outputs.keys() and longer.last == alone.last
    for name, values in longer.outputs.items():
        np.testing.assert_array_equal(values, alone.outputs[name], strict=True)


OTHERS: dict[str, tuple[dict[str, Any], str]] = {
    "seed": ({"seed": b"\x01"}, r"found another \(its program, data, seed or start differs\)"),
    "data": ({"dataset": None}, r"found another \(its program, data, seed or start differs\)"),
    "executor": ({"executor": "real"}, r"found another \(its executor differs\)"),
    "every": ({"every": 2}, r"how often it writes a checkpoint differs"),
    "test": ({"evaluate": None, "test": None}, r"its evaluation or test set differs"),
    "scalars": ({"schedule": None}, "expected the scalars that the training had up to step 10"),
    "fewer": ({"steps": 9}, "expected a training of at most 9 steps, found 10 done; ask for as many"),
}


@pytest.mark.parametrize("what", OTHERS)
def test_another_training_is_refused_and_nothing_is_lost(what: str, whole: Trained, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    shutil.copytree(whole.folder, folder)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    given: dict[str, Any] = {"schedule": trained_programs.rates, "executor": "both", "every": 4}
    given |= {"evaluate": trained_programs.judge(), "test": trained_programs.data()}
    changed, message = OTHERS[what]
    with pytest.raises(CircuitizeError, match=message):
        trained(folder, **given | changed)
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_is_damaged_is_said(whole: Trained, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    shutil.copytree(whole.folder, folder)
    given: dict[str, Any] = {"schedule": trained_programs.rates, "executor": "both", "every": 4}
    given |= {"evaluate": trained_programs.judge(), "test": trained_programs.data()}
    last = folder / "checkpoints-integer" / "00000010.safetensors"
    last.write_bytes(last.read_bytes()[:-1])
    with pytest.raises(CircuitizeError, match=r"00000010\.safetensors: expected"):
        trained(folder, **given)
    shutil.copy(folder / "checkpoints-integer" / "00000008.safetensors", last)
    with pytest.raises(
        CircuitizeError, match=r"expected the checkpoint of step 10 in integer, found another; it is dama"
    ):
        trained(folder, **given)
    last.unlink()
    again = trained(folder, **given)
    assert again.resumed == 8 and again.last == whole.last
    (folder / "metrics.jsonl").write_text("[]\n")
    with pytest.raises(CircuitizeError, match="expected a row by name, found another value"):
        trained(folder, **given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"steps": None}, "expected one of steps or epochs, found none; give one"),
        ({"epochs": 2}, "expected one of steps or epochs, found both; give one"),
        ({"steps": 0}, "steps: expected at least 1, found 0"),
        ({"every": 0}, "every: expected at least 1 step, found 0"),
        ({"executor": "float"}, "expected an executor among integer, real, both, found 'float'"),
        ({"test": {}}, "test: expected it beside evaluate, found it alone"),
        (
            {"dataset": {"inputs": np.zeros((3, 3)), "targets": np.zeros((3, 2))}},
            "expected at least 4 examples, a batch",
        ),
        ({"seed": "xyz"}, "seed: expected 1 to 64 bytes in hexadecimal"),
    ],
)
def test_what_is_asked_for_wrongly(given: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(CircuitizeError, match=message):
        trained(tmp_path / "t", **given)
    assert not (tmp_path / "t").exists()


def test_integers_have_no_meaning_in_float64(tmp_path: Path) -> None:
    with pytest.raises(CircuitizeError, match="expected a program of reals to train in float64, found one of integers"):
        train(STEP.integer, tmp_path / "t", seed=SEED, steps=1, executor="real")
    assert not (tmp_path / "t").exists()


def test_something_else_stays(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")
    with pytest.raises(CircuitizeError, match="expected a new folder, or that of this training, found something else"):
        trained(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_what_judges_numbers_of_another_model_or_none(tmp_path: Path) -> None:
    model, data = trained_programs.MODEL, trained_programs.data()
    examples = [{**model.initial(0), "inputs": data["inputs"][:4]}]
    prediction = cz.predict(model, 4, inputs=trained_programs.FEATURES, examples=examples)
    with pytest.raises(CircuitizeError, match=r"expected an evaluation whose outputs are numbers, found 'outputs'"):
        trained(tmp_path / "t", evaluate=prediction, test={"inputs": data["inputs"]})
    other = cz.sequential(cz.dense(3, 5), cz.relu(), cz.dense(5, 2))
    batch = {name: values[:4] for name, values in data.items()}
    judge = cz.evaluation(other, 4, inputs=trained_programs.FEATURES, examples=[{**other.initial(0), **batch}])
    with pytest.raises(CircuitizeError, match=r"expected the evaluation's 'dense1.weight' as the step has it"):
        trained(tmp_path / "t", evaluate=judge, test=data)
    assert not (tmp_path / "t").exists()


def test_what_is_no_step(tmp_path: Path) -> None:
    model, data = trained_programs.MODEL, trained_programs.data()
    examples = [{**model.initial(0), "inputs": data["inputs"][:4]}]
    prediction = cz.predict(model, 4, inputs=trained_programs.FEATURES, examples=examples)
    with pytest.raises(
        CircuitizeError, match=r"a step whose parameters leave as they enter, found 'dense1.weight', whi"
    ):
        train(prediction, tmp_path / "t", seed=SEED, steps=2)
    numbers = trained_programs.FEATURES.of((4, 3))
    double = cz.Program(
        cz.trace(lambda x: x + x, (4, 3)),
        (cz.Port("x", "committed", numbers),),
        (cz.Port("y", "public"),),
        ({"x": data["inputs"][:4]},),
    )
    with pytest.raises(CircuitizeError, match="a step whose parameters leave as they enter, found no parameters"):
        train(double, tmp_path / "t", seed=SEED, steps=2)
    assert not (tmp_path / "t").exists()
