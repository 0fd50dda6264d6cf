"""Replaying a run to compute witnesses: the wires of the program, and those of the arrows to which operations were
expanded.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import Arrow, fold
from circuitize.circuits.operation import Values
from circuitize.circuits.types import Fixed

from .field import Field
from .forms import Integers
from .lowering import Scope
from .r1cs.commitments import check_salt
from .values import Memory

LIVE_SCOPES = 8
"""How many traces of expanded operations a replay keeps at a time, since witnesses visit them in order."""


class Plan(Protocol):
    """The parts of a circuit that a replay of its runs needs."""

    @property
    def field(self) -> Field:
        """Return the prime field of the circuit."""

    @property
    def arrow(self) -> Arrow:
        """Return the program's arrow, which has integer operations."""

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """Return the scopes of the operations that were expanded, each with the arrow that replaced the operation."""

    @property
    def salts(self) -> tuple[str, ...]:
        """Return the names of the salts of the circuit, one for each committed port."""


def random_salts(plan: Plan) -> dict[str, int]:
    """Return a fresh salt, uniformly random from the operating system, for every committed port."""
    return {name: secrets.randbelow(plan.field.prime) for name in plan.salts}


class Replay:
    """A replay of a run, which serves as its `values.Trace`: the program's own trace, and the traces of expanded
    operations, which are run when they are needed.

    The argument `trace` holds the value of every wire of the program's arrow (in the shape of its type), and `salts` a
    number below the prime for each of the plan's salts. The `challenges` of a replayed run are filled in when they are
    drawn. Raise CircuitizeError for a trace or salts that belong to another program.
    """

    def __init__(self, plan: Plan, trace: Sequence[NDArray[np.int64]], salts: Mapping[str, int]) -> None:
        _require_fitting(plan, trace, salts)
        self.field = plan.field
        self.memory: Memory = {}
        self.challenges: list[int] = []
        self._trace, self._salts = trace, dict(salts)
        self._expanded = plan.scopes
        self._scopes: dict[int, list[Values]] = {}

    def wire(self, scope: int, wire: int) -> Integers:
        """Return the value of a wire of the arrow in a scope, as a flat array."""
        values = self._trace if scope == 0 else self._scope(scope)
        return np.asarray(values[wire], np.int64).reshape(-1)

    def number(self, name: str) -> int:
        """Return the salt with the given name, which belongs to a committed port."""
        return self._salts[name]

    def challenge(self) -> int:
        """Return the first challenge of the run, which must already have been drawn."""
        assert self.challenges, "what is drawn after the challenge does not stand before it"
        return self.challenges[0]

    def _scope(self, scope: int) -> list[Values]:
        found = self._scopes.get(scope)
        if found is None:
            made = self._expanded[scope - 1]
            shapes = [type.shape for type in made.arrow.source]
            sources = [self.wire(made.parent, wire).reshape(s) for wire, s in zip(made.sources, shapes, strict=True)]
            found = fold(made.arrow, sources, lambda _, operation, values: operation.run(*values), keep=True)
            while len(self._scopes) >= LIVE_SCOPES:
                del self._scopes[next(iter(self._scopes))]
            self._scopes[scope] = found
        return found


def _require_fitting(plan: Plan, trace: Sequence[NDArray[np.int64]], salts: Mapping[str, int]) -> None:
    arrow = plan.arrow
    if len(trace) != arrow.wire_count:
        raise CircuitizeError(
            f"expected a trace of {arrow.wire_count} wires, found {len(trace)}; trace the program that was emitted"
        )
    for wire in (*arrow.inputs.tolist(), *arrow.outputs.tolist()):
        type = arrow.type(wire)
        if not isinstance(type, Fixed) or np.shape(trace[wire]) != type.shape:
            raise CircuitizeError(f"expected {type} at wire {wire} of the trace, found shape {np.shape(trace[wire])}")
    if set(salts) != set(plan.salts):
        raise CircuitizeError(f"expected salts named {sorted(plan.salts)}, found {sorted(salts)}; see random_salts")
    for name, salt in salts.items():
        check_salt(salt, name)
