"""The command line with the prover halo2: what it writes and reports, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest
from cli_programs import EXAMPLES, NUMBERS, STEP, refused, run
from cli_programs import keys as groth16_keys

from circuitize.backends.plonkish.emit import emit
from circuitize.backends.r1cs.commitments import commit
from circuitize.cli.loading import load_program
from circuitize.cli.openings import read_openings
from circuitize.cli.statement import read_statement
from circuitize.provers.halo2.cost import sizes

OTHER = STEP.replace(":step", ":other")


@pytest.fixture(scope="module")
def step(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Keys and a proof of the step in `keys` and `proof`, keys of another program in `other`; both reports."""
    folder = tmp_path_factory.mktemp("step")
    made = run("setup", STEP, "--prover", "halo2", "-o", folder / "keys", "--json")
    assert made.status == 0 and "INSECURE" in made.err
    (folder / "setup.json").write_text(made.out)
    proved = run("prove", STEP, "--prover", "halo2", "--keys", folder / "keys", "-o", folder / "proof", "--json")
    assert proved.status == 0 and "INSECURE" in proved.err
    (folder / "prove.json").write_text(proved.out)
    assert run("setup", OTHER, "--prover", "halo2", "-o", folder / "other").status == 0
    return folder


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
    assert {path.name for path in (step / "proof").iterdir()} == {"proof.halo2", "statement.json"}
    salts = read_openings(step / "proof.openings.json")
    old = (EXAMPLES[0]["w"] * 2.0**4).astype("int64")
    # The same root as a proof by Groth16 states: both commit to a tensor by the same hash.
    assert read_statement(step / "proof").roots["input", "w"] == commit(old, NUMBERS, salts["input", "w"])


def test_what_is_reported(step: Path) -> None:
    made, proved = (json.loads((step / name).read_text()) for name in ("setup.json", "prove.json"))
    system = emit(load_program(STEP).integer).summed.system
    exact = sizes(system)
    files = {name: (step / "keys" / name).stat().st_size for name in ("proving.key", "verifying.key")}
    assert exact["proving_key_bytes"] == made["proving_key_bytes"] == files["proving.key"]
    assert exact["verifying_key_bytes"] == made["verifying_key_bytes"] == files["verifying.key"]
    assert exact["proof_bytes"] == proved["proof_bytes"] == (step / "proof" / "proof.halo2").stat().st_size
    estimated = json.loads(run("estimate", STEP, "--json").out)["targets"]["plonkish"]
    assert {name: estimated[name] for name in exact if name != "degree"} == {
        name: size for name, size in exact.items() if name != "degree"
    }
    assert (made["prover"], made["setup"], made["k"], made["degree"]) == (
        "halo2",
        "development",
        system.k,
        exact["degree"],
    )
    assert made["constraints"] == len(system.gates)
    assert proved["prover"] == "halo2" and proved["cpu_seconds"] > 0
    report = json.loads(run("verify", step / "proof", "--keys", step / "keys", "--json").out)
    assert (report["valid"], report["setup"], report["zero_knowledge"]) == (True, "development", True)
    assert report["publics"]["x"]["reals"] == [0.5, -1.25]
    assert run("verify", step / "proof", "--keys", step / "keys", "--prover", "halo2", "--program", STEP).status == 0
    assert run("verify", step / "proof", "--keys", step / "keys", "--expect", "y=[0.75, -2.5]").status == 0


def test_false_claims_are_a_no(step: Path, tmp_path: Path) -> None:
    unequal = "its equations do not hold"
    statement = read_statement(step / "proof")
    assert "expected" in no(step / "proof", step / "keys", "--expect", "y=[0.75, -2.25]")
    assert "the proof is for program" in no(step / "proof", step / "other")
    copytree(step / "proof", tmp_path / "public")
    replace(statement, publics={**statement.publics, ("input", "x"): (8, -19)}).write(tmp_path / "public")
    assert no(tmp_path / "public", step / "keys") == unequal
    copytree(step / "proof", tmp_path / "root")
    replace(statement, roots={**statement.roots, ("output", "w"): 1}).write(tmp_path / "root")
    assert no(tmp_path / "root", step / "keys") == unequal
    # Relabelled as the other program's: that program's key decides.
    copytree(step / "proof", tmp_path / "forged")
    digest = json.loads((step / "setup.json").read_text())["digest"]
    other = load_program(OTHER).digest
    replace(statement, digest=other).write(tmp_path / "forged")
    content = (step / "proof" / "proof.halo2").read_bytes()
    assert content[24:56].hex() == digest
    (tmp_path / "forged" / "proof.halo2").write_bytes(content[:24] + bytes.fromhex(other) + content[56:])
    assert no(tmp_path / "forged", step / "other") == unequal


def test_what_is_refused(step: Path, tmp_path: Path) -> None:
    """In one line, with status 2: other provers' keys, keys in the proof's folder, a contract, a .zkey, a cut file."""
    prove = ("prove", STEP, "-o", tmp_path / "proof")
    assert "not a proving key for halo2" in refused(*prove, "--prover", "halo2", "--keys", groth16_keys())
    assert "not a proving key" in refused(*prove, "--prover", "groth16", "--keys", step / "keys")
    assert "circuitize setup" in refused(*prove, "--prover", "halo2")
    assert "run setup for this program" in refused(*prove, "--prover", "halo2", "--keys", step / "other")
    assert "not a verifying key" in refused("verify", step / "proof", "--keys", groth16_keys(), "--prover", "halo2")
    assert "expected a proof of groth16" in refused("verify", step / "proof", "--keys", groth16_keys())
    assert "contract" in refused("solidity", step / "keys", "-o", tmp_path / "v.sol")
    setup = ("setup", STEP, "--prover", "halo2", "-o", tmp_path / "keys")
    assert "--ptau alone" in refused(*setup, "--zkey", tmp_path / "a", "--ptau", tmp_path / "b")
    assert "none.ptau" in refused(*setup, "--ptau", tmp_path / "none.ptau")
    copytree(step / "proof", tmp_path / "cut")
    content = (step / "proof" / "proof.halo2").read_bytes()
    (tmp_path / "cut" / "proof.halo2").write_bytes(content[:40])
    assert "expected a halo2 proof of more than" in refused("verify", tmp_path / "cut", "--keys", step / "keys")
    copytree(step / "proof", tmp_path / "own")
    copytree(step / "keys", tmp_path / "own" / "keys")
    assert "inside the proof's folder" in refused("verify", tmp_path / "own", "--keys", tmp_path / "own" / "keys")
