"""Proofs, verifying keys and public values as snarkjs reads and writes them (JSON, decimal strings)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

from circuitize._native import Groth16VerifyingKey
from circuitize.circuits.errors import FormatError
from circuitize.provers.binding import digest_bytes, require_prover

from .config import COORDINATE_PRIME, SCALAR_PRIME
from .keys import VerifyingKey
from .proof import Proof

PROTOCOL = {"protocol": "groth16", "curve": "bn128"}
WIDTH = 32

T = TypeVar("T")


def proof_text(proof: Proof) -> str:
    """`proof.json`. Raises KeyMismatch for a proof with a commitment, which snarkjs has no form for."""
    require_prover(proof.prover, "groth16", "a proof")
    a, b, c = proof.points[:64], proof.points[64:192], proof.points[192:]
    return _text({"pi_a": _g1(a), "pi_b": _g2(b), "pi_c": _g1(c)} | PROTOCOL)


def public_text(publics: Sequence[int]) -> str:
    """`public.json`: outputs, then inputs."""
    return _text([str(value) for value in publics])


def verifying_key_text(key: VerifyingKey) -> str:
    """`verification_key.json`; the digest and the kind of setup have no place in it. Errors as `proof_text`."""
    require_prover(key.prover, "groth16", "a key")
    points = key.native.points()
    pairing = [_integer(value) for value in _split(key.native.alpha_beta())]
    inputs = points[64 + 3 * 128 :]
    content = {
        **PROTOCOL,
        "nPublic": key.public,
        "vk_alpha_1": _g1(points[:64]),
        "vk_beta_2": _g2(points[64:192]),
        "vk_gamma_2": _g2(points[192:320]),
        "vk_delta_2": _g2(points[320:448]),
        "vk_alphabeta_12": [[pairing[6 * i + 2 * j :][:2] for j in range(3)] for i in range(2)],
        "IC": [_g1(inputs[at : at + 64]) for at in range(0, len(inputs), 64)],
    }
    return _text(content)


def read_proof(path: Path, digest: str) -> Proof:
    """A proof from snarkjs, claimed to be for the circuit of `digest`. Raises FormatError."""
    return _read(path, "proof.json", lambda content: _proof(content, digest))


def read_public(path: Path) -> list[int]:
    """Public values, each in [0, r). Raises FormatError."""
    return _read(path, "public.json", lambda content: [_number(value, SCALAR_PRIME) for value in content])


def read_verifying_key(path: Path, digest: str, setup: Literal["development", "ceremony"]) -> VerifyingKey:
    """A verifying key from snarkjs. The caller vouches for its circuit and for its setup; nothing in the file
    could. Every point is checked to lie in its group. Raises FormatError."""
    return _read(path, "verification_key.json", lambda content: _verifying_key(content, digest, setup))


def _proof(content: Any, digest: str) -> Proof:
    _check_protocol(content)
    points = _g1_bytes(content["pi_a"]) + _g2_bytes(content["pi_b"]) + _g1_bytes(content["pi_c"])
    return Proof(digest_bytes(digest).hex(), points)


def _verifying_key(content: Any, digest: str, setup: Literal["development", "ceremony"]) -> VerifyingKey:
    _check_protocol(content)
    if len(content["IC"]) != content["nPublic"] + 1:
        raise ValueError(f"{len(content['IC'])} points in IC for {content['nPublic']} publics")
    points = [
        _g1_bytes(content["vk_alpha_1"]),
        *(_g2_bytes(content[name]) for name in ("vk_beta_2", "vk_gamma_2", "vk_delta_2")),
        *(_g1_bytes(point) for point in content["IC"]),
    ]
    return VerifyingKey(Groth16VerifyingKey.build(setup, digest_bytes(digest), b"".join(points)))


def _check_protocol(content: Any) -> None:
    for name, expected in PROTOCOL.items():
        if content[name] != expected:
            raise ValueError(f"expected {name} {expected}, found {content[name]!r}")


def _read(path: Path, name: str, parse: Callable[[Any], T]) -> T:
    try:
        return parse(json.loads(Path(path).read_text(encoding="utf-8")))
    except OSError as error:
        raise FormatError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise FormatError(f"{path} is not snarkjs' {name} for Groth16 over bn128: {reason}") from error


def _text(content: object) -> str:
    return json.dumps(content, indent=1)


def _split(content: bytes) -> list[bytes]:
    return [content[at : at + WIDTH] for at in range(0, len(content), WIDTH)]


def _integer(coordinate: bytes) -> str:
    return str(int.from_bytes(coordinate, "little"))


def _g1(content: bytes) -> list[str]:
    return [*(_integer(coordinate) for coordinate in _split(content)), "1"]


def _g2(content: bytes) -> list[list[str]]:
    x0, x1, y0, y1 = (_integer(coordinate) for coordinate in _split(content))
    return [[x0, x1], [y0, y1], ["1", "0"]]


def _number(value: object, bound: int) -> int:
    if not (isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= len(str(bound))):
        raise ValueError(f"expected a decimal number in a string, found {value!r}")
    number = int(value)
    if number >= bound:
        raise ValueError(f"{value} is not below {bound}")
    return number


def _coordinate(value: object) -> bytes:
    return _number(value, COORDINATE_PRIME).to_bytes(WIDTH, "little")


def _g1_bytes(point: Any) -> bytes:
    x, y, z = point
    if z != "1":
        raise ValueError(f"expected an affine point, with 1 as its last coordinate, found {z!r}")
    return _coordinate(x) + _coordinate(y)


def _g2_bytes(point: Any) -> bytes:
    x, y, z = point
    if z != ["1", "0"]:
        raise ValueError(f"expected an affine point, with 1, 0 as its last coordinate, found {z!r}")
    (x0, x1), (y0, y1) = x, y
    return b"".join(_coordinate(value) for value in (x0, x1, y0, y1))
