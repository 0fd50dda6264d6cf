"""--openings-from joined outputs to inputs only, by name alone: an input drew a new salt without a word."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from cli_programs import COMMITTED, EXAMPLES, NUMBERS, PUBLIC, STEP, Outcome, keys, refused, run

from circuitize import Format, Port, Program, Role, trace
from circuitize.provers.statement import read_statement

TENSOR = ("--prover", "tensor", "--not-zero-knowledge")
HERE = f"{__file__}:"


def _inference(name: str, format: Format | None = None) -> Program:
    weights = NUMBERS if format is None else format.of((2,))
    arrow = trace(lambda x, w: x * w, (2,), (2,))
    ports = (Port("x", PUBLIC, NUMBERS), Port(name, COMMITTED, weights, Role.PARAMETER))
    return Program(arrow, ports, (Port("y", PUBLIC),), ({"x": np.ones(2), name: np.array([1.5, 2.0])},))


def predict() -> Program:
    return _inference("w")


def renamed() -> Program:
    return _inference("weight")


def wider() -> Program:
    return _inference("w", Format.signed(9, fraction_bits=4))


def prove(to: Path, program: str, prover: Sequence[str | Path], *more: str | Path) -> Outcome:
    return run("prove", program, *prover, "-o", to, *more)


def prover_of(name: str) -> tuple[str | Path, ...]:
    return TENSOR if name == "tensor" else ("--prover", name, "--keys", keys("step", name))


@pytest.mark.parametrize("prover", ["tensor", "groth16"])
def test_two_proofs_of_one_input_share_its_root(prover: str, tmp_path: Path) -> None:
    """The same values of `w` go in; what comes out is new."""
    how = prover_of(prover)
    assert prove(tmp_path / "one", STEP, how).status == 0
    np.savez(tmp_path / "in.npz", x=np.array([1.0, 2.0]), w=EXAMPLES[0]["w"])
    given = ("--inputs", tmp_path / "in.npz", "--openings-from", tmp_path / "one.openings.json")
    outcome = prove(tmp_path / "two", STEP, how, *given)
    assert outcome.status == 0, outcome
    first, second = (read_statement(tmp_path / name).roots for name in ("one", "two"))
    shared = [key for key in first if first[key] == second[key]]
    assert [side for side, _ in shared] == ["input"]
    assert "is joined to input:" in outcome.err and "is not joined" in outcome.err


def test_an_inference_shares_the_root_of_a_step(tmp_path: Path) -> None:
    assert prove(tmp_path / "one", STEP, TENSOR).status == 0
    more = ("--openings-from", tmp_path / "one.openings.json")
    assert prove(tmp_path / "two", f"{HERE}predict", TENSOR, *more).status == 0
    key = ("input", "parameters")
    assert read_statement(tmp_path / "one").roots[key] == read_statement(tmp_path / "two").roots[key]


@pytest.mark.parametrize("prover", ["tensor", "groth16"])
def test_other_values_are_refused(prover: str, tmp_path: Path) -> None:
    how = prover_of(prover)
    assert prove(tmp_path / "one", STEP, how).status == 0
    np.savez(tmp_path / "in.npz", x=np.array([1.0, 2.0]), w=np.array([0.5, 0.5]))
    given = ("--inputs", tmp_path / "in.npz", "--openings-from", tmp_path / "one.openings.json")
    outcome = prove(tmp_path / "two", STEP, how, *given)
    assert outcome.status == 2 and not (tmp_path / "two").exists()
    line = outcome.err.splitlines()[-1]
    assert "w" in line and "other values" in line and "--join" in line


def test_other_formats_and_names_are_refused(tmp_path: Path) -> None:
    assert prove(tmp_path / "one", STEP, TENSOR).status == 0
    more = ("--openings-from", tmp_path / "one.openings.json", "-o", tmp_path / "two")
    line = refused("prove", f"{HERE}wider", *TENSOR, *more)
    assert "port 'w' has low -256 in this program and -128 in" in line
    line = refused("prove", f"{HERE}renamed", *TENSOR, *more)
    assert "port 'w' is in" in line and "not in this program" in line
    assert not (tmp_path / "two").exists()


def test_openings_of_another_kind_are_refused(tmp_path: Path) -> None:
    assert prove(tmp_path / "one", STEP, TENSOR).status == 0
    more = ("--openings-from", tmp_path / "one.openings.json", "-o", tmp_path / "two")
    assert "scheme 'tensor'" in refused("prove", STEP, *prover_of("groth16"), *more)
    assert "--openings-from" in refused("prove", STEP, *TENSOR, "--join", "parameters", "-o", tmp_path / "two")
    strange = (*more, "--join", "w")
    assert "found 'w'" in refused("prove", STEP, *TENSOR, *strange)
