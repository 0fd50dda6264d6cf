"""Computes a witness from the integer executor's trace, by the plan that emission recorded."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.gadgets.assembly import Recipe
from circuitize.backends.gadgets.forms import Integers
from circuitize.backends.gadgets.values import Drawn, Value
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import fold
from circuitize.circuits.types import Fixed

from .commitments import check_salt
from .emit import WitnessPlan
from .field import Field, Limbs

LIVE_SCOPES = 8
"""Traces of expanded operations that are kept at a time; the plan visits them in order."""


def random_salts(plan: WitnessPlan) -> dict[str, int]:
    """A fresh uniform salt for every committed port, from the operating system."""
    return {name: secrets.randbelow(plan.field.prime) for name in plan.salts}


Draw = Callable[[Limbs], int]
"""Commits to the first wires of a witness, and draws the challenge: a number below the prime."""


def random_challenge(first: Limbs) -> int:
    """A challenge from the operating system: for checks, never for proofs."""
    return secrets.randbits(253)


def witness(
    plan: WitnessPlan,
    trace: Sequence[NDArray[np.int64]],
    salts: Mapping[str, int] | None = None,
    draw: Draw = random_challenge,
) -> Limbs:
    """The witness `uint64[wires, 4]` of a run, in normal form: wire 0 is 1.

    `trace` holds the value of every wire of the program's arrow (each of its type's shape), as the integer executor's
    `trace` returns; `salts` a number below the prime for each name in `plan.salts`. Where the circuit's challenge is
    drawn outside, `draw` is called once with the wires before it (the challenge's own is 0 there). The values are not
    checked against the constraints. Raises CircuitizeError for a trace or salts of another program.
    """
    source = _Replay(plan, trace, dict(salts or {}))
    limbs = np.zeros((plan.wires, 4), np.uint64)
    limbs[0, 0] = 1
    later = []
    for recipe in plan.recipes:
        if isinstance(recipe.content, Drawn) or recipe.first >= plan.first_phase > 0:
            later.append(recipe)
        else:
            _fill(limbs, recipe, source)
    if plan.first_phase:
        source.drawn = draw(limbs[: plan.first_phase].copy())
    for recipe in later:
        _fill(limbs, recipe, source)
    return limbs


def _fill(limbs: Limbs, recipe: Recipe, source: _Replay) -> None:
    content = recipe.content
    found = source.field.from_int64(content.read(source)) if isinstance(content, Value) else content.limbs(source)
    limbs[recipe.first : recipe.first + recipe.count] = found


class _Replay:
    """The trace that recipes read: the program's own, and those of expanded operations, run when asked for."""

    def __init__(self, plan: WitnessPlan, trace: Sequence[NDArray[np.int64]], salts: dict[str, int]) -> None:
        arrow = plan.arrow
        if len(trace) != arrow.wire_count:
            raise CircuitizeError(
                f"expected a trace of {arrow.wire_count} wires, found {len(trace)}; trace the program that was emitted"
            )
        for wire in (*arrow.inputs.tolist(), *arrow.outputs.tolist()):
            type = arrow.type(wire)
            if not isinstance(type, Fixed) or np.shape(trace[wire]) != type.shape:
                raise CircuitizeError(
                    f"expected {type} at wire {wire} of the trace, found shape {np.shape(trace[wire])}"
                )
        if set(salts) != set(plan.salts):
            raise CircuitizeError(f"expected salts named {sorted(plan.salts)}, found {sorted(salts)}; see random_salts")
        for name, salt in salts.items():
            check_salt(salt, name)
        self.field: Field = plan.field
        self.memory: dict[object, Any] = {}
        self.drawn: int | None = None
        self._plan, self._salts = plan, salts
        self._trace = trace
        self._scopes: dict[int, list[Any]] = {}

    def wire(self, scope: int, wire: int) -> Integers:
        values = self._trace if scope == 0 else self._scope(scope)
        return np.asarray(values[wire], np.int64).reshape(-1)

    def number(self, name: str) -> int:
        return self._salts[name]

    def challenge(self) -> int:
        assert self.drawn is not None, "what is drawn after the challenge does not stand before it"
        return self.drawn

    def _scope(self, scope: int) -> list[Any]:
        found = self._scopes.get(scope)
        if found is None:
            made = self._plan.scopes[scope - 1]
            shapes = [type.shape for type in made.arrow.source]
            sources = [self.wire(made.parent, wire).reshape(s) for wire, s in zip(made.sources, shapes, strict=True)]
            found = fold(made.arrow, sources, lambda _, operation, values: operation.run(*values), keep=True)
            while len(self._scopes) >= LIVE_SCOPES:
                del self._scopes[next(iter(self._scopes))]
            self._scopes[scope] = found
        return found
