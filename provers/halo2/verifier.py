"""Checking a halo2 proof against the verifier's own key and public values."""

from __future__ import annotations

from collections.abc import Sequence

from circuitize._native import halo2_verify
from circuitize.backends.field import BN254, Limbs
from circuitize.provers.binding import mismatch

from .keys import VerifyingKey
from .proof import Proof


def verify(proof: Proof, key: VerifyingKey, publics: Sequence[int], digest: str | None = None) -> bool:
    """Return whether `proof` shows that some witness with the given public values satisfies the circuit of `key`.

    The function `refusal` says why a proof does not hold.
    """
    return refusal(proof, key, publics, digest) is None


def refusal(proof: Proof, key: VerifyingKey, publics: Sequence[int], digest: str | None = None) -> str | None:
    """Return None if the proof is valid, or else a text of one line that says why it is not.

    The argument `publics` holds the values of the instance columns, one column after the other. Public values outside
    [0, r) are refused, not reduced; points off the curve, bytes after the proof's end, and too many or too few public
    values are refused as well. The argument `digest` names the program that the verifier expects, in case the verifier
    holds more than a key; it is compared with the digest in the proof.

    Soundness: whoever made a proof that passes knows a satisfying witness whose phase 0 was fixed before its
    challenges, or knows tau (`key.setup` says whether anybody may), in the algebraic group model, as long as Keccak-256
    behaves as a random oracle: a prover who tries q hashes passes with probability at most about 6 q ((d + c + w) n +
    e) / 2^256; docs/halo2.md explains each term.
    """
    reason = mismatch(proof, key, publics, digest)
    return halo2_verify(key.native, instance_columns(key, publics), proof.content) if reason is None else reason


def instance_columns(key: VerifyingKey, publics: Sequence[int]) -> list[Limbs]:
    """Return the public values as instance columns, each with as many values as the key expects."""
    columns, at = [], 0
    for length in key.native.instances:
        columns.append(BN254.from_integers(publics[at : at + length]))
        at += length
    return columns
