"""Computing the witness of an R1CS circuit from the integer executor's trace, by the plan that emission recorded."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..field import Limbs
from ..replay import Replay
from ..replay import random_salts as random_salts
from ..values import Drawn, Value
from .emit import WitnessPlan
from .gadgets.assembly import Recipe

Draw = Callable[[Limbs], int]
"""A function that commits to the first wires of a witness, and draws the challenge: a number below the prime."""


def random_challenge(first: Limbs) -> int:
    """Return a random challenge from the operating system, which is for checks and never for proofs."""
    return secrets.randbits(253)


def witness(
    plan: WitnessPlan,
    trace: Sequence[NDArray[np.int64]],
    salts: Mapping[str, int] | None = None,
    draw: Draw = random_challenge,
) -> Limbs:
    """Return the witness `uint64[wires, 4]` of a run, in normal form; the value of wire 0 is 1.

    The argument `trace` holds the value of every wire of the program's arrow (in the shape of its type), as the integer
    executor's `trace` returns them; `salts` holds a number below the prime for each name in `plan.salts`. If the
    challenge of the circuit is drawn outside, the function `draw` is called once with the values of the wires before
    it, where the value of the challenge's own wire is still 0. The values of the witness are not checked against the
    constraints here. Raise CircuitizeError for a trace or salts that belong to another program.
    """
    source = Replay(plan, trace, salts or {})
    limbs = np.zeros((plan.wires, 4), np.uint64)
    limbs[0, 0] = 1
    later = []
    for recipe in plan.recipes:
        if isinstance(recipe.content, Drawn) or recipe.first >= plan.first_phase > 0:
            later.append(recipe)
        else:
            _fill(limbs, recipe, source)
    if plan.first_phase:
        source.challenges.append(draw(limbs[: plan.first_phase].copy()))
    for recipe in later:
        _fill(limbs, recipe, source)
    return limbs


def _fill(limbs: Limbs, recipe: Recipe, source: Replay) -> None:
    content = recipe.content
    found = source.field.from_int64(content.read(source)) if isinstance(content, Value) else content.limbs(source)
    limbs[recipe.first : recipe.first + recipe.count] = found
