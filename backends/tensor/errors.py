"""The error raised for programs that tensor proofs cannot prove."""

from __future__ import annotations

from circuitize.circuits.errors import CircuitizeError


class Unprovable(CircuitizeError):
    """The error raised for a program with an operation or an interval that no tensor proof can show."""
