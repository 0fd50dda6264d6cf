"""Every example's saved program is the program: the same arrow, arrays that lie as computers want them, its proofs."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_programs import run
from example_programs import example
from numpy.typing import NDArray
from tensor_proofs import both, example_inputs

from circuitize.circuits.encode import encode, program_digest
from circuitize.circuits.exact import written
from circuitize.circuits.port import Role
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.saved import load, save
from circuitize.circuits.types import Fixed
from circuitize.provers.tensor.plan import plan
from circuitize.provers.tensor.prover import prove

PROVED = ("iris.py:step", "digits.py:adam", "cnn.py:predict", "dense.py:small", "matmul.py:product", "jet.py:scores")
SMALL = (
    *("iris.py:predict", "digits.py:step", "digits.py:momentum", "digits.py:predict"),
    *("digits_xent.py:step", "digits_xent.py:momentum", "digits_xent.py:adam", "digits_xent.py:adam_sixteen"),
    *("cnn.py:step", "dense.py:large", "jet.py:classify", "mnist_mlp.py:step", "mnist_mlp.py:predict"),
    *("transformer.py:step", "transformer.py:spherical_step"),
)
DEEP = pytest.mark.deep
OF_EACH_FILE = ("digits_xent.py:adam", "cnn.py:step", "mnist_mlp.py:step", "transformer.py:step", "mlp_1m.py:step")
LARGE = ("mnist_mlp.py:step64", "mlp_10m.py:step", "mlp_10m.py:deep")
PLANNED = [
    *(*PROVED, *OF_EACH_FILE),
    *(pytest.param(name, marks=DEEP) for name in (*SMALL, *LARGE) if name not in OF_EACH_FILE),
]


def saved_at(folder: Path, name: str) -> Path:
    return folder / f"{name.replace('.py:', '.')}.arrow"


@lru_cache(maxsize=4)
def restored(folder: Path, name: str) -> tuple[IntegerProgram, IntegerProgram]:
    """An example's integer program as it was saved, and as it came back; without its examples."""
    saved = example(name).integer
    path = saved_at(folder, name)
    save(saved, path)
    return saved, load(path, integer=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("saved")


def arrays_of(program: IntegerProgram) -> list[NDArray[Any]]:
    arrow = program.arrow
    columns = [value for value in vars(arrow).values() if isinstance(value, np.ndarray)]
    held = [value for operation in arrow.operations for value in vars(operation).values()]
    return [*columns, *(value for value in held if isinstance(value, np.ndarray))]


@pytest.mark.parametrize("name", PLANNED)
def test_a_saved_example_comes_back_as_it_was(folder: Path, name: str) -> None:
    saved, back = restored(folder, name)
    assert back.arrow.operations == saved.arrow.operations
    assert (back.inputs, back.outputs, back.precision) == (saved.inputs, saved.outputs, saved.precision)
    assert [edge.provenance for edge in back.arrow.edges()] == [edge.provenance for edge in saved.arrow.edges()]
    assert encode(back.arrow) == encode(saved.arrow) and program_digest(back) == program_digest(saved)
    assert back.examples == ()
    assert all(array.flags.aligned and not array.flags.writeable for array in arrays_of(back))


@pytest.mark.parametrize("name", PLANNED)
def test_a_saved_example_has_the_plan_of_the_original(folder: Path, name: str) -> None:
    """What the native verifier is given, too, which takes aligned arrays only."""
    saved, back = restored(folder, name)
    made = plan(back)
    assert made.digest == plan(saved).digest
    assert made.native is not None


@pytest.mark.parametrize("name", [*PROVED, *(pytest.param(name, marks=DEEP) for name in SMALL)])
def test_tensor_proofs_from_saved_examples(folder: Path, name: str) -> None:
    """Made from the saved program, judged against the original; all that they depend on is compared above."""
    saved, back = restored(folder, name)
    proved = prove(back, example_inputs(saved), not_zero_knowledge=True)
    assert both(saved, proved.statement, proved.proof, plan(saved)) is None


KEYED = [
    ("dense.py:small", "groth16"),
    *(pytest.param("dense.py:small", prover, marks=DEEP) for prover in ("mirage", "halo2")),
    *(pytest.param("iris.py:step", prover, marks=DEEP) for prover in ("groth16", "mirage", "halo2")),
]


def savez(path: Path, arrays: dict[str, Any]) -> None:
    np.savez(path, **arrays)


@pytest.mark.parametrize(("name", "prover"), KEYED)
def test_proofs_with_keys_from_saved_examples(folder: Path, tmp_path: Path, name: str, prover: str) -> None:
    saved, _ = restored(folder, name)
    program = saved_at(folder, name)
    savez(tmp_path / "in.npz", {port.name: saved.examples[0][port.name] for port in saved.inputs})
    keys, proof = tmp_path / "keys", tmp_path / "proof"
    assert run("setup", program, "--prover", prover, "-o", keys).status == 0
    given = ("--keys", keys, "--inputs", tmp_path / "in.npz")
    assert run("prove", program, "--prover", prover, *given, "-o", proof).status == 0
    outcome = run("verify", proof, "--keys", keys, "--program", program, "--digest", program_digest(saved))
    assert outcome.status == 0, outcome


def nearest(format: Fixed | None, value: Any) -> str:
    """The value of the format nearest to a number, as a command line takes it."""
    assert format is not None
    return written(round(float(value) * 2**format.fraction_bits), format.fraction_bits)


@pytest.mark.parametrize(
    "name",
    [
        "iris.py:step",
        pytest.param("digits_xent.py:step", marks=DEEP),
        pytest.param("digits.py:adam", marks=DEEP),
        pytest.param("transformer.py:step", marks=DEEP),
    ],
)
def test_runs_from_saved_examples(folder: Path, tmp_path: Path, name: str) -> None:
    saved, _ = restored(folder, name)
    program, given = saved_at(folder, name), saved.examples[0]
    data = [port.name for port in saved.inputs if port.role is Role.DATA]
    savez(tmp_path / "data.npz", {name: np.asarray(given[name]) for name in data})
    savez(tmp_path / "held.npz", {port.name: given[port.name] for port in saved.inputs if port.held})
    scalars = [port.name for port in saved.inputs if port.role is Role.SCALAR]
    formats = {port.name: port.format for port in saved.inputs}
    rates = [f"--scalar={name}={nearest(formats[name], given[name])}" for name in scalars]
    said = ("--dataset", tmp_path / "data.npz", "--inputs", tmp_path / "held.npz", "--seed", "5eed", "--steps", "2")
    outcome = run("prove-run", program, *said, *rates, "--not-zero-knowledge", "-o", tmp_path / "run")
    assert outcome.status == 0, outcome
    outcome = run("verify-run", tmp_path / "run", "--program", program, "--steps", "2", "--seed", "5eed", *rates)
    assert outcome.status == 0, outcome
