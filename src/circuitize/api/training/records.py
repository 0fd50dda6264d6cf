"""The records of a training: the hashes of every wire at every step, with one file for the steps between two
checkpoints.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from circuitize.circuits.errors import FormatError
from circuitize.circuits.files import remove_parts, write_whole

from ..exact import Integers
from .chunks import HASH, Layout

FOLDER = "records"
SUFFIX = ".bin"

MOST_WAITING = 1 << 26
"""The number of bytes of records from which on they are written: a file has at most as many, plus one step's."""


class Records:
    """A writer of the records of steps, which wait in memory until a checkpoint is due or a limit is reached."""

    def __init__(self, folder: Path, layout: Layout, done: int) -> None:
        """Open the records of a training after its first `done` steps; records of later steps are written again."""
        self._folder, self._layout = folder / FOLDER, layout
        self._waiting, self._step = bytearray(), done
        remove_parts(self._folder)
        for step in steps_in(self._folder):
            if step > done:
                path_of(self._folder, step).unlink()

    def took(self, wires: list[Integers]) -> None:
        """Add the record of a step, from the values of all its wires."""
        self._waiting += b"".join(self._layout.wires(wires))

    def kept(self, kept: list[bytes]) -> None:
        """Add to a step's record the hashes of the values held after the step."""
        self._waiting += b"".join(kept)
        self._step += 1
        if len(self._waiting) > MOST_WAITING:
            self.flush()

    def flush(self) -> None:
        """Write the waiting records, up to the last step, to a file: a hash of all of them, and then each record."""
        if self._waiting:
            write_whole(
                path_of(self._folder, self._step), [hashlib.sha256(self._waiting).digest(), bytes(self._waiting)]
            )
        self._waiting.clear()


def path_of(folder: Path, step: int) -> Path:
    """Return the path of the file of records whose last step has the given number."""
    return folder / f"{step:08}{SUFFIX}"


def steps_in(folder: Path) -> list[int]:
    """Return, for each file of records in a folder, the number of its last step, in ascending order."""
    names = ((path, path.name.removesuffix(SUFFIX)) for path in folder.glob(f"*{SUFFIX}"))
    steps = ((path, int(name)) for path, name in names if name.isascii() and name.isdecimal())
    return sorted(step for path, step in steps if path == path_of(folder, step) and path.is_file())


def read(folder: Path, layout: Layout, step: int) -> bytes | None:
    """Return the record of a step, which has the hashes of all its wires, or None if the step has no record. Raise
    FormatError for a damaged file of records.
    """
    last = next((found for found in steps_in(folder / FOLDER) if found >= step), None)
    if last is None:
        return None
    path, length = path_of(folder / FOLDER, last), layout.length
    remedy = "it is damaged: remove it, and testify for the step instead"
    try:
        whole = path.read_bytes()
    except OSError as error:
        raise FormatError(f"{path}: expected records of steps, found {error.strerror or error}; {remedy}") from None
    said, content = whole[:HASH], whole[HASH:]
    if hashlib.sha256(content).digest() != said or len(content) % length:
        raise FormatError(f"{path}: expected records of {length:,} bytes and their hash, found others; {remedy}")
    place = len(content) // length - 1 - (last - step)
    return None if place < 0 else content[place * length : (place + 1) * length]
