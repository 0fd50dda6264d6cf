"""Netlists: what an integer program computes element by element, as flat arrays of nodes, each with its own
interval.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.operation import Values

Integers = NDArray[np.int64]
Numbers = Integers | NDArray[np.bool_] | int
"""Numbers, one for each node of a netlist or one for all nodes."""


class Kind(IntEnum):
    """The kind of a node of a netlist, which says what the node computes from its operands a, b and c and its numbers n
    and m.
    """

    CONSTANT = 0
    """A CONSTANT node has the value n."""
    INPUT = 1
    """An INPUT node is element m of input n."""
    ADD = 2
    """An ADD node is a + b, or a - b where n is 1; b is shifted left by m, or a by -m."""
    MULTIPLY = 3
    """A MULTIPLY node is a * b."""
    SHIFT = 4
    """A SHIFT node is floor(a / 2^n)."""
    LEFT = 5
    """A LEFT node is a * 2^n."""
    NARROW = 6
    """A NARROW node is a, known to lie in the node's own interval; anything where a does not."""
    BIT = 7
    """A BIT node is bit n of a, an unsigned number."""
    CLAMP = 8
    """A CLAMP node is a, brought into the node's own interval."""
    NEGATIVE = 9
    """A NEGATIVE node is 1 where a < 0, else 0."""
    LESS = 10
    """A LESS node is 1 where a < b, else 0."""
    EQUAL = 11
    """An EQUAL node is 1 where a = n, else 0."""
    OUTSIDE = 12
    """An OUTSIDE node is 1 where a < n or a > m, else 0."""
    OR = 13
    """An OR node is a | b, both 0 or 1."""
    AND = 14
    """An AND node is a & b, both 0 or 1."""
    SELECT = 15
    """A SELECT node is a where c is 1, and b where c is 0."""
    TABLE = 16
    """A TABLE node is entry a - m of table n."""
    JOIN = 17
    """A JOIN node is a + b * 2^m for an unsigned number a below 2^m: the bits of a and b side by side."""
    WRAP = 18
    """the low bits of a, as many as the node's own interval has, signed as it is"""


WIRING = (Kind.CONSTANT, Kind.INPUT, Kind.SHIFT, Kind.LEFT, Kind.NARROW, Kind.BIT, Kind.NEGATIVE, Kind.JOIN, Kind.WRAP)
"""The kinds of nodes that only name bits of other nodes."""

LEVELS = {Kind.ADD: 1, Kind.MULTIPLY: 2, Kind.LESS: 1, Kind.OUTSIDE: 1, Kind.SELECT: 1, Kind.TABLE: 1}
"""How many levels of adders a node of each kind adds; kinds that are not listed add none."""

COLUMNS = {"kind": np.int8, "a": np.int32, "b": np.int32, "c": np.int32, "n": np.int64, "m": np.int64}
COLUMNS |= {"low": np.int64, "high": np.int64, "level": np.int32, "group": np.int32}

MOST_NODES = 1 << 21
"""The most nodes of a netlist. Examples take 2 to 17 LUTs a node: 4 million LUTs, and XCVU9P has 1.2 million."""


class Netlist:
    """A netlist: its nodes as columns of numbers, with operands before the nodes that read them; each node belongs to
    the group that was current when it was appended.

    Equal nodes that are appended together become one node, and so do equal constants. Node 0 of a netlist is the
    constant 0. The `level` of a node is the depth of adders below it: 0 for inputs and constants, and 1 or more for
    other nodes, where each operand counts as at least `floor` deep.
    """

    def __init__(self) -> None:
        self.count = 0
        self.current = 0
        self.floor = 1
        self.tables: list[Integers] = []
        self._columns: dict[str, Values] = {name: np.zeros(1024, kind) for name, kind in COLUMNS.items()}
        self._constants: dict[int, int] = {}
        self.constant(np.zeros(1, np.int64))

    def __getattr__(self, name: str) -> Values:
        if name not in COLUMNS:
            raise AttributeError(name)
        return self._columns[name][: self.count]

    def constant(self, values: ArrayLike) -> Integers:
        """Return the nodes that are constants with the given values."""
        distinct, inverse = np.unique(np.asarray(values, np.int64), return_inverse=True)
        found = np.array([self._constants.get(value, -1) for value in distinct.tolist()], np.int64)
        new = distinct[found < 0]
        found[found < 0] = self._append({"kind": Kind.CONSTANT, "n": new, "low": new, "high": new})
        self._constants.update(zip(new.tolist(), found[np.searchsorted(distinct, new)].tolist(), strict=True))
        return found[inverse].reshape(np.shape(values))

    def append(
        self,
        kind: Kind,
        low: Numbers,
        high: Numbers,
        a: Numbers = -1,
        b: Numbers = -1,
        c: Numbers = -1,
        n: Numbers = 0,
        m: Numbers = 0,
    ) -> Integers:
        """Append nodes of one kind, and return them as an array of the shape to which the arguments broadcast.

        A node whose interval is a single number becomes a constant. Raise CircuitizeError for more than MOST_NODES.
        """
        given = np.broadcast_arrays(*(np.asarray(value, np.int64) for value in (a, b, c, n, m, low, high)))
        require_few(given[0].size)
        shape, flat = given[0].shape, np.stack([value.reshape(-1) for value in given], axis=1)
        made = np.empty(len(flat), np.int64)
        known = flat[:, 5] == flat[:, 6]
        if kind is Kind.INPUT:
            known[:] = False
        made[known] = self.constant(flat[known, 5])
        rest = np.ascontiguousarray(flat[~known])
        if len(rest):
            rows = rest.view(np.dtype((np.void, rest.itemsize * rest.shape[1]))).reshape(-1)
            _, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
            order = np.argsort(first)
            rank = np.empty_like(order)
            rank[order] = np.arange(len(order))
            unique = rest[first[order]]
            level = np.full(len(unique), 0 if kind is Kind.INPUT else self.floor)
            for operand in unique.T[:3]:
                level = np.maximum(level, np.where(operand >= 0, self.level[np.maximum(operand, 0)], 0))
            names = ("a", "b", "c", "n", "m", "low", "high")
            columns = {name: unique[:, i] for i, name in enumerate(names)}
            ids = self._append({"kind": kind, **columns, "level": level + LEVELS.get(kind, 0)})
            made[~known] = ids[rank[inverse.reshape(-1)]]
        return made.reshape(shape)

    def table(self, entries: Integers) -> int:
        """Return the number of a table with the given entries, which is stored only once."""
        for index, table in enumerate(self.tables):
            if np.array_equal(table, entries):
                return index
        self.tables.append(entries)
        return len(self.tables) - 1

    def live(self, wanted: Integers) -> NDArray[np.bool_]:
        """Return a mask of the nodes on which the wanted nodes depend, including the wanted nodes themselves."""
        found = np.zeros(self.count, bool)
        front = np.unique(wanted)
        while len(front):
            found[front] = True
            front = np.unique(np.concatenate([column[front] for column in (self.a, self.b, self.c)]))
            front = front[front >= 0]
            front = front[~found[front]]
        return found

    def _append(self, columns: Mapping[str, Values | int]) -> Integers:
        (count,) = {len(value) for value in columns.values() if isinstance(value, np.ndarray)}
        end = self.count + count
        require_few(end)
        while end > len(self._columns["kind"]):
            self._columns = {name: np.concatenate([c, np.zeros_like(c)]) for name, c in self._columns.items()}
        unused = {"a": -1, "b": -1, "c": -1, "group": self.current}
        for name, column in self._columns.items():
            column[self.count : end] = columns.get(name, unused.get(name, 0))
        made = np.arange(self.count, end)
        self.count = end
        return made


def require_few(nodes: int) -> None:
    """Raise CircuitizeError for more nodes than MOST_NODES."""
    if nodes > MOST_NODES:
        raise CircuitizeError(
            f"the parallel schedule: expected at most {MOST_NODES:,} numbers with logic of their own, found more; use "
            "the folded one, in which they share it, or fewer examples of a batch at a time (--micro-batch)"
        )


def widths(low: Integers, high: Integers) -> Integers:
    """Return the number of bits that the signal of each interval has, by `signals.width`."""
    magnitude = np.where(low < 0, np.maximum(~low, high), high)
    bits = np.zeros(np.shape(magnitude), np.int64)
    rest = magnitude.copy()
    for step in (32, 16, 8, 4, 2, 1):
        more = rest >= (np.int64(1) << np.int64(step))
        bits += np.where(more, step, 0)
        rest = np.where(more, rest >> np.int64(step), rest)
    bits += rest > 0
    return np.maximum(bits, np.where(low < 0, 0, 1)) + (low < 0)
