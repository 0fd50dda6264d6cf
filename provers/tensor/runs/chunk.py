"""The steps that one proof of a run covers, the program of all these steps, and its plan."""

from __future__ import annotations

from dataclasses import dataclass

from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.scan import Scan

from ..plan import Plan

BATCH = "batch"
"""The label of the numbers of rows that all steps of a proof take: an axis of time, and one of the batch."""


@dataclass(frozen=True)
class Chunk:
    """Consecutive steps of a run, as many as one proof covers.

    Soundness: `scan` says why the program of a chunk equals its steps, one after the other. The proof before a chunk's,
    or the proof of formats, shows that the values entering the first step are in format, as the plan assumes.
    """

    scan: Scan
    plan: Plan

    @property
    def program(self) -> IntegerProgram:
        """Return the program that does all steps of the chunk."""
        return self.scan.program

    @property
    def trace_bytes(self) -> int:
        """The bytes of memory that the values of all wires of a chunk take."""
        arrow = self.plan.arrow
        return 8 * sum(arrow.type(wire).size for wire in range(arrow.wire_count))

    @property
    def count(self) -> int:
        """Return the number of steps."""
        return self.scan.count
