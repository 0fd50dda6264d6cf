"""Reading proofs, verifying keys and public values that snarkjs wrote; the module `snarkjs` writes texts that snarkjs
reads.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, TypeVar

from circuitize._native import Groth16VerifyingKey
from circuitize.circuits.errors import FormatError
from circuitize.circuits.reading import read_list, read_object, whole
from circuitize.provers.binding import digest_bytes

from .config import COORDINATE_PRIME, SCALAR_PRIME
from .keys import VerifyingKey
from .proof import Proof
from .snarkjs import PROTOCOL, WIDTH

T = TypeVar("T")


def read_proof(path: Path, digest: str) -> Proof:
    """Return the proof in a file of snarkjs, as one that claims to belong to the circuit with the digest `digest`.
    Raise FormatError for a file that is not a proof of snarkjs.
    """
    return _read(path, "proof.json", lambda content: _proof(content, digest))


def read_public(path: Path) -> list[int]:
    """Return the public values in a file of snarkjs, each in [0, r). Raise FormatError for a file that holds no public
    values.
    """
    return _read(path, "public.json", lambda content: [_number(value, SCALAR_PRIME) for value in read_list(content)])


def read_verifying_key(path: Path, digest: str, setup: Literal["development", "ceremony"]) -> VerifyingKey:
    """Return the verifying key in a file of snarkjs. The caller vouches for the circuit and the setup of the key, since
    snarkjs's file states neither. Every point of the key is checked to lie in its group. Raise FormatError for a file
    that is not a verifying key of snarkjs.
    """
    return _read(path, "verification_key.json", lambda content: _verifying_key(content, digest, setup))


def _proof(content: object, digest: str) -> Proof:
    named = _of_protocol(content)
    points = _g1_bytes(named["pi_a"]) + _g2_bytes(named["pi_b"]) + _g1_bytes(named["pi_c"])
    return Proof(digest_bytes(digest).hex(), points)


def _verifying_key(content: object, digest: str, setup: Literal["development", "ceremony"]) -> VerifyingKey:
    named = _of_protocol(content)
    inputs, publics = read_list(named["IC"]), whole(named["nPublic"])
    if len(inputs) != publics + 1:
        raise ValueError(f"{len(inputs)} points in IC for {publics} publics")
    points = [
        _g1_bytes(named["vk_alpha_1"]),
        *(_g2_bytes(named[name]) for name in ("vk_beta_2", "vk_gamma_2", "vk_delta_2")),
        *map(_g1_bytes, inputs),
    ]
    return VerifyingKey(Groth16VerifyingKey.build(setup, digest_bytes(digest), b"".join(points)))


def _of_protocol(content: object) -> Mapping[str, object]:
    named = read_object(content)
    for name, expected in PROTOCOL.items():
        if named[name] != expected:
            raise ValueError(f"expected {name} {expected}, found {named[name]!r}")
    return named


def _read(path: Path, name: str, parse: Callable[[object], T]) -> T:
    try:
        return parse(json.loads(Path(path).read_text(encoding="utf-8")))
    except OSError as error:
        raise FormatError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise FormatError(f"{path} is not snarkjs' {name} for Groth16 over bn128: {reason}") from error


def _number(value: object, bound: int) -> int:
    if not (isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= len(str(bound))):
        raise ValueError(f"expected a decimal number in a string, found {value!r}")
    number = int(value)
    if number >= bound:
        raise ValueError(f"{value} is not below {bound}")
    return number


def _coordinate(value: object) -> bytes:
    return _number(value, COORDINATE_PRIME).to_bytes(WIDTH, "little")


def _g1_bytes(point: object) -> bytes:
    x, y, z = read_list(point)
    if z != "1":
        raise ValueError(f"expected an affine point, with 1 as its last coordinate, found {z!r}")
    return _coordinate(x) + _coordinate(y)


def _g2_bytes(point: object) -> bytes:
    x, y, z = read_list(point)
    if z != ["1", "0"]:
        raise ValueError(f"expected an affine point, with 1, 0 as its last coordinate, found {z!r}")
    (x0, x1), (y0, y1) = read_list(x), read_list(y)
    return b"".join(_coordinate(value) for value in (x0, x1, y0, y1))
