"""The parts of a tensor system as plain tuples, which the native prover reads and which the digest of a plan hashes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from circuitize.circuits.integers.steps import Affine
from circuitize.circuits.integers.view import View

from .draft import Lookup, Table
from .forms import Base, Column, Fixed, Form, Product, Public, Rows


def base_record(base: Base) -> tuple[object, ...]:
    """Return the record of a base: its kind, its shape, and where its values come from."""
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
    """Return the record of a view: the shape of its source, and for each step its shape, with its offsets and strides,
    or None if the step only regroups axes.
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
    """Return the record of a form: its shape and its terms, whose paths refer to views by their numbers."""
    terms = [
        (coefficient, base, [(numbers[view], sums) for view, sums in path])
        for (base, path), coefficient in form.terms.items()
    ]
    return list(form.shape), terms


def lookup_record(lookup: Lookup) -> tuple[object, ...]:
    """Return the record of a lookup: the numbers of its table, of the form of its keys, and of the form of its
    values.
    """
    return lookup.table, lookup.key, lookup.value


def table_record(table: Table) -> tuple[object, ...]:
    """Return the record of a table: the number of its entries, their values, and the form of its column of
    multiplicities.
    """
    return table.size, table.values, table.column
