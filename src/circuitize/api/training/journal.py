"""The journal of a training: for each step a hash of its inputs, a hash of its held outputs, and a hash chain over
both.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.circuits.files import write_whole
from circuitize.circuits.values import Raw, raw
from circuitize.sims import integer

from ..exact import Integers
from .chunks import HASH, Layout, folded
from .records import Records

FILE = "journal.bin"
ENTRY = 3 * HASH


@dataclass(frozen=True)
class Entry:
    """One entry of a journal: the hash of a step's inputs except the held ones, the hash of the step's held outputs,
    and the hash chain up to this entry.
    """

    entered: bytes
    left: bytes
    chain: bytes

    @classmethod
    def after(cls, chain: bytes, step: int, entered: bytes, left: bytes) -> Entry:
        """Return the journal entry of a step, given the hash chain up to the entry before it."""
        content = [b"circuitize journal 1", chain, step.to_bytes(8, "little"), entered, left]
        return cls(entered, left, hashlib.sha256(b"".join(content)).digest())

    def encode(self) -> bytes:
        """Return the three hashes of the entry one after the other, as the journal's file contains them."""
        return self.entered + self.left + self.chain


def beginning(course: str) -> bytes:
    """Return the start of a journal's hash chain: a hash of the course that the training follows."""
    return hashlib.sha256(b"circuitize journal 1 of " + course.encode()).digest()


class Journal:
    """The writer of a training's journal, and, if `record` is true, also of the hashes of every wire. The entries of a
    journal wait in memory until they are flushed.

    The file of a journal never has fewer entries than there are steps before the last checkpoint, which holds for the
    files of `Metrics` too.
    """

    def __init__(
        self, folder: Path, layout: Layout, course: str, done: int, held: Mapping[str, Integers], record: bool
    ) -> None:
        """Open the journal to append entries after those of the first `done` steps, which left the given held values.

        Raise FormatError if the journal's file is damaged or lacks entries of the first `done` steps, or if the last of
        their entries was made with other held values.
        """
        self.path, self.layout = folder / FILE, layout
        entries = read(folder, course, done) if done else []
        if entries and layout.left(held) != entries[-1].left:
            raise FormatError(
                f"{self.path}: expected the values that step {done:,} left as its checkpoint has them, found others; "
                "one of both is damaged: remove the checkpoint, and the training goes on from the one before"
            )
        self._records = Records(folder, layout, done) if record else None
        self._step, self._chain = done, entries[-1].chain if entries else beginning(course)
        self._entered, self._waiting = b"", bytearray()
        write_whole(self.path, [entry.encode() for entry in entries])

    @property
    def head(self) -> str:
        """Return the hash chain after the last step, in hexadecimal: whoever publishes it is bound to the values of
        every step.
        """
        return self._chain.hex()

    def steps(self, held: Mapping[str, Integers], batches: Iterator[dict[str, Raw]]) -> Iterator[dict[str, Integers]]:
        """Yield the outputs of each step, as the integer executor computes them, and add the step's wires to the record
        if one is kept.
        """
        program, records = self.layout.program, self._records
        if records is None:
            yield from integer.train(program, raw(held), self._heard(batches))
            return
        for batch in self._heard(batches):
            wires = integer.trace(program, {**raw(held), **batch})
            records.took(wires)
            leaving = zip(program.outputs, program.arrow.outputs.tolist(), strict=True)
            made = {port.name: wires[wire] for port, wire in leaving}
            held = {name: made[name] for name in held}
            yield made

    def entering(self, batch: Mapping[str, Integers]) -> None:
        """Note the inputs of the next step, except the held ones, for the step's entry in the journal."""
        self._entered = self.layout.entered(batch)

    def _heard(self, batches: Iterator[dict[str, Raw]]) -> Iterator[dict[str, Raw]]:
        for batch in batches:
            self.entering({name: value.array for name, value in batch.items()})
            yield batch

    def add(self, held: Mapping[str, Integers]) -> None:
        """Add the entry of the step after which the held values are the given ones."""
        self._step += 1
        kept = self.layout.kept(held)
        entry = Entry.after(self._chain, self._step, self._entered, folded(kept))
        self._chain = entry.chain
        self._waiting += entry.encode()
        if self._records is not None:
            self._records.kept(kept)

    def flush(self) -> None:
        """Append the waiting entries to the journal's file."""
        if self._records is not None:
            self._records.flush()
        try:
            with self.path.open("ab") as file:
                file.write(self._waiting)
        except OSError as error:
            raise CircuitizeError(f"cannot write {self.path}: {error.strerror or error}; it goes on later") from None
        self._waiting.clear()


def read(folder: Path, course: str, most: int | None = None) -> list[Entry]:
    """Return the entries of a journal, or at most the first `most` of them. Raise FormatError unless each entry of the
    journal follows from the entry before it.
    """
    path = folder / FILE
    remedy = "it is damaged: put the file back"
    try:
        if path.exists() and not path.is_file():
            raise OSError("no file")
        with path.open("rb") as file:
            content = file.read() if most is None else file.read(most * ENTRY)
    except OSError as error:
        raise FormatError(
            f"{path}: expected the journal of a training, found {error.strerror or error}; {remedy}"
        ) from None
    if most is not None and len(content) < most * ENTRY:
        raise FormatError(
            f"{path}: expected an entry for each of {most:,} steps, found {len(content) // ENTRY:,}; {remedy}"
        )
    if len(content) % ENTRY:
        raise FormatError(
            f"{path}: expected entries of {ENTRY} bytes, found {len(content) % ENTRY} bytes more; {remedy}, or go on "
            "with the training, which mends it"
        )
    chain, entries = beginning(course), list[Entry]()
    for step in range(1, len(content) // ENTRY + 1):
        at = (step - 1) * ENTRY
        entered, left, said = (content[at + HASH * k : at + HASH * (k + 1)] for k in range(3))
        entry = Entry.after(chain, step, entered, left)
        if entry.chain != said:
            raise FormatError(f"{path}: expected an entry of step {step:,} that follows, found another; {remedy}")
        entries.append(entry)
        chain = said
    return entries
