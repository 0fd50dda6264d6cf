"""The command line with the prover mirage: what it writes and reports, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest
from cli_programs import EXAMPLES, NUMBERS, STEP, refused, run
from cli_programs import keys as plain_keys
from cli_programs import proof as plain_proof

from circuitize.backends.r1cs.commitments import commit
from circuitize.cli.openings import read_openings
from circuitize.cli.statement import read_statement

OTHER = STEP.replace(":step", ":other")


def made(folder: Path, program: str) -> Path:
    """Keys and a proof of a program, in `keys` and `proof`."""
    assert run("setup", program, "--prover", "mirage", "-o", folder / "keys").status == 0
    proved = run("prove", program, "--prover", "mirage", "--keys", folder / "keys", "-o", folder / "proof")
    assert proved.status == 0
    assert "INSECURE" in proved.err
    return folder


@pytest.fixture(scope="module")
def step(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    return made(tmp_path_factory.mktemp("step"), STEP)


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    return made(tmp_path_factory.mktemp("other"), OTHER)


def no(proof: Path, keys: Path, *more: str | Path) -> str:
    """The reason for which verify says no."""
    outcome = run("verify", proof, "--keys", keys, "--json", *more)
    report = json.loads(outcome.out)
    assert (outcome.status, report["valid"], report["publics"], report["roots"]) == (1, False, {}, {})
    return str(report["reason"])


def test_what_is_written(step: Path) -> None:
    assert {path.name for path in (step / "keys").iterdir()} == {
        "proving.key",
        "verifying.key",
        "program.arrow",
        "INSECURE-DEVELOPMENT-KEYS.txt",
    }
    assert {path.name for path in (step / "proof").iterdir()} == {"proof.mirage", "statement.json"}
    assert (step / "proof" / "proof.mirage").read_bytes().startswith(b"circuitize-mirpf")
    assert read_statement(step / "proof").prover == "mirage"
    salts = read_openings(step / "proof.openings.json")
    old = (EXAMPLES[0]["w"] * 2.0**4).astype("int64")
    assert read_statement(step / "proof").roots["input", "w"] == commit(old, NUMBERS, salts["input", "w"])


def test_what_is_reported(step: Path, tmp_path: Path) -> None:
    report = json.loads(run("setup", STEP, "--prover", "mirage", "-o", tmp_path / "keys", "--json").out)
    assert (report["prover"], report["setup"]) == ("mirage", "development")
    assert report["verifying_key_bytes"] == 72 + 64 + 4 * 128 + 64 * (1 + 4 + 2 + 1) + 32
    arguments = ("prove", STEP, "--prover", "mirage", "--keys", step / "keys", "-o", tmp_path / "proof", "--json")
    report = json.loads(run(*arguments).out)
    phases = report["phases"]
    assert (report["prover"], report["proof_bytes"]) == ("mirage", 216)
    assert phases["prove"]["seconds"] == report["prove_seconds"] >= phases["commit"]["seconds"] > 0
    assert abs(report["witness_seconds"] - phases["trace"]["seconds"] - phases["witness"]["seconds"]) < 0.001
    assert next(iter(phases["prove"]["parts_seconds"])) == "commit"
    report = json.loads(run("verify", step / "proof", "--keys", step / "keys", "--json").out)
    assert (report["valid"], report["setup"], report["reason"]) == (True, "development", None)
    assert report["publics"]["x"]["reals"] == [0.5, -1.25]
    assert set(report["roots"]) == {"input:w", "output:w"}
    assert run("verify", step / "proof", "--keys", step / "keys", "--prover", "mirage", "--program", STEP).status == 0
    assert run("verify", step / "proof", "--keys", step / "keys", "--expect", "y=[0.75, -2.5]").status == 0
    report = json.loads(run("solidity", step / "keys", "-o", tmp_path / "v.sol", "--json").out)
    assert (report["prover"], report["public"]) == ("mirage", 6)
    again = run("solidity", step / "keys" / "verifying.key", "--prover", "mirage", "-o", tmp_path / "again.sol")
    assert again.status == 0
    assert (tmp_path / "v.sol").read_text() == (tmp_path / "again.sol").read_text()
    assert "sha256(abi.encodePacked(DOMAIN, KEY, publics, d))" in (tmp_path / "v.sol").read_text()


def test_false_claims_are_a_no(step: Path, other: Path, tmp_path: Path) -> None:
    unequal = "the pairing equation does not hold"
    digests = [read_statement(folder / "proof").digest for folder in (step, other)]
    assert f"the proof is for program {digests[1]}" in no(other / "proof", step / "keys")
    assert digests[0] in no(other / "proof", other / "keys", "--program", STEP)
    assert digests[0] in no(other / "proof", other / "keys", "--digest", digests[0])
    assert "expected" in no(step / "proof", step / "keys", "--expect", "y=[0.75, -2.25]")
    copytree(step / "proof", tmp_path / "public")
    statement = read_statement(step / "proof")
    replace(statement, publics={**statement.publics, ("input", "x"): (8, -19)}).write(tmp_path / "public")
    assert no(tmp_path / "public", step / "keys") == unequal
    copytree(step / "proof", tmp_path / "root")
    replace(statement, roots={**statement.roots, ("output", "w"): 1}).write(tmp_path / "root")
    assert no(tmp_path / "root", step / "keys") == unequal
    # Relabelled as this program's: the key decides.
    copytree(other / "proof", tmp_path / "forged")
    replace(read_statement(other / "proof"), digest=digests[0]).write(tmp_path / "forged")
    content = (other / "proof" / "proof.mirage").read_bytes()
    relabelled = content[:24] + bytes.fromhex(digests[0]) + content[56:]
    (tmp_path / "forged" / "proof.mirage").write_bytes(relabelled)
    assert no(tmp_path / "forged", step / "keys") == unequal


def test_the_provers_do_not_mix(step: Path, tmp_path: Path) -> None:
    line = "a key for the prover {0}, expected one for {1}; remedy: use --prover {0}, or make keys for {1}"
    prove = ("prove", STEP, "-o", tmp_path / "proof")
    for own, foreign, keys in (("groth16", "mirage", step / "keys"), ("mirage", "groth16", plain_keys())):
        outcome = run(*prove, "--prover", own, "--keys", keys)
        assert outcome.status == 2
        assert outcome.err.splitlines()[-1].endswith(line.format(foreign, own))
        for command in (("verify", step / "proof", "--keys", keys), ("solidity", keys, "-o", tmp_path / "v.sol")):
            assert refused(*command, "--prover", own).endswith(line.format(foreign, own))
    assert "expected a proof of mirage, which the key is for, found one of 'groth16'" in refused(
        "verify", plain_proof(), "--keys", step / "keys"
    )
    assert "expected a proof of groth16, which the key is for, found one of 'mirage'" in refused(
        "verify", step / "proof", "--keys", plain_keys()
    )
    # A statement that names the key's prover does not make the proof one of its proofs.
    copytree(plain_proof(), tmp_path / "renamed")
    replace(read_statement(plain_proof()), prover="mirage").write(tmp_path / "renamed")
    (tmp_path / "renamed" / "proof.groth16").rename(tmp_path / "renamed" / "proof.mirage")
    assert "a proof of the prover groth16, expected one of mirage" in refused(
        "verify", tmp_path / "renamed", "--keys", step / "keys"
    )
    assert not (tmp_path / "proof").exists()


def test_what_needs_another_prover_says_so(tmp_path: Path) -> None:
    ceremony = ("--zkey", tmp_path / "a.zkey", "--ptau", tmp_path / "a.ptau")
    line = refused("setup", STEP, "--prover", "mirage", *ceremony, "-o", tmp_path / "keys")
    assert "expected the prover groth16 with it, found mirage" in line
    line = refused("prove", STEP, "--prover", "mirage", "-o", tmp_path / "proof")
    assert line.endswith(f"mirage needs a proving key: circuitize setup {STEP} --prover mirage -o KEYS")
