"""The command line with the prover mirage: what it writes and reports, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from shutil import copytree

from cli_programs import STEP, keys, proof, refused, reported, run

from circuitize.provers.statement import read_statement


def test_what_is_reported(tmp_path: Path) -> None:
    made, proved = keys("step", "mirage"), reported(proof("step", "mirage"))
    assert reported(made)["verifying_key_bytes"] == 72 + 64 + 4 * 128 + 64 * (1 + 4 + 2 + 1) + 32
    phases = proved["phases"]
    assert proved["proof_bytes"] == 216
    assert phases["prove"]["seconds"] == proved["prove_seconds"] >= phases["commit"]["seconds"] > 0
    assert abs(proved["witness_seconds"] - phases["trace"]["seconds"] - phases["witness"]["seconds"]) < 0.001
    assert next(iter(phases["prove"]["parts_seconds"])) == "commit"
    report = json.loads(run("solidity", made, "-o", tmp_path / "v.sol", "--json").out)
    assert (report["prover"], report["public"]) == ("mirage", 6)
    again = run("solidity", made / "verifying.key", "--prover", "mirage", "-o", tmp_path / "again.sol")
    assert again.status == 0
    assert (tmp_path / "v.sol").read_text() == (tmp_path / "again.sol").read_text()
    assert "sha256(abi.encodePacked(DOMAIN, KEY, publics, d))" in (tmp_path / "v.sol").read_text()


def test_the_provers_do_not_mix(tmp_path: Path) -> None:
    made, proved = keys("step", "mirage"), proof("step", "mirage")
    line = "a key for the prover {0}, expected one for {1}; remedy: use --prover {0}, or make keys for {1}"
    prove = ("prove", STEP, "-o", tmp_path / "proof")
    for own, foreign, given in (("groth16", "mirage", made), ("mirage", "groth16", keys())):
        outcome = run(*prove, "--prover", own, "--keys", given)
        assert outcome.status == 2
        assert f"expected keys of the prover {own}, found" in outcome.err.splitlines()[-1]
        assert f"--prover {foreign}, or make keys" in outcome.err.splitlines()[-1]
        for command in (("verify", proved, "--keys", given), ("solidity", given, "-o", tmp_path / "v.sol")):
            assert refused(*command, "--prover", own).endswith(line.format(foreign, own))
    assert "expected a proof of mirage, which the key is for, found one of 'groth16'" in refused(
        "verify", proof(), "--keys", made
    )
    assert "expected a proof of groth16, which the key is for, found one of 'mirage'" in refused(
        "verify", proved, "--keys", keys()
    )
    # A statement that names the key's prover does not make the proof one of its proofs.
    copytree(proof(), tmp_path / "renamed")
    replace(read_statement(proof()), prover="mirage").write(tmp_path / "renamed")
    (tmp_path / "renamed" / "proof.groth16").rename(tmp_path / "renamed" / "proof.mirage")
    assert "a proof of the prover groth16, expected one of mirage" in refused(
        "verify", tmp_path / "renamed", "--keys", made
    )
    assert not (tmp_path / "proof").exists()


def test_what_needs_another_prover_says_so(tmp_path: Path) -> None:
    ceremony = ("--zkey", tmp_path / "a.zkey", "--ptau", tmp_path / "a.ptau")
    line = refused("setup", STEP, "--prover", "mirage", *ceremony, "-o", tmp_path / "keys")
    assert "expected the prover groth16 with it, found mirage" in line
    line = refused("prove", STEP, "--prover", "mirage", "-o", tmp_path / "proof")
    assert line.endswith(f"mirage needs a proving key: circuitize setup {STEP} --prover mirage -o KEYS")
