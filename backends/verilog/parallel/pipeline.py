"""Placing pipeline registers: the cuts between levels of adders are at most a given number of levels apart, and cross
the fewest bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...verilog.netlist import Integers, Kind, Netlist, widths

ROM_BITS = 10
"""The least number of address bits from which a table has its address in a register, so that it may become a block
memory.
"""


@dataclass(frozen=True)
class Pipeline:
    """A pipeline: the stage of each live node (-1 for other nodes), the number of stages between the node and its last
    reader, and the number of stages.

    A node of stage s is computed between the s-th register and the next; outputs are read after the last register, in
    the stage numbered `stages`. The field `bits` has the width of each node, without the zeros that a register need not
    hold.
    """

    live: NDArray[np.bool_]
    stage: Integers
    delay: Integers
    bits: Integers
    stages: int


def pipeline(net: Netlist, outputs: Integers, levels_per_stage: int) -> Pipeline:
    """Return the pipeline with the fewest stages of at most the given number of levels each, and among such pipelines
    one with the fewest registers.

    A cut after level L puts a register on every node of level at most L that a deeper node reads: the costs of cuts add
    up, so that a shortest path over levels finds the best cuts. The search for cuts takes a number of steps that is the
    product of the number of levels and the levels of a stage.
    """
    live = net.live(outputs)
    level = net.level.astype(np.int64)
    depth = int(level[live].max(initial=0))
    bits = widths(net.low, net.high) - np.where(net.kind == Kind.LEFT, net.n, 0)
    bits[(net.kind == Kind.CONSTANT) | ~live] = 0
    last = _last(net, live, level, outputs, depth + 1)
    change = np.zeros(depth + 3, np.int64)
    np.add.at(change, level[live], bits[live])
    np.add.at(change, np.maximum(last, level)[live], -bits[live])
    cost = np.cumsum(change)[: depth + 1]
    wide = live & (net.kind == Kind.TABLE)
    wide[wide] &= widths(net.low, net.high)[net.a[wide]] >= ROM_BITS
    cuts = _cheapest(cost.tolist(), levels_per_stage, set((level[wide] - 1).tolist()))
    stage = np.where(live, np.searchsorted(np.array(cuts), level), -1)
    until = _last(net, live, stage, outputs, len(cuts))
    delay = np.where(live & (net.kind != Kind.CONSTANT), np.maximum(until - stage, 0), 0)
    return Pipeline(live, stage, delay, bits, len(cuts))


def _last(net: Netlist, live: NDArray[np.bool_], order: Integers, outputs: Integers, end: int) -> Integers:
    """Return, for each node, the greatest place that one of its readers has in an order; for outputs, the place is
    `end`.
    """
    found = np.full(net.count, -1, np.int64)
    for column in (net.a, net.b, net.c):
        read = live & (column >= 0)
        np.maximum.at(found, column[read], order[read])
    found[outputs] = end
    return found


def _cheapest(cost: list[int], gap: int, forced: set[int]) -> list[int]:
    """Return the levels after which a pipeline is cut: after the inputs, after the last level, and between these at
    most `gap` levels apart, including all forced cuts.

    Inputs, and nodes that are no deeper than inputs, are at levels 0 and 1, so that the first cut may be one level
    further.
    """
    best: list[tuple[int, int, int]] = [(1, cost[0], -1)]
    for level, bits in enumerate(cost[1:], 1):
        least = max([level - gap if level > gap + 1 else 0, 0, *(cut for cut in forced if cut < level)])
        options = [(best[before][0], best[before][1], before) for before in range(least, level)]
        stages, bits_before, before = min(options)
        best.append((stages + 1, bits_before + bits, before))
    cuts, at = [], len(cost) - 1
    while at >= 0:
        cuts.append(at)
        at = best[at][2]
    return cuts[::-1]
