"""Checking a proof against the verifier's own key and public values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from circuitize._native import groth16_verify

from .config import SCALAR_PRIME
from .keys import VerifyingKey
from .proof import Proof


def verify(proof: Proof, key: VerifyingKey, publics: Sequence[int], digest: str | None = None) -> bool:
    """Whether `proof` shows that some witness with these public values satisfies the circuit of `key`.

    See `refusal`, which says why not.
    """
    return refusal(proof, key, publics, digest) is None


def refusal(proof: Proof, key: VerifyingKey, publics: Sequence[int], digest: str | None = None) -> str | None:
    """None where the proof is valid, else one line that says why it is not.

    `publics` are outputs, then inputs. Values outside [0, r) are refused, not reduced, and so are points off
    the curve, outside the group of order r, or at infinity. `digest` is the circuit the verifier expects, where
    it knows more than its key; the proof's own claim is compared, never believed.

    Soundness: a proof that passes was made by someone who knows a satisfying witness, or who knows the secrets
    of the setup (`key.setup` says whether those may exist).
    """
    reason = mismatch(proof, key, publics, digest)
    return groth16_verify(key.native, public_limbs(publics), proof.points) if reason is None else reason


def mismatch(proof: Proof, key: VerifyingKey, publics: Sequence[int], digest: str | None) -> str | None:
    """Why a proof cannot be for this key, these publics and this circuit, before any point of it is looked at."""
    expected = key.digest if digest is None else digest.lower()
    if expected != key.digest:
        return f"the verifying key is for the circuit {key.digest}, expected {expected}"
    if proof.digest != expected:
        return f"the proof is for the circuit {proof.digest}, expected {expected}"
    if len(publics) != key.public:
        return f"found {len(publics)} public values, the key expects {key.public}"
    for place, value in enumerate(publics):
        if not 0 <= value < SCALAR_PRIME:
            return f"public value {place} is not in [0, r)"
    return None


def public_limbs(publics: Sequence[int]) -> NDArray[np.uint64]:
    """Values in [0, r) as `uint64[n, 4]`."""
    content = b"".join(int(value).to_bytes(32, "little") for value in publics)
    return np.frombuffer(content, np.dtype("<u8")).astype(np.uint64).reshape(-1, 4)
