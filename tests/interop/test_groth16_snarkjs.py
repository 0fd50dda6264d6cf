"""snarkjs accepts our proofs against our keys, and rejects what we reject."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from groth16_cases import DIGEST, R, random_system
from interop.node_tools import FOLDER, need_node, snarkjs

from circuitize.provers.groth16.keys import setup
from circuitize.provers.groth16.prover import prove, public_values
from circuitize.provers.groth16.snarkjs import proof_text, public_text

pytestmark = pytest.mark.interop


def accepts(folder: Path, key: Path, publics: Sequence[int], proof: str) -> bool:
    (folder / "public.json").write_text(public_text(publics))
    (folder / "proof.json").write_text(proof)
    status, output = snarkjs("groth16", "verify", key, folder / "public.json", folder / "proof.json")
    assert ("OK!" in output) == (status == 0), output
    return status == 0


@pytest.mark.parametrize(("seed", "outputs", "inputs"), [(1, 2, 3), (2, 1, 0), (3, 0, 40)])
def test_snarkjs_verifies_our_proofs(tmp_path: Path, seed: int, outputs: int, inputs: int) -> None:
    system, witness = random_system(seed, outputs=outputs, inputs=inputs)
    key = setup(system, DIGEST, tmp_path)
    publics = public_values(system, witness)
    proof = proof_text(prove(system, witness, key, DIGEST))
    verification_key = tmp_path / "verification_key.json"
    assert accepts(tmp_path, verification_key, publics, proof)
    assert not accepts(tmp_path, verification_key, [(publics[0] + 1) % R, *publics[1:]], proof)
    changed = json.loads(proof)
    changed["pi_a"], changed["pi_c"] = changed["pi_c"], changed["pi_a"]
    assert not accepts(tmp_path, verification_key, publics, json.dumps(changed))


def test_the_pairing_in_the_key_is_the_one_that_snarkjs_computes(tmp_path: Path) -> None:
    need_node()
    setup(random_system(1)[0], DIGEST, tmp_path)
    program = """
import { createRequire } from "module";
import fs from "fs";
const require = createRequire(process.argv[1]);
const { buildBn128, utils } = require("ffjavascript");
const key = utils.unstringifyBigInts(JSON.parse(fs.readFileSync(process.argv[2])));
const curve = await buildBn128(true);
const pairing = curve.pairing(curve.G1.fromObject(key.vk_alpha_1), curve.G2.fromObject(key.vk_beta_2));
console.log(JSON.stringify(utils.stringifyBigInts(curve.Gt.toObject(pairing))));
"""
    done = subprocess.run(
        ["node", "--input-type=module", "-e", program, FOLDER / "package.json", tmp_path / "verification_key.json"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads((tmp_path / "verification_key.json").read_text())["vk_alphabeta_12"]
