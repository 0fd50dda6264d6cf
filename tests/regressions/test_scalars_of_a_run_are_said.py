"""`verify-run` took learning rates out of the examples of a saved program, which no digest holds, and showed none."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cli_programs import Outcome, run
from tensor_proofs import planned

from circuitize.circuits.saved import save
from circuitize.frontends.datasets import iris

SEED = "c0ffee"
OTHER = "learning_rate=0.0625"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program whose examples have a rate of 1/8, the same with examples of 1/16, and runs that end with 1/16."""
    folder = tmp_path_factory.mktemp("scalars")
    program = planned("iris.py:step")[0]
    save(program, folder / "step.arrow", examples=True)
    examples = tuple({**batch, "learning_rate": np.array(0.0625)} for batch in program.examples)
    save(replace(program, examples=examples), folder / "theirs.arrow", examples=True)
    split = iris(0)
    np.savez(folder / "iris.npz", inputs=split.train_inputs, targets=split.train_targets)
    (folder / "rates.py").write_text("def rate(step):\n    return {'learning_rate': 1 / 2 ** (step + 2)}\n")
    for name, given in (("run", ("--scalar", OTHER)), ("falling", ("--schedule", f"{folder / 'rates.py'}:rate"))):
        known = ("--dataset", folder / "iris.npz", "--seed", SEED, "--steps", "2")
        assert run("prove-run", folder / "step.arrow", *known, *given, "-o", folder / name).status == 0
    return folder


def verify(made: Path, *more: str | Path, name: str = "run", program: str = "step.arrow") -> Outcome:
    return run("verify-run", made / name, "--program", made / program, "--seed", SEED, "--steps", "2", *more)


@pytest.mark.parametrize("program", ["step.arrow", "theirs.arrow"])
def test_what_the_verifier_does_not_say_is_shown_as_the_runs_claim(made: Path, program: str) -> None:
    """Whatever the examples beside the program have."""
    outcome = verify(made, program=program)
    line = "  learning_rate is 4096/2^16 (0.0625) in every step, as the run states: "
    assert outcome.status == 0 and f"{line}give --scalar learning_rate=4096/2^16 to require it\n" in outcome.out
    report = json.loads(verify(made, "--json", program=program).out)
    assert report["scalars"] == {
        "learning_rate": {"required": False, "fraction_bits": 16, "integers": [4096, 4096], "reals": [0.0625, 0.0625]}
    }


def test_what_the_verifier_says_is_required(made: Path) -> None:
    outcome = verify(made, "--scalar", "learning_rate=4096/2^16")
    assert outcome.status == 0 and "learning_rate is 4096/2^16 (0.0625) in every step, as required\n" in outcome.out
    assert json.loads(verify(made, "--json", "--scalar", OTHER).out)["scalars"]["learning_rate"]["required"] is True
    for program in ("step.arrow", "theirs.arrow"):
        refused = verify(made, "--scalar", "learning_rate=0.125", program=program)
        assert refused.status == 1 and "step 1: it is with learning_rate = 4096" in refused.out
        report = json.loads(verify(made, "--json", "--scalar", "learning_rate=0.125", program=program).out)
        assert (report["valid"], report["scalars"]) == (False, {})


def test_a_schedule_is_shown_by_its_ends(made: Path) -> None:
    course = "learning_rate from 8192/2^16 (0.125) to 4096/2^16 (0.0625), 2 different values"
    outcome = verify(made, name="falling")
    assert outcome.status == 0
    assert f"{course}, as the run states: give --schedule FILE.py:NAME to require it\n" in outcome.out
    outcome = verify(made, "--schedule", f"{made / 'rates.py'}:rate", name="falling")
    assert outcome.status == 0 and f"{course}, as required\n" in outcome.out
    assert verify(made, "--scalar", OTHER, name="falling").status == 1
    assert json.loads(verify(made, "--json", name="falling").out)["scalars"]["learning_rate"]["reals"] == [
        0.125,
        0.0625,
    ]


def test_a_verifiers_scalars_and_roots_are_exact_and_given_once(made: Path) -> None:
    """0.062501 passed for 0.0625, and of two rates or roots the first counted for nothing."""
    for given, said in (
        (("--scalar", "learning_rate=0.062501"), "the nearest: give 4096/2^16 or 4097/2^16"),
        (("--scalar", "learning_rate=0.125", "--scalar", OTHER), "expected each scalar once"),
        (("--expect", "parameters=0x1", "--expect", "parameters=0x2"), "expected each root once"),
        (("--expect", "parameters=0x_1"), "expected a commitment's root"),
    ):
        outcome = verify(made, *given)
        assert (outcome.status, outcome.out) == (2, "") and said in outcome.err
