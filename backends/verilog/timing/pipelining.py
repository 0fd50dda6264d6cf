"""The choice of pipelining: the parallel scheduler's registers are as few as a clock allows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from circuitize.circuits.encode import program_digest

from ..bound import Bound, require_streamed
from ..design import Design
from ..devices.family import Family
from ..netlist import LEVELS, Kind
from ..parallel.schedule import Unrolled
from ..shell import Interface, enclosed
from .delays import DELAYS, Delays
from .paths import MHZ, timed


def pipelined(
    made: Bound, options: Mapping[str, Any], interface: Interface, family: Family, mhz: int
) -> tuple[Design, int]:
    """Return a parallel design that is expected to reach a clock in MHz, and the number of adders that may lie between
    its registers: the largest number that reaches the clock.

    If no number reaches the clock, return the fastest of the designs that were tried. Numbers with which a chain of
    adders alone is too slow are not tried.
    """
    require_streamed(made)
    unrolled, digest = Unrolled(made.program, **options), program_digest(made.program)
    tried: list[tuple[int, int, Design]] = []
    last = b""
    for levels in range(unrolled.depth, 0, -1):
        unrolled.stage(levels)
        stages = unrolled.pipe.stage.tobytes()
        if stages == last or _least(unrolled, DELAYS[family.name]) > 1000 / mhz:
            continue
        design, last = timed(enclosed(unrolled.design(made.initial), interface, digest), family), stages
        if design.report[MHZ] >= mhz:
            return design, levels
        tried.append((design.report[MHZ], levels, design))
    _, levels, design = max(tried, key=lambda one: one[:2])
    return design, levels


def _least(unrolled: Unrolled, delays: Delays) -> float:
    """Return a period, in nanoseconds, that no clock of the pipeline can fall below: that of its longest chain between
    two registers, whose first level may be an input's.
    """
    net, pipe = unrolled.net, unrolled.pipe
    kinds = {Kind(kind) for kind in np.unique(net.kind[pipe.live]).tolist()} & LEVELS.keys()
    level = delays.same_bit + delays.wire if kinds <= {Kind.ADD, Kind.MULTIPLY} else 0.0
    most = np.zeros(pipe.stages + 1, np.int64)
    np.maximum.at(most, pipe.stage[pipe.live], net.level[pipe.live])
    chain = int(np.diff(np.maximum.accumulate(most)).max(initial=1)) - 1
    return delays.register + delays.beside + chain * level
