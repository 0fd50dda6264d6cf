"""Stages that take elements in the order in which the stage before them writes them, and as fast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .graph import Operand, Stage
from .terms import equal
from .tiling import Choice, divisor


def leaders_of(stages: Sequence[Stage]) -> dict[int, int]:
    """Return for stages without a reduction the last of the stages whose results they read, if they read one element of
    it for each of their own, the one in the same place.
    """
    writers = {stage.wire: number for number, stage in enumerate(stages)}
    found = {}
    for number, stage in enumerate(stages):
        before = [(writers[operand.wire], operand) for operand in stage.operands if operand.wire in writers]
        last = max((writer for writer, _ in before), default=0)
        if before and not stage.reduction and all(_in_step(stage, o) for writer, o in before if writer == last):
            found[number] = last
    return found


def _in_step(stage: Stage, operand: Operand) -> bool:
    return operand.format.shape == stage.shape and equal(operand.at, np.arange(stage.size))


def followed(stage: Stage, leader: Choice, most: int | None = None) -> Choice | None:
    """Return the sizes with which a stage follows a stage of the sizes `leader`, as fast as it does or with at most
    `most` units, or None if the latter has lanes without elements.
    """
    if leader.passes * leader.lanes != stage.size:
        return None
    units = divisor(leader.lanes, min(leader.lanes, -(-stage.size // leader.cycles)))
    if most is not None and units > most:
        units = max(few for few in range(1, most + 1) if leader.lanes % few == 0)
    passes = stage.size // units
    return replace(leader, lanes=units, passes=passes, split=1, units=units, cycles=passes)
