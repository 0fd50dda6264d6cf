"""No contract: why a halo2 key is not written as one."""

from __future__ import annotations

from typing import NoReturn

from circuitize.circuits.errors import CircuitizeError

from .keys import VerifyingKey


def verifier_contract(key: VerifyingKey) -> NoReturn:
    """Always raises CircuitizeError: the commitments of the key alone fill more code than a chain accepts."""
    raise CircuitizeError(
        f"expected a key that fits a contract of 24,576 bytes, found one for halo2 of {len(key.native.encode())}; "
        "remedy: make keys for groth16 or mirage, whose proofs contracts check"
    )
