"""Verifying keys with delta = gamma, as snarkjs writes before the first contribution, were accepted: all can forge."""

import json
from pathlib import Path

import pytest
from groth16_cases import DIGEST, R, random_system
from groth16_curves import Sum, add, multiply, negative, pack, unpack

from circuitize._native import Groth16VerifyingKey
from circuitize.circuits.errors import FormatError
from circuitize.provers.groth16.keys import VerifyingKey, setup
from circuitize.provers.groth16.proof import Proof
from circuitize.provers.groth16.snarkjs import verifying_key_text
from circuitize.provers.groth16.snarkjs_files import read_verifying_key
from circuitize.provers.groth16.verifier import verify

GAMMA, DELTA = slice(192, 320), slice(320, 448)


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> VerifyingKey:
    return setup(random_system(1)[0], DIGEST, tmp_path_factory.mktemp("keys")).verifying_key


def forged(key: VerifyingKey, publics: list[int], scale: int) -> Proof:
    """A proof made from the verifying key alone, where delta = gamma / scale: no system, no witness."""
    points = key.native.points()
    inputs = [unpack(points[at : at + 64]) for at in range(448, len(points), 64)]
    total: Sum = inputs[0]
    for value, point in zip(publics, inputs[1:], strict=True):
        total = add(total, multiply(point, value))
    return Proof(DIGEST, points[:192] + pack(negative(multiply(total, scale)), 64))


def with_delta(key: VerifyingKey, scale: int) -> bytes:
    """The key's points with delta = gamma / scale."""
    points = bytearray(key.native.points())
    gamma = unpack(bytes(points[GAMMA]))
    points[DELTA] = pack(negative(gamma) if scale == -1 else multiply(gamma, pow(scale, -1, R)), 128)
    return bytes(points)


def test_whoever_knows_delta_over_gamma_proves_anything(key: VerifyingKey) -> None:
    """A ratio of 7 looks like any other key: this is what the trusted setup is trusted for."""
    known = VerifyingKey(Groth16VerifyingKey.build("development", bytes.fromhex(DIGEST), with_delta(key, 7)))
    for publics in ([1, 2, 3, 4, 5], [R - 1] * 5):
        assert verify(forged(known, publics, 7), known, publics)
        assert not verify(forged(known, publics, 7), key, publics)


@pytest.mark.parametrize("scale", [1, -1])
def test_keys_that_everyone_can_forge_for_are_refused(key: VerifyingKey, scale: int, tmp_path: Path) -> None:
    content = with_delta(key, scale)
    with pytest.raises(ValueError, match="nobody has contributed"):
        Groth16VerifyingKey.build("ceremony", bytes.fromhex(DIGEST), content)
    x0, x1, y0, y1 = (int.from_bytes(content[at : at + 32], "little") for at in range(320, 448, 32))
    written = json.loads(verifying_key_text(key))
    written["vk_delta_2"] = [[str(x0), str(x1)], [str(y0), str(y1)], ["1", "0"]]
    (tmp_path / "verification_key.json").write_text(json.dumps(written))
    with pytest.raises(FormatError, match="nobody has contributed"):
        read_verifying_key(tmp_path / "verification_key.json", DIGEST, "ceremony")
