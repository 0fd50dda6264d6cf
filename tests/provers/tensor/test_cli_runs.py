"""The command line with runs: proved, interrupted, verified with the verifier's own program, seed, rate and roots."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from shutil import copytree
from subprocess import PIPE

import numpy as np
import pytest
from cli_programs import Outcome, run
from example_programs import example
from tensor_proofs import planned

from circuitize.circuits.saved import save
from circuitize.frontends.datasets import iris

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
RECIPE = f"{EXAMPLES / 'iris.py'}:RECIPE"
SEED = "c0ffee"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a step, a dataset, a run of three steps, what was reported, and the weights at the end."""
    folder = tmp_path_factory.mktemp("runs")
    save(planned("iris.py:step")[0], folder / "step.arrow", examples=True)
    split = iris(0)
    np.savez(folder / "iris.npz", inputs=split.train_inputs, targets=split.train_targets)
    outcome = prove(folder, folder / "run", "--json", "--outputs", folder / "new.npz")
    assert outcome.status == 0
    (folder / "report.json").write_text(outcome.out)
    return folder


def refused(*arguments: str | Path) -> str:
    """The last line that bad use or bad input ends with; before it may stand that values were rounded."""
    outcome = run(*arguments)
    assert (outcome.status, outcome.out) == (2, ""), outcome
    assert "Traceback" not in outcome.err
    return outcome.err.splitlines()[-1]


def prove(made: Path, to: Path, *more: str | Path, steps: int = 3) -> Outcome:
    given = ("--dataset", made / "iris.npz", "--seed", SEED, "--steps", str(steps), "--per-proof", "1")
    return run("prove-run", made / "step.arrow", *given, "--losses", "all", "-o", to, *more)


def verify(made: Path, folder: Path, *more: str | Path) -> Outcome:
    return run("verify-run", folder, "--program", made / "step.arrow", *more)


def no(made: Path, folder: Path, *more: str | Path) -> str:
    outcome = verify(made, folder, "--json", *more)
    report = json.loads(outcome.out)
    assert (outcome.status, report["valid"], report["roots"], report["publics"]) == (1, False, {}, {})
    return str(report["reason"])


def test_what_is_reported(made: Path) -> None:
    report = json.loads((made / "report.json").read_text())
    assert (report["steps"], report["examples"], report["seed"], report["zero_knowledge"]) == (3, 120, SEED, True)
    assert report["bytes_per_step"] > 50_000 and report["security_bits"] > 98
    names = sorted(path.name for path in (made / "run").iterdir())
    assert names == ["formats.proof", "run.json", "steps"]
    with np.load(made / "new.npz") as outputs:
        assert outputs["dense1.weight"].shape == (4, 16)


def test_a_run_is_verified(made: Path) -> None:
    report = json.loads((made / "report.json").read_text())
    roots = [f"{name}={root}" for name, root in report["roots"].items()]
    roots += [f"final.{name}={root}" for name, root in report["final"].items()]
    expected = [part for root in roots for part in ("--expect", root)]
    own = ("--seed", SEED, "--steps", "3", "--examples", "120", "--schedule", RECIPE)
    outcome = verify(made, made / "run", "--json", *own, *expected)
    found = json.loads(outcome.out)
    assert (outcome.status, found["valid"], found["reason"]) == (0, True, None)
    assert (found["roots"], found["final"], found["run"]) == (report["roots"], report["final"], report["run"])
    assert len(found["publics"]["loss"]["reals"]) == 3
    shown = verify(made, made / "run", "--scalar", "learning_rate=1/8")
    assert (
        shown.status == 0
        and "3 consecutive steps" in shown.out
        and "zero-knowledge" in shown.out
        and "NOT" not in shown.out
    )


def test_what_the_verifier_expects_decides(made: Path) -> None:
    run_folder = made / "run"
    assert "seed c0ffee, expected 3 steps on 120 examples with seed 00" in no(made, run_folder, "--seed", "00")
    assert "expected 4 steps" in no(made, run_folder, "--steps", "4")
    assert "expected 3 steps on 119 examples" in no(made, run_folder, "--examples", "119")
    assert "step 1: it is with learning_rate" in no(made, run_folder, "--scalar", "learning_rate=0.25")
    assert "expected data committed to by 0x" in no(made, run_folder, "--expect", "data=0x1")
    assert "final.parameters committed" in no(made, run_folder, "--expect", "final.parameters=0x1")
    assert "the program is" in no(made, run_folder, "--digest", "0" * 64)
    save(example("digits.py:step").integer, made / "other.arrow")
    other = run("verify-run", run_folder, "--program", made / "other.arrow")
    assert other.status == 1 and "NOT valid: the run is of program" in other.out


def test_bad_use(made: Path, tmp_path: Path) -> None:
    step = made / "step.arrow"
    run_folder = made / "run"
    dataset: tuple[str | Path, ...] = ("--dataset", made / "iris.npz")
    known: tuple[str | Path, ...] = ("prove-run", step, "--steps", "3", "-o", tmp_path / "run", *dataset)
    assert "--seed" in refused(*known, "--seed", "seed")
    assert "expected 1 to 3 steps per proof" in refused(*known, "--seed", SEED, "--per-proof", "4")
    assert "found another" in refused(*[*known[:-3], run_folder, *dataset], "--seed", "00")
    assert not (tmp_path / "run").exists()
    np.savez(tmp_path / "few.npz", inputs=np.zeros((4, 4)), targets=np.zeros((4, 3)))
    np.savez(tmp_path / "uneven.npz", inputs=np.zeros((9, 4)), targets=np.zeros((8, 3)))
    np.savez(tmp_path / "none.npz", inputs=np.zeros((9, 4)))
    for name, said in (("few", "at least 8 examples"), ("uneven", "as many examples"), ("none", "'targets'")):
        data = ("--dataset", tmp_path / f"{name}.npz", "--seed", SEED)
        assert said in refused("prove-run", step, "--steps", "3", "-o", tmp_path / "run", *data)
    assert "--expect" in refused("verify-run", run_folder, "--program", step, "--expect", "loss=1")
    assert "--scalar" in refused("verify-run", run_folder, "--program", step, "--scalar", "rate=1")
    assert "--schedule" in refused("verify-run", run_folder, "--program", step, "--schedule", "recipe")
    assert "expected a run" in refused("verify-run", tmp_path, "--program", step)
    copy = copytree(run_folder, tmp_path / "copy")
    (copy / "step.py").write_text("")
    assert "inside the proof" in refused("verify-run", copy, "--program", f"{copy / 'step.py'}:step")
    text = (copy / "run.json").read_text()
    assert '"examples": 120' in text
    (copy / "run.json").write_text(text.replace('"examples": 120', '"examples":  120'))
    assert "not written as runs are" in refused("verify-run", copy, "--program", step)


def test_a_run_goes_on_where_another_ended(made: Path, tmp_path: Path) -> None:
    """By the folder of the one before: its seed, its roots, and the numbers of its steps."""
    first = json.loads((made / "report.json").read_text())
    given: tuple[str | Path, ...]
    given = ("--dataset", made / "iris.npz", "--steps", "2", "-o", tmp_path / "run")
    outcome = run("prove-run", made / "step.arrow", *given, "--after", made / "run", "--json")
    report = json.loads(outcome.out)
    assert (outcome.status, report["first"], report["steps"], report["seed"]) == (0, 4, 2, SEED)
    assert report["roots"] == {**first["final"], "data": first["roots"]["data"]}
    joined = ("--expect", f"parameters={first['final']['parameters']}", "--first", "4")
    found = verify(made, tmp_path / "run", *joined)
    assert found.status == 0 and "proves 2 consecutive steps, from step 4 on, of program" in found.out
    for given in ((), ("--first", "1"), ("--steps", "2", "--seed", SEED, "--examples", "120")):
        said = no(made, tmp_path / "run", *given)
        assert "2 steps, from step 4 on, on 120 examples" in said and "expected 2 steps on 120" in said
    assert "expected 3 steps, from step 2 on, on 120 examples" in no(made, made / "run", "--first", "2")


def test_bad_use_of_runs_that_go_on(made: Path, tmp_path: Path) -> None:
    known = ("prove-run", made / "step.arrow", "--dataset", made / "iris.npz", "--steps", "2")
    to = ("-o", tmp_path / "run")
    assert "--seed: expected 1 to 64 bytes" in refused(*known, *to)
    assert "--inputs" in refused(*known, *to, "--after", made / "run", "--inputs", made / "new.npz")
    assert "another folder" in refused(*known, "-o", made / "run", "--after", made / "run")
    assert "expected a run" in refused(*known, *to, "--after", made)
    few = ("prove-run", made / "step.arrow", "--steps", "2", "--after", made / "run")
    assert "the dataset that it was proved with" in refused(*few, *to)
    assert not list(tmp_path.iterdir())


def test_several_steps_in_a_proof_and_the_programs_own_examples(made: Path, tmp_path: Path) -> None:
    shared = ("--seed", SEED, "--schedule", RECIPE)
    outcome = run(
        "prove-run", made / "step.arrow", "--steps", "4", "--per-proof", "2", *shared, "-o", tmp_path / "run", "--json"
    )
    report = json.loads(outcome.out)
    assert (outcome.status, report["examples"], report["per_proof"]) == (0, 64, 2)
    assert len(list((tmp_path / "run" / "steps").iterdir())) == 2
    assert verify(made, tmp_path / "run").status == 0


def test_a_schedule_may_be_a_function(made: Path, tmp_path: Path) -> None:
    (tmp_path / "rates.py").write_text(
        "from fractions import Fraction\ndef falling(step):\n    return {'learning_rate': Fraction(1, 8 * step)}\n"
        "def wrong(step):\n    return step\nnumber = 3\n"
    )
    assert prove(made, tmp_path / "run", "--schedule", f"{tmp_path / 'rates.py'}:falling", steps=2).status == 0
    assert verify(made, tmp_path / "run", "--schedule", f"{tmp_path / 'rates.py'}:falling").status == 0
    assert "step 2: it is with learning_rate = 4096" in no(made, tmp_path / "run", "--scalar", "learning_rate=0.125")
    for name, said in (
        ("wrong", "numbers by name"),
        ("number", "expected a Recipe"),
        ("none", "expected an object of that name"),
    ):
        assert said in refused(
            "verify-run",
            tmp_path / "run",
            "--program",
            made / "step.arrow",
            "--schedule",
            f"{tmp_path / 'rates.py'}:{name}",
        )


def test_a_scalar_out_of_format_is_told_before_anything_is_written(made: Path, tmp_path: Path) -> None:
    (tmp_path / "rates.py").write_text("def rising(step):\n    return {'learning_rate': 10 ** (step - 3)}\n")
    for schedule, step in (
        (("--scalar", "learning_rate=1000"), 1),
        (("--scalar", "learning_rate=1e999"), 1),
        (("--schedule", f"{tmp_path}/rates.py:rising"), 4),
    ):
        outcome = prove(made, tmp_path / "run", *schedule, steps=6)
        assert outcome.status == 2 and f"step {step}: expected 'learning_rate' in its format" in outcome.err
        assert {path.name for path in tmp_path.iterdir()} <= {"rates.py", "__pycache__"}


def test_a_scalar_that_is_rounded_is_told_as_its_verifier_may_write_it(made: Path, tmp_path: Path) -> None:
    outcome = prove(made, tmp_path / "run", "--scalar", "learning_rate=0.1", steps=1)
    assert outcome.status == 0
    assert "--scalar learning_rate: 1/10 was rounded, once, to its format: it is 6554/2^16\n" in outcome.err
    assert verify(made, tmp_path / "run", "--scalar", "learning_rate=6554/2^16").status == 0
    near = refused("verify-run", tmp_path / "run", "--program", made / "step.arrow", "--scalar", "learning_rate=0.1")
    assert near.endswith("found '1/10'; the nearest: give 6553/2^16 or 6554/2^16")


def test_an_interrupted_run_warns_and_goes_on(made: Path, tmp_path: Path) -> None:
    """Interrupted by a signal once two steps are proved: one line, status 130, and given again the run is whole."""
    second, steps = tmp_path / "run" / "steps" / "000002.proof", ("--seed", SEED, "--steps", "16")
    given = (
        "--dataset",
        made / "iris.npz",
        "--not-zero-knowledge",
        "--per-proof",
        "1",
        "--scalar",
        "learning_rate=1/8",
    )
    command: list[str | Path] = ["prove-run", made / "step.arrow", *given, *steps, "-o", tmp_path / "run"]
    # A shell's background job ignores the signal, and what it starts inherits that.
    asked = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        [sys.executable, "-m", "circuitize.cli", *map(str, command)], stdout=PIPE, stderr=PIPE, text=True
    )
    signal.signal(signal.SIGINT, asked)
    while not second.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, out) == (130, ""), err
    assert err.splitlines()[-1].endswith("interrupted; no file is half-written")
    assert (tmp_path / "run" / "NOT-ZERO-KNOWLEDGE.txt").exists()
    assert not list(tmp_path.rglob("*.part"))
    outcome = run(*command, "--json")
    assert outcome.status == 0 and 1 <= json.loads(outcome.out)["resumed_after"] < 16
    verified = verify(made, tmp_path / "run", *steps, "--scalar", "learning_rate=1/8")
    assert verified.status == 0 and "NOT zero-knowledge" in verified.out
