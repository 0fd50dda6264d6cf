"""What `--outputs` wrote was refused as `--inputs`: a loss is no input. Long integers were written as other numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cli_programs import PUBLIC, STEP, keys, refused, run

from circuitize import Port, Program
from circuitize.api.named import exact_named
from circuitize.api.values import program_inputs
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import Scale
from circuitize.circuits.saved import save
from circuitize.circuits.types import Fixed
from circuitize.cli.loading import save_without_examples
from circuitize.provers.openings import read_openings
from circuitize.provers.statement import read_statement

GROTH16 = ("prove", STEP, "--prover", "groth16", "--keys")
TENSOR = ("--prover", "tensor", "--not-zero-knowledge")


@pytest.mark.parametrize("raw", [False, True], ids=["real", "raw"])
def test_outputs_go_in_again(tmp_path: Path, raw: bool) -> None:
    """Beside what else goes in; what does not is said; and the root of the weights is that of the step before."""
    new, data = tmp_path / "new.npz", tmp_path / "data.npz"
    assert run(*GROTH16, keys(), "-o", tmp_path / "one", "--outputs", new, *["--raw-outputs"] * raw).status == 0
    np.savez(data, x=np.array([8, -20]) if raw else np.array([0.5, -1.25]))
    given: tuple[str | Path, ...] = ("--inputs", new, "--inputs", data, *["--raw-inputs"] * raw)
    openings = ("--openings-from", tmp_path / "one.openings.json")
    made = run(*GROTH16, keys(), "-o", tmp_path / "two", *given, *openings)
    assert made.status == 0, made
    assert "left out y, which the program gives and does not take" in made.err and "were rounded" not in made.err
    roots = read_statement(tmp_path / "one").roots, read_statement(tmp_path / "two").roots
    assert roots[0]["output", "w"] == roots[1]["input", "w"] and read_openings(tmp_path / "two.openings.json")


def test_outputs_in_one_file_with_the_data_go_in_again(tmp_path: Path) -> None:
    new = tmp_path / "new.npz"
    assert run("prove", STEP, *TENSOR, "-o", tmp_path / "one", "--outputs", new).status == 0
    with np.load(new) as made:
        np.savez(tmp_path / "all.npz", x=np.array([0.5, -1.25]), w=made["w"], y=made["y"])
    outcome = run("prove", STEP, *TENSOR, "-o", tmp_path / "two", "--inputs", tmp_path / "all.npz")
    assert outcome.status == 0, outcome


def test_what_two_files_have_or_none_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", w=np.zeros(2), y=np.zeros(2))
    np.savez(tmp_path / "b.npz", w=np.zeros(2), x=np.zeros(2))
    np.savez(tmp_path / "c.npz", v=np.zeros(2))
    prove = ("prove", STEP, *TENSOR, "-o", tmp_path / "proof", "--inputs", tmp_path / "a.npz")
    told = run(*prove)
    assert told.status == 2 and "expected a value for input 'x'" in told.err and "another --inputs" in told.err
    told = run(*prove, "--inputs", tmp_path / "b.npz")
    assert told.status == 2 and f"found input 'w', which {tmp_path / 'a.npz'} has" in told.err
    told = run(*prove, "--inputs", tmp_path / "c.npz")
    assert told.status == 2 and "found 'v'; remove or rename it" in told.err


def long(bits: int = 60) -> Program:
    """An output that goes in again, of more bits than float64 has."""
    builder = Builder()
    format = Fixed((2,), 3, -(1 << bits) + 1, (1 << bits) - 1)
    x = builder.input(format)
    arrow = builder.build([builder.add(Scale(-1, 0), x)])
    return Program(arrow, (Port("x", PUBLIC, format),), (Port("x", PUBLIC, format),), ({"x": np.array([1.0, 2.0])},))


def test_long_integers_are_written_exactly_or_refused(tmp_path: Path) -> None:
    """Refused before the work: what a file held was integers of the format, which are real values when they go in."""
    save(long(), tmp_path / "long.arrow")
    np.savez(tmp_path / "in.npz", x=np.array([(1 << 60) - 1, 5 - (1 << 59)]))
    prove = ("prove", tmp_path / "long.arrow", *TENSOR, "--inputs", tmp_path / "in.npz", "--raw-inputs")
    outputs = ("--outputs", tmp_path / "out.npz")
    line = refused(*prove, "-o", tmp_path / "one", *outputs)
    assert "expected outputs that float64 holds exactly" in line and "add --raw-outputs" in line
    assert not (tmp_path / "one").exists()
    assert run(*prove, "-o", tmp_path / "one", *outputs, "--raw-outputs").status == 0
    again = ("prove", tmp_path / "long.arrow", *TENSOR, "--inputs", tmp_path / "out.npz", "--raw-inputs")
    assert run(*again, "-o", tmp_path / "two").status == 0
    before, after = (read_statement(tmp_path / name).publics for name in ("one", "two"))
    assert before["output", "x"] == after["input", "x"] and before["input", "x"] == after["output", "x"]


def test_every_integer_of_53_bits_comes_back(tmp_path: Path) -> None:
    save(long(53), tmp_path / "p.arrow")
    ends = np.array([(1 << 53) - 1, 1 - (1 << 53)])
    np.savez(tmp_path / "in.npz", x=ends)
    prove = ("prove", tmp_path / "p.arrow", *TENSOR, "-o", tmp_path / "p", "--outputs", tmp_path / "out.npz")
    assert run(*prove, "--inputs", tmp_path / "in.npz", "--raw-inputs").status == 0
    found = program_inputs(exact_named(str(tmp_path / "p.arrow")).integer, [tmp_path / "out.npz"], lambda told: None)
    assert found["x"].tolist() == (-ends).tolist()


@pytest.mark.parametrize("command", [("estimate",), ("check", "--vectors", "2"), ("audit",)], ids=" ".join)
def test_a_program_without_examples_needs_none(tmp_path: Path, command: tuple[str, ...]) -> None:
    save_without_examples(exact_named(STEP).integer, tmp_path / "program.arrow")
    assert run(command[0], tmp_path / "program.arrow", *command[1:]).status == 0


@pytest.mark.parametrize(
    "command",
    [("prove", *TENSOR, "-o"), ("compile", "--target", "r1cs", "--witness", "-o")],
    ids=["prove", "compile"],
)
def test_a_program_without_examples_names_the_remedy(tmp_path: Path, command: tuple[str, ...]) -> None:
    """A saved program holds none; what runs it says what to give, and which commands need nothing."""
    saved = tmp_path / "program.arrow"
    save_without_examples(exact_named(STEP).integer, saved)
    name, *more = command
    line = refused(name, saved, *more, tmp_path / "out")
    assert "give --inputs FILE.npz" in line and "setup, verify, estimate, check, audit" in line
