"""Checks that a key, a proof and public values belong to one circuit, which a digest names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from circuitize.backends.field import BN254
from circuitize.circuits.errors import CircuitizeError


class KeyMismatch(CircuitizeError):
    """The error raised if a key belongs to another circuit or to another prover than expected."""


K = TypeVar("K")


class Proof(Protocol):
    """The fields of a proof that the proofs of all provers with keys share."""

    @property
    def digest(self) -> str:
        """Return the digest of the circuit to which the proof claims to belong, in hexadecimal digits."""


class VerifyingKey(Protocol):
    """The fields of a verifying key that the keys of all provers share."""

    @property
    def digest(self) -> str:
        """Return the digest of the circuit to which the key belongs, in hexadecimal digits."""

    @property
    def public(self) -> int:
        """Return the number of public values that a proof for the key states."""


def digest_bytes(digest: str) -> bytes:
    """Return the digest of a circuit, which is given as 64 hexadecimal digits, as 32 bytes. Raise CircuitizeError for a
    text that is not a digest of 64 hexadecimal digits.
    """
    try:
        content = bytes.fromhex(digest)
    except ValueError:
        content = b""
    if len(content) != 32:
        raise CircuitizeError(f"expected a digest of 64 hexadecimal digits, found {digest!r}")
    return content


def require_publics(count: int) -> None:
    """Raise CircuitizeError for a circuit without public values, because a proof for it would be valid and say
    nothing.
    """
    if count < 1:
        raise CircuitizeError(
            "expected a circuit with public values, found none: a proof would say nothing; make an input and an output "
            "public or committed"
        )


def require_prover(found: str, expected: str, what: str) -> None:
    """Raise KeyMismatch if a key or a proof belongs to another prover."""
    if found != expected:
        raise KeyMismatch(f"{what} of the prover {found}, expected one of {expected}; remedy: use --prover {found}")


def require_key(key: object, kind: type[K], prover: str) -> K:
    """Return the given key, after checking that the prover accepts it. Raise KeyMismatch if no key is given, or if the
    key is not of the prover's kind.
    """
    if key is None:
        raise KeyMismatch(f"expected a proving key of {prover}, found none; remedy: make keys for this program")
    if type(key) is not kind:
        found = getattr(key, "prover", type(key).__name__)
        raise KeyMismatch(f"expected a proving key of {prover}, found one of {found}; remedy: use the keys of {prover}")
    return key


def require_circuit(key: VerifyingKey, digest: str) -> str:
    """Return the digest of the circuit to which the key belongs. Raise KeyMismatch if the key's digest is not that of
    the given circuit.
    """
    if key.digest != digest.lower():
        raise KeyMismatch(
            f"the proving key is for the circuit {key.digest}, found {digest}; remedy: run setup for this program"
        )
    return key.digest


def mismatch(proof: Proof, key: VerifyingKey, publics: Sequence[int], digest: str | None) -> str | None:
    """Return a text that says why a proof over BN254 cannot belong to the given key, public values and circuit, or
    None; the proof's content is not checked here.

    The argument `digest` names the circuit that the verifier expects, in case the verifier holds more than a key; it is
    compared with the digest in the proof. Public values outside [0, r) are refused, not reduced.
    """
    expected = key.digest if digest is None else digest.lower()
    if expected != key.digest:
        return f"the verifying key is for the circuit {key.digest}, expected {expected}"
    if proof.digest != expected:
        return f"the proof is for the circuit {proof.digest}, expected {expected}"
    if len(publics) != key.public:
        return f"found {len(publics)} public values, the key expects {key.public}"
    for place, value in enumerate(publics):
        if not 0 <= value < BN254.prime:
            return f"public value {place} is not in [0, r)"
    return None
