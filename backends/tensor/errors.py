"""The error for programs that tensor proofs refuse."""

from __future__ import annotations

from circuitize.circuits.errors import CircuitizeError


class Unprovable(CircuitizeError):
    """The error of a program that has an operation, or an interval that no tensor proof can show."""
