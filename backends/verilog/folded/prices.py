"""The worth of a clock of a training step in LUTs, by which the parts that do not share lanes get their
cheapest sizes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .folding import Fold
from .graph import Stage
from .pool import works

BESIDE_UNIT = 60
"""LUTs of one more memory, which a unit more takes for what it writes and for each operand that it reads."""
LANE = 300
"""LUTs that a shared lane is worth: its sum, what selects its factors, and its multiplier."""
WHOLE_LANE = 2000
"""LUTs of a shared lane with its part of all that stands beside it: memories, units, and what selects factors."""


@dataclass(frozen=True)
class Pace:
    """The pace of the training steps of a design that also predicts: a step takes at most `most` clocks, and in the
    stages that only steps run, a LUT is worth `worth` clocks.
    """

    most: int
    worth: float


def price_of(fold: Fold, lanes: int) -> float:
    """Return how many clocks a LUT is worth if `lanes` lanes are shared: one more lane takes LANE LUTs, and saves
    clocks in each frame.
    """
    return sum(works(fold).values()) / max(1, lanes * lanes * LANE)


def prices_of(fold: Fold, lanes: int, pace: Pace | None) -> list[float]:
    """Return how many clocks a LUT of each stage is worth if `lanes` lanes are shared, and steps have the given
    pace.
    """
    price = price_of(fold, lanes)
    return [price if pace is None or number not in fold.learning else pace.worth for number in range(len(fold.stages))]


def readers_of(fold: Fold, wire: int) -> int:
    """Return how many operands read what a stage writes, in the same frame or, as state, in the next one."""
    wires = {wire, *(old for old, new in fold.states.items() if new == wire)}
    return sum(operand.wire in wires for stage in fold.stages for operand in stage.operands)


def priced(stage: Stage, widths: tuple[int, int, int], dsp: int, price: float) -> int:
    """Return the number of clocks for which a stage outside the pool costs least, if each of its LUTs counts as `price`
    clocks.
    """
    own = widths[2] + BESIDE_UNIT * (1 + sum(operand.amounts is None for operand in stage.operands))
    cost = LANE + widths[1] if stage.reduction else own + LANE * dsp
    return max(1, round(math.sqrt(stage.size * stage.terms * price * cost)))
