"""Regions: a large contraction and the element-by-element operations after it, up to the one array that other
operations read, computed a block at a time.

Computed block by block, an update of weights needs no memory for a gradient as large as the weights, and overwrites its
operands.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_

import jax
import jax.numpy as jnp

from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.integers import Affine, Contract, Reindex, View
from circuitize.circuits.integers.language import IntegerOperation
from circuitize.circuits.operation import Operation
from circuitize.circuits.requirement import noting
from circuitize.circuits.types import Fixed, Shape

from . import blocks, contraction, rules, views
from .widths import Width, width


@dataclass(frozen=True)
class Region:
    """A group of edges that is computed block by block: edges in order, all with targets of one shape; edges outside
    the region read only the result of the last edge.

    Constants, and copies of one row, belong to each region that reads them.
    """

    edges: tuple[int, ...]
    inner: tuple[int, ...]
    """The edges whose results no edge outside the region reads."""

    @property
    def last(self) -> int:
        """Return the region's last edge, the only one whose result is read outside the region."""
        return self.edges[-1]


def regions(arrow: Arrow, single: Collection[int]) -> list[Region]:
    """Return the groups of operations on large arrays that run block by block, in an arrow of integers; `single` are
    the edges of constants of one number.
    """
    readers: dict[int, list[int]] = defaultdict(list)
    makers: dict[int, int] = {}
    for index, (_, sources, targets, _) in enumerate(arrow.rows):
        makers |= dict.fromkeys(targets, index)
        for wire in sources:
            readers[wire].append(index)
    read_outside = set(arrow.outputs.tolist())
    last: dict[int, int] = {}
    for index in reversed(range(len(arrow.rows))):
        wire = arrow.rows[index][2][0]
        if not _is_great(arrow, wire):
            continue
        ends = {last.get(reader) if _is_pointwise(arrow, reader) else None for reader in readers[wire]}
        inner = wire not in read_outside and len(ends) == 1 and None not in ends
        if inner and (_is_pointwise(arrow, index) or isinstance(_operation(arrow, index), Contract)):
            (last[index],) = (end for end in ends if end is not None)
        elif _is_pointwise(arrow, index):
            last[index] = index
    together: dict[int, list[int]] = defaultdict(list)
    for index, end in last.items():
        together[end].append(index)
    found = []
    for edges in together.values():
        if any(isinstance(_operation(arrow, edge), Contract) for edge in edges):
            read = [makers[wire] for edge in edges for wire in arrow.rows[edge][1] if wire in makers]
            copied = {
                edge
                for edge in read
                if _is_great(arrow, arrow.rows[edge][2][0]) and (edge in single or _copies_a_row(arrow, edge))
            }
            found.append(Region(tuple(sorted({*edges, *copied})), tuple(sorted(edges)[:-1])))
    return found


def run(
    region: Region,
    arrow: Arrow,
    known: Mapping[int, jax.Array],
    constant: Callable[[int, Shape], jax.Array],
    place: Callable[[int], rules.Place],
    before: jax.Array,
) -> tuple[jax.Array, jax.Array | None]:
    """Return the result of a region's last edge, and whether all edges of the region have a value, None if they always
    do.

    The argument `known` holds the values of the wires that a region reads; `constant(edge, shape)` gives the value of
    an edge without sources. The argument `before` says whether everything computed before the region has a value, which
    is evaluated before anything is overwritten.
    """
    made = {arrow.rows[edge][2][0] for edge in region.edges}
    target = arrow.format(arrow.rows[region.last][2][0])
    into = width(target)
    limbs = {edge: _limbs(place(edge), _operation(arrow, edge), known, arrow.rows[edge][1]) for edge in region.edges}
    read = [wire for edge in region.edges if _is_pointwise(arrow, edge) for wire in arrow.rows[edge][1]]
    over = next((wire for wire in read if wire not in made and known[wire].dtype == into), None)
    checked = False

    def with_block(
        first: jax.Array | int, size: int, state: tuple[jax.Array, jax.Array]
    ) -> tuple[jax.Array, jax.Array]:
        nonlocal checked
        whole, fine = state
        own: dict[int, jax.Array] = {}

        def rows(wire: int) -> jax.Array:
            if wire not in own:
                array = whole if wire == over else known[wire]
                own[wire] = blocks.cut(array, first, size).astype(width(arrow.format(wire)))
            return own[wire]

        with noting() as noted:
            for edge in region.edges:
                _, sources, (wire,), _ = arrow.rows[edge]
                operation, shape = _operation(arrow, edge), (size, *target.shape[1:])
                if not sources:
                    own[wire] = constant(edge, shape)
                elif isinstance(operation, Reindex):
                    copies = views.gather(_of_rows(operation.view, size), known[sources[0]])
                    own[wire] = copies.astype(width(arrow.format(wire)))
                elif operands := limbs[edge]:
                    own[wire] = _product(operands, first, size)
                else:
                    own[wire] = rules.value(operation, place(edge), [rows(source) for source in sources])
        checked = bool(noted)
        fine = reduce(and_, map(jnp.asarray, noted), fine)
        # Where depends on what is checked, which so comes before what is read is written over: no copy of it.
        return blocks.put(whole, own[arrow.rows[region.last][2][0]], jnp.where(fine, first, 0)), fine

    start = jnp.zeros(target.shape, into) if over is None else known[over]
    whole, fine = blocks.over(target.shape, with_block, (start, before))
    return whole, fine if checked else None


Limbs = tuple[tuple[str, str, str], tuple[list[jax.Array], list[jax.Array]], contraction.Kind, Width]
"""The axes, limbs, kind and width of a contraction."""


def _limbs(
    place: rules.Place, operation: Operation, known: Mapping[int, jax.Array], sources: list[int]
) -> Limbs | None:
    """Return what a contraction multiplies; None for another operation."""
    if not isinstance(operation, Contract):
        return None
    x, y = place.sources
    kind = contraction.chosen(operation, x, y, place.costs)
    letters, both, widths = contraction.operands(operation, (x, y), [known[wire] for wire in sources])
    left, right = (one.astype(own) for one, own in zip(both, widths, strict=True))
    return letters, contraction.parts(left, right, kind), kind, width(place.target)


def _product(limbs: Limbs, first: jax.Array | int, size: int) -> jax.Array:
    """Return some rows of a contraction's result."""
    letters, operands, kind, into = limbs
    left, right = (
        [contraction.rows(limb, own, letters[2][0], first, size) for limb in operand]
        for own, operand in zip(letters, operands, strict=False)
    )
    return contraction.product(letters, left, right, kind, into)


def _operation(arrow: Arrow, edge: int) -> Operation:
    return arrow.operations[arrow.rows[edge][0]]


def _is_great(arrow: Arrow, wire: int) -> bool:
    format = arrow.type(wire)
    return isinstance(format, Fixed) and blocks.is_great(format.shape)


def _is_pointwise(arrow: Arrow, edge: int) -> bool:
    """Return whether element p of an operation's target depends only on elements p of all sources."""
    _, sources, targets, _ = arrow.rows[edge]
    shapes = {arrow.format(wire).shape for wire in [*sources, *targets]}
    operation = _operation(arrow, edge)
    pointwise = isinstance(operation, IntegerOperation) and operation.pointwise
    return bool(sources) and pointwise and len(shapes) == len(targets) == 1


def _copies_a_row(arrow: Arrow, edge: int) -> bool:
    operation = _operation(arrow, edge)
    step = operation.view.steps[-1] if isinstance(operation, Reindex) and operation.view.steps else None
    return isinstance(step, Affine) and not any(row[0] for row in step.strides)


def _of_rows(view: View, size: int) -> View:
    """Return a view of `size` rows, made from a view that copies one row."""
    *before, step = view.steps
    assert isinstance(step, Affine)
    return View(view.source_shape, (*before, replace(step, shape=(size, *step.shape[1:]))))
