"""Building a constraint system block by block, or only counting what the system would contain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from math import prod

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError

from ..field import SMALL, Field
from .system import LARGE, Block, ConstraintSystem, Matrix, Order, Rows, WireBlock


class Kind(IntEnum):
    """The kind of a wire; after the constant, wires are numbered in the order of their kinds."""

    PUBLIC_OUTPUT = 0
    PUBLIC_INPUT = 1
    PRIVATE_INPUT = 2
    INTERNAL = 3


@dataclass(slots=True)
class Count:
    """The numbers of rows, of wires, and of non-zero coefficients of A, B and C that one operation emits in one
    role.
    """

    rows: int = 0
    wires: int = 0
    nonzeros: int = 0


class CountingBuilder:
    """A builder that takes the same calls as SystemBuilder and checks them, but keeps only counts per (edge, role).

    The method `wires` allocates consecutive wires, and `rows` appends the constraints a[i] * b[i] = c[i] for all i at
    once. A row may contain only wires that are already allocated. The builder raises ValueError if a gadget misuses it.
    """

    def __init__(self, field: Field) -> None:
        self.field = field
        self.counts: dict[tuple[int, str], Count] = {}
        self.kinds = [0, 0, 0, 0]
        self.constraints = 0
        self.nonzeros = 0
        self.challenge = 0
        self.committed = 0
        self._kind = Kind.PUBLIC_OUTPUT
        self._large: dict[int, int] = {}
        self._large_values: list[int] = []
        self._numbered: dict[tuple[int, ...], NDArray[np.int64]] = {}

    @property
    def wire_count(self) -> int:
        """Return the number of wires allocated so far, including the constant."""
        return 1 + sum(self.kinds)

    @property
    def public(self) -> int:
        """Return the number of public wires, which are outputs and inputs, without the constant 1."""
        return self.kinds[Kind.PUBLIC_OUTPUT] + self.kinds[Kind.PUBLIC_INPUT]

    def wires(
        self,
        count: int,
        edge: int,
        role: str,
        shape: Sequence[int] | None = None,
        *,
        kind: Kind = Kind.INTERNAL,
    ) -> int:
        """Allocate `count` wires, which form an array of `shape` (by default flat), and return the number of the first
        wire.

        Wires must be allocated in the order of their kinds: all public outputs before the first public input, and so
        on.
        """
        shape = (count,) if shape is None else tuple(shape)
        if count < 0 or prod(shape) != count:
            raise ValueError(f"{role} of edge {edge}: shape {shape} does not hold {count} wires")
        if kind < self._kind:
            raise ValueError(f"{role} of edge {edge}: {kind.name} wires come before {self._kind.name} ones")
        first = self.wire_count
        if first + count > 1 << 32:
            raise CircuitizeError(
                f"expected at most 2^32 wires, found {first + count} at {role} of edge {edge}; "
                "remedy: split the program or lower the batch size"
            )
        self._kind = kind
        self.kinds[kind] += count
        self._count(edge, role).wires += count
        self._keep_wires(WireBlock(first, count, edge, role, shape))
        return first

    def await_challenge(self) -> int:
        """Allocate the public wire of a challenge, which must be the last public wire, and return its number."""
        if self.challenge:
            raise ValueError("a system has one challenge")
        self.challenge = self.wires(1, -1, "challenge", (), kind=Kind.PUBLIC_INPUT)
        return self.challenge

    def draw(self) -> int:
        """End the first phase, so that the challenge is drawn after the private wires allocated so far, and return the
        wire of the challenge.
        """
        if not self.challenge or self.challenge != self.public or self.committed:
            raise ValueError("a challenge is drawn once, and its wire is the last public one")
        self.committed = self.wire_count - 1 - self.public
        return self.challenge

    def large_constant(self, value: int) -> int:
        """Return the coefficient by which rows refer to an integer of any size: the integer itself if it is small in
        the field, or else a reference to it.
        """
        value = self.field.signed(value)
        if -SMALL < value < SMALL:
            return value
        if value not in self._large:
            self._large[value] = len(self._large_values)
            self._large_values.append(value)
        return LARGE + self._large[value]

    def large_constants(self, values: tuple[int, ...]) -> NDArray[np.int64]:
        """Return the result of `large_constant` for each value; the results are cached for the tuple of values."""
        codes = self._numbered.get(values)
        if codes is None:
            large, prime, half, found = self._large, self.field.prime, self.field.prime // 2, []
            for value in values:
                signed = value % prime
                signed = signed - prime if signed > half else signed
                found.append(signed if -SMALL < signed < SMALL else LARGE + large.setdefault(signed, len(large)))
            self._large_values.extend(list(large)[len(self._large_values) :])
            codes = self._numbered[values] = np.array(found, np.int64)
        return codes

    def coefficient_value(self, coefficient: int) -> int:
        """Return the integer for which a coefficient stands, as the inverse of `large_constant`."""
        return self._large_values[coefficient - LARGE] if coefficient >= LARGE else coefficient

    def rows(self, a: Rows, b: Rows, c: Rows, edge: int, role: str, order: Order | None = None) -> None:
        """Append the rows a[i] * b[i] = c[i]; the builder keeps the given arrays, and there is one row for each element
        unless `order` says otherwise.
        """
        where = f"{role} of edge {edge}"
        count = a.count
        if b.count != count or c.count != count:
            raise ValueError(f"{where}: {count}, {b.count} and {c.count} rows in A, B and C")
        if count == 0:
            return
        order = order or Order(count)
        if not order.fits(count):
            raise ValueError(f"{where}: {count} rows for {order.elements} elements at stride {order.stride}")
        matrices = tuple(self._normalise(rows, where) for rows in (a, b, c))
        first_row = self.constraints
        nonzeros = sum(matrix.nonzeros for matrix in matrices)
        self.constraints += count
        self.nonzeros += nonzeros
        tally = self._count(edge, role)
        tally.rows += count
        tally.nonzeros += nonzeros
        self._keep_rows(matrices, Block(first_row, count, edge, role, order))

    def _count(self, edge: int, role: str) -> Count:
        return self.counts.setdefault((edge, role), Count())

    def _normalise(self, rows: Rows, where: str) -> Matrix:
        """Return rows as a matrix, with small coefficients reduced and zeros dropped, after checking that the wires of
        each row ascend and exist.
        """
        offsets, wires, values = rows.offsets, rows.wires, rows.coefficients
        if offsets[0] != 0 or offsets[-1] != len(wires) or len(wires) != len(values):
            raise ValueError(f"{where}: offsets do not fit the terms")
        if len(wires) == 0:
            return Matrix(offsets, wires.astype(np.uint32), values)
        if int(wires.max()) >= self.wire_count or int(wires.min()) < 0:
            raise ValueError(f"{where}: wire {int(wires.max())} of {self.wire_count} is not allocated")
        ascending = wires[1:] > wires[:-1]
        starts = offsets[1:-1]
        ascending[starts[(starts > 0) & (starts < len(wires))] - 1] = True
        if not ascending.all():
            raise ValueError(f"{where}: wires must ascend strictly in each row")
        lowest, highest = int(values.min()), int(values.max())
        if lowest <= -LARGE or highest >= LARGE + len(self._large):
            raise ValueError(f"{where}: a coefficient is neither below 2^62 nor a large constant")
        half = self.field.prime // 2
        if self.field.prime < 2 * SMALL and (lowest < -half or half < highest):
            values = values % self.field.prime
            values = np.where(values > half, values - self.field.prime, values)
        if not values.all():
            kept = values != 0
            ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
            return Matrix(ends[offsets], wires[kept].astype(np.uint32), values[kept])
        return Matrix(offsets, wires.astype(np.uint32, copy=False), values)

    def _keep_wires(self, block: WireBlock) -> None:
        pass

    def _keep_rows(self, matrices: tuple[Matrix, ...], block: Block) -> None:
        pass


class SystemBuilder(CountingBuilder):
    """A CountingBuilder that also keeps the rows: `system()` joins them, once, in O(nonzeros) time and memory."""

    def __init__(self, field: Field) -> None:
        super().__init__(field)
        self._matrices: tuple[list[Matrix], ...] = ([], [], [])
        self._blocks: list[Block] = []
        self._wire_blocks: list[WireBlock] = []

    def system(self) -> ConstraintSystem:
        """Return the constraint system that consists of everything appended so far."""
        ranks, large = self._rank_large()
        a, b, c = (_join(parts, ranks) for parts in self._matrices)
        outputs, inputs, private, _ = self.kinds
        return ConstraintSystem(
            self.field,
            a,
            b,
            c,
            self.field.from_integers(large),
            self.wire_count,
            outputs,
            inputs,
            private,
            tuple(self._blocks),
            tuple(self._wire_blocks),
            self.committed,
        )

    def _rank_large(self) -> tuple[NDArray[np.int64], list[int]]:
        """Return, for each large constant, its rank among the large constants in use, which are ordered by value, and
        these values.
        """
        used = np.zeros(len(self._large), dtype=np.bool_)
        if len(used):
            for matrix in (matrix for parts in self._matrices for matrix in parts):
                used[matrix.coefficients[matrix.coefficients >= LARGE] - LARGE] = True
        values = [value % self.field.prime for value in self._large_values]
        order = sorted(np.flatnonzero(used).tolist(), key=lambda place: values[place])
        ranks = np.zeros(len(used), dtype=np.int64)
        ranks[order] = np.arange(len(order))
        return ranks, [values[place] for place in order]

    def _keep_wires(self, block: WireBlock) -> None:
        self._wire_blocks.append(block)

    def _keep_rows(self, matrices: tuple[Matrix, ...], block: Block) -> None:
        for parts, matrix in zip(self._matrices, matrices, strict=True):
            parts.append(matrix)
        self._blocks.append(block)


def _join(parts: Sequence[Matrix], ranks: NDArray[np.int64]) -> Matrix:
    """Return matrices stacked into one; in their coefficients, references to large constants are replaced by ranks."""
    offsets = np.zeros(1 + sum(part.rows for part in parts), dtype=np.int64)
    row = term = 0
    for part in parts:
        np.add(part.offsets[1:], term, out=offsets[row + 1 : row + 1 + part.rows])
        row += part.rows
        term += part.nonzeros
    wires = np.concatenate([part.wires for part in parts]) if parts else np.zeros(0, np.uint32)
    values = np.empty(term, np.int64)
    term = 0
    for part in parts:
        own = values[term : term + part.nonzeros]
        own[:] = part.coefficients
        if len(ranks) and len(own) and int(own.max()) >= LARGE:
            references = np.flatnonzero(own >= LARGE)
            own[references] = LARGE + ranks[own[references] - LARGE]
        term += part.nonzeros
    return Matrix(offsets, wires, values)
