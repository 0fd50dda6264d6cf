"""Sizes with which what a stage writes in one clock is what its readers read in one clock."""

from __future__ import annotations

import numpy as np
import pytest
from every_case import every_case
from lent_programs import multiplying

from circuitize.backends.verilog.folded.budget import sizes
from circuitize.backends.verilog.folded.folding import fold
from circuitize.backends.verilog.folded.graph import Operand, Stage
from circuitize.backends.verilog.folded.lending import lending, sent_by
from circuitize.backends.verilog.folded.matching import Matching, scattered
from circuitize.backends.verilog.folded.terms import Terms
from circuitize.backends.verilog.folded.tiling import Choice, tile
from circuitize.circuits.operation import Provenance
from circuitize.circuits.types import Fixed

SIDE, UNITS = 16, 8
WIDTH = 18


@every_case([(16, 1, 128), (4, 16, 0), (1, 16, 0)])
def test_rows_that_are_written_are_read_without_small_memories(lanes: int, split: int, memories: int) -> None:
    """A writer of eight neighbours of a row, and readers of 16 rows at a time, of 4 whole rows, and of one: the first
    needs a memory for each row and each unit.
    """
    written = Stage(1, Fixed((SIDE, SIDE), 0, -9, 9), Provenance())
    whole = Choice(1, 1, SIDE * SIDE, 1, UNITS, SIDE * SIDE // UNITS, 1, UNITS, SIDE * SIDE // UNITS)
    operand = Operand("x0", 1, Terms.of(np.arange(SIDE * SIDE).reshape(SIDE, SIDE)), written.format, -9, 9)
    sums = Stage(2, Fixed((SIDE,), 0, -99, 99), Provenance(), reduction="sum", terms=SIDE, operands=[operand])
    read = Choice(0, 1, 1, lanes, lanes, SIDE // lanes, split, 1, SIDE * SIDE // lanes // split)
    found = scattered(tile(written, whole), tile(sums, read), operand, WIDTH)
    small = lanes * split * WIDTH * 0.67
    selected = WIDTH * lanes * (0.47 * UNITS - 0.8)
    assert found == pytest.approx(memories * WIDTH * 0.67 + selected if memories else small)


def test_no_stage_makes_more_products_than_allowed_if_it_can_make_fewer() -> None:
    folded = lending(fold(multiplying()))
    assert folded is not None
    search, start = Matching(folded), sizes(folded, 40)
    assert start.pool is not None
    for most in (2, 6):
        found = search.sizes(start, most)
        assert found.pool is not None and found.pool.size <= start.pool.size
        for number, choice in enumerate(found.choices):
            fewest = min(sent for _, _, sent in search.candidates(start.pool.size)[number])
            assert len(sent_by(folded, number, choice).bits) <= max(most, fewest)
