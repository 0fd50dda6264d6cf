"""Checking a Groth16 proof against the verifier's own key and public values."""

from __future__ import annotations

from collections.abc import Sequence

from circuitize._native import groth16_verify
from circuitize.backends.field import BN254
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

    The argument `publics` holds the values of the public outputs, followed by those of the public inputs. Public values
    outside [0, r) are refused, not reduced; points off the curve, outside the group of order r, or at infinity are
    refused as well. The argument `digest` names the circuit that the verifier expects, in case the verifier holds more
    than a key; it is compared with the digest in the proof.

    Soundness: whoever made a proof that passes knows a satisfying witness, or knows the secrets of the setup
    (`key.setup` says whether these may exist).
    """
    reason = mismatch(proof, key, publics, digest)
    return groth16_verify(key.native, BN254.from_integers(publics), proof.points) if reason is None else reason
