"""Files of constraint systems (.r1cs version 1), in the format that circom writes and snarkjs reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from struct import pack, unpack

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.files import write_whole

from ..field import BN254, Field, Limbs
from .sections import SectionFile, section_chunks
from .system import LARGE, ConstraintSystem, Matrix

CHUNK_WORDS = 1 << 22
"""How many 32-bit words of constraints are laid out at a time."""


def write_r1cs(path: Path, system: ConstraintSystem) -> None:
    """Write a constraint system to a .r1cs file, which appears complete or not at all. A .r1cs file contains neither
    blocks nor names; a .sym file contains the names.

    In the .r1cs file, the label of every wire is the number of the wire. Writing a .r1cs file takes O(nonzeros) time,
    and, in addition to the memory of the system, constant memory and one int64 per row.
    """
    if system.constraints >= 1 << 32:
        raise CircuitizeError(
            f"expected fewer than 2^32 constraints, the limit of .r1cs files, found {system.constraints}; "
            "remedy: lower the batch size"
        )
    width = system.field.bytes
    header = width.to_bytes(4, "little") + system.field.prime.to_bytes(width, "little")
    counts = (system.wires, system.public_outputs, system.public_inputs, system.private_inputs)
    header += pack("<4IQI", *counts, system.wires, system.constraints)
    size = 12 * system.constraints + (4 + width) * system.nonzeros
    sections: list[tuple[int, int, Iterable[bytes | memoryview]]] = [
        (1, len(header), [header]),
        (2, size, _constraints(system)),
        (3, 8 * system.wires, _labels(system.wires)),
    ]
    write_whole(path, section_chunks(b"r1cs", 1, sections))


def _constraints(system: ConstraintSystem) -> Iterator[memoryview]:
    matrices = (system.a, system.b, system.c)
    entry = 1 + system.field.bytes // 4
    ends = np.arange(system.constraints + 1, dtype=np.int64) * 3
    for matrix in matrices:
        ends += matrix.offsets * entry
    row = 0
    while row < system.constraints:
        last = int(np.searchsorted(ends, ends[row] + CHUNK_WORDS, side="right")) - 1
        last = max(last, row + 1)
        words = np.empty(int(ends[last] - ends[row]), dtype="<u4")
        start = ends[row:last] - ends[row]
        for matrix in matrices:
            offsets = matrix.offsets[row : last + 1]
            terms = slice(int(offsets[0]), int(offsets[-1]))
            counts = np.diff(offsets)
            words[start] = counts
            entries = np.empty((terms.stop - terms.start, entry), dtype="<u4")
            entries[:, 0] = matrix.wires[terms]
            limbs = system.coefficient_limbs(matrix.coefficients[terms])[:, : system.field.bytes // 8]
            entries[:, 1:] = np.ascontiguousarray(limbs, dtype="<u8").view("<u4")
            if len(entries):
                _windows(words, entry)[_places(start, counts, entry)] = entries.view(f"V{4 * entry}")[:, 0]
            start = start + 1 + counts * entry
        yield words.data.cast("B")
        row = last


def _windows(words: NDArray[np.uint32], entry: int) -> NDArray[np.void]:
    """Return a view of words in which each run of `entry` words is one item, so that a term can be moved in one step;
    the items overlap.
    """
    return as_strided(words[:entry].view(f"V{4 * entry}"), shape=(len(words) - entry + 1,), strides=(words.itemsize,))


def _places(start: NDArray[np.int64], counts: NDArray[np.int64], entry: int) -> NDArray[np.int64]:
    """Return the place where each term of a .r1cs file begins, if combination i has counts[i] terms after the word at
    start[i].
    """
    firsts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    places: NDArray[np.int64] = np.repeat(start + 1 - firsts[:-1] * entry, counts)
    places += np.arange(firsts[-1], dtype=np.int64) * entry
    return places


def _labels(wires: int) -> Iterator[bytes]:
    for at in range(0, wires, CHUNK_WORDS):
        yield np.arange(at, min(at + CHUNK_WORDS, wires), dtype="<u8").tobytes()


def read_r1cs(path: Path, field: Field = BN254) -> tuple[ConstraintSystem, NDArray[np.uint64]]:
    """Return the constraint system over `field` in a .r1cs file, and the label of each wire, `uint64[wires]`.

    The sections of a .r1cs file may be in any order, and unknown sections are skipped. Raise FormatError unless every
    length fits, the wires in each combination ascend and exist, and coefficients are in normal form and not zero.
    """
    file = SectionFile(path, b"r1cs", 1)
    if 4 in file.sections or 5 in file.sections:
        file.fail("rank-one constraints only", "custom gates")
    wires, outputs, inputs, private, labels, rows = unpack("<4IQI", file.header(field, 28))
    if 1 + outputs + inputs + private > wires:
        file.fail(f"at most {wires} wires", f"1 + {outputs} + {inputs} + {private} named in the header")
    names = file.section(3, 8 * wires).view("<u8")
    if (names >= labels).any():
        file.fail(f"labels below {labels}", f"{names.max()}")
    reader = _Constraints(file, field, wires, rows)
    matrices = [reader.matrix(which) for which in range(3)]
    a, b, c, large = _sorted_large(matrices, list(reader.large), field)
    system = ConstraintSystem(field, a, b, c, large, wires, outputs, inputs, private)
    return system, names.astype(np.uint64)


class _Constraints:
    """The section of constraints in a .r1cs file that is mapped into memory, which is read one matrix at a time."""

    def __init__(self, file: SectionFile, field: Field, wires: int, rows: int) -> None:
        self.file, self.field, self.wires = file, field, wires
        self.entry = 1 + field.bytes // 4
        self.large: dict[bytes, int] = {}
        payload = file.section(2)
        if len(payload) % 4 or 12 * rows > len(payload):
            file.fail(f"{rows} constraints in section 2", f"{len(payload)} bytes")
        self.words: NDArray[np.uint32] = np.require(payload.view("<u4"), requirements="A")
        try:
            self.starts = np.fromiter(self._walk(3 * rows), dtype=np.int64, count=3 * rows)
        except IndexError:
            file.fail("terms that fit into section 2", "a count of terms that passes its end")
        end = int(self.starts[-1]) + 1 + self.entry * int(self.words[self.starts[-1]]) if rows else 0
        if end != len(self.words):
            file.fail(f"{4 * end} bytes in section 2", f"{len(payload)}")

    def _walk(self, combinations: int) -> Iterator[int]:
        """Yield the place in a .r1cs file of the number of terms of each combination; each number says where the next
        combination begins.
        """
        words, entry, at = self.words.data, self.entry, 0
        for _ in range(combinations):
            terms = words[at]
            yield at
            at += 1 + entry * terms

    def matrix(self, which: int) -> Matrix:
        """Return the matrix A, B or C in a .r1cs file; large coefficients are references into `self.large`, in the
        order of their first use.
        """
        starts = self.starts[which::3]
        counts = self.words[starts].astype(np.int64)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        wires = np.empty(int(offsets[-1]), dtype=np.uint32)
        values = np.empty(int(offsets[-1]), dtype=np.int64)
        row = 0
        while row < len(starts):
            last = int(np.searchsorted(offsets, offsets[row] + CHUNK_WORDS // self.entry, side="right")) - 1
            last = max(last, row + 1)
            terms = slice(int(offsets[row]), int(offsets[last]))
            if terms.stop > terms.start:
                places = _places(starts[row:last], counts[row:last], self.entry)
                entries = _windows(self.words, self.entry)[places].view("<u4").reshape(-1, self.entry)
                wires[terms] = entries[:, 0]
                values[terms] = self._coefficients(entries, offsets[row : last + 1] - terms.start, row)
            row = last
        return Matrix(offsets, wires, values)

    def _coefficients(self, entries: NDArray[np.uint32], offsets: NDArray[np.int64], row: int) -> NDArray[np.int64]:
        limbs = np.zeros((len(entries), 4), dtype=np.uint64)
        limbs[:, : self.field.bytes // 8] = np.ascontiguousarray(entries[:, 1:]).view("<u8")
        wires = entries[:, 0]
        disorder = wires[1:] <= wires[:-1]
        inner = offsets[1:-1]
        disorder[inner[(inner > 0) & (inner < len(wires))] - 1] = False
        for wrong, expected in (
            (wires >= self.wires, f"wires below {self.wires}"),
            (np.concatenate([np.zeros(1, np.bool_), disorder]), "wires that ascend in each combination"),
            (~self.field.canonical(limbs), "coefficients below the prime"),
            ((limbs == 0).all(axis=1), "coefficients other than 0"),
        ):
            if wrong.any():
                term = int(np.argmax(wrong))
                place = row + int(np.searchsorted(offsets, term, side="right")) - 1
                self.file.fail(expected, f"another at constraint {place}")
        values, small = self.field.to_int64(limbs)
        others = np.flatnonzero(~small)
        if len(others):
            distinct, inverse = np.unique(limbs[others].view("V32")[:, 0], return_inverse=True)
            codes = [self.large.setdefault(item.tobytes(), len(self.large)) for item in distinct]
            values[others] = LARGE + np.asarray(codes, dtype=np.int64)[inverse]
        return values


def _sorted_large(matrices: list[Matrix], large: list[bytes], field: Field) -> tuple[Matrix, Matrix, Matrix, Limbs]:
    """Return the matrices with their large coefficients numbered anew, so that the coefficients ascend."""
    numbers = [int.from_bytes(item, "little") for item in large]
    order = sorted(range(len(numbers)), key=numbers.__getitem__)
    ranks = np.empty(len(numbers), dtype=np.int64)
    ranks[order] = np.arange(len(numbers))
    for matrix in matrices:
        references = np.flatnonzero(matrix.coefficients >= LARGE)
        matrix.coefficients[references] = LARGE + ranks[matrix.coefficients[references] - LARGE]
    a, b, c = matrices
    return a, b, c, field.from_integers(numbers[place] for place in order)
