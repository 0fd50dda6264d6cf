"""Powers of tau of a ceremony: a file made here from a known tau gives keys, and each wrong part of it is refused."""

from pathlib import Path
from struct import pack as packed
from typing import Any

import pytest
from groth16_curves import Sum, multiply, pack, scaled, twist_points
from halo2_systems import DIGEST, cells, squares

from circuitize.backends.field import BN254
from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.provers.groth16.config import COORDINATE_PRIME as Q
from circuitize.provers.halo2 import keys, prover, verifier

R = BN254.prime
K = 6
Known = tuple[list[bytes], list[bytes], bytes]
TAU = 0x1234567890ABCDEF1234567890ABCDEF
G1 = ((1, 0), (2, 0))
G2 = (
    (
        10857046999023057135944570762232829481370756359578518086990519993285655852781,
        11559732032986387107991004021392285783925812861821192530917403151452391805634,
    ),
    (
        8495653923123431417604973247489272438418190587263600148770280649306958101930,
        4082367875863433681332203403145435568316851327593401208105741076214120093531,
    ),
)


def montgomery(point: Sum, size: int) -> bytes:
    """A point as .ptau files hold it."""
    assert point is not None
    return pack(scaled(point, 1 << 256), size)


def parts() -> Known:
    """tau^i G, L_j(tau) G for snarkjs' root 5^((r - 1) / 2^k), and tau in G2."""
    size = 1 << K
    root = pow(5, (R - 1) >> K, R)
    scale = (pow(TAU, size, R) - 1) * pow(size, -1, R) % R
    basis = [scale * pow(root, j, R) * pow(TAU - pow(root, j, R), -1, R) % R for j in range(size)]
    powers = [montgomery(multiply(G1, pow(TAU, i, R)), 64) for i in range(size)]
    return powers, [montgomery(multiply(G1, value), 64) for value in basis], montgomery(multiply(G2, TAU), 128)


def ptau(
    path: Path,
    powers: list[bytes],
    basis: list[bytes],
    tau: bytes,
    prime: int = Q,
    power: int = K,
    prepared: bool = True,
) -> Path:
    """The sections that are read; others, and points that are not, are left out or zeros."""
    size = 1 << power
    sections = {
        1: packed("<I", 32) + prime.to_bytes(32, "little") + packed("<II", power, power),
        2: b"".join(powers).ljust(64 * (2 * size - 1), b"\0"),
        3: (bytes(128) + tau).ljust(128 * size, b"\0"),
    }
    if prepared:
        sections[12] = (bytes(64 * ((1 << K) - 1)) + b"".join(basis)).ljust(64 * (4 * size - 1), b"\0")
    content = b"ptau" + packed("<II", 1, len(sections))
    for kind, payload in sections.items():
        content += packed("<IQ", kind, len(payload)) + payload
    path.write_bytes(content)
    return path


@pytest.fixture(scope="module")
def known() -> Known:
    return parts()


def test_keys_from_a_ceremony(known: Known, tmp_path: Path) -> None:
    key = keys.setup(squares(), DIGEST, tmp_path / "keys", ptau=ptau(tmp_path / "powers.ptau", *known))
    assert key.verifying_key.setup == "ceremony"
    assert {path.name for path in (tmp_path / "keys").iterdir()} == {"proving.key", "verifying.key"}
    proof = prover.prove(squares(), cells(), key, DIGEST)
    assert verifier.refusal(proof, keys.VerifyingKey.read(tmp_path / "keys"), cells().publics) is None
    # A longer ceremony has the same first powers.
    longer = keys.setup(
        squares(), DIGEST, tmp_path / "longer", ptau=ptau(tmp_path / "longer.ptau", *known, power=K + 1)
    )
    assert longer.verifying_key.native.encode() == key.verifying_key.native.encode()


def test_powers_that_are_none_are_refused(known: Known, tmp_path: Path) -> None:
    powers, basis, tau = known
    point = montgomery(multiply(G1, 5), 64)
    other = montgomery(multiply(G2, TAU + 1), 128)
    outside = montgomery(next(twist_points()), 128)
    ones = [powers[0]] * len(powers)
    wrong = {
        "not powers of one secret": ([*powers[:5], point, *powers[6:]], basis, tau),
        "not the generator": ([point, *powers[1:]], basis, tau),
        "basis is not that of": (powers, [*basis[:9], point, *basis[10:]], tau),
        "basis is not that": (powers, [*basis[1:], basis[0]], tau),
        "powers of one": (powers, basis, other),
        "tau in G2 is not in its group": (powers, basis, outside),
        "nobody has contributed": (ones, basis, montgomery(G2, 128)),
        "of the powers of tau is not on the curve": ([*powers[:3], bytes(64), *powers[4:]], basis, tau),
        "of the Lagrange basis is not on the curve": (powers, [b"\1" * 64, *basis[1:]], tau),
    }
    for match, made in wrong.items():
        with pytest.raises(CircuitizeError, match=match) as raised:
            keys.setup(squares(), DIGEST, tmp_path / "keys", ptau=ptau(tmp_path / "wrong.ptau", *made))
        assert "\n" not in str(raised.value)
    assert not (tmp_path / "keys").exists()


def test_other_files_are_refused(known: Known, tmp_path: Path) -> None:
    def refused(match: str, **changes: Any) -> None:
        with pytest.raises(FormatError, match=match):
            keys.setup(squares(), DIGEST, tmp_path / "keys", ptau=ptau(tmp_path / "wrong.ptau", *known, **changes))

    refused("another curve", prime=R)
    refused("at least 2\\^6 rows, found for 2\\^5", power=K - 1)
    refused("prepare phase2", prepared=False)
    path = ptau(tmp_path / "cut.ptau", *known)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(FormatError, match="end of the file"):
        keys.setup(squares(), DIGEST, tmp_path / "keys", ptau=path)
