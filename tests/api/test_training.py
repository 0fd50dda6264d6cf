"""Training without proofs: what it leaves, how it goes on, what it refuses, and that a run proves it afterwards."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trained_programs
from tiers import count

from circuitize.api.exact import exact
from circuitize.api.runs.data import dataset_of
from circuitize.api.runs.proving import ProvedRun, prove_run
from circuitize.api.runs.spelling import PYTHON
from circuitize.api.runs.verifying import verify_run
from circuitize.api.training.course import Course
from circuitize.api.training.train import Trained, train
from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.circuits.phases import Phases, silent
from circuitize.circuits.values import Raw
from circuitize.frontends.checkpoint import load_safetensors
from circuitize.provers.tensor.runs import proving
from circuitize.provers.tensor.runs.order import rows
from circuitize.provers.tensor.runs.promised import with_dataset
from circuitize.provers.tensor.runs.setting import Run
from circuitize.provers.tensor.runs.state import State
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


def proved(made: Trained, **more: Any) -> ProvedRun:
    given: dict[str, Any] = {"steps": STEPS, "seed": SEED, "schedule": trained_programs.rates, "per_proof": 5}
    given |= {"dataset": made.folder / "data.npz", "inputs": made.folder / "initial.npz", "raw_inputs": True}
    return prove_run(STEP.integer, made.folder / "run", **given | more)


def others(number: int) -> dict[str, float]:
    return {"learning_rate": 1 / (64 + number), "momentum": 0.25}


TURNED = {name: -values for name, values in trained_programs.data().items() if name == "inputs"}
ANOTHER = r"run\.kept\.npz: expected the program, seed, dataset, scalars and kind of proofs of the training whose roots"


@pytest.mark.parametrize(
    "other",
    [
        {"schedule": others},
        {"seed": b"\x01"},
        {"dataset": {**trained_programs.data(), **TURNED}},
        {"not_zero_knowledge": True},
    ],
)
def test_the_secret_commits_to_no_other_values(other: dict[str, Any], tmp_path: Path) -> None:
    made = trained(tmp_path / "t", schedule=trained_programs.rates)
    kept = (tmp_path / "t" / "run.kept.npz").read_bytes()
    with pytest.raises(CircuitizeError, match=ANOTHER):
        proved(made, **other)
    assert (tmp_path / "t" / "run.kept.npz").read_bytes() == kept and not (tmp_path / "t" / "run").exists()


def test_without_its_checkpoints_the_scalars_of_its_roots_stay(tmp_path: Path) -> None:
    made = trained(tmp_path / "t", schedule=trained_programs.rates)
    shutil.rmtree(made.folder / "checkpoints-integer")
    with pytest.raises(CircuitizeError, match=ANOTHER):
        trained(tmp_path / "t", schedule=others)
    again = trained(tmp_path / "t", schedule=trained_programs.rates)
    assert (again.resumed, again.roots, again.final) == (0, made.roots, made.final)


def test_a_run_that_shows_nothing_gives_the_secret_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = trained(tmp_path / "t", schedule=trained_programs.rates)
    kept = (tmp_path / "t" / "run.kept.npz").read_bytes()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(proving, "_show_formats", interrupted)
        proved(made)
    assert (tmp_path / "t" / "run.kept.npz").read_bytes() == kept


@pytest.mark.proof
def test_a_run_that_took_the_secret_says_itself_what_follows(tmp_path: Path) -> None:
    made = trained(tmp_path / "t", schedule=trained_programs.rates)
    assert proved(made).final.items() >= made.final.items()
    again = trained(tmp_path / "t", schedule=trained_programs.rates)
    assert (again.roots, again.final) == (made.roots, made.final)
    said: list[str] = []
    longer = trained(tmp_path / "t", schedule=trained_programs.rates, steps=STEPS + 5, say=said.append)
    assert longer.final == {} and "no final roots: a run has taken" in said[-1]


@pytest.mark.proof
def test_the_secret_of_a_run_of_its_own_is_not_taken(tmp_path: Path) -> None:
    made = trained(tmp_path / "t", roots=False)
    proved(made, schedule=others)
    said: list[str] = []
    assert trained(tmp_path / "t", say=said.append).roots == {}
    assert "is what the prover of another run keeps" in said[-1]


def test_a_dataset_s_root_for_more_openings_has_another_secret(tmp_path: Path) -> None:
    made = trained(tmp_path / "t", per_proof=5)
    state = State.read(made.folder / "run.kept.npz")
    run = Run(STEP.integer, 20, STEPS, SEED, lambda _: {}, 5)
    more = replace(run, per_proof=1)
    assert run.openings != more.openings
    assert with_dataset(run, state).roots != with_dataset(more, state).roots


def test_roots_that_were_told_stay_written(tmp_path: Path) -> None:
    made = trained(tmp_path / "t")
    for _ in range(2):
        trained(tmp_path / "t", roots=False)
        (tmp_path / "t" / "run.kept.npz").unlink(missing_ok=True)
        assert trained(tmp_path / "t").roots == {}  # By no other secret.
        said = json.loads((tmp_path / "t" / "training.json").read_text())
        assert (said["roots"], said["final"]) == (made.roots, made.final)


@pytest.mark.proof
def test_a_training_in_a_run_s_folder_is_refused(tmp_path: Path) -> None:
    made = proved(trained(tmp_path / "t", schedule=trained_programs.rates))
    with pytest.raises(CircuitizeError, match="expected a folder that lies in no other run's"):
        trained(made.folder / "inner")
    assert not (made.folder / "inner").exists()


LINES = [
    "[" * 40_000,
    '{"step": 10, "zz": 1}',
    '{"step": 10, "loss": "x"}',
    '{"step": 10, "loss": 1' + "0" * 4000 + "}",
]


@pytest.mark.parametrize("line", LINES, ids=["nested", "unknown", "text", "large"])
def test_metrics_that_are_none_are_refused(line: str, tmp_path: Path) -> None:
    lines = trained(tmp_path / "t").folder / "metrics.jsonl"
    lines.write_text("".join(lines.read_text().splitlines(keepends=True)[:-1]) + line + "\n")
    before = lines.read_text()
    with pytest.raises(FormatError, match=r"expected (a row|a line|metrics)"):
        trained(tmp_path / "t")
    assert lines.read_text() == before


def test_a_number_that_changed_in_a_checkpoint_is_found(tmp_path: Path) -> None:
    last = trained(tmp_path / "t").folder / "checkpoints-integer" / "00000010.safetensors"
    content = bytearray(last.read_bytes())
    content[-8] ^= 1
    last.write_bytes(content)
    with pytest.raises(FormatError, match=r"00000010\.safetensors: expected the values that were written"):
        trained(tmp_path / "t", steps=15)


def test_what_has_not_the_name_of_a_checkpoint_is_none(tmp_path: Path) -> None:
    checkpoints = trained(tmp_path / "t").folder / "checkpoints-integer"
    for name in ("000000012", "\u0660\u0660\u0660\u0660\u0660\u0660\u0661\u0662", "x"):
        (checkpoints / f"{name}.safetensors").write_text("x")
    (checkpoints / "00000012.safetensors").symlink_to("/dev/zero")
    assert trained(tmp_path / "t", steps=11).resumed == 10


def test_a_hash_of_scalars_follows_from_the_last_step_alone() -> None:
    data = trained_programs.data()

    def scalars(step: int) -> dict[str, Fraction]:
        return {name: Fraction(value) for name, value in trained_programs.rates(step).items()}

    def course() -> Course:
        return Course(STEP, dataset_of(STEP.integer, data, silent, PYTHON), SEED, scalars, {})

    one = course()
    found = [one.scalars_digest(last) for last in (3, 7, 7, 2)]
    assert found == [course().scalars_digest(last) for last in (3, 7, 7, 2)] and len(set(found)) == 3


@pytest.mark.parametrize("content", ["[" * 10_000, '{"circuitize training": 1}', "[]"])
def test_what_says_no_training_is_refused(content: str, tmp_path: Path) -> None:
    manifest = trained(tmp_path / "t").folder / "training.json"
    manifest.write_text(content)
    with pytest.raises(FormatError, match="expected a training of version 1"):
        trained(tmp_path / "t")


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in (tmp_path / "file", tmp_path / "file" / "t"):
        with pytest.raises(CircuitizeError, match="expected a folder, found"):
            trained(path)


def rate() -> dict[str, Any]:
    example, *_ = STEP.integer.examples
    return {port.name: example[port.name] for port in STEP.integer.inputs if port.role.value == "scalar"}


def test_killed_between_any_two_writes(tmp_path: Path) -> None:
    kills = count(6, deep=200)
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


def test_parts_of_a_first_file_go(tmp_path: Path) -> None:
    part = tmp_path / f".training.json.{'0' * 16}.part"
    part.write_text("{")
    trained(tmp_path)
    assert not part.exists()


def test_something_else_stays(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")
    with pytest.raises(CircuitizeError, match="expected a new folder, or that of this training, found something else"):
        trained(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
