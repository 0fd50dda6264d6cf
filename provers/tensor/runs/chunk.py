"""A chunk of a run: the steps that one proof covers, the program that does all these steps, and the plan of the
proof.
"""

from __future__ import annotations

from dataclasses import dataclass

from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.scan import Scan

from ..plan import Plan

BATCH = "batch"
"""The label of the numbers of rows that all steps of a proof take: an axis of time, and one of the batch."""


@dataclass(frozen=True)
class Chunk:
    """A chunk of a run: as many consecutive steps as one proof covers.

    Soundness: the class of the field `scan` says why the program of a chunk equals its steps, one after the other. The
    plan of a chunk assumes that the values entering its first step are in format, which the proof of the previous
    chunk, or the proof of formats, shows.
    """

    scan: Scan
    plan: Plan

    @property
    def program(self) -> IntegerProgram:
        """Return the program that does all steps of the chunk."""
        return self.scan.program

    @property
    def trace_bytes(self) -> int:
        """Return the number of bytes of memory that the values of all wires of the chunk take."""
        arrow = self.plan.arrow
        return 8 * sum(arrow.type(wire).size for wire in range(arrow.wire_count))

    @property
    def count(self) -> int:
        """Return the number of steps in the chunk."""
        return self.scan.count
