"""Hashes of values in chunks: if one value changes, one hash changes, which shows in which chunk the value is."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Literal

import numpy as np

from circuitize.backends.tensor.dataset import batch_ports
from circuitize.circuits.encode import canonical
from circuitize.circuits.program import IntegerProgram

from ..exact import Integers

SIZE = 256
"""The number of elements in a chunk; among values that enter with each step, a chunk is one example."""

HASH = 32
"""The number of bytes of a hash, SHA-256."""

Kind = Literal["input", "operation", "kept"]


def hashes(values: Integers, size: int = SIZE) -> bytes:
    """Return the SHA-256 hashes of an array's chunks, one after the other; each chunk has up to `size` numbers as
    little-endian int64.
    """
    content = np.ascontiguousarray(values, "<i8").reshape(-1).view(np.uint8).data
    return b"".join(hashlib.sha256(content[at : at + 8 * size]).digest() for at in range(0, len(content), 8 * size))


def folded(parts: Iterable[bytes]) -> bytes:
    """Return one hash that covers several hashes."""
    return hashlib.sha256(b"".join(parts)).digest()


@dataclass(frozen=True)
class Part:
    """One tensor of a step: an input, a target of an operation, or the held part of an output; together with the place
    of the tensor's hashes in the step's record.

    The field `name` of a part is the port's name, which is empty for an operation's target; `edge` is the operation's
    edge, or -1; `wire` is the tensor's wire.
    """

    kind: Kind
    name: str
    edge: int
    wire: int
    shape: tuple[int, ...]
    size: int
    first: int

    @property
    def count(self) -> int:
        """Return the number of chunks in which the tensor is hashed."""
        return -(-prod(self.shape) // self.size)

    def of(self, record: bytes) -> bytes:
        """Return the hashes of this tensor, cut out of the record of a whole step."""
        return record[HASH * self.first : HASH * (self.first + self.count)]


class Layout:
    """The tensors of a step in the order in which a dispute compares them: inputs, then operations in the order of the
    digest, then held outputs.
    """

    def __init__(self, program: IntegerProgram) -> None:
        self.program = replace(program, arrow=canonical(program.arrow))
        self._data = {port.name: max(1, prod(port.format.shape[1:])) for port in batch_ports(program)}

    @cached_property
    def held(self) -> tuple[str, ...]:
        """Return the names of the inputs that a step hands on to the next."""
        return tuple(port.name for port in self.program.inputs if port.held)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """Return the tensors of a step that are hashed, in the order of the record."""
        return tuple(self._parts())

    def _parts(self) -> Iterator[Part]:
        arrow, first = self.program.arrow, 0
        leaving = {port.name: wire for port, wire in zip(self.program.outputs, arrow.outputs.tolist(), strict=True)}
        entering = zip(self.program.inputs, arrow.inputs.tolist(), strict=True)
        places: list[tuple[Kind, str, int, int]] = [("input", port.name, -1, wire) for port, wire in entering]
        places += [("operation", "", edge.index, wire) for edge in arrow.edges() for wire in edge.targets]
        places += [("kept", name, -1, leaving[name]) for name in self.held]
        for kind, name, edge, wire in places:
            size = self._data.get(name, SIZE) if kind == "input" else SIZE
            part = Part(kind, name, edge, wire, arrow.format(wire).shape, size, first)
            first += part.count
            yield part

    @cached_property
    def length(self) -> int:
        """Return the number of bytes in the record of a step, which consists of hashes."""
        return HASH * sum(part.count for part in self.parts)

    def entered(self, batch: Mapping[str, Integers]) -> bytes:
        """Return one hash of those inputs of a step that are not held from the previous step."""
        names = [port.name for port in self.program.inputs if not port.held]
        return folded(hashes(batch[name], self._data.get(name, SIZE)) for name in names)

    def kept(self, held: Mapping[str, Integers]) -> list[bytes]:
        """Return, for each tensor that a step hands on to the next, the hashes of its chunks."""
        return [hashes(held[name]) for name in self.held]

    def left(self, held: Mapping[str, Integers]) -> bytes:
        """Return one hash of all values that a step hands on to the next."""
        return folded(self.kept(held))

    def wires(self, wires: list[Integers]) -> list[bytes]:
        """Return, from the values of all wires, the hashes of each tensor of a step except the held outputs."""
        return [hashes(wires[part.wire], part.size) for part in self.parts if part.kind != "kept"]

    def entered_in(self, record: bytes) -> bytes:
        """Return the hash of a step's inputs except the held ones, computed from the step's record."""
        return folded(p.of(record) for p in self.parts if p.kind == "input" and p.name not in self.held)

    def left_in(self, record: bytes) -> bytes:
        """Return the hash of the held outputs of a step, computed from the step's record."""
        return folded(part.of(record) for part in self.parts if part.kind == "kept")
