"""Proofs, verifying keys and public values in the format of snarkjs: JSON with numbers as decimal strings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from circuitize.provers.binding import require_prover

from .proof import Proof

if TYPE_CHECKING:
    from .keys import VerifyingKey

PROTOCOL = {"protocol": "groth16", "curve": "bn128"}
WIDTH = 32


def proof_text(proof: Proof) -> str:
    """Return the text of the file `proof.json` of snarkjs. Raise KeyMismatch for a proof with a commitment, which
    snarkjs's format cannot represent.
    """
    require_prover(proof.prover, "groth16", "a proof")
    a, b, c = proof.points[:64], proof.points[64:192], proof.points[192:]
    return _text({"pi_a": _g1(a), "pi_b": _g2(b), "pi_c": _g1(c)} | PROTOCOL)


def public_text(publics: Sequence[int]) -> str:
    """Return the text of snarkjs's file `public.json`, which lists the public outputs, then the public inputs."""
    return _text([str(value) for value in publics])


def verifying_key_text(key: VerifyingKey) -> str:
    """Return the text of snarkjs's file `verification_key.json`, which cannot state the digest and the kind of setup.
    Raise KeyMismatch for the same reasons as `proof_text`.
    """
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
