"""Attacks on a training and the secret it keeps: other values by one secret, lost, damaged and hostile files."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import trained_programs

from circuitize.api.exact import exact
from circuitize.api.runs.data import dataset_of
from circuitize.api.runs.proving import ProvedRun, prove_run
from circuitize.api.runs.spelling import PYTHON
from circuitize.api.training.course import Course
from circuitize.api.training.train import Trained, train
from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.circuits.phases import Phases, silent
from circuitize.provers.tensor.runs import proving
from circuitize.provers.tensor.runs.promised import with_dataset
from circuitize.provers.tensor.runs.setting import Run
from circuitize.provers.tensor.runs.state import State

STEP = exact(trained_programs.step(), Phases())
STEPS = 10
SEED = b"\x5e\xed"


def trained(folder: Path, **more: Any) -> Trained:
    given = {"seed": SEED, "steps": STEPS, "dataset": trained_programs.data(), **more}
    return train(STEP, folder, **given)


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


@pytest.mark.parametrize("content", ["[" * 10_000, '{"circuitize training": 2}', "[]"])
def test_what_says_no_training_is_refused(content: str, tmp_path: Path) -> None:
    manifest = trained(tmp_path / "t").folder / "training.json"
    manifest.write_text(content)
    with pytest.raises(FormatError, match="expected a training of version 2"):
        trained(tmp_path / "t")


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in (tmp_path / "file", tmp_path / "file" / "t"):
        with pytest.raises(CircuitizeError, match="expected a folder, found"):
            trained(path)


def test_parts_of_a_first_file_go(tmp_path: Path) -> None:
    part = tmp_path / f".training.json.{'0' * 16}.part"
    part.write_text("{")
    trained(tmp_path)
    assert not part.exists()
