"""Checking a Mirage proof, which has a commitment, against the verifier's own key and public values."""

from __future__ import annotations

from collections.abc import Sequence

from circuitize._native import mirage_verify
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

    The argument `publics` holds the public outputs, followed by the public inputs; the verifier computes the challenge,
    the last public wire, from these values, the key and the proof's commitment. Apart from the challenge and the
    commitment, a Mirage proof is verified as `groth16.verifier.refusal` verifies a Groth16 proof.

    Mirage's soundness is that of `groth16.verifier.refusal`; in addition, the committed wires were fixed before the
    challenge, as long as SHA-256 behaves as a random oracle: for a prover who tries q hashes, a false identity of
    degree d passes with probability at most (q + 1) d / 2^253.
    """
    reason = mismatch(proof, key, publics, digest)
    return mirage_verify(key.native, BN254.from_integers(publics), proof.points) if reason is None else reason
