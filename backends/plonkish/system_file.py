"""Files of Plonkish systems (.plonkish) and of their cells (.cells), in a format of this project, which
`docs/plonkish.md` describes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import FormatError
from circuitize.circuits.files import write_whole
from circuitize.circuits.reading import parse_json

from ..field import BN254, Field, Limbs
from ..r1cs.sections import SectionFile, section_chunks
from .expressions import Kind
from .system import Block, Column, Gate, Lookup, PlonkishSystem, Provenance

MAGIC, CELLS_MAGIC, VERSION = b"plnk", b"plkc", 1
COUNTS = 10
"""The count of numbers in the header of a .plonkish file, after the prime."""

MOST_COLUMNS = 1 << 16
MOST_NAMED = 1 << 24
"""The most bytes of the names of operations, and of the table that says which unit's rows belong to which operation."""


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The cells of one run of a Plonkish system: its advice columns, instance columns and challenges."""

    advice: tuple[Limbs, ...]
    instance: tuple[Limbs, ...]
    challenges: tuple[int, ...]


def write_system(path: Path, system: PlonkishSystem, operations: Sequence[str] = ()) -> None:
    """Write a Plonkish system to a file, which appears complete or not at all. The argument `operations` has a name for
    each operation of the program, for messages about failures.
    """
    field = system.field
    header = field.bytes.to_bytes(4, "little") + field.prime.to_bytes(field.bytes, "little")
    header += _words(
        [
            system.rows,
            system.challenges,
            system.advice,
            len(system.fixed),
            len(system.instance),
            len(system.nodes),
            len(system.constants),
            len(system.gates),
            len(system.lookups),
            len(system.copies),
        ]
    )
    sections = [
        header,
        bytes(system.advice_phases),
        _words(system.instance),
        b"".join(map(_column, system.fixed)),
        system.nodes.astype("<i4").tobytes(),
        b"".join(value.to_bytes(field.bytes, "little") for value in system.constants),
        b"".join(_words([gate.node]) + _text(gate.name) for gate in system.gates),
        b"".join(
            _words([len(lookup.inputs), *lookup.inputs, *lookup.table]) + _text(lookup.name)
            for lookup in system.lookups
        ),
        system.copies.astype("<u4").tobytes(),
        _provenance(system.provenance, operations),
    ]
    write_whole(path, section_chunks(MAGIC, VERSION, [(i, len(s), [s]) for i, s in enumerate(sections, 1)]))


def read_system(path: Path, field: Field = BN254) -> tuple[PlonkishSystem, list[str]]:
    """Return the Plonkish system in a file, and the names of the operations of its program.

    Raise FormatError for a file of another kind or a damaged file, which has lengths that do not fit, values that are
    not in normal form, nodes that read later ones, columns, rows or challenges that do not exist, or tables that read
    anything but fixed columns.
    """
    file = SectionFile(path, MAGIC, VERSION, "plonkish")
    counts = np.frombuffer(file.header(field, 4 * COUNTS), "<u4").tolist()
    rows, challenges, advice, fixed, instance, nodes, constants, gates, lookups, copies = counts
    if advice + fixed + instance > MOST_COLUMNS or rows == 0:
        file.fail(f"rows, and at most {MOST_COLUMNS} columns", f"{rows} rows, {advice + fixed + instance} columns")
    phases = file.section(2, advice).tobytes()
    lengths = file.section(3, 4 * instance).view("<u4").tolist()
    table = file.section(5, 12 * nodes).view("<i4").reshape(-1, 3).astype(np.int32)
    width = field.bytes
    raw = file.section(6, width * constants).tobytes()
    numbers = tuple(int.from_bytes(raw[at : at + width], "little") for at in range(0, len(raw), width))
    if any(number >= field.prime for number in numbers):
        file.fail("constants below the prime", "another")
    provenance, operations = _read_provenance(file)
    system = PlonkishSystem(
        field,
        rows,
        tuple(phases),
        tuple(_read_columns(file, fixed, rows, field)),
        tuple(lengths),
        challenges,
        table,
        numbers,
        tuple(_read_gates(file, gates)),
        tuple(_read_lookups(file, lookups)),
        file.section(9, 16 * copies).view("<u4").reshape(-1, 4).astype(np.int64).astype(np.int32),
        provenance,
    )
    _require_sound(file, system)
    return system, operations


def write_cells(path: Path, field: Field, cells: Cells) -> None:
    """Write the cells of a run to a file that only its owner can read, and that appears complete or not at all; every
    column is written in full.
    """
    header = field.bytes.to_bytes(4, "little") + field.prime.to_bytes(field.bytes, "little")
    header += _words([len(cells.advice), len(cells.instance), len(cells.challenges)])
    lengths = _words([len(column) for column in (*cells.advice, *cells.instance)])
    columns = [column.astype("<u8").tobytes() for column in (*cells.advice, *cells.instance)]
    drawn = field.from_integers(cells.challenges).tobytes()
    sections = [(1, [header]), (2, [lengths]), (3, columns), (4, [drawn])]
    chunks = section_chunks(CELLS_MAGIC, VERSION, [(i, sum(map(len, s)), s) for i, s in sections])
    write_whole(path, chunks, private=True)


def read_cells(path: Path, field: Field = BN254, rows: int | None = None) -> Cells:
    """Return the cells of a run from a file. Raise FormatError for a file that is not a list of cells or is damaged,
    and for values that are not below the prime.

    If `rows`, the number of the system's rows, is given, advice columns of another length are refused before they are
    read.
    """
    file = SectionFile(path, CELLS_MAGIC, VERSION, "cells")
    advice, instance, challenges = np.frombuffer(file.header(field, 12), "<u4").tolist()
    if advice + instance > MOST_COLUMNS:
        file.fail(f"at most {MOST_COLUMNS} columns", f"{advice + instance}")
    lengths = file.section(2, 4 * (advice + instance)).view("<u4").tolist()
    if rows is not None and any(length != rows for length in lengths[:advice]):
        found = next(length for length in lengths[:advice] if length != rows)
        file.fail(f"advice columns of the system's {rows} rows", f"one of {found}")
    values = file.section(3, 32 * sum(lengths)).view("<u8").reshape(-1, 4).astype(np.uint64)
    drawn = file.section(4, 32 * challenges).view("<u8").reshape(-1, 4).astype(np.uint64)
    for part in (values, drawn):
        wrong = np.flatnonzero(~field.canonical(part))
        if len(wrong):
            file.fail("values below the prime", f"another at place {wrong[0]}")
    ends = np.cumsum([0, *lengths]).tolist()
    columns = [values[first:last] for first, last in pairwise(ends)]
    return Cells(tuple(columns[:advice]), tuple(columns[advice:]), tuple(field.to_integers(drawn)))


def _words(values: Sequence[int]) -> bytes:
    return np.asarray(values, "<u4").tobytes()


def _text(name: str) -> bytes:
    encoded = name.encode()
    return _words([len(encoded)]) + encoded


def _column(column: Column) -> bytes:
    """Return a fixed column as bytes of a file: the number of entries, their size in bytes, and the entries, which are
    signed integers of 8 bytes or field elements of 32 bytes.
    """
    wide = column.ndim == 2
    return _words([len(column), 32 if wide else 8]) + column.astype("<u8" if wide else "<i8").tobytes()


class _Reader:
    """A section of a file, which is read from its beginning to its end."""

    def __init__(self, file: SectionFile, kind: int) -> None:
        self._file, self._kind = file, kind
        self._bytes = file.section(kind).tobytes()
        self._at = 0

    def take(self, size: int) -> bytes:
        if self._at + size > len(self._bytes):
            self._file.fail(f"at least {self._at + size} bytes in section {self._kind}", f"{len(self._bytes)}")
        self._at += size
        return self._bytes[self._at - size : self._at]

    def words(self, count: int) -> list[int]:
        return [int(word) for word in np.frombuffer(self.take(4 * count), "<u4")]

    def text(self) -> str:
        try:
            return self.take(self.words(1)[0]).decode()
        except UnicodeDecodeError:
            self._file.fail(f"names in UTF-8 in section {self._kind}", "other bytes")

    def end(self) -> None:
        if self._at != len(self._bytes):
            self._file.fail(f"{self._at} bytes in section {self._kind}", f"{len(self._bytes)}")


def _read_columns(file: SectionFile, count: int, rows: int, field: Field) -> list[Column]:
    reader, found = _Reader(file, 4), []
    for number in range(count):
        length, width = reader.words(2)
        if length > rows or width not in (8, 32):
            file.fail(f"at most {rows} entries of 8 or 32 bytes in fixed column {number}", f"{length} of {width} bytes")
        raw = reader.take(length * width)
        column: Column
        if width == 8:
            column = np.frombuffer(raw, "<i8").astype(np.int64)
        else:
            column = np.frombuffer(raw, "<u8").reshape(-1, 4).astype(np.uint64)
            if not field.canonical(column).all():
                file.fail("values below the prime", f"another in fixed column {number}")
        found.append(column)
    reader.end()
    return found


def _read_gates(file: SectionFile, count: int) -> list[Gate]:
    reader, found = _Reader(file, 7), []
    for _ in range(count):
        (node,) = reader.words(1)
        found.append(Gate(reader.text(), node))
    reader.end()
    return found


def _read_lookups(file: SectionFile, count: int) -> list[Lookup]:
    reader, found = _Reader(file, 8), []
    for _ in range(count):
        (width,) = reader.words(1)
        nodes = reader.words(2 * width)
        found.append(Lookup(reader.text(), tuple(nodes[:width]), tuple(nodes[width:])))
    reader.end()
    return found


def _provenance(told: Provenance, operations: Sequence[str]) -> bytes:
    blocks = [[b.unit, b.first, b.height, b.lanes, b.elements, b.edge, b.role] for b in told.blocks]
    places = {"gates": told.gates, "lookups": told.lookups, "columns": told.columns}
    return json.dumps({"operations": list(operations), **places, "blocks": blocks}).encode()


def _read_provenance(file: SectionFile) -> tuple[Provenance, list[str]]:
    """Return the provenance in a file and the names of operations; the provenance contains only names, and does not
    affect the constraint system.
    """
    try:
        named = file.section(10)
        if len(named) > MOST_NAMED:
            raise ValueError
        told = parse_json(named.tobytes(), MOST_NAMED >> 4)
        blocks = tuple(
            Block(str(unit), int(first), max(int(height), 1), max(int(lanes), 1), int(elements), int(edge), str(role))
            for unit, first, height, lanes, elements, edge, role in told["blocks"]
        )
        places = [
            tuple((str(unit), int(lane)) for unit, lane in told[name]) for name in ("gates", "lookups", "columns")
        ]
        return Provenance(blocks, *places), [str(name) for name in told["operations"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        file.fail("names of operations in section 10", "something else")


def _require_sound(file: SectionFile, system: PlonkishSystem) -> None:
    """Raise FormatError if an expression, gate, lookup or copy refers to a node, column, row or challenge that does not
    exist.
    """

    def require(held: bool, expected: str) -> None:
        if not held:
            _fail(file, expected)

    nodes = system.nodes.astype(np.int64)
    kinds, a, b = nodes.T if len(nodes) else np.zeros((3, 0), np.int64)
    places = np.arange(len(nodes))
    require(bool(((kinds >= 0) & (kinds <= max(Kind))).all()), "nodes of known kinds")
    phases = np.array(system.advice_phases, np.int64)
    require(bool(np.isin(phases, (0, 1)).all() and (np.diff(phases) >= 0).all()), "phases 0, then 1")
    limits = {
        Kind.CONSTANT: len(system.constants),
        Kind.ADVICE: system.advice,
        Kind.FIXED: len(system.fixed),
        Kind.INSTANCE: len(system.instance),
        Kind.CHALLENGE: system.challenges,
    }
    for kind, limit in limits.items():
        own = a[kinds == kind]
        require(bool(((own >= 0) & (own < limit)).all()), f"nodes that name one of {limit} {kind.name.lower()}s")
    cells = np.isin(kinds, (Kind.ADVICE, Kind.FIXED, Kind.INSTANCE))
    require(bool((np.abs(b[cells]) < system.rows).all()), f"rotations below {system.rows} rows")
    inner = np.isin(kinds, (Kind.ADD, Kind.MULTIPLY, Kind.NEGATE))
    require(bool(((a[inner] >= 0) & (a[inner] < places[inner])).all()), "nodes that read earlier ones")
    pairs = np.isin(kinds, (Kind.ADD, Kind.MULTIPLY))
    require(bool(((b[pairs] >= 0) & (b[pairs] < places[pairs])).all()), "nodes that read earlier ones")
    roots = [gate.node for gate in system.gates] + [n for lookup in system.lookups for n in lookup.inputs]
    tables = [node for lookup in system.lookups for node in lookup.table]
    require(all(node < len(nodes) for node in roots + tables), f"gates and lookups of {len(nodes)} nodes")
    require(all(lookup.inputs for lookup in system.lookups), "lookups of one input or more")
    require(not _reads_more(nodes, tables), "tables that read fixed columns only")
    lengths = np.array([system.rows] * (system.advice + len(system.fixed)) + list(system.instance), np.int64)
    require(bool((lengths <= system.rows).all()), f"instance columns of at most {system.rows} rows")
    copies = system.copies.astype(np.int64)
    for column, row in ((copies[:, 0], copies[:, 1]), (copies[:, 2], copies[:, 3])):
        require(bool(((column >= 0) & (column < len(lengths))).all()), f"copies of {len(lengths)} columns")
        require(bool(((row >= 0) & (row < lengths[column])).all()), "copies of cells that exist")


def _reads_more(nodes: NDArray[np.int64], roots: Sequence[int]) -> bool:
    """Return whether an expression reads a challenge, or a cell that is not fixed."""
    waiting, seen = list(roots), set()
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        kind, a, b = nodes[node].tolist()
        if kind in (Kind.ADVICE, Kind.INSTANCE, Kind.CHALLENGE):
            return True
        waiting += [a, b] if kind in (Kind.ADD, Kind.MULTIPLY) else [a] if kind == Kind.NEGATE else []
    return False


def _fail(file: SectionFile, expected: str) -> NoReturn:
    file.fail(expected, "others")


__all__ = ["Cells", "FormatError", "read_cells", "read_system", "write_cells", "write_system"]
