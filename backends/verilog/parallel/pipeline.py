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
    hold. If `alone` is true, only one frame is in the pipeline at a time: a node has one register at most, which keeps
    the node's value while the frame moves on, so that `delay` is 0 or 1.
    """

    live: NDArray[np.bool_]
    stage: Integers
    delay: Integers
    bits: Integers
    stages: int
    alone: bool = False


def pipeline(net: Netlist, outputs: Integers, levels_per_stage: int, state: Integers | None = None) -> Pipeline:
    """Return the pipeline with the fewest stages of at most the given number of levels each, and among such pipelines
    one with the fewest registers. If nodes that are state are given, frames go through the pipeline alone, and state
    that is no output needs no register of the pipeline.

    A cut after level L puts a register on every node of level at most L that a deeper node reads, or, if frames are
    alone, on those of them that have none: the costs of cuts add up, so that a shortest path over levels finds the best
    cuts. The search for cuts takes a number of steps that is the product of the number of levels and the levels of a
    stage.
    """
    live = net.live(outputs)
    level = net.level.astype(np.int64)
    depth = int(level[live].max(initial=0))
    bits = widths(net.low, net.high) - np.where(net.kind == Kind.LEFT, net.n, 0)
    bits[(net.kind == Kind.CONSTANT) | ~live] = 0
    alone, stable = state is not None, np.setdiff1d(np.zeros(0, np.int64) if state is None else state, outputs)
    bits[stable] = 0
    last = _last(net, live, level, outputs, depth + 1)
    crossing = _crossing(level[live], np.maximum(last, level)[live], bits[live], depth)
    wide = live & (net.kind == Kind.TABLE)
    wide[wide] &= widths(net.low, net.high)[net.a[wide]] >= ROM_BITS
    cuts = _cheapest(crossing, alone, levels_per_stage, set((level[wide] - 1).tolist()))
    stage = np.where(live, np.searchsorted(np.array(cuts), level), -1)
    until = _last(net, live, stage, outputs, len(cuts))
    delay = np.where(live & (net.kind != Kind.CONSTANT), np.maximum(until - stage, 0), 0)
    if alone:
        delay = np.minimum(delay, 1)
        delay[stable] = 0
    return Pipeline(live, stage, delay, bits, len(cuts), alone)


def _crossing(level: Integers, last: Integers, bits: Integers, depth: int) -> Integers:
    """Return the bits of the nodes of level l that are read above level L, [l, L]: those that a cut after L crosses."""
    found = np.zeros((depth + 1, depth + 3), np.int64)
    np.add.at(found, (level, level), bits)
    np.add.at(found, (level, last), -bits)
    return np.cumsum(found, axis=1)[:, : depth + 1]


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


def _cheapest(crossing: Integers, alone: bool, gap: int, forced: set[int]) -> list[int]:
    """Return the levels after which a pipeline is cut: after the inputs, after the last level, and between these at
    most `gap` levels apart, including all forced cuts.

    A cut costs the bits that cross it, `crossing[l, L]`; if frames are alone, of those only the bits of nodes that are
    deeper than the cut before. Inputs, and nodes that are no deeper than inputs, are at levels 0 and 1, so that the
    first cut may be one level further.
    """
    up_to = np.cumsum(crossing, axis=0)
    best: list[tuple[int, int, int]] = [(1, int(up_to[0, 0]), -1)]
    for level in range(1, len(crossing)):
        least = max([level - gap if level > gap + 1 else 0, 0, *(cut for cut in forced if cut < level)])
        held = up_to[least:level, level].tolist() if alone else [0] * (level - least)
        bits = int(up_to[level, level])
        options = [
            (best[before][0], best[before][1] + bits - kept, before)
            for before, kept in zip(range(least, level), held, strict=True)
        ]
        stages, bits_so_far, before = min(options)
        best.append((stages + 1, bits_so_far, before))
    cuts, at = [], len(crossing) - 1
    while at >= 0:
        cuts.append(at)
        at = best[at][2]
    return cuts[::-1]
