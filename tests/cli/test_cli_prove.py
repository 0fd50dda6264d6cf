"""Setup, prove and verify: what they write, what they report, and what a verifier learns."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_programs import EXAMPLES, NUMBERS, STEP, keys, proof, prove, refused, run

from circuitize import Fixed, IntegerProgram, Port, Visibility, identity
from circuitize.api.expectations import read_expectation
from circuitize.backends.r1cs.commitments import commit
from circuitize.provers.groth16 import snarkjs_files
from circuitize.provers.groth16.keys import VerifyingKey
from circuitize.provers.groth16.verifier import verify
from circuitize.provers.openings import read_openings
from circuitize.provers.statement import Statement, Unproved, read_statement


def verdict(folder: Path, *more: str | Path) -> tuple[int, dict[str, Any]]:
    outcome = run("verify", folder, "--keys", keys(), "--json", *more)
    return outcome.status, json.loads(outcome.out)


def test_setup_reports_insecure_development_keys(tmp_path: Path) -> None:
    outcome = run("setup", STEP, "--prover", "groth16", "-o", tmp_path / "keys", "--json")
    report = json.loads(outcome.out)
    assert "INSECURE" in outcome.line
    assert (report["prover"], report["setup"]) == ("groth16", "development")
    assert {"proving.key", "verifying.key", "verification_key.json", "program.arrow"} <= {
        path.name for path in (tmp_path / "keys").iterdir()
    }
    assert report["proving_key_bytes"] == (tmp_path / "keys" / "proving.key").stat().st_size
    assert "INSECURE" in run("setup", STEP, "--prover", "groth16", "-o", tmp_path / "keys").out


def test_prove_reports_what_it_measured(tmp_path: Path) -> None:
    outcome = prove(tmp_path / "proof", "step", "--json")
    report = json.loads(outcome.out)
    named = "prover digest witness_seconds prove_seconds cpu_seconds peak_bytes proof_bytes zero_knowledge phases"
    assert list(report) == named.split()
    assert report["proof_bytes"] == (tmp_path / "proof" / "proof.groth16").stat().st_size
    assert report["peak_bytes"] > 10_000_000
    assert report["phases"]["prove"]["seconds"] == report["prove_seconds"] > 0
    assert "INSECURE" in outcome.err


def test_verify_reports_what_was_proved() -> None:
    status, report = verdict(proof())
    assert status == 0
    assert report["valid"] is True
    assert (report["setup"], report["zero_knowledge"], report["reason"]) == ("development", True, None)
    assert report["publics"]["x"] == {"fraction_bits": 4, "integers": [8, -20], "reals": [0.5, -1.25]}
    assert report["publics"]["y"]["reals"] == [0.75, -2.5]
    assert set(report["roots"]) == {"input:w", "output:w"}
    shown = run("verify", proof(), "--keys", keys())
    assert shown.out.startswith("valid: ")
    assert "x = [0.5, -1.25]" in shown.out
    assert "development key: INSECURE" in shown.line


def test_a_proof_holds_nothing_private() -> None:
    """The salts, in any spelling, are in no file of the proof; they lie beside it, for the owner alone."""
    salts = read_openings(proof().with_name(proof().name + ".openings.json"))
    assert set(salts) == {("input", "w"), ("output", "w")}
    assert {path.name for path in proof().iterdir()} == {"proof.groth16", "proof.json", "public.json", "statement.json"}
    secrets = [f"{salt:x}" for salt in salts.values()] + [str(salt) for salt in salts.values()]
    for path in proof().iterdir():
        content = path.read_bytes()
        assert not [secret for secret in secrets if secret.encode() in content]
        assert not [salt for salt in salts.values() if salt.to_bytes(32, "little") in content]
    mode = proof().with_name(proof().name + ".openings.json").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600


def test_openings_open_the_commitments(tmp_path: Path) -> None:
    prove(tmp_path / "proof", "step", "--outputs", tmp_path / "out.npz", "--openings", tmp_path / "mine.json")
    salts, roots = read_openings(tmp_path / "mine.json"), read_statement(tmp_path / "proof").roots
    with np.load(tmp_path / "out.npz") as outputs:
        new = (outputs["w"] * 2.0**4).astype(np.int64)
    old = (EXAMPLES[0]["w"] * 2.0**4).astype(np.int64)
    assert roots["input", "w"] == commit(old, NUMBERS, salts["input", "w"])
    assert roots["output", "w"] == commit(new, NUMBERS, salts["output", "w"])


def test_salts_are_fresh(tmp_path: Path) -> None:
    prove(tmp_path / "proof")
    assert not set(read_statement(tmp_path / "proof").roots.values()) & set(read_statement(proof()).roots.values())


def test_steps_join_by_their_roots(tmp_path: Path) -> None:
    """The second step starts from the weights that the first one ended with: the verifier sees one root."""
    prove(tmp_path / "one", "step", "--outputs", tmp_path / "out.npz")
    with np.load(tmp_path / "out.npz") as outputs:
        np.savez(tmp_path / "in.npz", w=outputs["w"], x=np.array([0.5, -1.0]))
    openings = tmp_path / "one.openings.json"
    prove(tmp_path / "two", "step", "--inputs", tmp_path / "in.npz", "--openings-from", openings)
    root = read_statement(tmp_path / "one").roots["output", "w"]
    assert read_statement(tmp_path / "two").roots["input", "w"] == root
    assert verdict(tmp_path / "two", "--expect", f"input:w={hex(root)}")[0] == 0
    assert verdict(tmp_path / "two", "--expect", f"output:w={hex(root)}")[0] == 1


def test_outputs_return_as_inputs_unchanged(tmp_path: Path) -> None:
    prove(tmp_path / "proof", "step", "--outputs", tmp_path / "out.npz")
    with np.load(tmp_path / "out.npz") as outputs:
        assert outputs["y"].tolist() == [0.75, -2.5]
        np.savez(tmp_path / "in.npz", w=outputs["w"], x=np.array([0, 0]))
    outcome = prove(tmp_path / "again", "step", "--inputs", tmp_path / "in.npz")
    assert "rounded" not in outcome.err


def test_rounding_is_said(tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", w=np.array([0.51, 0.0]), x=np.array([0.5, -1.0]))
    outcome = prove(tmp_path / "proof", "step", "--inputs", tmp_path / "in.npz")
    assert "real values of w were rounded, once" in outcome.err


def test_snarkjs_files_state_the_same(tmp_path: Path) -> None:
    key = VerifyingKey.read(keys())
    other = snarkjs_files.read_proof(proof() / "proof.json", key.digest)
    assert verify(other, key, snarkjs_files.read_public(proof() / "public.json"))


@pytest.mark.parametrize(
    ("expectation", "status"),
    [
        ("x=[0.5, -1.25]", 0),
        ("input:x=[0.5, -1.25]", 0),
        ("x=[8/2^4, -5/4]", 0),
        ("x=[0.5, -1.5]", 1),
        ("y=[0.75, -2.5]", 0),
        ("output:y=[0.75, -2.25]", 1),
        ("input:w=1", 1),
        ("output:w=0x1", 1),
    ],
)
def test_expectations_decide(expectation: str, status: int) -> None:
    found, report = verdict(proof(), "--expect", expectation)
    assert found == status
    assert report["valid"] is (status == 0)
    assert (report["reason"] is None) is (status == 0)
    assert bool(report["publics"]) is (status == 0)


def test_scalars_can_be_expected_as_fractions() -> None:
    number = Fixed((), 12, 0, 4095)
    program = IntegerProgram(
        identity(number), (Port("a", Visibility.PUBLIC, number),), (Port("b", Visibility.PUBLIC, number),)
    )
    statement = Statement("groth16", "", {("input", "a"): (1024,), ("output", "b"): (1024,)}, {})
    for value in ("0.25", "1/4", "1024/2^12", "2.5e-1", "1024/4096"):
        read_expectation(f"a={value}", program).check(statement)
    for value in ("0.249755859375", "1023/2^12", "0"):
        with pytest.raises(Unproved, match=r"the proof states 1024/2\^12 \(0.25\)"):
            read_expectation(f"a={value}", program).check(statement)


def test_expectations_from_a_file(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", x=np.array([0.5, -1.25]))
    assert verdict(proof(), "--expect", f"x={tmp_path / 'x.npz'}")[0] == 0
    np.savez(tmp_path / "x.npz", x=np.array([0.5, -1.0]))
    assert verdict(proof(), "--expect", f"x={tmp_path / 'x.npz'}")[0] == 1


@pytest.mark.parametrize(
    ("expectation", "said"),
    [
        ("x", "expected NAME=VALUE or NAME=ROOT"),
        ("x=", "expected NAME=VALUE or NAME=ROOT"),
        ("z=1", "expected a public or a committed name among y, output:w, input:w, x"),
        ("w=1", "expected a public or a committed name"),
        ("x=1", "expected a value of shape [2], found []"),
        ("x=[1]", "expected a value of shape [2], found [1]"),
        ("x=[1, [2]]", "expected a number such as 0.25"),
        ("x=[1, NaN]", "expected a number such as 0.25"),
        ("x=[1, 1e99999999]", "expected a number such as 0.25"),
        ("x=[1, 1/0]", "expected a number such as 0.25"),
        ("x=" + "[" * 100_000, "expected a number such as 0.25"),
        ("x=nan", "expected a number such as 0.25"),
        ("x=absent.npz", "No such file"),
        ("input:w=root", "expected a commitment's root"),
    ],
)
def test_expectations_that_cannot_be_read(expectation: str, said: str) -> None:
    assert said in refused("verify", proof(), "--keys", keys(), "--expect", expectation)


def test_keys_for_another_program_are_refused(tmp_path: Path) -> None:
    line = refused("prove", STEP, "--prover", "groth16", "--keys", keys("other"), "-o", tmp_path / "proof")
    assert "expected keys of the program" in line and "circuitize setup" in line
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("option", ["--outputs", "--openings"])
def test_private_files_may_not_lie_in_the_proof(tmp_path: Path, option: str) -> None:
    line = refused(
        "prove",
        STEP,
        "--prover",
        "groth16",
        "--keys",
        keys(),
        "-o",
        tmp_path / "proof",
        option,
        tmp_path / "proof" / "x",
    )
    assert "expected a path outside" in line
    assert not list(tmp_path.iterdir())
