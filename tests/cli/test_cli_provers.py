"""Every prover with keys on the command line: what it writes, what a verifier learns, and which claims are a no."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from cli_programs import EXAMPLES, NUMBERS, STEP, copied, keys, no, proof, reported, run

from circuitize.backends.r1cs.commitments import commit
from circuitize.provers.keys import PROVING_FILE, VERIFYING_FILE, WARNING_FILE
from circuitize.provers.openings import read_openings
from circuitize.provers.statement import read_statement

OTHER = STEP.replace(":step", ":other")
OF_KEYS = {"groth16": {"verification_key.json"}}
OF_PROOFS = {"groth16": {"proof.json", "public.json"}}
MAGICS = {"groth16": b"circuitize-g16pf", "mirage": b"circuitize-mirpf", "halo2": b"circuitize-hl2pf"}
UNEQUAL = {"halo2": "its equations do not hold"}
"""What a false claim that names the right circuit is told, where it is not about a pairing."""


@pytest.fixture(params=MAGICS)
def prover(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_what_is_written(prover: str) -> None:
    made, proved = keys("step", prover), proof("step", prover)
    own = {PROVING_FILE, VERIFYING_FILE, WARNING_FILE, "program.arrow"}
    assert {path.name for path in made.iterdir()} == own | OF_KEYS.get(prover, set())
    own = {f"proof.{prover}", "statement.json"}
    assert {path.name for path in proved.iterdir()} == own | OF_PROOFS.get(prover, set())
    content = (proved / f"proof.{prover}").read_bytes()
    statement = read_statement(proved)
    assert content[:16] == MAGICS[prover]
    assert content[24:56].hex() == statement.digest == reported(made)["digest"]
    assert statement.prover == prover
    # Every prover states the same root: it commits to a tensor by the same hash.
    salts = read_openings(proved.with_name(f"{proved.name}.openings.json"))
    old = (EXAMPLES[0]["w"] * 2.0**4).astype("int64")
    assert statement.roots["input", "w"] == commit(old, NUMBERS, salts["input", "w"])


def test_what_is_reported(prover: str) -> None:
    made, proved = keys("step", prover), proof("step", prover)
    setup, proving = reported(made), reported(proved)
    assert (setup["prover"], setup["setup"]) == (prover, "development")
    assert setup["proving_key_bytes"] == (made / PROVING_FILE).stat().st_size
    assert setup["verifying_key_bytes"] == (made / VERIFYING_FILE).stat().st_size
    assert proving["prover"] == prover and proving["cpu_seconds"] > 0
    assert proving["proof_bytes"] == (proved / f"proof.{prover}").stat().st_size
    report = json.loads(run("verify", proved, "--keys", made, "--json").out)
    assert (report["valid"], report["setup"], report["reason"]) == (True, "development", None)
    assert report["zero_knowledge"] is True
    assert report["publics"]["x"]["reals"] == [0.5, -1.25]
    assert set(report["roots"]) == {"input:w", "output:w"}
    assert run("verify", proved, "--keys", made, "--prover", prover, "--program", STEP).status == 0
    assert run("verify", proved, "--keys", made, "--expect", "y=[0.75, -2.5]").status == 0


def test_false_claims_are_a_no(prover: str, tmp_path: Path) -> None:
    made, others, proved = keys("step", prover), keys("other", prover), proof("step", prover)
    unequal = UNEQUAL.get(prover, "the pairing equation does not hold")
    own, other = reported(made)["digest"], reported(others)["digest"]
    assert "expected" in no(proved, "--keys", made, "--expect", "y=[0.75, -2.25]")
    assert f"the proof is for program {own}" in no(proved, "--keys", others)
    assert other in no(proved, "--keys", made, "--program", OTHER)
    assert other in no(proved, "--keys", made, "--digest", other)
    statement = read_statement(proved)
    public = copied(proved, tmp_path / "public")
    replace(statement, publics={**statement.publics, ("input", "x"): (8, -19)}).write(public)
    assert no(public, "--keys", made) == unequal
    root = copied(proved, tmp_path / "root")
    replace(statement, roots={**statement.roots, ("output", "w"): 1}).write(root)
    assert no(root, "--keys", made) == unequal
    # Relabelled as the other program's: that program's key decides.
    forged = copied(proved, tmp_path / "forged")
    replace(statement, digest=other).write(forged)
    content = (proved / f"proof.{prover}").read_bytes()
    (forged / f"proof.{prover}").write_bytes(content[:24] + bytes.fromhex(other) + content[56:])
    assert no(forged, "--keys", others) == unequal
