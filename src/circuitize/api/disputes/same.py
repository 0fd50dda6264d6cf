"""The check that two sides dispute the same training: it names whatever must be equal and is not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

import numpy as np

from circuitize.circuits.errors import CircuitizeError

from ..exact import Integers
from .side import Side

REMEDY = "a dispute is about runs that should agree: train by the same"


def require_same(a: Side, b: Side, steps: int) -> None:
    """Raise CircuitizeError, naming the first difference, unless both sides follow the same training for the first
    `steps` steps.
    """
    first, second = a.course, b.course
    if first.step.digest != second.step.digest:
        _refuse(a, b, "program", first.step.digest[:16], second.step.digest[:16])
    if first.seed != second.seed:
        _refuse(a, b, "seed", first.seed.hex(), second.seed.hex())
    _arrays(a, b, "data", first.data, second.data)
    _arrays(a, b, "start", first.initial, second.initial)
    _arrays(a, b, "scalars", *({name: values[:steps] for name, values in one.scalars.items()} for one in (a, b)))


def _arrays(a: Side, b: Side, what: str, first: Mapping[str, Integers], second: Mapping[str, Integers]) -> None:
    for name, ours in first.items():
        theirs = second[name]
        if ours.shape != theirs.shape:
            _refuse(a, b, what, f"{name!r} of shape {list(ours.shape)}", f"one of {list(theirs.shape)}")
        if not np.array_equal(ours, theirs):
            at = tuple(int(i) for i in np.argwhere(ours != theirs)[0])
            place = f"of step {at[0] + 1:,}" if what == "scalars" else f"at element {list(at)}"
            _refuse(a, b, what, f"{name!r} {place} as {ours[at]}", f"{theirs[at]}, in units of its format,")


def _refuse(a: Side, b: Side, what: str, ours: str, theirs: str) -> NoReturn:
    raise CircuitizeError(f"expected the same {what}, found {ours} in {a.folder} and {theirs} in {b.folder}; {REMEDY}")
