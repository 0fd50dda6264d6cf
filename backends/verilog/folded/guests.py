"""Layouts of a tensor for a further reader that uses memories of another reader, and memories made for several
readers.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .counter import rom_in_block
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
def guest(host: Layout, reads: Reads, written: Indices, size: int, most: int | None = None) -> Layout | None:
    """Return the layout of a tensor for a further reader that uses the memories of `host`, or None if it cannot use
    them or if its tables of addresses alone take `most` bits of block memory or more.

    A reader can use the memories of `host` if `host` keeps each element once, and no memory holds two elements that are
    read in one clock. The arguments are those of `layout`; the layout that is returned differs from `host` in how it is
    read.
    """
    if len(host.copies) != 1:
        return None
    (copy,) = host.copies
    memory_of, word_of = _places(copy, written, size)
    columns, slots = reads.columns
    inside = columns >= 0
    memory = np.where(inside, memory_of[np.maximum(columns, 0)], -1)
    if (memory[inside] < 0).any():
        return None
    words = Words.of(inside, memory, word_of[np.maximum(columns, 0)], len(copy.stored))
    if not words.agree:
        return None
    made = []
    for place in range(columns.shape[1]):
        used = np.unique(memory[inside[:, place], place])
        known = np.where(inside[:, place], np.searchsorted(used, memory[:, place]), -1)
        select = _simplest(known[reads.row]) if len(used) > 1 else None
        made.append(Column(0, tuple(copy.stored[k] for k in used), select, mask(columns[reads.row, place])))
    own = _below((_simplest(word[reads.row]) for word in words), most)
    if own is None:
        return None
    whole = own * len(copy.stored) if words.together else own
    return Layout(tuple(slots.tolist()), tuple(made), (Copy(whole, copy.writings, copy.stored, copy.depth),))


@dataclass(frozen=True)
class Words:
    """The words at which memories are read for each of some rows: a list for each memory, of the rows that read it and
    of the words, since few rows may read any one of many memories.
    """

    rows: int
    lists: tuple[tuple[Indices, Indices], ...]
    whole: tuple[Indices, Indices]

    @staticmethod
    def of(inside: NDArray[np.bool_], memory: Indices, word: Indices, memories: int) -> Words:
        """Return the words of tables [rows, places] of memories and words, of which those that are `inside` matter."""
        row, there, read = np.nonzero(inside)[0], memory[inside], word[inside]
        order = np.argsort(there, kind="stable")
        parts = np.split(order, np.searchsorted(there[order], np.arange(1, memories)))
        return Words(len(inside), tuple((row[part], read[part]) for part in parts), (row, read))

    @cached_property
    def together(self) -> bool:
        """Return whether all memories that a row reads are read at one word."""
        return self._same(self.whole)

    @property
    def agree(self) -> bool:
        """Return whether no row reads two words of one memory."""
        return self.together or all(map(self._same, self.lists))

    def __iter__(self) -> Iterator[Indices]:
        """Yield for each memory the word of each row, -1 if the row does not read it; once for all memories if they are
        read together.
        """
        return map(self._column, (self.whole,) if self.together else self.lists)

    def _column(self, read: tuple[Indices, Indices]) -> Indices:
        made = np.full(self.rows, -1, np.int64)
        made[read[0]] = read[1]
        return made

    def _same(self, read: tuple[Indices, Indices]) -> bool:
        return bool((self._column(read)[read[0]] == read[1]).all())


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


def _below(sequences: Iterable[Sequence], most: int | None) -> tuple[Sequence, ...] | None:
    """Return the sequences, or None as soon as their tables take `most` bits of block memory or more.

    Sequences of the same numbers become one: tables as long as a step of training, one for each of a thousand memories,
    would take gigabytes before they are refused.
    """
    made: list[Sequence] = []
    known, bits = dict[Hashable, Sequence](), 0
    for sequence in sequences:
        new = sequence.key not in known
        made.append(known.setdefault(sequence.key, sequence))
        if new and sequence.loops is None and rom_in_block(sequence.steps, sequence.bits):
            bits += sequence.steps * sequence.bits
        if most is not None and bits >= most:
            return None
    return tuple(made)


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
