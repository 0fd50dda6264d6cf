"""What can go wrong between a constraint system, a key and a proof."""

from __future__ import annotations

from circuitize.circuits.errors import CircuitizeError


class KeyMismatch(CircuitizeError):
    """The key belongs to another circuit."""


def require_prover(found: str, expected: str, what: str) -> None:
    """Raises KeyMismatch where a key or a proof is another prover's."""
    if found != expected:
        raise KeyMismatch(f"{what} of the prover {found}, expected one of {expected}; remedy: use --prover {found}")


class Unsatisfied(CircuitizeError):
    """The witness breaks a constraint; `row` is the first that it breaks, counted from 0."""

    def __init__(self, row: int) -> None:
        super().__init__(f"the witness does not satisfy row {row} (from 0) of the constraints; no proof was made")
        self.row = row
