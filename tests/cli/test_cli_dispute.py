"""The commands `dispute` and `testify`: what they say, their exit status, and what is written wrongly."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import trained_programs
from cli_programs import run
from faulty import Fault, machine

from circuitize.api.exact import exact
from circuitize.circuits.phases import Phases

STEP = f"{trained_programs.__file__}:step"
DATA = f"{trained_programs.__file__}:data"
TRAIN = ("train", STEP, "--steps", "6", "--seed", "5eed", "--dataset", DATA, "--every", "2", "--no-roots")
PROGRAM = exact(trained_programs.step(), Phases()).integer


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """A training, the same again, and one on a machine that errs in step 5 and testifies so."""
    a, b, c = (tmp_path_factory.mktemp("trained") / name for name in "abc")
    assert run(*TRAIN, "--record", "-o", a).status == run(*TRAIN, "-o", b).status == 0
    with machine(Fault("input", 5, 0, (1, 2), 1), PROGRAM):
        assert run(*TRAIN, "-o", c).status == 0
        told = run("testify", c, "--step", "5")
        assert told.status == 0 and f"wrote every wire of step 5 to {c / 'testimony' / '00000005.npz'}" in told.out
    return a, b, c


def test_honest_trainings_agree(folders: tuple[Path, Path, Path]) -> None:
    found = run("dispute", *folders[:2])
    assert (found.status, found.out) == (0, "A and B agree on all of 6 steps\n")
    said = json.loads(run("dispute", *folders[:2], "--json").out)
    assert said["agree"] and said["steps"] == 6 and said["step"] is None


@pytest.mark.proof
def test_what_differs_is_said_and_proved(folders: tuple[Path, Path, Path], tmp_path: Path) -> None:
    a, _, c = folders
    found = run("dispute", c, a, "-o", tmp_path / "proof")
    assert found.status == 1 and "A and B differ at step 5: A is WRONG, B is right, by a proof of it" in found.out
    assert "'dense1.weight', element [1, 2]: it enters as" in found.out and str(tmp_path / "proof") in found.out
    said = json.loads(run("dispute", c, a, "--json").out)
    assert said["step"] == 5 and said["right"] == ["B"] and said["proof"]["prover"] == "tensor"
    assert said["places"]["A"]["element"] == [1, 2] and said["places"]["A"]["kind"] == "input"


def test_who_must_testify_is_said(folders: tuple[Path, Path, Path], tmp_path: Path) -> None:
    a, _, c = folders
    shutil.copytree(c, tmp_path / "c", ignore=shutil.ignore_patterns("testimony"))
    found = run("dispute", a, tmp_path / "c", "--prover", "none")
    assert found.status == 1 and "by this machine's own run of it" in found.out
    assert f"ask for: circuitize testify {tmp_path / 'c'} --step 5" in found.out
    told = run("testify", tmp_path / "c", "--step", "5")
    assert told.status == 1 and "this machine does not repeat step 5 as the journal has it" in told.out
    assert json.loads(run("testify", tmp_path / "c", "--step", "4", "--json").out)["repeats"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("dispute", "a", "absent"), "absent/training.json: expected a training, found No such file"),
        (("dispute", "a", "b", "--prover", "x"), "--prover: invalid choice: 'x'"),
        (("testify", "a", "--step", "0"), "--step: expected a whole number of at least 1, found '0'"),
        (("testify", "a", "--step", "7"), "expected a step from 1 to 6, found 7; choose one"),
        (("dispute", "a"), "the following arguments are required: B"),
    ],
)
def test_one_line_for_what_is_wrong(
    words: tuple[str, ...], message: str, folders: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folders[0].parent)
    if not Path("b").exists():
        shutil.copytree(folders[1], "b")
    found = run(*words)
    assert found.status == 2 and message in found.err and len(found.err.splitlines()) == 1
