"""A committed dataset: tensors of examples under one root, and the inputs of a program that are batches of their
rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.port import Port, Role, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed, Shape

from .errors import Unprovable

ROWS = "rows"
"""The side of public values that are the numbers of rows, with the key (ROWS, batch)."""


@dataclass(frozen=True)
class Dataset:
    """A dataset of `size` examples; `batches` gives, for each input that is a batch, the name of the dataset's tensor
    from which it is taken, and the label of the batch.

    Every input with the same label has the same rows: input[b, ...] = tensor[rows[label][b], ...], where b stands for
    `axes` axes: one for the batch, preceded by one for time if the input holds the batches of several steps.
    """

    size: int
    batches: Mapping[str, tuple[str, str]]
    axes: int = 1

    def counts(self, program: IntegerProgram) -> dict[str, Shape]:
        """Return the number of rows of the batch of each label, along each axis of the batch."""
        formats = {port.name: port.format for port in program.inputs}
        labels = {label: formats[name] for name, (_, label) in self.batches.items()}
        return {label: format.shape[: self.axes] for label, format in labels.items() if format is not None}

    def shape(self, port: Port[Fixed]) -> Shape:
        """Return the shape of the dataset's tensor from whose rows a port's values are taken."""
        return (self.size, *port.format.shape[self.axes :])


def batch_ports(program: IntegerProgram) -> tuple[Port[Fixed], ...]:
    """Return the committed data inputs of a step, which a run takes from a dataset, after checking that all have the
    same number of rows.

    Raise Unprovable if a step has no data input, if a data input is not committed, or if their first axes do not have
    the same extent.
    """
    ports = tuple(port for port in program.inputs if port.role is Role.DATA)
    if not ports:
        raise Unprovable("expected inputs of the role DATA, to take batches out of a dataset, found none")
    for port in ports:
        if port.visibility is not Visibility.COMMITTED:
            raise Unprovable(
                f"expected input {port.name!r} to be committed, found it {port.visibility.value}; a run takes its "
                "batches out of one committed dataset"
            )
    extents = {port.name: port.format.shape[:1] for port in ports if port.format is not None}
    if len(set(extents.values())) != 1 or () in extents.values():
        raise Unprovable(
            f"expected data inputs whose first axis is the batch, found first axes {extents}; give each one that axis"
        )
    return ports


def batch_size(program: IntegerProgram) -> int:
    """Return the number of examples of the dataset that one step takes."""
    format = batch_ports(program)[0].format
    return format.shape[0]


def whole(port: Port[Fixed], size: int, axes: int = 1) -> Port[Fixed]:
    """Return the port of the dataset's tensor from whose rows the values of a step's port are taken."""
    return replace(port, format=port.format.with_shape((size, *port.format.shape[axes:])))


def tensors(program: IntegerProgram, dataset: Dataset) -> tuple[Port[Fixed], ...]:
    """Return the ports of a dataset's tensors, each listed once. Raise Unprovable if batches of the same tensor have
    different formats.
    """
    found: dict[str, Port[Fixed]] = {}
    for port in program.inputs:
        if port.name in dataset.batches:
            name = dataset.batches[port.name][0]
            made = replace(whole(port, dataset.size, dataset.axes), name=name)
            if found.setdefault(name, made) != made:
                raise Unprovable(f"expected batches of {name!r} in one format, found another for {port.name!r}")
    return tuple(found.values())


def require_batches(program: IntegerProgram, dataset: Dataset) -> None:
    """Raise Unprovable unless the batches of the dataset are exactly the committed data inputs, since any other data
    input would have no root.
    """
    named = {p.name for p in program.inputs if p.visibility is Visibility.COMMITTED and p.role is Role.DATA}
    odd = sorted(named ^ set(dataset.batches))
    if odd:
        raise Unprovable(
            f"expected batches of all committed data inputs and of nothing else, found {odd[0]!r} in one of the two; "
            "name the same inputs in the dataset"
        )


def rows_fault(dataset: Dataset, label: str, counts: Shape, rows: NDArray[np.int64] | None) -> str | None:
    """Return a text that says why an array cannot be the numbers of a batch's rows, or None if it can."""
    if rows is None or rows.shape != counts or rows.dtype != np.int64:
        return f"expected the numbers of {' x '.join(map(str, counts))} rows for batch {label}"
    if rows.min() < 0 or rows.max() >= dataset.size:
        return f"expected rows below {dataset.size} for batch {label}, found one outside"
    return None
