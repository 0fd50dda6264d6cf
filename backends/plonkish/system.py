"""A Plonkish constraint system as data: columns, gates as polynomials, lookups with tables, copies, challenges."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..field import BN254, Field, Limbs
from .expressions import Kind, Nodes

Column = NDArray[np.int64] | Limbs
"""A fixed column's first rows, the others being 0: `int64[n]`, or `uint64[n, 4]` if an entry is not small."""


@dataclass(frozen=True, slots=True)
class Gate:
    """A polynomial over the cells around a row that is 0 on every used row; its name is `unit[lane] what`."""

    name: str
    node: int


@dataclass(frozen=True, slots=True)
class Lookup:
    """On every used row the tuple of inputs stands in some used row of the table, whose nodes read fixed columns."""

    name: str
    inputs: tuple[int, ...]
    table: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """The rows of a unit that one operation takes, recorded only so that failures can name rows.

    A unit is a group of columns whose gates do one kind of work, in lanes side by side. From row `first`, each `height`
    rows hold one element per lane: lane l of the g-th such group has element g * lanes + l, if below `elements`. `edge`
    is the operation's index in the integer arrow, -1 for the arrow's own inputs and outputs.
    """

    unit: str
    first: int
    height: int
    lanes: int
    elements: int
    edge: int
    role: str

    @property
    def rows(self) -> int:
        """Return how many rows the block takes; the last group of lanes may be partly empty."""
        return -(-self.elements // self.lanes) * self.height


@dataclass(frozen=True, slots=True, eq=False)
class Provenance:
    """The origin of rows: blocks by unit and ascending rows; the (unit, lane) of gates, lookups, advice columns."""

    blocks: Sequence[Block] = ()
    gates: Sequence[tuple[str, int]] = ()
    lookups: Sequence[tuple[str, int]] = ()
    columns: Sequence[tuple[str, int]] = ()


@dataclass(frozen=True, eq=False)
class PlonkishSystem:
    """Cells in columns over a prime field: advice (the prover's), fixed (the circuit's), instance (the statement's).

    The used rows of a Plonkish system are 0 to `rows` - 1. A prover adds rows behind the used ones, on which every
    fixed column is 0 and advice may be anything: each gate is 0 wherever all fixed columns are, so that gates constrain
    nothing in these rows; nor do lookups, by the prover's own rule. If a gate reads a cell beyond the used rows, a
    fixed column makes its factor 0.

    `advice_phases` is 0 or 1 for each advice column, zeros first: the `challenges` are drawn once all of phase 0 and
    the instance are committed to, and phase 1 is filled in then. `instance` is the length of each instance column.
    `nodes int32[count, 3]` and `constants` are the expressions (`expressions.py`), each node after those it reads.
    `copies int32[count, 4]` are pairs of equal cells (column, row, column, row), columns numbered advice, fixed,
    instance; columns that occur in none need no permutation argument. Row 0 of each table is an entry that unused rows
    may look up.
    """

    field: Field
    rows: int
    advice_phases: tuple[int, ...]
    fixed: tuple[Column, ...]
    instance: tuple[int, ...]
    challenges: int
    nodes: NDArray[np.int32]
    constants: tuple[int, ...]
    gates: tuple[Gate, ...]
    lookups: tuple[Lookup, ...]
    copies: NDArray[np.int32]
    provenance: Provenance = Provenance()

    @property
    def advice(self) -> int:
        """Return the number of advice columns."""
        return len(self.advice_phases)

    @property
    def columns(self) -> int:
        """Return the number of columns of all kinds."""
        return self.advice + len(self.fixed) + len(self.instance)

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """Return the degree of each node in the cells; a challenge is a constant."""
        return Nodes(self.nodes, self.constants).degrees()

    @property
    def degree(self) -> int:
        """Return the greatest degree of a gate."""
        return max((int(self.degrees[gate.node]) for gate in self.gates), default=0)

    @property
    def queries(self) -> int:
        """Return the most rotations in which gates and lookups read one advice column."""
        cells = self.nodes[self.nodes[:, 0] == Kind.ADVICE]
        pairs = np.unique(cells[:, 1:], axis=0)
        return int(np.bincount(pairs[:, 0]).max()) if len(pairs) else 0

    @property
    def blinding(self) -> int:
        """Return the rows that a halo2 prover keeps behind the used ones: queries (at least 3) and 3 more."""
        return max(3, self.queries) + 3

    @property
    def k(self) -> int:
        """Return the logarithm of the number of rows, blinding included."""
        return (self.rows + self.blinding - 1).bit_length()

    @cached_property
    def permuted(self) -> tuple[int, ...]:
        """Return the columns that occur in a copy, ascending."""
        return tuple(np.unique(self.copies[:, [0, 2]]).tolist()) if len(self.copies) else ()

    def fixed_limbs(self, column: int) -> Limbs:
        """Return a fixed column as field elements, with all used rows."""
        limbs = np.zeros((self.rows, 4), np.uint64)
        given = self.fixed[column]
        limbs[: len(given)] = given if given.ndim == 2 else self.field.from_int64(given.astype(np.int64))
        return limbs

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything that a proof depends on (provenance is not part of it), as 64 hexadecimal digits."""
        hashed = hashlib.sha256(b"circuitize plonkish 1")
        for part in self.parts():
            hashed.update(len(part).to_bytes(8, "little"))
            hashed.update(part)
        return hashed.hexdigest()

    def parts(self) -> Iterator[bytes]:
        """Yield the system as byte strings, one form for each system; the file format writes the same."""
        width = self.field.bytes
        yield self.field.prime.to_bytes(32, "little")
        yield _words([self.rows, self.challenges, *map(len, (self.advice_phases, self.fixed, self.instance))])
        yield bytes(self.advice_phases)
        yield _words(self.instance)
        for column in self.fixed:
            yield _column_bytes(column)
        yield self.nodes.astype("<i4").tobytes()
        yield b"".join((value % self.field.prime).to_bytes(width, "little") for value in self.constants)
        yield "\n".join(gate.name for gate in self.gates).encode()
        yield _words([gate.node for gate in self.gates])
        yield "\n".join(lookup.name for lookup in self.lookups).encode()
        for lookup in self.lookups:
            yield _words([len(lookup.inputs), *lookup.inputs, *lookup.table])
        yield self.copies.astype("<i4").tobytes()


def _words(values: Sequence[int]) -> bytes:
    return np.asarray(values, "<u4").tobytes()


def _column_bytes(column: Column) -> bytes:
    """Return a tag (8 or 32: bytes of an entry), then the entries: signed integers, or field elements in normal
    form.
    """
    if column.ndim == 1:
        return b"\x08" + column.astype("<i8").tobytes()
    return b"\x20" + column.astype("<u8").tobytes()


def column_of(values: NDArray[np.object_] | NDArray[np.int64], field: Field = BN254) -> Column:
    """Return the one form of a fixed column: int64 if every signed representative is small; trailing zeros are left
    out.
    """
    if values.dtype != object:
        small = values.astype(np.int64)
        if len(small) == 0 or max(-int(small.min()), int(small.max())) < 1 << 62:
            return np.ascontiguousarray(np.trim_zeros(small, "b"))
    signed = [field.signed(int(value)) for value in values.tolist()]
    while signed and not signed[-1]:
        signed.pop()
    if all(-(1 << 62) < value < 1 << 62 for value in signed):
        return np.array(signed, np.int64)
    return field.from_integers(signed)
