"""The claims of one side of a dispute about a step: hashes of the step's tensors, or their values, to compare with the
referee's run of the step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from circuitize.circuits.errors import FormatError

from ..exact import Integers
from ..training import records
from ..training.chunks import HASH, Part, hashes
from . import testimony
from .searching import Found, found_example, found_values
from .side import Side


@dataclass(frozen=True)
class Place:
    """The first place where a side's claim about a step differs from the value that the step really has.

    The `kind` of a false claim is "input" (the side took another value than it had to take), "operation" (an operation
    gave another value), "kept" (the side holds another value than the operation gave) or "checkpoint" (the side wrote
    another value to its checkpoint). The field `element` is the first wrong element of a tensor of shape `shape`;
    `claimed` and `right` are integers in the tensor's format, or None if hashes show only that the wrong element is
    among those from `element` to `until`. The field `example` is the number of the example that the side took instead
    of the right one, if that is the error.
    """

    side: str
    step: int
    kind: str
    port: str
    edge: int
    operation: str
    where: str
    shape: tuple[int, ...]
    element: tuple[int, ...]
    until: tuple[int, ...]
    claimed: int | None
    right: int | None
    example: int | None = None

    def __str__(self) -> str:
        what = f"operation {self.edge}, {self.operation} in {self.where}" if self.edge >= 0 else f"{self.port!r}"
        told = {"input": "enters as", "kept": "is kept as", "checkpoint": "is in the checkpoint as"}
        verb = told.get(self.kind, "gives")
        if self.example is not None:
            return f"{what}, element {list(self.element)}: it took example {self.example:,} there"
        if self.claimed is None:
            return f"{what}, elements {list(self.element)} to {list(self.until)}, one of them or more"
        return f"{what}, element {list(self.element)}: it {verb} {self.claimed}, right is {self.right}"


@dataclass(frozen=True)
class Claims:
    """The claims of one side about a step: the side's hashes of the parts of the step, and the values of those parts
    that the side disclosed.
    """

    side: Side
    step: int
    hashed: Mapping[int, bytes]
    values: Mapping[int, Integers]

    def first_false(self, wires: list[Integers]) -> Place | None:
        """Return the first place, in the order of the step's layout, where a claim differs from the values of the
        step's wires.
        """
        for number, part in enumerate(self.side.layout.parts):
            right = wires[part.wire]
            claimed = self.hashed.get(number)
            if claimed is not None and claimed != hashes(right, part.size):
                return self._place(part, claimed, right, self.values.get(number))
        return None

    def _place(self, part: Part, claimed: bytes, right: Integers, told: Integers | None) -> Place:
        ours = hashes(right, part.size)
        chunk = next(
            k for k in range(part.count) if ours[HASH * k : HASH * (k + 1)] != claimed[HASH * k : HASH * (k + 1)]
        )
        flat, first = right.reshape(-1), chunk * part.size
        wanted = claimed[HASH * chunk : HASH * (chunk + 1)]
        own, example = flat[first : first + part.size], None
        found: Found | None = None
        if told is not None:
            at = int(np.flatnonzero(told.reshape(-1) != flat)[0])
            found = Found(at - first, int(told.reshape(-1)[at]))
        elif part.kind == "input" and part.name in self.side.course.data:
            example = found_example(self.side.course.data[part.name], wanted)
            if example is not None:
                taken = self.side.course.data[part.name][example].reshape(-1)
                at = int(np.flatnonzero(taken != own)[0])
                found = Found(at, int(taken[at]))
        found = found or found_values(own, wanted)
        start = first if found is None else first + found.at
        end = first + len(own) - 1 if found is None else start
        arrow = self.side.layout.program.arrow
        edge = None if part.edge < 0 else arrow.edge(part.edge)
        return Place(
            self.side.name,
            self.step,
            part.kind,
            part.name,
            part.edge,
            "" if edge is None else edge.operation.name,
            "" if edge is None else str(edge.provenance),
            part.shape,
            _index(start, part.shape),
            _index(end, part.shape),
            None if found is None else found.claimed,
            None if found is None else int(flat[start]),
            example,
        )

    @cached_property
    def whole(self) -> bool:
        """Return whether the side claims a value for every part of the step."""
        return len(self.hashed) == len(self.side.layout.parts)


def _index(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(at) for at in np.unravel_index(flat, shape)) if shape else ()


def claims_of(side: Side, step: int) -> Claims:
    """Return the claims of a side about a step, taken from the side's testimony, from its record, or from its
    checkpoint after the step; without any of these the claims are empty.

    Raise FormatError if the claims do not match the side's journal entry for the step.
    """
    parts = side.layout.parts
    told = testimony.read(side, step)
    if told is not None:
        hashed = {k: hashes(values, parts[k].size) for k, values in told.items()}
        _require_of_journal(side, step, b"".join(hashed[k] for k in range(len(parts))), testimony.path_of(side, step))
        return Claims(side, step, hashed, told)
    record = records.read(side.folder, side.layout, step)
    if record is not None:
        _require_of_journal(side, step, record, side.folder / records.FOLDER)
        return Claims(side, step, {k: part.of(record) for k, part in enumerate(parts)}, {})
    nothing = Claims(side, step, {}, {})
    if step not in side.checkpoints or side.layout.left(side.checkpoint(step)) != side.left(step):
        return nothing
    return of_checkpoint(side, step)


def of_checkpoint(side: Side, step: int) -> Claims:
    """Return the claims that a side's checkpoint after a step makes, which are the values held after that step."""
    held, parts = side.checkpoint(step), side.layout.parts
    values = {k: held[part.name] for k, part in enumerate(parts) if part.kind == "kept"}
    return Claims(side, step, {k: hashes(v, parts[k].size) for k, v in values.items()}, values)


def _require_of_journal(side: Side, step: int, record: bytes, path: object) -> None:
    entry = side.entries[step - 1]
    if (side.layout.entered_in(record), side.layout.left_in(record)) != (entry.entered, entry.left):
        raise FormatError(
            f"{path}: expected what entered step {step:,} and what it left as the journal has them, found others; "
            "remove it, and testify again"
        )
