"""The command `train`: on a CSV file, on data of a Python file, and what is written wrongly."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
import trained_programs
from cli_programs import run
from onnx_files import mlp, written

from circuitize.circuits.encode import program_digest
from circuitize.circuits.saved import load, save

STEP, JUDGE = (f"{trained_programs.__file__}:{name}" for name in ("step", "judge"))
DATA = f"{trained_programs.__file__}:data"


@pytest.mark.proof
def test_the_command_that_it_prints_proves_it(tmp_path: Path) -> None:
    schedule = ("--schedule", f"{trained_programs.__file__}:rates")
    command = ("train", STEP, "--epochs", "2", "--seed", "5eed", "--dataset", DATA, *schedule, "-o", tmp_path / "t")
    judged = run(*command, "--evaluate", JUDGE, "--test", DATA, "--json")
    assert judged.status == 0, judged.err
    found = json.loads(judged.out)
    assert found["steps"] == 10 and 0 <= found["last"]["accuracy"] <= 1 and Path(found["picture"]).stat().st_size > 0
    words = shlex.split(found["prove"])
    assert words[:2] == ["circuitize", "prove-run"]
    proved = run(*words[1:], "--json")
    assert proved.status == 0, proved.err
    said = json.loads(proved.out)
    assert found["roots"].items() <= said["roots"].items() and found["final"].items() <= said["final"].items()
    expected = [word for name, root in found["roots"].items() for word in ("--expect", f"{name}={root}")]
    expected += [word for name, root in found["final"].items() for word in ("--expect", f"final.{name}={root}")]
    assert run("verify-run", tmp_path / "t" / "run", "--program", STEP, *schedule, *expected).status == 0
    shown = run(*command, "--evaluate", JUDGE, "--test", DATA)
    assert "trained 10 steps" in shown.out and "prove it: circuitize prove-run" in shown.out


def test_a_csv_file_of_ones_own(tmp_path: Path) -> None:
    data = trained_programs.data()
    lines = [[*map(str, row), "up" if target[1] else "down"] for row, target in zip(*data.values(), strict=True)]
    (tmp_path / "mine.csv").write_text("a,b,c,class\n" + "".join(",".join(line) + "\n" for line in lines))
    save(trained_programs.step(), tmp_path / "step.arrow", examples=True)
    csv = ("--dataset", tmp_path / "mine.csv", "--target", "class", "--unscaled")
    made = run(
        *("train", tmp_path / "step.arrow", "--steps", "8", "--seed", "aa", *csv, "--no-roots", "--evaluate", JUDGE),
        *("--outputs", tmp_path / "end.npz", "-o", tmp_path / "t", "--json"),
    )
    assert made.status == 0, made.err
    found = json.loads(made.out)
    assert found["examples"] == 16 and found["prove"] is None and not (tmp_path / "t" / "run.kept.npz").exists()
    with np.load(tmp_path / "end.npz") as end:
        assert set(end.files) >= {"dense1.weight", "dense2.bias.velocity"}


def test_a_network_in_an_onnx_file(tmp_path: Path) -> None:
    written(tmp_path / "net.onnx", mlp())
    draw = np.random.default_rng(1).integers
    np.savez(tmp_path / "rows.npz", inputs=draw(0, 17, (8, 3)) / 16, targets=draw(0, 17, (8, 2)) / 16)
    options = ("--dim", "batch=4", "--train", "mean_squared_error", "--calibrate", tmp_path / "rows.npz")
    step = (tmp_path / "net.onnx", *options)
    more = ("--epochs", "3", "--seed", "07", "--dataset", tmp_path / "rows.npz", "-o", tmp_path / "t", "--json")
    made = run("train", *step, *more)
    assert made.status == 0, made.err
    found = json.loads(made.out)
    assert found["steps"] == 6 and found["examples"] == 8 and set(found["roots"]) == {"parameters"}
    exported = run("export", *step, "-o", tmp_path / "step.arrow")
    assert exported.status == 0, exported.err
    assert program_digest(load(tmp_path / "step.arrow")) == found["digest"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--dataset", f"{trained_programs.__file__}:rates"], "expected a function of no arguments, found another"),
        (
            ["--dataset", f"{trained_programs.__file__}:FEATURES"],
            "expected FILE.py:NAME of a Dataset or arrays by name",
        ),
        (
            ["--dataset", f"{trained_programs.__file__}:absent"],
            "absent: expected an object of that name, found none; check the name",
        ),
        (["--dataset", "absent.csv"], "absent.csv: expected a CSV file, found No such file"),
        (["--dataset", "absent"], "--dataset: expected FILE.py:NAME, found 'absent'"),
        (["--dataset", DATA, "--target", "x"], "--target: expected --dataset FILE.csv with it, found another"),
        (["--dataset", DATA, "--unscaled"], "--unscaled: expected --dataset FILE.csv with it, found another"),
        (["--test", DATA], "--test: expected it beside --evaluate, found it alone; give both"),
        (["--scalar", "rate=1"], "--scalar: expected NAME=VALUE with a name among"),
        (["--seed", "x"], "--seed: expected 1 to 64 bytes in hexadecimal, found 'x'"),
    ],
)
def test_one_line_for_what_is_wrong(words: list[str], message: str, tmp_path: Path) -> None:
    found = run("train", STEP, "--steps", "2", "--seed", "aa", *words, "-o", tmp_path / "t")
    assert found.status == 2 and message in found.err.splitlines()[-1] and not (tmp_path / "t").exists()
