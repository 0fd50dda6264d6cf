"""Layouts of tensors in memories: the bank and the word of each element, so that in every clock a reader gets all that
it needs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .counter import rom_in_block
from .reads import Reads, distinct
from .remembered import remembered
from .sequence import Sequence

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Writing:
    """The places where one of the writer's lanes writes: for each step a bank and a word, or nothing if it is not
    enabled.
    """

    lane: int
    bank: Sequence
    word: Sequence
    enable: Sequence | None


@dataclass(frozen=True)
class Copy:
    """A copy of a tensor in banks that are read at the same time.

    `stored` lists the (bank, lane) pairs that have a memory, each of `depth` words. `reads` gives the address sequence
    of each memory of the copy.
    """

    reads: tuple[Sequence, ...]
    writings: tuple[Writing, ...]
    stored: tuple[tuple[int, int], ...]
    depth: int


@dataclass(frozen=True)
class Column:
    """A column of a layout: one of the elements that are read in a clock.

    `sources` are the memories of the copy that may hold an element of the column, as (bank, lane); `select` says which
    of them does, and `mask` is 0 where the column reads 0.
    """

    copy: int
    sources: tuple[tuple[int, int], ...]
    select: Sequence | None
    mask: Sequence | None


@dataclass(frozen=True)
class Layout:
    """The way in which a tensor is kept for one reader; `slots` says which column each place of the reader's table
    takes.
    """

    slots: tuple[int, ...]
    columns: tuple[Column, ...]
    copies: tuple[Copy, ...]

    @property
    def words(self) -> int:
        """Return how many elements the memories of the layout can hold for one frame."""
        return sum(len(copy.stored) * copy.depth for copy in self.copies)


@dataclass(frozen=True)
class Rom:
    """Constants for one reader: each word has one element for each column, and `read` gives the address at each
    step.
    """

    slots: tuple[int, ...]
    words: Indices
    read: Sequence


def rom(reads: Reads, amounts: Indices) -> Rom:
    """Return a constant that is laid out for its reader; elements that are -1 or not valid are read as 0."""
    values = np.where(reads.valid & (reads.rows >= 0), amounts[np.maximum(reads.rows, 0)], 0)
    first, slots = distinct(values.T)
    rows = values[:, first]
    order, kind = distinct(rows)
    read = Sequence.of(kind[reads.row])
    if read.loops is None:
        order, read = reads.row, Sequence.of(np.arange(len(reads.row)))
    return Rom(tuple(slots.tolist()), rows[order], read)


@remembered
def layout(reads: Reads, written: Indices, size: int) -> Layout:
    """Return the layout of a tensor of `size` elements for one reader and its writer.

    `written` [steps, lanes] holds the elements that are written, with NOTHING where a lane writes nothing. All columns
    share one address if each element is in one column and in one distinct row only; otherwise each column has a copy of
    the tensor.
    """
    columns, slots = reads.columns
    writer = np.full((2, size), -1, np.int64)
    for lane in range(written.shape[1]):
        at = np.flatnonzero(written[:, lane] >= 0)
        writer[:, written[at, lane]] = at, np.full(len(at), lane)
    ports, taken = _ports(columns)
    groups = [list(range(ports.shape[1]))]
    if len(groups[0]) > 1 and not _shareable(ports, size):
        groups = [[port] for port in groups[0]]
    copies, read = [], []
    for number, group in enumerate(groups):
        copy, selections = _copy(ports[:, group], reads.row, writer, written)
        copies.append(copy)
        for bank in range(len(group)):
            sources = tuple(pair for pair in copy.stored if pair[0] == bank)
            read.append(Column(number, sources, selections[bank], None))
    made = tuple(replace(read[port], mask=mask(columns[reads.row, column])) for column, port in enumerate(taken))
    return Layout(tuple(slots.tolist()), made, tuple(copies))


def _ports(columns: Indices) -> tuple[Indices, list[int]]:
    """Return the columns of rows that are read from memory, and for each column the one that it is read with:
    columns of which each reads 0 where another one reads an element are read as one.
    """
    ports: list[Indices] = []
    taken = []
    some = (columns == -1).any(axis=0)
    for column in range(columns.shape[1]):
        own, place = columns[:, column], len(ports)
        for port, other in enumerate(ports if some[column] else ()):
            if not ((own >= 0) & (other >= 0) & (own != other)).any():
                place = port
                break
        ports[place:] = [np.maximum(own, ports[place]) if place < len(ports) else own, *ports[place + 1 :]]
        taken.append(place)
    return np.stack(ports, axis=1), taken


def mask(column: Indices) -> Sequence | None:
    """Return for each step whether a column reads an element rather than 0; None if it never reads 0."""
    zero = column == -1
    return Sequence.of((~zero).astype(np.int64)) if zero.any() else None


def spread(reads: Reads, size: int, width: int) -> int:
    """Return how many bits more than those of its elements block memory takes for a tensor and one reader: for copies
    of it, with their tables of addresses. The arguments are those of `layout`, of a writer of one element a clock.
    """
    ports, _ = _ports(reads.columns[0])
    if ports.shape[1] < 2 or _shareable(ports, size):
        return 0
    made = layout(reads, np.arange(size, dtype=np.int64)[:, None], size)
    return max(0, made.words * width + table_bits(made, True) - size * width)


def table_bits(made: Layout, writes: bool) -> int:
    """Return the bits of a layout's tables of addresses in block memory, those with which it is written only if
    `writes` is true.
    """
    numbers: list[Sequence | None] = [column.select for column in made.columns]
    for copy in made.copies:
        numbers += copy.reads
        numbers += [number for w in copy.writings for number in (w.word, w.bank, w.enable) if writes]
    found = {n.key: n for n in numbers if n is not None and n.loops is None}
    return sum(n.steps * n.bits for n in found.values() if rom_in_block(n.steps, n.bits))


def _shareable(columns: Indices, size: int) -> bool:
    """Return whether each element is in one column and in one distinct row only."""
    _, row = distinct(columns)
    steps, places = np.nonzero(columns >= 0)
    elements = columns[steps, places]
    for owner in (places, row[steps]):
        found = np.full(size, -1, np.int64)
        found[elements] = owner
        if (found[elements] != owner).any():
            return False
    return True


def _copy(columns: Indices, read: Indices, writer: Indices, written: Indices) -> tuple[Copy, list[Sequence | None]]:
    """Return a copy of a tensor for a group of columns, with its words numbered so that counters are simplest, and for
    each column the sequence that selects its memory; `read` is the row of the columns that is read in each step.
    """
    first, kind = distinct(columns)
    rows = columns[first]
    inside = rows >= 0
    size = writer.shape[1]
    bank_of, row_of = np.full(size, -1, np.int64), np.full(size, -1, np.int64)
    at, places = np.nonzero(inside)
    bank_of[rows[at, places]], row_of[rows[at, places]] = places, at
    steps = np.where(inside, writer[0][np.maximum(rows, 0)], -1)
    least = np.where(inside, steps, np.iinfo(np.int64).max).min(axis=1)
    least = np.where(inside.any(axis=1), least, 0)
    together = bool((~inside | (steps == least[:, None])).all())
    ranked = np.empty(len(rows), np.int64)
    ranked[np.argsort(least, kind="stable")] = np.arange(len(rows))
    numberings = [np.arange(len(rows)), ranked, *([least] if together else [])]
    plans = [_plan(numbering, kind[read], bank_of, row_of, written) for numbering in numberings]
    address, writings, depth = min(plans, key=lambda plan: _weight(*plan))
    base = written.shape[1] + 1
    pairs = np.unique(places * base + writer[1][rows[at, places]] + 1)
    stored = list(zip((pairs // base).tolist(), (pairs % base - 1).tolist(), strict=True))
    selections: list[Sequence | None] = []
    for bank in range(columns.shape[1]):
        lanes = [lane for other, lane in stored if other == bank]
        choice = None
        if len(lanes) > 1:
            elements = columns[:, bank]
            chosen = np.searchsorted(lanes, writer[1][np.maximum(elements, 0)])
            choice = Sequence.of(held(np.where(elements >= 0, chosen, -1)[read]))
        selections.append(choice)
    return Copy((address,) * len(stored), writings, tuple(stored), depth), selections


def _weight(read: Sequence, writings: tuple[Writing, ...], depth: int) -> int:
    return (
        read.cost + depth // 8 + sum(w.word.cost + w.bank.cost + (w.enable.cost if w.enable else 0) for w in writings)
    )


def _plan(
    numbering: Indices, row: Indices, bank_of: Indices, row_of: Indices, written: Indices
) -> tuple[Sequence, tuple[Writing, ...], int]:
    writings = []
    for lane in range(written.shape[1]):
        elements = written[:, lane]
        there = elements >= 0
        kept = there & (bank_of[np.maximum(elements, 0)] >= 0)
        if not kept.any():
            continue
        bank = held(np.where(kept, bank_of[np.maximum(elements, 0)], -1))
        word = held(np.where(kept, numbering[row_of[np.maximum(elements, 0)]], -1))
        enable = None if kept.all() else Sequence.of(kept.astype(np.int64))
        writings.append(Writing(lane, Sequence.of(bank), Sequence.of(word), enable))
    return Sequence.of(numbering[row]), tuple(writings), int(numbering.max()) + 1


def held(values: Indices) -> Indices:
    """Return a sequence in which each number that does not matter (-1) is replaced by the last number before it that
    does.
    """
    known = np.flatnonzero(values >= 0)
    if len(known) == len(values):
        return values
    if not len(known):
        return np.zeros_like(values)
    last = np.maximum.accumulate(np.where(values >= 0, np.arange(len(values)), known[0]))
    return values[last]
