"""Constraint systems as data: sizes, degrees, and a digest that everything but provenance enters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from circuitize.backends.field import BN254
from circuitize.backends.plonkish.expressions import ExpressionBuilder
from circuitize.backends.plonkish.system import Gate, Lookup, PlonkishSystem, Provenance, column_of


def small_system() -> PlonkishSystem:
    """Rows a * b = c with a looked up in a table, and c public."""
    make = ExpressionBuilder()
    a, b, c = (make.advice(column) for column in range(3))
    gate = make.multiply(make.fixed(0), make.subtract(make.multiply(a, b), c))
    lookup = Lookup("entries", (a,), (make.fixed(1),))
    nodes = make.build()
    fixed = (column_of(np.ones(3, np.int64)), column_of(np.arange(4)))
    copies = np.array([[2, row, 5, row] for row in range(3)], np.int32)
    gates = (Gate("product", gate),)
    return PlonkishSystem(BN254, 4, (0, 0, 0), fixed, (3,), 0, nodes.rows, nodes.constants, gates, (lookup,), copies)


def test_sizes() -> None:
    system = small_system()
    assert (system.columns, system.degree, system.queries, system.k) == (6, 3, 1, 4)
    assert system.permuted == (2, 5)
    assert BN254.to_integers(system.fixed_limbs(1)) == [0, 1, 2, 3]


def test_the_digest_binds_everything_but_provenance() -> None:
    system = small_system()
    constants = np.array([[1, 0, 5, 0]], np.int32)
    others = [
        replace(system, rows=5),
        replace(system, advice_phases=(0, 0, 1)),
        replace(system, fixed=(system.fixed[0], column_of(np.arange(5)))),
        replace(system, fixed=(system.fixed[0], BN254.from_int64(np.arange(4)))),
        replace(system, instance=(2,)),
        replace(system, challenges=1),
        replace(system, copies=constants),
        replace(system, lookups=()),
        replace(system, gates=(Gate("product", 0),)),
    ]
    digests = {system.digest, *(other.digest for other in others)}
    assert len(digests) == 1 + len(others)
    assert replace(system, provenance=Provenance(gates=(("unit", 0),))).digest == system.digest


def test_columns_have_one_form() -> None:
    wide = np.array([1, BN254.prime - 1, 0, 1 << 200, 0], dtype=object)
    assert column_of(wide).shape == (4, 4)
    assert column_of(wide[:3]).tolist() == [1, -1]
    assert column_of(np.array([1 << 62, 3])).shape == (2, 4)
