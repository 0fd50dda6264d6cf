"""The errors that occur if a constraint system, a key and a proof do not fit together."""

from __future__ import annotations

from circuitize.circuits.errors import CircuitizeError


class Unsatisfied(CircuitizeError):
    """The error raised for a witness that breaks a constraint; `row` is the first broken row, counted from 0."""

    def __init__(self, row: int) -> None:
        super().__init__(f"the witness does not satisfy row {row} (from 0) of the constraints; no proof was made")
        self.row = row
