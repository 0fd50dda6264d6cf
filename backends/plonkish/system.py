"""A Plonkish constraint system as data: columns, gates as polynomials, lookups with their tables, copies and
challenges.
"""

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
    """A gate: a polynomial over the cells near a row that must be 0 on every used row; its name is `unit[lane]
    what`.
    """

    name: str
    node: int


@dataclass(frozen=True, slots=True)
class Lookup:
    """A lookup: on every used row, the tuple of inputs must be in some used row of the table, whose nodes read fixed
    columns.
    """

    name: str
    inputs: tuple[int, ...]
    table: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """A block: the rows of a unit that one operation takes, which are recorded only so that failures can name their
    rows.

    A unit is a group of columns whose gates do one kind of work, in lanes side by side. From row `first` on, each group
    of `height` rows holds one element per lane: lane l of the g-th group has element g * lanes + l, if this number is
    below `elements`. The field `edge` is the index of the operation in the integer arrow, or -1 for the arrow's own
    inputs and outputs.
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
        """Return the number of rows in the block; in its last group of rows, some lanes may be empty."""
        return -(-self.elements // self.lanes) * self.height


@dataclass(frozen=True, slots=True, eq=False)
class Provenance:
    """The origin of the parts of a Plonkish system: blocks by unit and in ascending rows, and the (unit, lane) of each
    gate, lookup and advice column.
    """

    blocks: Sequence[Block] = ()
    gates: Sequence[tuple[str, int]] = ()
    lookups: Sequence[tuple[str, int]] = ()
    columns: Sequence[tuple[str, int]] = ()


@dataclass(frozen=True, eq=False)
class PlonkishSystem:
    """A Plonkish system: cells in columns over a prime field, which are advice (given by the prover), fixed (part of
    the circuit) or instance (part of the statement).

    The used rows of a Plonkish system are 0 to `rows` - 1. A prover adds rows after the used ones, on which every fixed
    column is 0 and advice may be anything: gates constrain nothing in these rows, since each gate is 0 where all fixed
    columns are 0, and lookups constrain nothing there by the prover's own rule. If a gate reads a cell beyond the used
    rows, a fixed column makes the factor of that cell 0.

    The field `advice_phases` is 0 or 1 for each advice column, zeros first: the `challenges` are drawn once the prover
    has committed to all of phase 0 and the instance, and phase 1 is filled in after that. The field `instance` has the
    length of each instance column. The fields `nodes`, an array `int32[count, 3]`, and `constants` are the expressions
    (`expressions.py`), with each node after those that it reads. The field `copies`, an array `int32[count, 4]`, has
    pairs of equal cells (column, row, column, row), where columns are numbered advice, fixed, instance; a column that
    occurs in no copy needs no permutation argument. Row 0 of each table is an entry that rows without a lookup may look
    up.
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
        """Return the number of advice columns in the system."""
        return len(self.advice_phases)

    @property
    def columns(self) -> int:
        """Return the number of columns of all kinds."""
        return self.advice + len(self.fixed) + len(self.instance)

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """Return the degree of each node as a polynomial in the cells, where a challenge counts as a constant."""
        return Nodes(self.nodes, self.constants).degrees()

    @property
    def degree(self) -> int:
        """Return the greatest degree of a gate of the system."""
        return max((int(self.degrees[gate.node]) for gate in self.gates), default=0)

    @property
    def queries(self) -> int:
        """Return the greatest number of rotations in which gates and lookups read one advice column."""
        cells = self.nodes[self.nodes[:, 0] == Kind.ADVICE]
        pairs = np.unique(cells[:, 1:], axis=0)
        return int(np.bincount(pairs[:, 0]).max()) if len(pairs) else 0

    @property
    def blinding(self) -> int:
        """Return the number of rows that a halo2 prover keeps after the used ones for blinding: the number of queries,
        or at least 3, and 3 more.
        """
        return max(3, self.queries) + 3

    @property
    def k(self) -> int:
        """Return the logarithm to base 2 of the number of rows, including those for blinding."""
        return (self.rows + self.blinding - 1).bit_length()

    @cached_property
    def permuted(self) -> tuple[int, ...]:
        """Return the columns that occur in a copy, in ascending order."""
        return tuple(np.unique(self.copies[:, [0, 2]]).tolist()) if len(self.copies) else ()

    def fixed_limbs(self, column: int) -> Limbs:
        """Return a fixed column as field elements, with all used rows."""
        limbs = np.zeros((self.rows, 4), np.uint64)
        given = self.fixed[column]
        limbs[: len(given)] = given if given.ndim == 2 else self.field.from_int64(given.astype(np.int64))
        return limbs

    @cached_property
    def digest(self) -> str:
        """Return the SHA-256 of everything in the system on which a proof depends, as 64 hexadecimal digits; provenance
        is not part of it.
        """
        hashed = hashlib.sha256(b"circuitize plonkish 1")
        for part in self.parts():
            hashed.update(len(part).to_bytes(8, "little"))
            hashed.update(part)
        return hashed.hexdigest()

    def parts(self) -> Iterator[bytes]:
        """Yield the system as byte strings, which are unique for each system; the file format writes the same."""
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
    """Return a fixed column as bytes: a tag (8 or 32, the bytes of an entry), and the entries, which are signed
    integers or field elements in normal form.
    """
    if column.ndim == 1:
        return b"\x08" + column.astype("<i8").tobytes()
    return b"\x20" + column.astype("<u8").tobytes()


def column_of(values: NDArray[np.object_] | NDArray[np.int64], field: Field = BN254) -> Column:
    """Return the unique form of a fixed column: int64 if every signed representative is small, otherwise field
    elements; trailing zeros are left out.
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
