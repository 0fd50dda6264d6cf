"""Layouts of a reader that uses another reader's memories, and when its tables of addresses are too large for that."""

from __future__ import annotations

import numpy as np

from circuitize.backends.verilog.folded.guests import Words, guest, in_order
from circuitize.backends.verilog.folded.layout import Layout, table_bits
from circuitize.backends.verilog.folded.reads import Reads

LANES, WORDS, STEPS = 8, 128, 2048
ELEMENTS = np.arange(LANES * WORDS).reshape(WORDS, LANES)


def read_as(words: np.ndarray, most: int | None = None) -> Layout | None:
    """The layout of a reader that reads, in each step, a word [steps, lanes] of each memory of a tensor that is written
    in order.
    """
    table = ELEMENTS[words, np.arange(LANES)]
    return guest(in_order(ELEMENTS), Reads.of(table), ELEMENTS, ELEMENTS.size, most)


def test_a_bound_refuses_tables_of_that_many_bits() -> None:
    words = np.random.default_rng(0).integers(0, WORDS, (STEPS, LANES))
    whole = read_as(words)
    assert whole is not None
    bits = table_bits(whole, False)
    assert bits == STEPS * 7 * LANES
    assert read_as(words, bits) is None
    assert read_as(words, bits // 2) is None
    assert read_as(words, bits + 1) == whole


def test_addresses_that_two_memories_share_count_once() -> None:
    """Four memories follow one table of numbers and four another: no more than two tables are kept."""
    some = np.random.default_rng(1).integers(0, WORDS, (STEPS, 2))
    found = read_as(some[:, np.arange(LANES) % 2], 2 * STEPS * 7 + 1)
    assert found is not None
    (copy,) = found.copies
    assert len({id(sequence) for sequence in copy.reads}) == 2
    for lane, sequence in enumerate(copy.reads):
        np.testing.assert_array_equal(sequence.values, some[:, lane % 2])
    assert table_bits(found, False) == 2 * STEPS * 7
    assert read_as(some[:, np.arange(LANES) % 2], 2 * STEPS * 7) is None


def test_one_table_of_all_memories_counts_once() -> None:
    words = np.random.default_rng(2).integers(0, WORDS, STEPS)
    assert read_as(np.repeat(words[:, None], LANES, axis=1), STEPS * 7 + 1) is not None
    assert read_as(np.repeat(words[:, None], LANES, axis=1), STEPS * 7) is None


def test_counters_are_no_tables() -> None:
    words = np.arange(STEPS) % WORDS
    assert read_as(np.repeat(words[:, None], LANES, axis=1), 1) is not None


def test_words_of_memories_are_those_of_the_tables() -> None:
    """By rows and places, one at a time: which memories a row reads, at which words, and whether they differ."""
    seen = set()
    for seed in range(400):
        draw = np.random.default_rng(seed)
        rows, places, memories = (int(one) for one in draw.integers(1, 5, 3))
        inside = draw.random((rows, places)) < draw.choice([0.3, 0.8, 1.0])
        memory = np.where(inside, draw.integers(0, memories, (rows, places)), -1)
        word = np.where(inside, draw.integers(0, draw.integers(1, 4), (rows, places)), -1)
        wanted = np.full((memories, rows), -1)
        read: list[set[int]] = [set() for _ in range(rows)]
        agree = True
        for row, place in zip(*np.nonzero(inside), strict=True):
            there = memory[row, place], row
            agree &= bool(wanted[there] in (-1, word[row, place]))
            wanted[there] = word[row, place]
            read[row].add(int(word[row, place]))
        together = all(len(words) < 2 for words in read)
        found = Words.of(inside, memory, word, memories)
        assert (found.agree, found.together) == (agree, together)
        seen.add((agree, together))
        if together:
            np.testing.assert_array_equal(list(found), [[max(words, default=-1) for words in read]])
        elif agree:
            np.testing.assert_array_equal(list(found), wanted)
    assert seen == {(True, True), (True, False), (False, False)}
