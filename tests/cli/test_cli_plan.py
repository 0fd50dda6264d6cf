"""`circuitize plan`: what it prints and writes, what comes of the commands that it gives, what it refuses in a line."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import planned_programs
import pytest
from cli_programs import Outcome, refused, run

from circuitize.api.planning import written

STEP, PREDICTION = (f"{planned_programs.__file__}:{name}" for name in ("step", "prediction"))


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fronts are written as where matplotlib is missing: it takes longer to draw one than all else does."""
    monkeypatch.setattr(written, "find_spec", lambda name: None)


ROWS = ("plan", STEP, "--objective", "rows,error", "--target", "mirage", "--bits", "8:9")


def follow(command: str, folder: Path) -> Outcome:
    """Run a command that a plan gives, what it writes in a folder."""
    words = shlex.split(command)
    assert words.pop(0) == "circuitize"
    return run(*(str(folder / word) if word in ("keys", "proof", "design", "run") else word for word in words))


def test_a_front_is_a_table_or_json(tmp_path: Path) -> None:
    picture = tmp_path / "front.svg"
    made = run(*ROWS, "--plot", picture)
    lines = made.out.splitlines()
    assert made.status == 0 and lines[0].split() == ["rows", "error"] and lines[1].startswith("   1 mirage, bits ")
    assert "counted: rows; predicted: error; errors are of 5 examples that calibrated the formats" in lines
    assert picture.read_text().startswith("<?xml")
    told = json.loads(run(*ROWS, "--json").out)
    assert told["feasible"] and told["complete"] and len(told["points"]) > 2
    assert lines[1].split()[-2] == f"{told['points'][0]['takes']['rows']['value']:,}"
    assert told["points"][0]["takes"]["rows"]["is"] == "counted"
    assert told["points"][0]["takes"]["seconds"]["is"] == "predicted"


def test_limits_that_contradict_each_other_are_a_no(tmp_path: Path) -> None:
    limits = ("--limit", "rows=900", "--limit", "error=1e-9", "--limit", "seconds=60")
    few = (*ROWS[:-1], "8:8")
    made = run(*few, *limits, "-o", tmp_path / "built", "--plot", tmp_path / "front.svg")
    assert made.status == 1 and not [*tmp_path.iterdir()]
    assert "error <= 1e-09 is met by no design" in made.out and "the nearest feasible error is" in made.out
    told = json.loads(run(*few, *limits, "--json").out)
    assert not told["feasible"] and told["points"] == []
    assert {"limits", "nearest", "enough"} == told["conflicts"][0].keys()


@pytest.mark.rtl
def test_hardware_is_compiled_as_the_plan_says(tmp_path: Path) -> None:
    built = tmp_path / "built"
    named = (
        "plan",
        PREDICTION,
        "--objective",
        "cycles,luts",
        "--limit",
        "cycles=12",
        "--bits",
        "6:8",
        "-o",
        built,
        "--point",
        "2",
    )
    made = run(*named)
    assert made.status == 0
    told = json.loads((built / "plan.json").read_text())
    assert told["commands"] == [line for line in made.out.splitlines() if line.startswith("circuitize ")]
    sizes = json.loads(follow(f"{told['commands'][0]} --json", tmp_path).out)
    takes = told["points"][told["chosen"] - 1]["takes"]
    assert (sizes["lut"], sizes["interval_cycles"]) == (takes["luts"]["value"], takes["cycles"]["value"])
    assert (built / "inputs.npz").stat().st_mode & 0o077 == 0 and (built / "front.svg").exists()
    assert "inputs" not in np.load(built / "inputs.npz")  # What streams in is not put into the design.


@pytest.mark.proof
def test_proofs_are_made_as_the_plan_says(tmp_path: Path, undrawn: None) -> None:
    built = tmp_path / "built"
    assert run(*ROWS[:-1], "9:9", "-o", built).status == 0
    assert run(*ROWS, "-o", built, "--point", "3").status == 0  # In its place.
    told = json.loads((built / "plan.json").read_text())
    commands = [f"{command} --json".replace("--keys keys", f"--keys {tmp_path}/keys") for command in told["commands"]]
    outcomes = [follow(command, tmp_path) for command in commands]
    assert [outcome.status for outcome in outcomes] == [0, 0]
    setup, proof = (json.loads(outcome.out) for outcome in outcomes)
    takes = told["points"][2]["takes"]
    assert (setup["constraints"], proof["proof_bytes"]) == (takes["rows"]["value"], takes["bytes"]["value"])
    assert setup["digest"] == told["points"][2]["digest"]


@pytest.mark.proof
def test_a_run_is_proved_as_the_plan_says(tmp_path: Path, undrawn: None) -> None:
    built, data = tmp_path / "built", tmp_path / "data.npz"
    generator = np.random.default_rng(0)
    np.savez(data, inputs=generator.uniform(-1, 1, (40, 3)), targets=generator.uniform(-1, 1, (40, 1)))
    named = (
        "--objective",
        "bytes,seconds",
        "--target",
        "tensor",
        "--steps",
        "3",
        "--dataset-size",
        "40",
        "--bits",
        "9:10",
    )
    assert run("plan", STEP, *named, "-o", built).status == 0
    told = json.loads((built / "plan.json").read_text())
    command = told["commands"][0].replace("DATASET.npz", str(data)).replace("HEX", "5eed").replace("NUMBER", "1/16")
    made = follow(f"{command} --json", tmp_path)
    assert made.status == 0, made
    files = sum(path.stat().st_size for path in (tmp_path / "run").rglob("*") if path.is_file())
    assert 0.8 < files / told["points"][0]["takes"]["bytes"]["value"] < 1.25
    assert json.loads(made.out)["per_proof"] == told["options"]["per_proof"]


def test_held_out_examples_are_rows_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.npz"
    np.savez(path, inputs=np.random.default_rng(2).uniform(size=(7, 1, 3)))
    made = run("plan", PREDICTION, "--objective", "luts,error", "--bits", "6:8", "--held-out", path)
    assert made.status == 0 and "errors are of 7 examples that calibration did not see" in made.out
    for arrays, words in (
        ({"inputs": np.zeros((7, 3))}, "expected arrays of rows of inputs"),
        ({"other": np.zeros((7, 3))}, "expected arrays of rows of inputs"),
        ({"inputs": np.zeros((0, 1, 3))}, "at least one"),
        ({"inputs": np.zeros((2, 1, 3)), "dense1.bias": np.zeros((3, 4))}, "found [2, 3]"),
    ):
        np.savez(path, **arrays)
        assert words in refused("plan", PREDICTION, "--objective", "luts,error", "--held-out", path)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "expected at least one objective"),
        (["--objective", "joules"], "expected a quantity among"),
        (["--objective", "rows,"], "found ''"),
        (["--objective", "luts,rows"], "that one target has"),
        (["--objective", "rows", "--target", "vhdl"], "expected targets among"),
        (["--objective", "rows", "--limit", "rows"], "NAME=NUMBER"),
        (["--objective", "rows", "--limit", "rows=-1"], "NAME=NUMBER"),
        (["--objective", "rows", "--limit", "rows=2GB"], "NAME=NUMBER"),
        (["--objective", "bytes", "--limit", "bytes=2Gb"], "(of bytes 500kB, 2GB)"),
        (["--objective", "rows", "--limit", "rows=5", "--limit", "rows=6"], "found two"),
        (["--objective", "rows", "--limit", "joules=5"], "expected a quantity among"),
        (["--objective", "rows", "--steps", "0"], "at least 1"),
        (["--objective", "rows", "--bits", "4"], "expected LOW:HIGH"),
        (["--objective", "rows", "--bits", "9:8"], "expected LOW:HIGH"),
        (["--objective", "rows", "--bits", "0:99"], "fraction bits from 0 to 40"),
        (["--objective", "rows", "--plot", "front.png"], "ends in .svg"),
        (["--objective", "rows", "--held-out", "none.npz"], "none.npz"),
        (
            ["--objective", "rows", "--target", "mirage", "-o", "b", "--point", "9", "--bits", "9:9"],
            "expected a point from 1 to 1",
        ),
        (["--objective", "rows", "-o", "."], "expected a new folder"),
    ],
)
def test_bad_use_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").write_text("")
    assert words in refused("plan", STEP, *arguments)
    assert [path.name for path in tmp_path.iterdir()] == ["other"]


def test_a_program_without_examples_has_nothing_to_write(tmp_path: Path) -> None:
    saved = tmp_path / "step.arrow"
    assert run("accuracy", STEP, "-o", saved).status == 0
    assert run("plan", saved, "--objective", "rows", "--target", "mirage").status == 0
    assert "expected a program with an example" in refused("plan", saved, "--objective", "rows", "-o", tmp_path / "b")
