"""Runs by the Python API: proved, gone on with, and verified by what the verifier requires."""

from __future__ import annotations

import json
import os
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import circuitize as cz
from circuitize.api.runs.proving import ProvedRun
from circuitize.api.runs.verdict import RunVerdict
from circuitize.api.values import write_npz
from circuitize.backends.tensor.errors import Unprovable
from circuitize.circuits.errors import CircuitizeError
from circuitize.frontends.datasets import Recipe

GENERATOR = np.random.default_rng(0)
INPUTS = GENERATOR.normal(size=(40, 3))
DATA = cz.dataset(INPUTS, INPUTS @ np.array([1.0, -2.0, 0.5]))
MODEL = cz.sequential(cz.dense(3, 4), cz.relu(), cz.dense(4, 1))
RATE = 0.125
SEED = "c0ffee"


@cache
def start() -> dict[str, np.ndarray]:
    return cz.start(_step(), MODEL, seed=0)


@cache
def _step() -> cz.Program:
    return cz.training_step(MODEL, cz.mean_squared_error, cz.SGD(), batch=4, inputs=DATA.inputs, targets=DATA.targets)


@cache
def step() -> cz.Program:
    """An integer program, calibrated on a whole run."""
    return cz.quantize(cz.calibrated(_step(), start(), DATA.batches(batch=4, epochs=1, learning_rate=RATE)))


def prove(folder: Path, steps: int = 3, **more: Any) -> ProvedRun:
    given: dict[str, Any] = {
        "seed": SEED,
        "dataset": DATA,
        "inputs": start(),
        "scalars": {"learning_rate": RATE},
        "per_proof": 1,
        "losses": "all",
        **more,
    }
    return cz.prove_run(step(), folder, steps=steps, **given)


def verify(folder: Path, **more: Any) -> RunVerdict:
    return cz.verify_run(step(), folder, **more)


def refused(folder: Path, **more: Any) -> str:
    """Why a run is refused; nothing that it states is there."""
    verdict = verify(folder, **more)
    assert not verdict and not (verdict.roots or verdict.final or verdict.scalars or verdict.publics or verdict.name)
    return str(verdict.reason)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> ProvedRun:
    return prove(tmp_path_factory.mktemp("runs") / "run")


def test_what_is_proved(made: ProvedRun) -> None:
    """The losses are those of the executor, on the batches that the seed draws; what is held goes in again."""
    verdict = verify(made.folder)
    assert verdict and verdict.reason is None and verdict.digest == made.digest == cz.program_digest(step())
    assert (verdict.roots, verdict.final, verdict.name) == (made.roots, made.final, made.name)
    assert (verdict.steps, verdict.first, verdict.examples, verdict.seed) == (3, 1, 32, SEED)
    assert verdict.zero_knowledge and made.zero_knowledge
    assert {"inputs", "targets", *start()} == set(verdict.hidden)
    assert verdict.security_bits == made.security_bits > 90
    assert len(made.seconds) == len(made.proof_bytes) == 3 and made.resumed == 0
    assert set(made.outputs) == set(start())
    held, losses = dict(start()), []
    order = [made_rows(number) for number in (1, 2, 3)]
    for rows in order:
        batch = {"inputs": DATA.train_inputs[rows], "targets": DATA.train_targets[rows], "learning_rate": RATE}
        found = cz.run(step(), {**held, **batch})
        losses.append(found["loss"])
        held = {name: found[name] for name in held}
    np.testing.assert_array_equal(verdict.publics["loss"], losses)
    for name, values in held.items():
        np.testing.assert_array_equal(made.outputs[name], values)


def made_rows(number: int) -> np.ndarray:
    from circuitize.provers.tensor.runs.order import rows

    return rows(bytes.fromhex(SEED), len(DATA.train_inputs), 4, number)


def test_what_is_required_decides(made: ProvedRun) -> None:
    roots = {**made.roots, **{f"final.{name}": root for name, root in made.final.items()}}
    own: dict[str, Any] = {
        "steps": np.int64(3),
        "seed": bytes.fromhex(SEED),
        "examples": 32,
        "per_proof": 1,
        "digest": made.digest,
    }
    required: dict[str, Any] = {"scalars": {"learning_rate": RATE}, "expect": roots}
    verdict = verify(made.folder, **own, **required)
    assert verdict.valid and verdict.scalars["learning_rate"].required
    assert verdict.scalars["learning_rate"].reals.tolist() == [RATE] * 3
    other = f"0x{int(made.roots['data'], 16) ^ 1:064x}"
    for changed, said in (
        ({"seed": "00"}, "expected 3 steps on 32 examples with seed 00"),
        ({"steps": 2}, "expected 2 steps"),
        ({"first": 2}, "from step 2 on"),
        ({"examples": 31}, "31 examples"),
        ({"per_proof": 3}, "expected 3"),
        ({"digest": "0" * 64}, "the program is"),
        ({"scalars": {"learning_rate": 0.25}}, "step 1: it is with learning_rate"),
        ({"schedule": lambda number: {"learning_rate": Fraction(1, 8 * number)}, "scalars": None}, "step 2: it is"),
        ({"expect": {"data": other}}, "expected data committed to by"),
        ({"expect": {"final.parameters": made.roots["parameters"]}}, "expected final.parameters committed to by"),
    ):
        assert said in refused(made.folder, **{**own, **required, **changed})
    another = step().with_visibility(loss=cz.Visibility.COMMITTED)
    assert "of program" in str(cz.verify_run(another, made.folder).reason)


def test_what_the_verifier_does_not_say_is_the_runs_word(made: ProvedRun) -> None:
    verdict = verify(made.folder)
    assert not verdict.scalars["learning_rate"].required and "learning_rate as the run states" in repr(verdict)
    units = cz.Raw(verdict.scalars["learning_rate"].integers[0])
    assert verify(made.folder, scalars={"learning_rate": units}).scalars["learning_rate"].required
    by_recipe = verify(made.folder, schedule=Recipe(4, 1, RATE))
    assert by_recipe and by_recipe.scalars["learning_rate"].required
    other = Recipe(4, 1, 2 * RATE)
    assert verify(made.folder, schedule=other, scalars={"learning_rate": RATE})
    assert not verify(made.folder, schedule=Recipe(4, 1, RATE), scalars={"learning_rate": 2 * RATE})


def test_a_changed_folder_is_refused(made: ProvedRun, tmp_path: Path) -> None:
    os.symlink(made.folder / "formats.proof", tmp_path / "formats.proof")
    (tmp_path / "steps").mkdir()
    for path in (made.folder / "steps").iterdir():
        (tmp_path / "steps" / path.name).write_bytes(path.read_bytes())
    (tmp_path / "run.json").write_text((made.folder / "run.json").read_text())
    assert verify(tmp_path)
    proof = tmp_path / "steps" / "000002.proof"
    content = bytearray(proof.read_bytes())
    content[-9] ^= 1
    proof.write_bytes(content)
    assert refused(tmp_path).startswith("step 2: ")
    proof.unlink()
    assert "step 2 is missing" in refused(tmp_path)
    (tmp_path / "steps" / "\x1b[2K\rvalid").write_bytes(bytes(1 << 20))
    verdict = verify(tmp_path)
    assert "expected a proof of at most" in str(verdict.reason) and repr(verdict).isprintable()


def test_a_run_goes_on(made: ProvedRun, tmp_path: Path) -> None:
    """Interrupted, the same call goes on; finished, another folder begins where it ended."""
    heard: list[str] = []

    def stop(stage: str) -> None:
        heard.append(stage)
        if stage == "proved step 1 of 2":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prove(tmp_path / "run", steps=2, progress=stop)
    assert "planning the proofs" in heard
    whole = prove(tmp_path / "run", steps=2)
    assert whole.resumed == 1 and len(whole.seconds) == 1 and verify(tmp_path / "run", steps=2)
    after = prove(tmp_path / "more", steps=1, seed=None, inputs=None, after=made.folder)
    assert (after.first, after.seed) == (4, SEED)
    assert after.roots == {**made.final, "data": made.roots["data"]}
    assert verify(after.folder, first=4, expect={"parameters": made.final["parameters"]})
    assert not verify(after.folder)


def test_arrays_examples_and_files_are_datasets(tmp_path: Path) -> None:
    remarks: list[str] = []
    arrays = {"inputs": DATA.train_inputs, "targets": DATA.train_targets}
    near = {name: values + 2.0**-30 for name, values in arrays.items()}
    write_npz(tmp_path / "data.npz", near)
    write_npz(tmp_path / "start.npz", start())
    roots = [
        prove(tmp_path / name, steps=1, dataset=dataset, inputs=inputs, say=remarks.append)
        for name, dataset, inputs in (
            ("a", arrays, start()),
            ("b", tmp_path / "data.npz", tmp_path / "start.npz"),
            ("c", None, None),
        )
    ]
    assert [run.examples for run in roots] == [32, 32, 4 * len(step().examples)]
    for name in roots[0].outputs:
        np.testing.assert_array_equal(roots[0].outputs[name], roots[1].outputs[name])
    assert remarks == [f"{tmp_path / 'data.npz'}: real values of inputs, targets were rounded, once, to their formats"]


def test_bad_use(made: ProvedRun, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    public = cz.Port("x", cz.Visibility.PUBLIC, cz.Format.signed(8, 4).of(()))
    square = cz.quantize(
        cz.Program(
            cz.trace(lambda x: x * x, ()), (public,), (cz.Port("y", cz.Visibility.PUBLIC),), ({"x": np.array(1.0)},)
        )
    )
    with pytest.raises(Unprovable, match="expected input 'x' to be committed"):
        cz.prove_run(square, folder, steps=1, seed=SEED)
    proving: tuple[tuple[dict[str, Any], str], ...] = (
        ({"seed": None}, "^seed: expected 1 to 64 bytes"),
        ({"seed": "no"}, "^seed: expected 1 to 64 bytes"),
        ({"seed": b""}, "expected a seed of 1 to 64 bytes"),
        ({"after": made.folder}, "^inputs: expected none beside after"),
        ({"after": folder, "inputs": None}, "^after: expected another folder"),
        ({"inputs": {}}, "expected a value for input"),
        ({"inputs": {"weights": 1.0}}, "expected inputs among"),
        ({"dataset": {"inputs": INPUTS}}, "dataset: expected an array 'targets'"),
        ({"dataset": INPUTS}, "dataset: expected arrays by name"),
        ({"dataset": {"inputs": [[1.0], [2.0, 3.0]], "targets": [[1.0]]}}, "rows of different lengths"),
        ({"scalars": {"rate": 1}}, "scalars: expected names among"),
        ({"scalars": {"learning_rate": float("nan")}}, r"scalars\['learning_rate'\]: expected a finite number"),
        ({"scalars": 0.1}, "scalars: expected numbers by name"),
        ({"scalars": {}, "schedule": 3}, "schedule: expected a Recipe, or a function"),
        ({"scalars": {}, "schedule": lambda _: 3}, "schedule: expected numbers by name for step 1"),
        ({"steps": 3, "per_proof": 4}, "expected 1 to 3 steps per proof"),
        ({"per_proof": 0}, "steps per proof, as many as there are, found 0"),
        ({"memory": "8GB", "per_proof": None}, "^memory: expected a whole number"),
        ({"losses": "some"}, "^losses: expected one of none, ends, all, found 'some'"),
        ({"steps": 2.5}, "^steps: expected a whole number, found 2.5"),
        ({"inputs": np.zeros(3)}, "^inputs: expected values by name"),
    )
    for given, said in proving:
        with pytest.raises(CircuitizeError, match=said) as caught:
            prove(folder, **given)
        assert "\n" not in str(caught.value) and not list(tmp_path.iterdir())
    verifying: tuple[tuple[dict[str, Any], str], ...] = (
        ({"scalars": {"learning_rate": 0.1}}, r"scalars\['learning_rate'\]: expected a value of the format"),
        ({"steps": "3"}, "^steps: expected a whole number"),
        ({"expect": {"loss": "0x1"}}, "^expect: expected NAME=ROOT with a name among parameters, data, final.param"),
        ({"expect": {"data": "0x"}}, "^expect data: expected a commitment's root"),
    )
    for given, said in verifying:
        with pytest.raises(CircuitizeError, match=said):
            verify(made.folder, **given)
    with pytest.raises(CircuitizeError, match="expected a run"):
        verify(tmp_path)
    with pytest.raises(CircuitizeError, match="expected a Program"):
        cz.verify_run(step().arrow, made.folder)  # type: ignore[arg-type]
    proof = cz.compile(step(), cz.tensor_proof).prove(not_zero_knowledge=True).save(tmp_path / "proof")
    with pytest.raises(CircuitizeError, match=r"found one proof .*; use circuitize\.verifier"):
        verify(proof)


def test_what_takes_long_is_believed_only_if_it_is_required(made: ProvedRun, tmp_path: Path) -> None:
    content = json.loads((made.folder / "run.json").read_text())
    for name, claimed, given in (("per_proof", 1 << 17, "per_proof=131072"), ("examples", 1 << 21, "examples=N")):
        text = json.dumps({**content, name: claimed}, indent=1, sort_keys=True) + "\n"
        (tmp_path / "run.json").write_text(text)
        with pytest.raises(CircuitizeError, match=f"unless you say so, found a claim of .*; give {given} if"):
            verify(tmp_path)


def test_a_claim_of_more_steps_in_a_proof_than_there_are_does_not_hold(made: ProvedRun, tmp_path: Path) -> None:
    content = json.loads((made.folder / "run.json").read_text())
    (tmp_path / "run.json").write_text(json.dumps({**content, "per_proof": 4}, indent=1, sort_keys=True) + "\n")
    found = verify(tmp_path)
    assert found.reason == "the run claims 4 steps in a proof, expected at most 3, as many as there are"


def test_a_run_that_is_there_with_fewer_steps_is_another_one(made: ProvedRun) -> None:
    """It goes on with as many steps in a proof as it had, of which the caller said nothing."""
    with pytest.raises(CircuitizeError, match="expected the run of this program, seed, length and dataset"):
        prove(made.folder, steps=1, per_proof=None)


def test_summaries_are_short(made: ProvedRun) -> None:
    for shown in map(repr, (made, verify(made.folder), verify(made.folder, steps=9))):
        assert "\n" not in shown and len(shown) < 300
    assert "3 steps" in repr(made) and ", zero-knowledge, " in repr(made)
    assert repr(verify(made.folder, steps=9)).startswith("RunVerdict(NOT valid: the run is of 3 steps")
