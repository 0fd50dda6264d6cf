"""What one proof of a run is of: some steps, the program that does them all, and its plan."""

from __future__ import annotations

from dataclasses import dataclass

from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.scan import Scan

from ..plan import Plan

BATCH = "batch"
"""The label of the rows that all steps of a proof take: an axis of time, and one of the batch."""


@dataclass(frozen=True)
class Chunk:
    """Consecutive steps of a run, as many as one proof has.

    Soundness: `scan` says why its program is these steps, one after the other. That what enters the first is in format
    is shown by the proof before, or by that of formats, as the plan assumes.
    """

    scan: Scan
    plan: Plan

    @property
    def program(self) -> IntegerProgram:
        """Return the program that does all steps of the chunk."""
        return self.scan.program

    @property
    def trace_bytes(self) -> int:
        """What the values of all wires take."""
        arrow = self.plan.arrow
        return 8 * sum(arrow.type(wire).size for wire in range(arrow.wire_count))

    @property
    def count(self) -> int:
        """Return the number of steps."""
        return self.scan.count
