"""Checking a proof against the verifier's own key and public values."""

from __future__ import annotations

from collections.abc import Sequence

from circuitize._native import groth16_verify
from circuitize.backends.field import BN254
from circuitize.provers.binding import mismatch

from .keys import VerifyingKey
from .proof import Proof


def verify(proof: Proof, key: VerifyingKey, publics: Sequence[int], digest: str | None = None) -> bool:
    """Whether `proof` shows that some witness with these public values satisfies the circuit of `key`.

    The function `refusal` says why a proof does not show the statement.
    """
    return refusal(proof, key, publics, digest) is None


def refusal(proof: Proof, key: VerifyingKey, publics: Sequence[int], digest: str | None = None) -> str | None:
    """Return None if the proof is valid, else one line that says why it is not.

    The argument `publics` holds the values of public outputs, then of public inputs. Public values outside [0, r) are
    refused, not reduced, and so are points off the curve, outside the group of order r, or at infinity. The argument
    `digest` names the circuit that the verifier expects, if it does not only hold a key; the digest in the proof is
    compared with it.

    Soundness: a proof that passes was made by someone who knows a satisfying witness, or who knows the secrets
    of the setup (`key.setup` says whether those may exist).
    """
    reason = mismatch(proof, key, publics, digest)
    return groth16_verify(key.native, BN254.from_integers(publics), proof.points) if reason is None else reason
