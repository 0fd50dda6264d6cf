"""All assignments that satisfy a constraint system over a small prime field, found by exhaustion."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.r1cs.system import ConstraintSystem, Matrix

Integers = NDArray[np.int64]
MOST = 30_000_000
"""Numbers that a table of partial assignments may hold."""


def solutions(system: ConstraintSystem) -> Integers:
    """Every satisfying assignment, one per line, `int64[n, wires]`, elements in [0, prime).

    Wires are given all values of the field one after the other, and a partial assignment is dropped only when a row
    whose wires are all known fails: nothing is assumed about any wire but that wire 0 is 1.
    """
    prime = system.field.prime
    dense = [_dense(matrix, system) for matrix in (system.a, system.b, system.c)]
    uses = (dense[0] != 0) | (dense[1] != 0) | (dense[2] != 0)
    uses[:, 0] = False
    known = np.zeros(system.wires, np.bool_)
    known[0] = True
    checked = np.zeros(system.constraints, np.bool_)
    table = np.zeros((1, system.wires), np.int64)
    table[0, 0] = 1
    while True:
        missing = (uses & ~known).sum(axis=1)
        ready = np.flatnonzero((missing == 0) & ~checked)
        if len(ready):
            a, b, c = (table @ matrix[ready].T % prime for matrix in dense)
            table = table[(a * b % prime == c).all(axis=1)]
            checked[ready] = True
        if known.all():
            return table
        open_rows = np.where(checked, system.wires + 1, missing)
        row = int(np.argmin(open_rows)) if not checked.all() else -1
        free = uses[row] & ~known if row >= 0 else ~known
        wire = int(np.flatnonzero(free)[0])
        assert table.size * prime < MOST, "too many partial assignments: use a smaller circuit or prime"
        table = np.repeat(table, prime, axis=0)
        table[:, wire] = np.tile(np.arange(prime), len(table) // prime)
        known[wire] = True


def _dense(matrix: Matrix, system: ConstraintSystem) -> Integers:
    table = np.zeros((matrix.rows, system.wires), np.int64)
    table[np.repeat(np.arange(matrix.rows), np.diff(matrix.offsets)), matrix.wires] = matrix.coefficients
    return table
