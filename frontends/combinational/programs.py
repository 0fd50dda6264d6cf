"""Combinational logic as an integer program: matrices between layers of rounding, choices, products and tables."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sparse

from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import Scale
from circuitize.circuits.operation import Provenance
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.frontends.formats import Format

from .forms import Forms, forms
from .layers import layer
from .logic import SLOTS, Kind, Logic
from .numbers import Numbers, Rows
from .rectified import rectified_last
from .rounding import fitted


def program(logic: Logic, batch: int = 1) -> IntegerProgram:
    """Return the program `inputs` [batch, n] -> `outputs` [batch, m] that has the logic's value on all its inputs.

    An input of the program accepts the numbers of all its elements' formats; an element whose own format is smaller is
    rounded down to its bits, which wrap, as in the logic's interpreter. Raise OverflowRisk if sums of the combinational
    logic pass 2^62.
    """
    found = forms(logic)
    builder = Builder(share=True)
    rows = Rows(builder, batch, found.count)
    entering = _entering(logic, found)
    x = builder.input(entering.of((batch, logic.inputs)))
    builder.provenance = Provenance("inputs")
    _read(logic, found, rows, x, entering)
    for depth in range(1, int(found.depth.max(initial=0)) + 1):
        builder.provenance = Provenance(f"layer{depth}")
        found = rectified_last(logic, found, rows, depth)
        layer(logic, found, rows, np.flatnonzero((found.depth == depth) & (found.kind != Kind.LINEAR)))
    builder.provenance = Provenance("outputs")
    y = _left(logic, found, rows)
    ports = Port("inputs", Visibility.COMMITTED, entering.of((batch, logic.inputs)))
    leaving = Port("outputs", Visibility.PUBLIC, builder.format(y))
    return IntegerProgram(builder.build([y]), (ports,), (leaving,))


def _entering(logic: Logic, found: Forms) -> Format:
    """Return the input format that holds the values of every element of the input."""
    at = found.atoms[logic.kind[found.atoms] == Kind.INPUT]
    if not len(at):
        return Format(0, 0, 1)
    most = int(logic.fraction[at].max())
    ends = logic.ends[at] << (most - logic.fraction[at])[:, None]
    return Format(most, int(ends[:, 0].min()), int(ends[:, 1].max()))


def _read(logic: Logic, found: Forms, rows: Rows, x: int, entering: Format) -> None:
    """Write the elements of the network's input in the form that the instructions which read them need."""
    atoms = np.flatnonzero(logic.kind[found.atoms] == Kind.INPUT)
    if not len(atoms):
        return
    places = logic.place[found.atoms[atoms]]
    atoms = atoms[np.argsort(places, kind="stable")]
    at = found.atoms[atoms]
    count = logic.inputs
    ends = np.full(count, entering.low), np.full(count, entering.high)
    wire = rows.builder.add(Scale(1, -entering.fraction_bits), x) if entering.fraction_bits else x
    whole = Numbers(wire, np.full(count, -entering.fraction_bits), *ends)
    inputs = Rows(rows.builder, rows.batch, count)
    inputs.keep(np.arange(count), whole)
    for signed in (0, 1):
        of_sign = logic.signed[at] == signed
        if of_sign.any():
            chosen, here = atoms[of_sign], at[of_sign]
            shape = (len(here), count)
            picked = sparse.csr_array((np.ones(len(here)), logic.place[here], np.arange(len(here) + 1)), shape=shape)
            units = inputs.units(picked, np.zeros(len(here)))
            rows.keep(chosen, fitted(inputs, logic, here, picked, np.zeros(len(here)), units))


def _left(logic: Logic, found: Forms, rows: Rows) -> int:
    """Return the wire of all outputs of the combinational logic, in one unit."""
    last = SLOTS * found.count
    matrix, constant = found.matrix[last:], found.constant[last:]
    live = (np.diff(matrix.indptr) > 0) | (constant != 0)
    units = rows.units(matrix, constant)
    unit = int(units[live].min(initial=0)) if live.any() else 0
    (made,) = rows.sums([(matrix, constant, np.full(logic.outputs, unit))])
    wire = rows.narrowed(made).wire
    return rows.builder.add(Scale(1, -unit), wire) if unit else wire
