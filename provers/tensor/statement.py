"""The statement of a tensor proof: public values by port, and the roots of the groups of committed ports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.tensor.dataset import ROWS, Dataset, rows_fault
from circuitize.backends.tensor.groups import INPUT, OUTPUT, GroupName, PortKey, groups
from circuitize.circuits.errors import excerpt
from circuitize.circuits.port import Visibility
from circuitize.circuits.program import IntegerProgram

ROOT_BYTES = 32


@dataclass(frozen=True)
class Statement:
    """The statement of a tensor proof: the integers of public ports, and a root of 32 bytes for each group of committed
    ports. A statement is only a claim until a proof of it is verified.

    If inputs are batches of a dataset, the numbers of each batch's examples are among the public values, under the key
    (ROWS, label).
    """

    publics: Mapping[PortKey, NDArray[np.int64]]
    roots: Mapping[PortKey, bytes]


def fault(program: IntegerProgram, statement: Statement, dataset: Dataset | None = None) -> str | None:
    """Return a text that says why a statement does not belong to a program (other ports or shapes, values outside their
    formats), or None if it does.
    """
    publics, roots = dict(statement.publics), dict(statement.roots)
    for side, ports in ((INPUT, program.inputs), (OUTPUT, program.outputs)):
        for port in ports:
            key, format = (side, port.name), port.format
            if port.visibility is Visibility.PUBLIC:
                values = publics.pop(key, None)
                if values is None or values.shape != format.shape or values.dtype != np.int64:
                    return f"expected integers of shape {list(format.shape)} for {side} {port.name}"
                if values.min() < format.low or values.max() > format.high:
                    return f"expected {side} {port.name} in [{format.low}, {format.high}], found a value outside"
    if dataset is not None:
        for label, counts in dataset.counts(program).items():
            reason = rows_fault(dataset, label, counts, publics.pop((ROWS, label), None))
            if reason is not None:
                return reason
    for group in groups(program):
        root = roots.pop(group.key, None)
        if root is None or len(root) != ROOT_BYTES:
            return f"expected a root of {ROOT_BYTES} bytes for {group.side} {group.name}"
    left = [*publics, *roots]
    return f"expected only the program's own ports, found {excerpt(' '.join(left[0]))}" if left else None


def untrusted(statement: Statement, assumed: Iterable[GroupName], trusted: Mapping[GroupName, bytes]) -> str | None:
    """Return a group that a plan assumes to be in format although the group's root is not trusted, or None."""
    for name in assumed:
        if name not in trusted or statement.roots[INPUT, name] != trusted[name]:
            return f"the proof assumes that {name} lies in its format: expected a root that is known to, found another"
    return None
