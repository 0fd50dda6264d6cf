"""Witness files (.wtns version 2), in the format that circom writes and snarkjs reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from circuitize.circuits.files import write_whole

from ..field import BN254, Field, Limbs
from .sections import SectionFile, section_chunks

CHUNK = 1 << 18


def write_wtns(path: Path, field: Field, witness: Limbs) -> None:
    """Write a witness, `uint64[wires, 4]` in normal form with witness[0] = 1, to a file that only its owner can read,
    and that appears complete or not at all.
    """
    header = field.bytes.to_bytes(4, "little") + field.prime.to_bytes(field.bytes, "little")
    header += len(witness).to_bytes(4, "little")
    sections = [(1, len(header), [header]), (2, len(witness) * field.bytes, _values(field, witness))]
    write_whole(path, section_chunks(b"wtns", 2, sections), private=True)


def _values(field: Field, witness: Limbs) -> Iterator[bytes]:
    for at in range(0, len(witness), CHUNK):
        yield witness[at : at + CHUNK, : field.bytes // 8].astype("<u8").tobytes()


def read_wtns(path: Path, field: Field = BN254, wires: int | None = None) -> Limbs:
    """Return the witness over `field` in a file, as `uint64[wires, 4]`. Raise FormatError for a file that is not a
    witness or is damaged.

    If `wires`, the number of the system's wires, is given, a witness of another length is refused before it is read.
    """
    file = SectionFile(path, b"wtns", 2)
    width = field.bytes
    count = int.from_bytes(file.header(field, 4), "little")
    if wires is not None and count != wires:
        file.fail(f"a witness of {wires} wires", f"one of {count}")
    values = file.section(2, count * width)
    witness = np.zeros((count, 4), dtype=np.uint64)
    witness[:, : width // 8] = values.view("<u8").reshape(count, width // 8)
    wrong = np.flatnonzero(~field.canonical(witness))
    if len(wrong):
        file.fail("values below the prime", f"another at wire {wrong[0]}")
    if count == 0 or witness[0].tolist() != [1, 0, 0, 0]:
        file.fail("the constant 1 at wire 0", "another value" if count else "no wires")
    return witness
