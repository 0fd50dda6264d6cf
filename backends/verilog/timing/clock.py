"""The clock for which a design is made: the parallel scheduler places as few registers as reach it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.reading import Json

from ..bound import PLAIN, Bound, integrated
from ..design import Design
from ..devices import DEVICES, Family, holding
from ..shell import Interface
from .delays import DELAYS
from .paths import MHZ, expected_mhz, timed
from .pipelining import pipelined

LEVELS = "levels_per_stage"
"""The field of a report that says how many adders may lie between registers, if that was chosen for a clock."""

SLOWEST, FASTEST = 1, 500
"""The frequencies in MHz for which a design can be asked."""


@dataclass(frozen=True)
class Clock:
    """The FPGA family for which the speed of a design is estimated, and the frequency in MHz that its clock should
    have, or None if any will do.
    """

    family: Family
    mhz: int | None = None

    def require(self) -> None:
        """Raise CircuitizeError if no design can be made for the clock: if the delays of the family are not known, or
        no FPGA has such a clock.
        """
        if self.family.name not in DELAYS:
            families = " or ".join(DELAYS)
            raise CircuitizeError(
                f"--mhz: expected --board, --vivado or --family {families} beside it, found the family "
                f"{self.family.name}; leave it out"
            )
        if self.mhz is not None and not SLOWEST <= self.mhz <= FASTEST:
            raise CircuitizeError(f"--mhz: expected {SLOWEST} to {FASTEST}, found {self.mhz}; choose another clock")

    def remarks(self, design: Design) -> list[str]:
        """Return a remark of one line if a design is expected to be slower than its clock, or else nothing."""
        reached = design.report.get(MHZ)
        if self.mhz is None or reached is None or reached >= self.mhz:
            return []
        return [
            f"--mhz {self.mhz}: the design is expected to reach {reached} MHz on {self.family.title}; "
            "it is written all the same"
        ]

    def told(self, design: Design) -> str:
        """Return a text that says how fast a design is expected to be, and how many adders were chosen for that."""
        chosen = design.report.get(LEVELS)
        levels = "" if chosen is None else f"at most {chosen} adder{'s' * (chosen > 1)} between registers, "
        asked = "" if self.mhz is None else f", asked for {self.mhz}"
        return f"{levels}expected to reach {design.report[MHZ]} MHz on {self.family.title}{asked}"


def clocked(
    made: Bound, scheduler: str, options: Mapping[str, object], interface: Interface = PLAIN, clock: Clock | None = None
) -> Design:
    """Return the complete design that a scheduler makes of a program, as `integrated` does; if the delays of the
    clock's family are known, the design's report says under `mhz` how fast the design is expected to be.

    If the clock has a frequency and the options do not say how many adders may lie between the registers of a parallel
    design, the most with which the design is expected to reach the clock are chosen, and the report states them. If no
    number reaches the clock, the fastest of the designs that were tried is chosen. Raise CircuitizeError for the same
    reasons as `integrated`.
    """
    free = scheduler == "parallel" and LEVELS not in options and made.modal is None
    if clock is not None and clock.mhz is not None and free and clock.family.name in DELAYS:
        found, levels = pipelined(made, options, interface, clock.family, clock.mhz)
        return replace(found, report={**found.report, LEVELS: levels})
    design = integrated(made, scheduler, options, interface)
    return design if clock is None else timed(design, clock.family)


def with_mhz(sizes: Json, made: Bound, scheduler: str, options: Mapping[str, object], family: Family) -> Json:
    """Return the sizes of a design with the MHz that it is expected to reach, if the delays of the family are known and
    some device of the family holds the design.
    """
    devices = [device for device in DEVICES.values() if device.family == family]
    if family.name not in DELAYS or not any(holding(it, sizes["families"][family.name]).holds for it in devices):
        return sizes
    return {**sizes, MHZ: expected_mhz(integrated(made, scheduler, options), family)}
