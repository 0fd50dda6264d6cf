"""Tensor systems: columns, and forms of them that are looked up or zero, which together say that a program was run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from circuitize.circuits.errors import CircuitizeError, Undefined
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.integers.view import View
from circuitize.circuits.undefined import values_of

from .dataset import Dataset
from .draft import Lookup, Table
from .forms import Base, Column, Form, Integers, Public, Trace, padded_bits
from .groups import GroupName, PortKey
from .ports import PortList
from .records import base_record, form_record, lookup_record, table_record, view_record


@dataclass(frozen=True)
class TensorSystem:
    """The columns, lookups and zero forms of a run of an integer program; a system follows from the program.

    `commitments` holds the number of variables of each commitment; all but the last belong to groups of committed
    ports, in the order of `groups`, with the `lists` that their roots commit to; the last is made by the proof. The
    field `budgets` says how often the roots of frozen groups may be opened in zero knowledge. The views, forms and
    bases of a tensor system are numbered. The inputs of `assumed` groups are not shown to lie in their formats: a proof
    of this system says nothing unless it is known that the roots of these groups hold values within their formats. If
    inputs are batches of a `dataset`, `tensors` and `indices` number the bases of its tensors and of the rows of each
    batch.
    """

    program: str
    arrow: Arrow
    limb_bits: int
    commitments: tuple[int, ...]
    groups: tuple[PortKey, ...]
    lists: tuple[PortList, ...]
    bases: tuple[Base, ...]
    views: tuple[View, ...]
    forms: tuple[Form, ...]
    lookups: tuple[Lookup, ...]
    tables: tuple[Table, ...]
    zeros: tuple[int, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    assumed: tuple[GroupName, ...] = ()
    dataset: Dataset | None = None
    tensors: Mapping[str, int] = field(default_factory=dict)
    indices: Mapping[str, int] = field(default_factory=dict)
    budgets: Mapping[PortKey, int] = field(default_factory=dict)

    @cached_property
    def records(self) -> tuple[list[Any], ...]:
        """Return a tensor system as the native prover reads it: lists of plain tuples."""
        numbers = {view: number for number, view in enumerate(self.views)}
        return (
            list(self.commitments),
            [base_record(base) for base in self.bases],
            [view_record(view) for view in self.views],
            [form_record(form, numbers) for form in self.forms],
            [lookup_record(lookup) for lookup in self.lookups],
            [table_record(table) for table in self.tables],
            list(self.zeros),
        )

    def ports_of(self, key: PortKey) -> PortList:
        """Return the list of ports that the root of a group commits to."""
        return self.lists[self.groups.index(key)]

    @property
    def committed(self) -> int:
        """Return the number of elements of all columns, without padding."""
        return sum(int(np.prod(base.shape)) for base in self.bases if isinstance(base, Column))

    @property
    def looked_up(self) -> int:
        """Return the number of elements that are looked up, without padding."""
        return sum(int(np.prod(self.forms[lookup.key].shape)) for lookup in self.lookups)

    @cached_property
    def fractions(self) -> int:
        """Return the number of fractions for lookups and tables, where the blocks of each are padded to powers of
        two.
        """
        looked_up = sum(1 << padded_bits(self.forms[lookup.key].shape) for lookup in self.lookups)
        return looked_up + sum(1 << (table.size - 1).bit_length() for table in self.tables)

    @cached_property
    def parts(self) -> Mapping[str, tuple[int, int]]:
        """Return the elements committed and the elements looked up, by operation and place, by port, and for tables."""
        found: dict[str, list[int]] = {}
        for base in self.bases:
            if isinstance(base, Column):
                found.setdefault(base.part, [0, 0])[0] += math.prod(base.shape)
        for lookup in self.lookups:
            found.setdefault(lookup.part, [0, 0])[1] += math.prod(self.forms[lookup.key].shape)
        return {part: (committed, looked_up) for part, (committed, looked_up) in found.items()}

    def trace(self, inputs: Mapping[str, Integers]) -> Trace:
        """Return the values of all wires of a run; inputs are integers of their formats, as `to_integers` makes them of
        real values.

        Raise Undefined if the program has no value, and CircuitizeError for a value that is no array of integers.
        """
        for name in self.inputs:
            if np.asarray(inputs[name]).dtype.kind not in "iu":
                raise CircuitizeError(f"expected integers of its format for input {name!r}, found others: to_integers")
        values = [np.asarray(inputs[name], np.int64, order="C") for name in self.inputs]
        try:
            found = values_of(self.arrow, values, self.inputs, keep=True)
        except Undefined as error:
            raise Undefined(f"{error}; no proof exists") from None
        return [value for value in found if value is not None]

    def values(self, trace: Trace, rows: Mapping[str, Integers] | None = None) -> list[Integers]:
        """Return the honest values of every base tensor of the system, without multiplicities, which the prover counts,
        and without a dataset's tensors.

        `rows` gives the numbers of each batch's rows, by its label.
        """
        return list(self.each_value(trace, rows))

    def each_value(self, trace: Trace, rows: Mapping[str, Integers] | None = None) -> Iterator[Integers]:
        """Yield the honest values of every base one by one; the values of a base are made when they are asked for."""
        given = {base: (rows or {})[label] for label, base in self.indices.items()}
        for number, base in enumerate(self.bases):
            if number in given:
                yield np.ascontiguousarray(given[number], np.int64)
            elif base.recipe is None:
                yield np.zeros(0, np.int64)
            else:
                yield np.ascontiguousarray(base.recipe(trace), np.int64)

    def public_values(self, publics: Mapping[PortKey, Integers]) -> list[Integers]:
        """Return the values of every base that the verifier knows: the values of public ports, and nothing else."""
        return [
            np.ascontiguousarray(publics[base.side, base.name], np.int64)
            if isinstance(base, Public)
            else np.zeros(0, np.int64)
            for base in self.bases
        ]
