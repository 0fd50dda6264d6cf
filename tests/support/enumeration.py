"""All assignments that satisfy a constraint system over a small prime field, found by exhaustion, against a program."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.field import Field
from circuitize.backends.r1cs.emit import emit
from circuitize.backends.r1cs.system import ConstraintSystem, Matrix
from circuitize.backends.r1cs.witness import witness
from circuitize.circuits.errors import Undefined
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.values import raw
from circuitize.sims import integer

Integers = NDArray[np.int64]
MOST = 30_000_000
"""Numbers that a table of partial assignments may hold."""


def every_input(given: IntegerProgram) -> list[dict[str, Integers]]:
    """All inputs of a program, element by element."""
    formats = [port.format for port in given.inputs if port.format is not None]
    ranges = [range(f.low, f.high + 1) for f in formats for _ in range(f.size)]
    ends = np.cumsum([f.size for f in formats])[:-1]
    found = []
    for values in product(*ranges):
        parts = np.split(np.array(values, np.int64), ends)
        found.append({p.name: v.reshape(f.shape) for p, v, f in zip(given.inputs, parts, formats, strict=True)})
    return found


def check_all_assignments(given: IntegerProgram, prime: int) -> None:
    """The satisfying assignments are the witnesses of the inputs on which the program is defined: no more, no fewer."""
    emission = emit(given, Field(prime))
    expected = []
    for inputs in every_input(given):
        try:
            outputs = integer.run(given, raw(inputs))
        except Undefined:
            continue
        found = witness(emission.plan, integer.trace(given, inputs))
        expected.append(tuple(found[:, 0].astype(np.int64).tolist()))
        for public in emission.publics:
            if public.side == "output":
                seen = found[public.first : public.first + public.count, 0].astype(np.int64)
                assert np.array_equal(seen, outputs[public.name].reshape(-1) % prime)
    assert len(set(expected)) == len(expected)
    assert sorted(map(tuple, solutions(emission.system).tolist())) == sorted(expected)


def solutions(system: ConstraintSystem) -> Integers:
    """Every satisfying assignment, one per line, `int64[n, wires]`, elements in [0, prime).

    Wires are given all values of the field one after the other, and a partial assignment is dropped only when a row
    whose wires are all known fails: nothing is assumed about any wire but that wire 0 is 1.
    """
    prime = system.field.prime
    tables = [dense(matrix, system) for matrix in (system.a, system.b, system.c)]
    uses = (tables[0] != 0) | (tables[1] != 0) | (tables[2] != 0)
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
            a, b, c = (table @ matrix[ready].T % prime for matrix in tables)
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


def without(system: ConstraintSystem, row: int) -> ConstraintSystem:
    """The system less one row."""

    def less(matrix: Matrix) -> Matrix:
        first, last = int(matrix.offsets[row]), int(matrix.offsets[row + 1])
        offsets = np.delete(matrix.offsets, row + 1)
        offsets[row + 1 :] -= last - first
        return Matrix(
            offsets, np.delete(matrix.wires, slice(first, last)), np.delete(matrix.coefficients, slice(first, last))
        )

    return replace(system, a=less(system.a), b=less(system.b), c=less(system.c), blocks=())


def dense(matrix: Matrix, system: ConstraintSystem) -> Integers:
    """int64[rows, wires]: a coefficient each."""
    table = np.zeros((matrix.rows, system.wires), np.int64)
    table[np.repeat(np.arange(matrix.rows), np.diff(matrix.offsets)), matrix.wires] = matrix.coefficients
    return table
