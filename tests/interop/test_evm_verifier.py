"""The exported contract, compiled by solc and run in an EVM, accepts what our verifier accepts and nothing else."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import tiers
from cli_programs import keys, proof, run
from contracts import FALSE, TRUE, changed, in_evm
from groth16_cases import DIGEST, R, random_system
from groth16_curves import twist_points
from node_tools import snarkjs

from circuitize.circuits.errors import CircuitizeError
from circuitize.provers.groth16.config import COORDINATE_PRIME as Q
from circuitize.provers.groth16.keys import setup
from circuitize.provers.groth16.proof import Proof
from circuitize.provers.groth16.prover import prove, public_values
from circuitize.provers.groth16.solidity import verifier_contract

pytestmark = pytest.mark.interop

COORDINATES = range(0, 8, tiers.count(3, deep=1))
"""Of the points of a proof, those that are changed."""


def words(proof: Proof, publics: Sequence[int]) -> list[int]:
    """a, b with its imaginary parts first, c, publics."""
    values = [int.from_bytes(proof.points[at : at + 32], "little") for at in range(0, 256, 32)]
    ax, ay, bx0, bx1, by0, by1, cx, cy = values
    return [ax, ay, bx1, bx0, by1, by0, cx, cy, *publics]


def test_the_contract_accepts_the_proof_and_nothing_near_it(tmp_path: Path) -> None:
    path = tmp_path / "Verifier.sol"
    outcome = run("solidity", keys(), "-o", path)
    assert outcome.status == 0 and "INSECURE" in outcome.line
    publics = [int(value) for value in json.loads((proof() / "public.json").read_text())]
    valid = words(Proof.read(proof() / "proof.groth16"), publics)
    (x, y) = next(twist_points())
    (ax, ay, bx1, bx0, by1, by0, cx, cy), rest = valid[:8], valid[8:]
    wrong = {
        **{f"public {i} is another": changed(valid, 8 + i, (publics[i] + 1) % R) for i in range(len(publics))},
        **{f"public {i} is not canonical": changed(valid, 8 + i, publics[i] + R) for i in range(len(publics))},
        **{f"coordinate {i} is another": changed(valid, i, (valid[i] + 1) % Q) for i in COORDINATES},
        **{f"coordinate {i} is not canonical": changed(valid, i, valid[i] + Q) for i in COORDINATES},
        "A and C swapped": [cx, cy, *valid[2:6], ax, ay, *rest],
        "-A": changed(valid, 1, Q - ay),
        "-B": [ax, ay, bx1, bx0, Q - by1, Q - by0, cx, cy, *rest],
        "-C": changed(valid, 7, Q - cy),
        "real parts first": [ax, ay, bx0, bx1, by0, by1, cx, cy, *rest],
        "A is the identity": [0, 0, *valid[2:]],
        "B is the identity": [ax, ay, 0, 0, 0, 0, *valid[6:]],
        "C is the identity": [*valid[:6], 0, 0, *rest],
        "all are the identity": [0] * 8 + rest,
        "B outside its group": [ax, ay, x[1], x[0], y[1], y[0], *valid[6:]],
        "other publics": valid[:8] + [0] * len(rest),
    }
    malleated = [ax, Q - ay, bx1, bx0, Q - by1, Q - by0, *valid[6:]]
    answers = in_evm(path.read_text(), [valid, malleated, valid[:-1], *wrong.values()])["calls"]
    assert answers[0] == answers[0] | {"reverted": False, "value": f"0x{TRUE}"}
    assert answers[1]["value"] == f"0x{TRUE}", "-A, -B, C is another proof of the same statement"
    assert answers[2]["reverted"], "a public is missing"
    found = {name: (answer["reverted"], answer["value"]) for name, answer in zip(wrong, answers[3:], strict=True)}
    assert found == dict.fromkeys(wrong, (False, f"0x{FALSE}"))
    print(f"{len(publics)} publics: {answers[0]['execution_gas']:,} gas of execution, {answers[0]['gas']:,} in all")
    assert answers[0]["execution_gas"] < 190_000 + 8_000 * len(publics)


def test_the_arguments_are_those_that_snarkjs_exports() -> None:
    status, printed = snarkjs("zkey", "export", "soliditycalldata", proof() / "public.json", proof() / "proof.json")
    assert status == 0, printed
    nested = json.loads(f"[{printed[printed.index('[') :]}]")
    publics = [int(value) for value in json.loads((proof() / "public.json").read_text())]
    flat = [int(word, 16) for word in np.concatenate([np.ravel(part) for part in nested])]
    assert flat == words(Proof.read(proof() / "proof.groth16"), publics)


@pytest.mark.parametrize("inputs", [1, 64])
def test_the_fewest_and_the_most_publics(tmp_path: Path, inputs: int) -> None:
    system, witness = random_system(7, outputs=0, inputs=inputs)
    key = setup(system, DIGEST, tmp_path)
    publics = public_values(system, witness)
    valid = words(prove(system, witness, key, DIGEST), publics)
    calls = [valid, changed(valid, len(valid) - 1, (publics[-1] + 1) % R)]
    answers = in_evm(verifier_contract(key.verifying_key), calls)["calls"]
    assert [answer["value"] for answer in answers] == [f"0x{TRUE}", f"0x{FALSE}"]


def test_more_publics_are_refused(tmp_path: Path) -> None:
    key = setup(random_system(8, outputs=0, inputs=65)[0], DIGEST, tmp_path).verifying_key
    with pytest.raises(CircuitizeError, match=r"expected 1 to 64 public values in a contract, found 65; .*"):
        verifier_contract(key)
