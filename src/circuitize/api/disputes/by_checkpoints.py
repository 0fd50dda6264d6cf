"""A dispute with a side that keeps no journal because it runs many steps at a time, decided by the side's
checkpoints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypedDict

from circuitize.circuits.phases import Progress

from .claims import Place, claims_of, of_checkpoint
from .confirming import Confirmed
from .executing import Executed, agreed, executed, has
from .side import Side


class Found(TypedDict, total=False):
    """Fields of a `Dispute` that a comparison of two sides finds."""

    asked: int
    step: int
    since: int
    executed: int
    places: Mapping[str, Place]
    right: tuple[str, ...]
    testify: tuple[str, ...]
    proof: Confirmed | None


def by_checkpoints(sides: Sequence[Side], steps: int, progress: Progress) -> Found:
    """Return the fields of a `Dispute` that say between which two checkpoints the sides first differ, and the values of
    which side equal the referee's.

    All checkpoints that both sides have are compared: values that differed once may be equal again later, so that
    bisection would not find the first difference.
    """
    common = set.intersection(*(set(side.checkpoints) for side in sides if not side.entries))
    since = asked = last = 0
    for step in sorted(step for step in common if step <= steps):
        progress(f"comparing what is held after step {step:,}")
        asked += 1
        if len({side.left(step) for side in sides}) > 1:
            last = step
            break
        since = step
    progress("")
    if not last:
        return {"asked": asked}
    _, held = agreed(sides, since)
    departed: dict[str, Executed] = {}
    for made in executed(sides[0], held, since, last, progress):
        departed |= {
            side.name: made for side in sides if side.entries and side.name not in departed and not has(side, made)
        }
    right = tuple(side.name for side in sides if side.left(last) == side.layout.left(made.held))
    places: dict[str, Place] = {}
    for side in sides:
        if side.name in departed:
            at = departed[side.name]
            place = claims_of(side, at.step).first_false(at.wires)
        elif side.name not in right:
            place = of_checkpoint(side, last).first_false(made.wires)
            place = None if place is None else replace(place, kind="checkpoint")
        else:
            place = None
        places |= {} if place is None else {side.name: place}
    step = min([last, *(at.step for at in departed.values())])
    return {
        "asked": asked,
        "step": step,
        "since": since,
        "executed": last - since,
        "places": places,
        "right": right,
    }
