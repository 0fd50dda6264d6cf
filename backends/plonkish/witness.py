"""Computes what the prover puts in the cells: variables from the integer executor's trace, task by task."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.gadgets.forms import Integers
from circuitize.backends.gadgets.lowering import Scope
from circuitize.backends.gadgets.values import Value
from circuitize.backends.r1cs.commitments import check_salt
from circuitize.backends.r1cs.field import Field, Limbs
from circuitize.circuits.errors import CircuitizeError, Undefined
from circuitize.circuits.hypergraph import Arrow, fold
from circuitize.circuits.types import LIMIT, Fixed

from .permutation import Rounds, rounds
from .tasks import Dot, Fold, Hint, Permutations, Range, Solvable, Variables

SMALL = 2.0**62
LIVE_SCOPES = 8
"""Traces of expanded operations that are kept at a time; tasks visit them in order."""

Step = Hint | Range | Solvable


class Plan(Protocol):
    """What a solver needs of an emission."""

    @property
    def field(self) -> Field: ...

    @property
    def arrow(self) -> Arrow: ...

    @property
    def scopes(self) -> tuple[Scope, ...]: ...

    @property
    def salts(self) -> tuple[str, ...]: ...

    @property
    def variables(self) -> int: ...

    @property
    def wide(self) -> tuple[tuple[int, int], ...]: ...

    @property
    def constants(self) -> Mapping[int, int]: ...

    @property
    def tasks(self) -> tuple[Step, ...]: ...


def random_salts(plan: Plan) -> dict[str, int]:
    """A fresh uniform salt for every committed port, from the operating system."""
    return {name: secrets.randbelow(plan.field.prime) for name in plan.salts}


class Solver:
    """The variables of a run, phase by phase: small ones in int64, those that may be any element as Python integers.

    `trace` holds the value of every wire of the program's arrow, `salts` a number below the prime for each of the
    plan's. Nothing is checked against the constraints. Raises CircuitizeError for a trace or salts of another program.
    """

    def __init__(self, plan: Plan, trace: Sequence[NDArray[np.int64]], salts: Mapping[str, int]) -> None:
        _require_fitting(plan, trace, salts)
        self.plan, self.field = plan, plan.field
        self.memory: dict[object, Any] = {}
        self.challenges: list[int] = []
        self._trace, self._salts = trace, dict(salts)
        self._scopes: dict[int, list[Any]] = {}
        self._small = np.zeros(plan.variables, np.int64)
        self._place = np.full(plan.variables, -1, np.int64)
        total = 0
        for first, count in plan.wide:
            self._place[first : first + count] = np.arange(total, total + count)
            total += count
        self._large = np.zeros(total, dtype=object)
        self._states: dict[Permutations, NDArray[np.object_]] = {}
        for value, variable in plan.constants.items():
            self.write(np.array([variable], np.int32), value)

    def solve(self, phase: int) -> None:
        """Fills the variables of a phase: 1 once `challenges` are known."""
        for task in self.plan.tasks:
            if isinstance(task, Range) or phase != _phase(task):
                continue
            if isinstance(task, Hint):
                self._fill(task)
            else:
                task.solve(self)

    def read(self, variables: Variables) -> Any:
        """Values: int64 where none of the variables is wide, else Python integers."""
        places = self._place[variables]
        if (places < 0).all():
            return self._small[variables]
        values = self._small[variables].astype(object)
        values[places >= 0] = self._large[places[places >= 0]]
        return values

    def write(self, variables: Variables, values: Any) -> None:
        """Stores values; those of wide variables are reduced. Raises Undefined where a small variable's is not small:
        no run of the program makes that.
        """
        places = self._place[variables]
        if (places < 0).all():
            found = np.asarray(values)
            if found.dtype == object:
                found = found % self.field.prime
                found = np.where(found > self.field.prime // 2, found - self.field.prime, found)
                if np.any(np.abs(found) >= LIMIT):
                    raise Undefined("a value passes 2^62 in a run that is not the program's")
            self._small[variables] = found
        else:
            self._large[places] = np.asarray(values, dtype=object) % self.field.prime

    def limbs(self) -> Limbs:
        """Every variable as a field element."""
        made = self.field.from_int64(self._small)
        wide = np.flatnonzero(self._place >= 0)
        made[wide] = self.field.from_integers(self._large[self._place[wide]].tolist())
        return made

    def elements(self, values: Any) -> Limbs:
        """Values, small or not, as field elements in normal form."""
        flat = np.asarray(values).reshape(-1)
        return self.field.from_integers(flat.tolist()) if flat.dtype == object else self.field.from_int64(flat)

    def combined(self, terms: Variables, factors: Sequence[int], offset: int) -> Any:
        """offset + sum of factors[t] * terms[t], one for each column of terms; exact."""
        total: Any = np.full(terms.shape[1], offset, np.int64 if abs(offset) < SMALL else object)
        for factor, term in zip(factors, terms, strict=True):
            total = total + self.scaled(factor, self.read(term))
        return total

    def scaled(self, factor: int, values: Any) -> Any:
        """factor * values, exact: in int64 where that cannot wrap."""
        if values.dtype != object and abs(factor) * max(1.0, float(np.abs(values).max(initial=0))) >= SMALL:
            values = values.astype(object)
        return values * factor

    def multiplied(self, left: Any, right: Any) -> Any:
        """left * right, exact or modulo the prime."""
        if left.dtype == object or right.dtype == object:
            return left.astype(object) * right.astype(object) % self.field.prime
        if float(np.abs(left).max(initial=0)) * float(np.abs(right).max(initial=0)) >= SMALL:
            return left.astype(object) * right.astype(object)
        return left * right

    def running(self, terms: Any) -> Any:
        """The sums of `[depth, n]` up to each row, exact or modulo the prime."""
        if terms.dtype == object:
            return np.cumsum(terms, axis=0) % self.field.prime
        if float(np.abs(terms).max(initial=0)) * len(terms) >= SMALL:
            return np.cumsum(terms.astype(object), axis=0)
        return np.cumsum(terms, axis=0)

    def permute(self, task: Permutations) -> list[int]:
        """Runs a task's permutations in turn: lane 0 of one may be an input of the next. Keeps every row's cells."""
        schedule: Rounds = rounds()
        cells, outputs = [], []
        middle = schedule.middle
        for inputs, output, before, after in zip(task.inputs.T, task.outputs, task.before.T, task.after.T, strict=True):
            made = schedule.trace(self.read(inputs).astype(object))
            self.write(before, made[middle.start])
            self.write(after, made[middle.stop])
            self.write(np.array([output], np.int32), [made[-1, 0]])
            cells.append(made)
            outputs.append(int(made[-1, 0]))
        self._states[task] = np.concatenate(cells)
        return outputs

    def states(self, task: Permutations) -> NDArray[np.object_]:
        """The cells of a task's permutations, all rows of one after the other."""
        return self._states[task]

    def wire(self, scope: int, wire: int) -> Integers:
        """The value of a wire of the arrow in a scope, flat."""
        values = self._trace if scope == 0 else self._scope(scope)
        return np.asarray(values[wire], np.int64).reshape(-1)

    def number(self, name: str) -> int:
        return self._salts[name]

    def challenge(self) -> int:
        return self.challenges[0]

    def _fill(self, hint: Hint) -> None:
        variables = np.arange(hint.first, hint.first + hint.count, dtype=np.int32)
        content = hint.content
        if isinstance(content, Value):
            self.write(variables, content.read(self))
        else:
            self.write(variables, self.field.to_integers(content.limbs(self)))

    def _scope(self, scope: int) -> list[Any]:
        found = self._scopes.get(scope)
        if found is None:
            made = self.plan.scopes[scope - 1]
            shapes = [type.shape for type in made.arrow.source]
            sources = [self.wire(made.parent, wire).reshape(s) for wire, s in zip(made.sources, shapes, strict=True)]
            found = fold(made.arrow, sources, lambda _, operation, values: operation.run(*values), keep=True)
            while len(self._scopes) >= LIVE_SCOPES:
                del self._scopes[next(iter(self._scopes))]
            self._scopes[scope] = found
        return found


def _phase(task: Hint | Solvable) -> int:
    return 1 if isinstance(task, Fold) else task.phase if isinstance(task, Dot) else 0


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
