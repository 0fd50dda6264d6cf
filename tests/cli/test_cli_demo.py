"""The demo: what it shows is so, and the forgeries it shows refused are real ones."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from cli_programs import STEP, keys, proof, refused, run

from circuitize import compile, groth16, quantize
from circuitize.api.circuits import Keys, ProvableCircuit
from circuitize.api.tampering import easier_program, flipped_bit, weight_in_commitment, weight_in_witness
from circuitize.api.training.pictures import draw_side_by_side
from circuitize.api.training.side_by_side import train_both
from circuitize.api.user_files import run_file
from circuitize.api.verifier import Verifier
from circuitize.cli import demo
from circuitize.cli.loading import load_program
from circuitize.cli.verify import gathered
from circuitize.frontends import datasets
from circuitize.frontends.datasets import iris
from circuitize.provers.statement import FILE, read_statement

PNG = b"\x89PNG\r\n\x1a\n"


SMALLER = {
    "RECIPE = Recipe(batch=16, epochs=150, learning_rate=0.1)": "RECIPE = Recipe(batch=4, epochs=4, learning_rate=0.5)",
    "replace(RECIPE, epochs=30)": "replace(RECIPE, epochs=3)",
    "dense(32, 10": "dense(10, 10",
    "dense(64, 32": "dense(32, 10",
}
"""What makes the demo's example a smaller one, of half the pixels, a sixth of the weights, a quarter of the batch and a
fortieth of the training.
"""


@dataclass(frozen=True)
class Size:
    """A demo: how many pixels of each image it reads, what is another in its example, the accuracy that its training
    reaches, the epochs and the steps of its run, and test examples that the run has right.
    """

    pixels: int
    changes: dict[str, str]
    accuracy: float
    epochs: int
    steps: int
    right: int


@pytest.mark.slow
@pytest.mark.parametrize(
    "size",
    [
        pytest.param(Size(32, SMALLER, 0.89, epochs=1, steps=359, right=150), id="smaller"),
        pytest.param(Size(64, {}, 0.94, epochs=3, steps=267, right=250), id="whole", marks=pytest.mark.deep),
    ],
)
def test_the_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: Size) -> None:
    """Where it reads fewer pixels, those that vary most."""
    monkeypatch.chdir(tmp_path)
    pixels, labels = datasets._load("digits")
    read = np.sort(np.argsort(-pixels.var(axis=0), kind="stable")[: size.pixels])
    monkeypatch.setattr(datasets, "_load", lambda name: (pixels[:, read], labels))
    text = demo.EXAMPLE.read_text()
    for before, after in size.changes.items():
        assert text.count(before) == 1
        text = text.replace(before, after)
    file = tmp_path / "digits.py"
    file.write_text(text)
    monkeypatch.setattr(demo, "EXAMPLE", file)
    outcome = run("demo", "--epochs", str(size.epochs), "--json")
    assert outcome.status == 0
    report = json.loads(outcome.out)
    accuracy, loss = report["accuracy"], report["loss"]
    assert min(accuracy["float64"] - 0.01, accuracy["integers"]) >= size.accuracy
    assert abs(accuracy["integers"] - accuracy["float64"]) <= 0.01
    assert abs(loss["integers"] - loss["float64"]) <= 0.1 * loss["float64"]
    assert report["valid"] is True
    assert len(report["refused"]) == 5
    assert all(attempt["refusal"] for attempt in report["refused"])
    folder = tmp_path / "circuitize-demo"
    assert (folder / "training.png").read_bytes().startswith(PNG)
    assert run("verify", folder / "proof", "--keys", folder / "keys", "--digest", report["digest"]).status == 0
    again, program = report["without_keys"], f"{file}:step"
    assert (again["valid"], again["zero_knowledge"]) == (True, True)
    assert again["proof_bytes"] < 300_000
    assert run("verify", folder / "proof-without-keys", "--program", program, "--digest", report["digest"]).status == 0
    whole = report["run"]
    assert (whole["valid"], whole["zero_knowledge"], whole["steps"], whole["losses"]) == (
        *(True, True, size.steps, "none"),
    )
    assert size.right < whole["evaluation"]["right"] <= whole["evaluation"]["examples"] == 360
    assert len(whole["refused"]) == 5 and all(attempt["refusal"] for attempt in whole["refused"])
    assert "what the run is worth is not shown" in whole["refused"][0]["refusal"]
    assert report["seconds"] < 120


@pytest.mark.parametrize("missing", ["sklearn", "matplotlib"])
def test_what_the_demo_needs_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    outcome = run("demo", "-o", tmp_path / "demo")
    assert outcome.status == 2
    assert "pip install 'circuitize[demo]'" in outcome.line
    assert not list(tmp_path.iterdir())


def test_curves_of_both_runs(tmp_path: Path) -> None:
    example = run_file(Path(__file__).parents[2] / "examples" / "iris.py")
    program = example.step()
    recipe = replace(example.RECIPE, epochs=6)
    curves = train_both(example.MODEL, recipe, program, quantize(program), iris(seed=0), inputs=example.MEASURES)
    for curve in curves.values():
        assert len(curve.losses) == 6
        assert list(curve.accuracies) == [1, 5, 6]
        assert curve.losses[-1] < curve.losses[0]
    floats, integers = curves["float64"], curves["integers"]
    assert np.abs(np.subtract(floats.losses, integers.losses)).max() < 0.002
    assert floats.losses != integers.losses
    draw_side_by_side(curves, tmp_path / "curves.png")
    assert (tmp_path / "curves.png").read_bytes().startswith(PNG)


@pytest.fixture(scope="module")
def circuit() -> ProvableCircuit:
    return compile(load_program(STEP).given, groth16)


@pytest.fixture(scope="module")
def verifier(circuit: ProvableCircuit) -> Verifier:
    return gathered(proof(), keys(), None, circuit.digest)


def test_each_forgery_is_refused_for_its_own_reason(
    tmp_path: Path, circuit: ProvableCircuit, verifier: Verifier
) -> None:
    assert verifier.check(proof()).valid
    assert "the pairing equation does not hold" in str(flipped_bit(proof(), verifier, tmp_path).refusal)
    broken = str(weight_in_witness(circuit, "w").refusal)
    assert broken.startswith("no proof: ")
    assert "input w commitment" in broken


def test_another_weight_is_refused_only_because_it_is_another(
    tmp_path: Path, circuit: ProvableCircuit, verifier: Verifier
) -> None:
    """The forgery changes the root, and nothing but the root stands between it and the valid proof."""
    key = verifier.prover.proving_key(keys())
    proven = circuit.prove(keys=Keys(key, key.verifying_key))
    folder = proven.save(tmp_path / "proof")
    attempt = weight_in_commitment(proven, ("output", "w"), folder, verifier, tmp_path)
    assert attempt.refusal == "the pairing equation does not hold"
    assert verifier.check(folder).valid
    forged = read_statement(tmp_path / "weight")
    assert forged.roots["output", "w"] != proven.statement.roots["output", "w"]
    replace(forged, roots=proven.statement.roots).write(tmp_path / "weight")
    assert (tmp_path / "weight" / FILE).read_bytes() == (folder / FILE).read_bytes()


def test_an_easier_program_is_refused_although_its_proof_is_good(
    tmp_path: Path, circuit: ProvableCircuit, verifier: Verifier
) -> None:
    labelled, relabelled = easier_program(circuit.exact.integer, verifier, tmp_path)
    assert "the proof is for program" in str(labelled.refusal)
    assert relabelled.refusal == "the pairing equation does not hold"
    own = gathered(tmp_path / "easier", tmp_path / "easier-keys", None, None)
    statement = replace(read_statement(tmp_path / "easier"), digest=own.exact.digest)
    statement.write(tmp_path / "easier")
    assert "the proof is for the circuit" in str(own.check(tmp_path / "easier").reason)


def test_the_demo_takes_no_program() -> None:
    assert "unrecognized arguments" in refused("demo", STEP)
