"""What stages read: rows that are kept once, and that give what the loops of a stage read in each clock."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from circuitize.backends.verilog.folded.graph import Operand, Stage
from circuitize.backends.verilog.folded.reads import PARTS, Reads, distinct
from circuitize.backends.verilog.folded.terms import Terms, equal
from circuitize.backends.verilog.folded.tiling import Choice, tile
from circuitize.circuits.operation import Provenance
from circuitize.circuits.types import Fixed

Integers = NDArray[np.int64]

ROWS, COLUMNS, TERMS = 6, 10, 7


def tables() -> tuple[Integers, Integers]:
    """What a product of two matrices reads of each: rows and columns."""
    row, column, term = np.ogrid[:ROWS, :COLUMNS, :TERMS]
    whole = np.zeros((ROWS, COLUMNS, TERMS), np.int64)
    left, right = whole + row * TERMS + term, whole + term * COLUMNS + column
    return left.reshape(-1, TERMS), right.reshape(-1, TERMS)


def product() -> tuple[Stage, Operand, Operand]:
    """A product of two matrices."""
    left, right = tables()
    x = Operand("x0", 1, Terms.of(left), Fixed((ROWS, TERMS), 0, -9, 9), -9, 9)
    y = Operand("x1", 2, Terms.of(right), Fixed((TERMS, COLUMNS), 0, -9, 9), -9, 9)
    target = Fixed((ROWS, COLUMNS), 0, -999, 999)
    return Stage(3, target, Provenance(), reduction="sum", terms=TERMS, operands=[x, y]), x, y


def choice(axis: int, wide: int, split: int) -> Choice:
    """Lanes along an axis, `wide` of them, with `split` terms a clock."""
    extent, others = ((ROWS, COLUMNS), (COLUMNS, ROWS))[axis]
    passes = others * -(-extent // wide)
    return Choice(axis, others, 1, wide, wide, passes, split, wide, passes * -(-TERMS // split))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(("wide", "split"), [(2, 1), (2, 7), (1, 3), (4, 2)])
def test_rows_are_those_of_the_loops(axis: int, wide: int, split: int) -> None:
    """Also where lanes do not divide an axis, or terms a clock the terms: the last row of a pass then lacks some."""
    stage, *operands = product()
    tiling = tile(stage, choice(axis, wide, split))
    reading = -(-TERMS // split)
    for operand, table in zip(operands, tables(), strict=True):
        found = tiling.reads(operand)
        assert len(found.row) == tiling.passes * reading
        for step, row in enumerate(found.row.tolist()):
            one, first = divmod(step, reading)
            for place in range(found.places):
                lane, term = divmod(place, split)
                target, k = tiling.order[one, lane], first * split + term
                assert found.valid[row, place] == (target >= 0 and k < TERMS)
                if found.valid[row, place]:
                    assert found.rows[row, place] == table[target, k]


def test_rows_that_passes_have_in_common_are_kept_once() -> None:
    stage, x, y = product()
    tiling = tile(stage, choice(1, 2, 1))
    assert tiling.passes == ROWS * COLUMNS // 2
    assert len(tiling.reads(x).rows) == ROWS * TERMS
    assert len(tiling.reads(y).rows) == COLUMNS // 2 * TERMS
    ragged = tile(stage, choice(1, 4, 1))
    assert len(ragged.reads(x).rows) == 2 * ROWS * TERMS  # the last pass of a row of the target has idle lanes


def test_reads_beside_each_other_are_those_of_each_step() -> None:
    stage, x, y = product()
    tiling = tile(stage, choice(1, 4, 2))
    one, other = tiling.reads(x), tiling.reads(y)
    both = Reads.beside([one, other])
    assert (both.rows[both.row] == np.hstack([one.rows[one.row], other.rows[other.row]])).all()
    assert (both.valid[both.row] == np.hstack([one.valid[one.row], other.valid[other.row]])).all()
    first = [both.row.tolist().index(row) for row in range(len(both.rows))]
    assert first == sorted(first)
    alike = Reads.beside([one, Reads(one.rows + 1, one.valid, one.row)])
    assert len(alike.rows) == len(one.rows) < len(one.row)


def test_distinct_rows_are_numbered_as_they_appear() -> None:
    first, kind = distinct(np.array([[5, 1], [2, 2], [5, 1], [0, 7], [2, 2]]))
    assert first.tolist() == [0, 1, 3]
    assert kind.tolist() == [0, 1, 0, 2, 1]


def test_wide_rows_are_told_apart_wherever_they_differ() -> None:
    """Some numbers of a wide row are looked at first; rows that differ in others alone are not equal."""
    rows = np.zeros((4, 4 * PARTS), np.int64)
    rows[1, 1] = rows[3, 1] = 5
    first, kind = distinct(rows)
    assert first.tolist() == [0, 1]
    assert kind.tolist() == [0, 1, 0, 1]


def test_terms_are_those_of_their_table() -> None:
    left, right = tables()
    row, column = np.divmod(np.arange(ROWS * COLUMNS), COLUMNS)
    for table, terms in (
        (left, Terms.sums(row * TERMS, np.arange(TERMS))),
        (right, Terms.sums(column, np.arange(TERMS) * COLUMNS)),
    ):
        assert (terms.rows[terms.row] == table).all()
        assert terms.equal(Terms.of(table))
        assert not terms.equal(Terms.of(table[::-1]))
        shifted = terms.through(lambda at: at // 2)
        assert (shifted.rows[shifted.row] == table // 2).all()
        assert shifted.equal(Terms.of(table // 2))
    assert not equal(Terms.of(left), left[:, 0])
    assert equal(left[:, 0], left[:, 0].copy())
