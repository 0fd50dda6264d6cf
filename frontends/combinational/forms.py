"""The operands of nonlinear instructions of combinational logic as sums over the results of other nonlinear
instructions and the inputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sparse

from .logic import SLOTS, Integers, Kind, Logic, Reals

EXACT = 53
"""The bits of a coefficient that float64 holds."""


@dataclass(frozen=True, eq=False)
class Forms:
    """Operands and outputs of combinational logic as sums over atoms, which are the inputs and the nonlinear
    instructions that some output depends on.

    The field `atoms` of Forms has the numbers of the atoms' instructions, `kind` has their kinds, and `depth` how many
    nonlinear instructions lie on the way to each atom, 0 for inputs. In Forms, row SLOTS * a + s of `matrix` [SLOTS *
    atoms + outputs, atoms] is operand s of atom a, and the last rows are the outputs; `constant` is added to each row.
    """

    atoms: Integers
    kind: Integers
    depth: Integers
    matrix: sparse.csr_array
    constant: Reals

    @cached_property
    def output(self) -> Integers:
        """Return for each atom of combinational logic the first output that is a multiple of this atom alone, or the
        number of outputs if there is no such output.
        """
        last = self.matrix[SLOTS * self.count :]
        single = np.flatnonzero(np.diff(last.indptr) == 1)
        found = np.full(self.count, last.shape[0])
        np.minimum.at(found, last.indices[last.indptr[:-1][single]], single)
        return found

    @property
    def count(self) -> int:
        """Return the number of atoms in sums of combinational logic."""
        return len(self.atoms)


def forms(logic: Logic) -> Forms:
    """Return the operands and outputs of combinational logic as exact sums over atoms: linear instructions are replaced
    by their terms until none is left.

    Raise CircuitizeError if a coefficient of combinational logic has more bits than float64 holds.
    """
    count = logic.count
    shape = (SLOTS * count + logic.outputs, count + 1)
    terms = sparse.csr_array(sparse.coo_array((logic.factor, (logic.row, logic.column)), shape=shape))
    linear = np.flatnonzero(logic.kind == Kind.LINEAR)
    kept = np.setdiff1d(np.arange(count + 1), linear)
    inside = np.isin(logic.row, SLOTS * linear)
    column = np.concatenate([kept, logic.column[inside]])
    places = np.concatenate([kept, logic.row[inside] // SLOTS]), column
    factors = np.concatenate([np.ones(len(kept)), logic.factor[inside]])
    steps = sparse.csr_array(sparse.coo_array((factors, places), shape=(count + 1, count + 1)))
    steps.eliminate_zeros()
    rounds = int(_chains(logic).max(initial=0))
    _require_exact(logic, steps, linear, rounds)
    live = _live(logic)
    atoms = np.flatnonzero(live & (logic.kind != Kind.LINEAR))
    wanted = np.concatenate(
        [(SLOTS * atoms[:, None] + np.arange(SLOTS)).ravel(), SLOTS * count + np.arange(logic.outputs)]
    )
    found = sparse.csr_array(terms[wanted])
    for _ in range(rounds):
        found = sparse.csr_array(found @ steps)
    found.eliminate_zeros()
    constant = found[:, [count]].toarray().ravel()
    return Forms(atoms, logic.kind[atoms], _depths(logic)[atoms], sparse.csr_array(found[:, atoms]), constant)


def _edges(logic: Logic) -> tuple[list[int], list[int], list[int]]:
    """Return as lists the place where the terms of each instruction of combinational logic begin, and which
    instructions the terms read.
    """
    order = np.argsort(logic.row, kind="stable")
    owner = logic.row[order] // SLOTS
    own = owner < logic.count
    start = np.searchsorted(owner[own], np.arange(logic.count + 1))
    return start.tolist(), logic.column[order][own].tolist(), logic.kind.tolist()


def _chains(logic: Logic) -> Integers:
    """Return for each instruction of combinational logic the longest chain of linear instructions that ends at it."""
    start, column, kind = _edges(logic)
    found = [0] * (logic.count + 1)
    for at in range(logic.count):
        if kind[at] == Kind.LINEAR:
            found[at] = 1 + max((found[read] for read in column[start[at] : start[at + 1]]), default=0)
    return np.array(found)


def _depths(logic: Logic) -> Integers:
    """Return for each instruction of combinational logic the greatest number of nonlinear instructions on a path that
    ends at it.
    """
    start, column, kind = _edges(logic)
    found = [0] * (logic.count + 1)
    for at in range(logic.count):
        below = max((found[read] for read in column[start[at] : start[at + 1]]), default=0)
        found[at] = below + (kind[at] not in (Kind.LINEAR, Kind.INPUT))
    return np.array(found[:-1])


def _live(logic: Logic) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which instructions of combinational logic some output depends on."""
    start, column, _ = _edges(logic)
    found = [False] * (logic.count + 1)
    for read in logic.column[logic.row >= SLOTS * logic.count].tolist():
        found[read] = True
    for at in range(logic.count - 1, -1, -1):
        if found[at]:
            for read in column[start[at] : start[at + 1]]:
                found[read] = True
    return np.array(found[:-1])


def _require_exact(logic: Logic, steps: sparse.csr_array, linear: Integers, rounds: int) -> None:
    """Raise CircuitizeError if a coefficient of combinational logic could have more bits than float64 holds, judged by
    sums of magnitudes.
    """
    size: Reals = np.ones(logic.count + 1)
    unit: Reals = np.zeros(logic.count + 1)
    magnitude = abs(steps)
    last = np.log2(np.abs(steps.data) / _odd(steps.data))
    for _ in range(rounds):
        size = np.asarray(magnitude @ size)
        below = np.full(logic.count + 1, np.inf)
        rows = np.repeat(np.arange(logic.count + 1), np.diff(steps.indptr))
        np.minimum.at(below, rows, last + unit[steps.indices])
        unit = np.where(np.isfinite(below), below, 0)
    wide = np.log2(np.maximum(size, 2.0**-1000)) - unit
    if (wide > EXACT).any():
        at = int(np.argmax(wide))
        raise logic.fault(at, f"sums whose coefficients have at most {EXACT} bits", f"{int(wide[at])} bits")


def _odd(values: Reals) -> Reals:
    """Return the odd part of each number: the number without its factors of two."""
    mantissa, _ = np.frexp(np.abs(values))
    whole = np.ldexp(mantissa, EXACT).astype(np.int64)
    lowest = np.maximum(whole & -whole, 1)
    return np.where(whole == 0, 1, whole // lowest).astype(np.float64)


def last_bit(values: Reals) -> Integers:
    """Return the exponent of the last bit of each number; 0 for the number 0."""
    safe = np.where(values == 0, 1.0, np.abs(values))
    return np.rint(np.log2(safe / _odd(safe))).astype(np.int64)
