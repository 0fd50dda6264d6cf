"""The command line with the prover halo2: what it writes and reports, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

from cli_programs import STEP, copied, keys, proof, refused, reported, run

from circuitize.backends.plonkish.emit import emit
from circuitize.cli.loading import load_program
from circuitize.provers.halo2.cost import sizes
from circuitize.provers.halo2.proof import most_bytes


def test_what_is_reported_was_estimated_exactly() -> None:
    made, proved = reported(keys("step", "halo2")), reported(proof("step", "halo2"))
    system = emit(load_program(STEP).integer).summed.system
    exact = sizes(system)
    assert exact["proof_bytes"] < most_bytes(bytes(exact["verifying_key_bytes"]))
    assert (made["k"], made["degree"], made["constraints"]) == (system.k, exact.pop("degree"), len(system.gates))
    estimated = json.loads(run("estimate", STEP, "--target", "plonkish", "--json").out)["targets"]["plonkish"]
    for found in (made | proved, estimated):
        assert {name: found[name] for name in exact} == exact


def test_a_proof_is_as_long_as_its_key_allows(tmp_path: Path) -> None:
    made, proved = keys("step", "halo2"), copied(proof("step", "halo2"), tmp_path / "long")
    most = most_bytes((made / "verifying.key").read_bytes())
    path = proved / "proof.halo2"
    content = path.read_bytes()
    assert len(content) < most < 1 << 22
    path.write_bytes(content + bytes(most - len(content)))
    assert run("verify", proved, "--keys", made).out.endswith("after the end of the proof\n")
    path.write_bytes(content + bytes(most + 1 - len(content)))
    assert f"expected a proof of at most {most:,} bytes" in refused("verify", proved, "--keys", made)


def test_what_is_refused(tmp_path: Path) -> None:
    """In one line, with status 2: other provers' keys, keys in the proof's folder, a contract, a .zkey, a cut file."""
    made, proved = keys("step", "halo2"), proof("step", "halo2")
    prove = ("prove", STEP, "-o", tmp_path / "proof")
    assert "expected keys of the prover halo2" in refused(*prove, "--prover", "halo2", "--keys", keys())
    assert "expected keys of the prover groth16" in refused(*prove, "--prover", "groth16", "--keys", made)
    assert "circuitize setup" in refused(*prove, "--prover", "halo2")
    assert "expected keys of the program" in refused(*prove, "--prover", "halo2", "--keys", keys("other", "halo2"))
    assert "not a verifying key" in refused("verify", proved, "--keys", keys(), "--prover", "halo2")
    assert "expected a proof of groth16" in refused("verify", proved, "--keys", keys())
    assert "contract" in refused("solidity", made, "-o", tmp_path / "v.sol")
    setup = ("setup", STEP, "--prover", "halo2", "-o", tmp_path / "keys")
    assert "--ptau alone" in refused(*setup, "--zkey", tmp_path / "a", "--ptau", tmp_path / "b")
    assert "none.ptau" in refused(*setup, "--ptau", tmp_path / "none.ptau")
    copied(proved, tmp_path / "cut")
    content = (proved / "proof.halo2").read_bytes()
    (tmp_path / "cut" / "proof.halo2").write_bytes(content[:40])
    assert "expected a halo2 proof of more than" in refused("verify", tmp_path / "cut", "--keys", made)
    copied(proved, tmp_path / "own")
    copied(made, tmp_path / "own" / "keys")
    assert "inside the proof's folder" in refused("verify", tmp_path / "own", "--keys", tmp_path / "own" / "keys")
