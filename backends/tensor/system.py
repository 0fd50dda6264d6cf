"""Tensor systems: columns, and forms over these columns that are looked up or zero, which together state that a program
was run.
"""

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
    """The columns, lookups and zero forms that state a run of an integer program; the system follows from the program.

    The field `commitments` has the number of variables of each commitment: all commitments except the last belong to
    groups of committed ports, in the order of `groups`, and their roots commit to the lists of ports in `lists`; the
    last commitment is made by the proof. The field `budgets` says how often the roots of frozen groups may be opened in
    zero knowledge. The views, forms and bases of a tensor system are referred to by their numbers. The inputs in
    `assumed` groups are not shown to be in format: a proof of the system says nothing unless the roots of these groups
    are known to commit to values in format. If inputs are batches of a `dataset`, `tensors` and `indices` have the
    numbers of the bases of its tensors and of the row numbers of each batch.
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
        """Return the tensor system in the form that the native prover reads: lists of plain tuples."""
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
        """Return the list of ports to which the root of a group commits."""
        return self.lists[self.groups.index(key)]

    @property
    def committed(self) -> int:
        """Return the number of elements in all columns, without padding."""
        return sum(int(np.prod(base.shape)) for base in self.bases if isinstance(base, Column))

    @property
    def looked_up(self) -> int:
        """Return the number of elements that are looked up, without padding."""
        return sum(int(np.prod(self.forms[lookup.key].shape)) for lookup in self.lookups)

    @cached_property
    def fractions(self) -> int:
        """Return the number of fractions for lookups and tables, including the padding of each to a power of two."""
        looked_up = sum(1 << padded_bits(self.forms[lookup.key].shape) for lookup in self.lookups)
        return looked_up + sum(1 << (table.size - 1).bit_length() for table in self.tables)

    @cached_property
    def parts(self) -> Mapping[str, tuple[int, int]]:
        """Return the numbers of elements that are committed to and looked up, by operation and place, by port, and for
        tables.
        """
        found: dict[str, list[int]] = {}
        for base in self.bases:
            if isinstance(base, Column):
                found.setdefault(base.part, [0, 0])[0] += math.prod(base.shape)
        for lookup in self.lookups:
            found.setdefault(lookup.part, [0, 0])[1] += math.prod(self.forms[lookup.key].shape)
        return {part: (committed, looked_up) for part, (committed, looked_up) in found.items()}

    def trace(self, inputs: Mapping[str, Integers]) -> Trace:
        """Return the values of all wires in a run on the given inputs, which are integers of their formats, as
        `to_integers` makes them from real values.

        Raise Undefined if the program has no value on the inputs, and CircuitizeError for a value that is not an array
        of integers.
        """
        for name in self.inputs:
            if np.asarray(inputs[name]).dtype.kind not in "iu":
                raise CircuitizeError(f"expected integers of its format for input {name!r}, found others: to_integers")
        values = [np.asarray(inputs[name], np.int64, order="C") for name in self.inputs]
        try:
            return values_of(self.arrow, values, self.inputs)
        except Undefined as error:
            raise Undefined(f"{error}; no proof exists") from None

    def values(self, trace: Trace, rows: Mapping[str, Integers] | None = None) -> list[Integers]:
        """Return the honest values of every base of the system, except multiplicities, which the prover counts, and
        except the tensors of a dataset.

        The argument `rows` gives the row numbers of each batch, by its label.
        """
        return list(self.each_value(trace, rows))

    def each_value(self, trace: Trace, rows: Mapping[str, Integers] | None = None) -> Iterator[Integers]:
        """Yield the honest values of the bases one by one; the values of a base are computed when they are needed."""
        given = {base: (rows or {})[label] for label, base in self.indices.items()}
        for number, base in enumerate(self.bases):
            if number in given:
                yield np.ascontiguousarray(given[number], np.int64)
            elif base.recipe is None:
                yield np.zeros(0, np.int64)
            else:
                yield np.ascontiguousarray(base.recipe(trace), np.int64)

    def public_values(self, publics: Mapping[PortKey, Integers]) -> list[Integers]:
        """Return, for every base, the values that the verifier knows, which are those of public ports; all other bases
        get an empty array.
        """
        return [
            np.ascontiguousarray(publics[base.side, base.name], np.int64)
            if isinstance(base, Public)
            else np.zeros(0, np.int64)
            for base in self.bases
        ]
