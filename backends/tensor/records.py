"""Parts of a tensor system as plain tuples, which the native prover reads and which the digest of a plan hashes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from circuitize.circuits.integers.steps import Affine
from circuitize.circuits.integers.view import View

from .draft import Lookup, Table
from .forms import Base, Column, Fixed, Form, Product, Public, Rows


def base_record(base: Base) -> tuple[object, ...]:
    """Return the record of a base: its kind, its shape, and the source of its values."""
    shape = list(base.shape)
    match base:
        case Column():
            return "column", shape, base.commitment, base.offset
        case Public():
            return "public", shape
        case Rows():
            return "rows", shape, base.column, base.index
        case Fixed():
            return "constant", shape, np.ascontiguousarray(base.values.reshape(-1), np.int64)
        case Product():
            return "product", shape, list(base.letters), list(base.forms)


def view_record(view: View) -> tuple[object, ...]:
    """Return the record of a view: the shape of its source, and of each step the shape, then offsets and strides, or
    None if it only regroups.
    """
    steps = [
        (
            list(step.shape),
            (list(step.offsets), [list(row) for row in step.strides]) if isinstance(step, Affine) else None,
        )
        for step in view.steps
    ]
    return list(view.source_shape), steps


def form_record(form: Form, numbers: Mapping[View, int]) -> tuple[object, ...]:
    """Return the record of a form: its shape and its terms, whose paths name views by their numbers."""
    terms = [
        (coefficient, base, [(numbers[view], sums) for view, sums in path])
        for (base, path), coefficient in form.terms.items()
    ]
    return list(form.shape), terms


def lookup_record(lookup: Lookup) -> tuple[object, ...]:
    """Return the numbers of a lookup's table, of the key's form and of the value's form."""
    return lookup.table, lookup.key, lookup.value


def table_record(table: Table) -> tuple[object, ...]:
    """Return the number of a table's entries, their values, and the form of the column of multiplicities."""
    return table.size, table.values, table.column
