"""snarkjs accepts our proofs against our keys, and rejects what we reject."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from groth16_cases import DIGEST, R, random_system
from node_tools import ask

from circuitize.provers.groth16.keys import setup
from circuitize.provers.groth16.prover import prove, public_values
from circuitize.provers.groth16.snarkjs import proof_text, public_text

pytestmark = pytest.mark.interop


def accepts(key_file: Path, publics: Sequence[int], proof: str) -> bool:
    key, public, points = (json.loads(text) for text in (key_file.read_text(), public_text(publics), proof))
    (found,) = ask({"tool": "call", "of": "groth16.verify", "given": [key, public, points]})
    return bool(found)


@pytest.mark.parametrize(("seed", "outputs", "inputs"), [(1, 2, 3), (2, 1, 0), (3, 0, 40)])
def test_snarkjs_verifies_our_proofs(tmp_path: Path, seed: int, outputs: int, inputs: int) -> None:
    system, witness = random_system(seed, outputs=outputs, inputs=inputs)
    key = setup(system, DIGEST, tmp_path)
    publics = public_values(system, witness)
    proof = proof_text(prove(system, witness, key, DIGEST))
    verification_key = tmp_path / "verification_key.json"
    assert accepts(verification_key, publics, proof)
    assert not accepts(verification_key, [(publics[0] + 1) % R, *publics[1:]], proof)
    changed = json.loads(proof)
    changed["pi_a"], changed["pi_c"] = changed["pi_c"], changed["pi_a"]
    assert not accepts(verification_key, publics, json.dumps(changed))


def test_the_pairing_in_the_key_is_the_one_that_snarkjs_computes(tmp_path: Path) -> None:
    setup(random_system(1)[0], DIGEST, tmp_path)
    key = json.loads((tmp_path / "verification_key.json").read_text())
    assert ask({"tool": "pairing", "key": key}) == [key["vk_alphabeta_12"]]
