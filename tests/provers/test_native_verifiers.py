"""The Rust example that verifies the files of proofs, for every prover: what it accepts, and what it refuses."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from cli_programs import STEP, keys, other, proof, run, step
from native_verifier import verifier

from circuitize.backends.field import BN254
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.quantize import quantize
from circuitize.provers.statement import Statement, Unproved, public_vector, read_statement
from circuitize.provers.tensor import instance
from circuitize.provers.tensor.descriptor import in_arrays
from circuitize.provers.tensor.plan import OPENINGS, plan

KEYED = ("groth16", "mirage", "halo2")
PROVERS = (*KEYED, "tensor")

pytestmark = pytest.mark.proof


@cache
def program() -> IntegerProgram:
    """The verifier's own."""
    return quantize(step())


@cache
def folder_of(name: str, prover: str, *more: str) -> Path:
    """What `prove` wrote of a program of tests/cli_programs.py."""
    if prover in KEYED:
        return proof(name, prover)
    folder = keys().parent / f"proof-{name}-{prover}{''.join(more)}"
    assert run("prove", STEP.replace(":step", f":{name}"), "--prover", prover, *more, "-o", folder).status == 0
    return folder


def own(prover: str, statement: Statement) -> Mapping[str, bytes]:
    """What the verifier itself holds of a statement about its program, by the name of the file (docs/verifying.md)."""
    if prover == "tensor":
        made = plan(program())
        made = made.hiding(OPENINGS) if statement.zero_knowledge else made
        return {"instance": instance.encode(program(), in_arrays(program(), statement), made)}
    publics = BN254.from_integers(public_vector(program(), statement, BN254.prime)).tobytes()
    return {"key": (keys("step", prover) / "verifying.key").read_bytes(), "publics": publics}


def verdict(folder: Path, prover: str, held: Mapping[str, bytes], content: bytes) -> str | None:
    """None where the example says that the proof holds, else its one line."""
    for name, part in {**held, "proof": content}.items():
        (folder / name).write_bytes(part)
    command = [str(verifier()), prover, *(str(folder / name) for name in held), str(folder / "proof")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode == 0:
        assert (done.stdout, done.stderr) == ("the proof holds\n", "")
        return None
    assert (done.returncode, done.stdout) == (1, "") and done.stderr.startswith("the proof does not hold: "), done
    return str(done.stderr.removeprefix("the proof does not hold: ").rstrip("\n"))


@pytest.fixture(params=PROVERS)
def prover(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def made(prover: str) -> tuple[Statement, bytes]:
    folder = folder_of("step", prover)
    return read_statement(folder), (folder / f"proof.{prover}").read_bytes()


def test_what_prove_wrote_holds(prover: str, tmp_path: Path) -> None:
    statement, content = made(prover)
    assert verdict(tmp_path, prover, own(prover, statement), content) is None


def test_a_proof_that_hides_nothing_holds(tmp_path: Path) -> None:
    folder = folder_of("step", "tensor", "--not-zero-knowledge")
    statement, content = read_statement(folder), (folder / "proof.tensor").read_bytes()
    held = own("tensor", statement)
    assert verdict(tmp_path, "tensor", held, content) is None
    hiding = own("tensor", replace(statement, zero_knowledge=True))
    assert "a proof of version 5" in str(verdict(tmp_path, "tensor", hiding, content))


def test_a_changed_byte_is_refused_wherever_it_is(prover: str, tmp_path: Path) -> None:
    statement, content = made(prover)
    held = own(prover, statement)
    length = len(content)
    for place in sorted({0, 17, 20, 24, 55, 56, *range(60, length, max(1, length // 9)), length - 1}):
        changed = bytearray(content)
        changed[place] ^= 1
        assert verdict(tmp_path, prover, held, bytes(changed)), place
    for damaged in (content[:-1], content + b"\0", content[:56], content[:20], b""):
        assert verdict(tmp_path, prover, held, damaged)


def test_a_proof_of_another_statement_is_refused(prover: str, tmp_path: Path) -> None:
    """Other public values, or another root, than the proof was made for."""
    statement, content = made(prover)
    (key, values), *_ = statement.publics.items()
    (port, root), *_ = statement.roots.items()
    others = (
        replace(statement, publics={**statement.publics, key: (values[0] ^ 1, *values[1:])}),
        replace(statement, roots={**statement.roots, port: root ^ 1}),
    )
    for claimed in others:
        assert verdict(tmp_path, prover, own(prover, claimed), content)


def test_a_proof_of_another_program_is_refused(prover: str, tmp_path: Path) -> None:
    """The interface is the same; whose digest the file claims makes no difference."""
    _, content = made(prover)
    folder = folder_of("other", prover)
    held = own(prover, read_statement(folder))
    foreign = (folder / f"proof.{prover}").read_bytes()
    renamed = foreign[:24] + content[24:56] + foreign[56:]
    reasons = [verdict(tmp_path, prover, held, foreign), verdict(tmp_path, prover, held, renamed)]
    assert "another program" in str(reasons[0]) and reasons[1]


@pytest.mark.parametrize("prover", KEYED)
def test_public_values_have_one_spelling_and_one_number(prover: str, tmp_path: Path) -> None:
    statement, content = made(prover)
    held = own(prover, statement)
    raised = int.from_bytes(held["publics"][:32], "little") + BN254.prime
    for wrong in (
        raised.to_bytes(32, "little") + held["publics"][32:],
        held["publics"][32:],
        held["publics"] + bytes(32),
        held["publics"][:-1],
        b"",
    ):
        assert verdict(tmp_path, prover, {**held, "publics": wrong}, content)


def test_a_damaged_instance_is_refused(tmp_path: Path) -> None:
    statement, content = made("tensor")
    whole = own("tensor", statement)["instance"]
    for damaged in (b"", whole[:16], whole[:100], whole[:-1], whole + b"\0", b"x" + whole[1:]):
        assert verdict(tmp_path, "tensor", {"instance": damaged}, content)
    # A word of it: what is then verified is another statement, or none.
    random = np.random.default_rng(0)
    for place in random.integers(24, len(whole), 40):
        changed = bytearray(whole)
        changed[place] ^= 1 << int(random.integers(8))
        assert verdict(tmp_path, "tensor", {"instance": bytes(changed)}, content), place


def test_no_instance_is_made_of_a_statement_that_is_none_of_the_program() -> None:
    arrays = in_arrays(program(), made("tensor")[0])
    with pytest.raises(Unproved, match="expected a root"):
        instance.encode(program(), replace(arrays, roots={}), plan(program()))


def test_no_instance_is_made_of_a_plan_of_another_program() -> None:
    """Its interface is the same, so that the statement would be one of either."""
    arrays = in_arrays(program(), made("tensor")[0])
    with pytest.raises(Unproved, match="the plan is of program"):
        instance.encode(program(), arrays, plan(quantize(other())))
