"""The reason why a halo2 verifying key cannot be written as a contract."""

from __future__ import annotations

from typing import NoReturn

from circuitize.circuits.errors import CircuitizeError

from .keys import VerifyingKey


def verifier_contract(key: VerifyingKey) -> NoReturn:
    """Raise CircuitizeError, always: the commitments in the key alone take more code than a blockchain accepts in a
    contract.
    """
    raise CircuitizeError(
        f"expected a key that fits a contract of 24,576 bytes, found one for halo2 of {len(key.native.encode()):,}; "
        "make keys for groth16 or mirage, whose proofs contracts check"
    )
