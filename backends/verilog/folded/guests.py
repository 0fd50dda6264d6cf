"""Layouts of a tensor for a further reader that uses memories of another reader, and memories made for several
readers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .layout import Column, Copy, Layout, Writing, held, mask
from .reads import Reads
from .remembered import remembered
from .sequence import Sequence

Indices = NDArray[np.int64]

DEEP = 6
"""Loops that a counter may have here: tables of steps as long as those of training would take much block memory."""

REPEATS = 8
"""How often a first run of known numbers is repeated at most."""


@remembered
def in_order(written: Indices) -> Layout:
    """Return the layout of a tensor in the order in which it is written, for no reader yet: a memory for each of the
    writer's lanes, with a word for each step.
    """
    step = np.arange(len(written))
    writings, stored = [], []
    for lane in range(written.shape[1]):
        there = written[:, lane] >= 0
        enable = None if there.all() else Sequence.of(there.astype(np.int64))
        writings.append(Writing(lane, Sequence.of(np.full(len(written), lane)), Sequence.of(step), enable))
        stored.append((lane, lane))
    return _bare(tuple(writings), tuple(stored), len(written))


@remembered
def packed(host: Layout, written: Indices, size: int) -> Layout | None:
    """Return the memories of the layout `host`, for no reader yet, without the words that hold nothing; None if `host`
    has several copies.

    A bank that several of the writer's lanes write has a memory for each of these lanes, and each lane numbers its
    words separately.
    """
    if len(host.copies) != 1:
        return None
    (copy,) = host.copies
    memory_of, word_of = _places(copy, written, size)
    kept = np.flatnonzero(memory_of >= 0)
    order = kept[np.lexsort((word_of[kept], memory_of[kept]))]
    counts = np.bincount(memory_of[kept], minlength=len(copy.stored))
    rank = np.full(size, -1, np.int64)
    rank[order] = np.arange(len(order)) - (np.cumsum(counts) - counts)[memory_of[order]]
    writings = []
    for writing in copy.writings:
        elements = written[:, writing.lane]
        word = np.where(elements >= 0, rank[np.maximum(elements, 0)], -1)
        writings.append(Writing(writing.lane, writing.bank, _simplest(word), writing.enable))
    return _bare(tuple(writings), copy.stored, int(counts.max()))


def _bare(writings: tuple[Writing, ...], stored: tuple[tuple[int, int], ...], depth: int) -> Layout:
    """Return a layout of the given memories that has no reader."""
    nowhere = Sequence.of(np.zeros(1, np.int64))
    return Layout((), (), (Copy((nowhere,) * len(stored), writings, stored, depth),))


@remembered
def guest(host: Layout, reads: Reads, written: Indices, size: int) -> Layout | None:
    """Return the layout of a tensor for a further reader that uses the memories of `host`, or None if it cannot use
    them.

    A reader can use the memories of `host` if `host` keeps each element once, and no memory holds two elements that are
    read in one clock. The arguments are those of `layout`; the layout that is returned differs from `host` in how it is
    read.
    """
    if len(host.copies) != 1:
        return None
    (copy,) = host.copies
    memory_of, word_of = _places(copy, written, size)
    columns, slots = reads.columns
    inside, elements = columns >= 0, np.maximum(columns, 0)
    memory = np.where(inside, memory_of[elements], -1)
    if (memory[inside] < 0).any():
        return None
    words = np.full((len(columns), len(copy.stored) + 1), -1)
    np.put_along_axis(words, memory, np.where(inside, word_of[elements], -1), axis=1)
    if (inside & (word_of[elements] != np.take_along_axis(words, memory, axis=1))).any():
        return None
    made = []
    for place in range(columns.shape[1]):
        used = np.unique(memory[inside[:, place], place])
        known = np.where(inside[:, place], np.searchsorted(used, memory[:, place]), -1)
        select = _simplest(known[reads.row]) if len(used) > 1 else None
        made.append(Column(0, tuple(copy.stored[k] for k in used), select, mask(columns[reads.row, place])))
    own = _joined(words[:, : len(copy.stored)], reads.row)
    return Layout(tuple(slots.tolist()), tuple(made), (Copy(own, copy.writings, copy.stored, copy.depth),))


def _places(copy: Copy, written: Indices, size: int) -> tuple[Indices, Indices]:
    """Return for each element of a tensor the number of its memory in `stored`, and its word; both are -1 if it is not
    kept.
    """
    number = {pair: k for k, pair in enumerate(copy.stored)}
    memory_of, word_of = np.full(size, -1, np.int64), np.full(size, -1, np.int64)
    for writing in copy.writings:
        elements = written[:, writing.lane]
        kept = elements >= 0
        if writing.enable is not None:
            kept &= writing.enable.values == 1
        places = np.array([number.get((bank, writing.lane), -1) for bank in range(int(writing.bank.values.max()) + 1)])
        memory_of[elements[kept]] = places[writing.bank.values[kept]]
        word_of[elements[kept]] = writing.word.values[kept]
    return memory_of, word_of


def _joined(words: Indices, row: Indices) -> tuple[Sequence, ...]:
    """Return the address sequences of memories, by the words that they are read at for each row [rows, memories], where
    -1 means that a memory is not read, and by the row of each step: one sequence for all of them if their addresses
    never differ.
    """
    most = words.max(axis=1)
    if ((words < 0) | (words == most[:, None])).all():
        return (_simplest(most[row]),) * int(words.shape[1])
    return tuple(_simplest(word[row]) for word in words.T)


def _simplest(values: Indices) -> Sequence:
    """Return the cheapest sequence that equals given numbers except where they are -1, which means that any number will
    do.

    For each -1 the sequence holds the number before it, takes the number after it in advance, or repeats the first
    numbers.
    """
    if (values >= 0).all():
        return Sequence.of(values, DEEP)
    again, run = values.copy(), int(np.argmin(values >= 0))
    for _ in range(REPEATS if run else 0):
        again[run:] = np.where(again[run:] < 0, again[:-run], again[run:])
    fills = [held(values), held(values[::-1])[::-1], held(again)]
    return min((Sequence.of(fill, DEEP) for fill in fills), key=lambda sequence: sequence.cost)
