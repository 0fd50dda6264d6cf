"""JAX primitives that read and write at indices: known indices become wiring, computed indices are looked up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits import arrays
from circuitize.circuits.builder import Builder
from circuitize.circuits.differentiate import reverse_derivative
from circuitize.circuits.types import Array, Shape
from circuitize.frontends import functions
from circuitize.frontends.tensor import Tensor

from .equation import FINITE, Equation, primitive
from .value import Value

Number: TypeAlias = Tensor | NDArray[np.float64]
"""One column of the indices of a gather: a wire, or numbers known while tracing."""


class Dimensions(NamedTuple):
    """The way in which a JAX gather reads: JAX's dimension numbers and the extents of the slices."""

    offsets: tuple[int, ...]
    collapsed: tuple[int, ...]
    starts: tuple[int, ...]
    batch: tuple[int, ...]
    of_indices: tuple[int, ...]
    sizes: tuple[int, ...]


@primitive(
    "gather",
    meaning="wiring where the places are known; Gather; OneHot and Einsum where rows have their own",
    moves=True,
)
def _gather(equation: Equation) -> Tensor:
    numbers = equation["dimension_numbers"]
    dimensions = Dimensions(
        tuple(numbers.offset_dims),
        tuple(numbers.collapsed_slice_dims),
        tuple(numbers.start_index_map),
        tuple(numbers.operand_batching_dims),
        tuple(numbers.start_indices_batching_dims),
        tuple(equation["slice_sizes"]),
    )
    x = equation.tensor(0)
    if equation.inputs[1].known:
        return _wired(equation, x, dimensions, equation.shapes[0])
    _bounded(equation)
    return gathered(equation, x, equation.inputs[1], dimensions, equation.shapes[0])


def _bounded(equation: Equation) -> None:
    """Record the assumption that indices lie within the axis: an index outside it is undefined."""
    if "FILL" in str(equation["mode"]) or "CLIP" in str(equation["mode"]):
        equation.assume("indices are within the axis: one outside is undefined")
    if "FILL" in str(equation["mode"]):
        equation.assume(FINITE)


def _wired(equation: Equation, x: Tensor, dimensions: Dimensions, shape: Shape) -> Tensor:
    """Return the result of a JAX gather at known indices: the same gather, applied to the numbers of the elements, says
    which elements to read.
    """
    places = _places(equation, x.shape, dimensions)
    if (places < 0).any():
        raise equation.fault(f"expected indices within {list(x.shape)}, found one outside; correct it")
    return picked(x, places, shape)


def _places(equation: Equation, shape: Shape, dimensions: Dimensions) -> NDArray[np.int64]:
    """Return the number of the element that each place of a gather with known indices reads, row by row; -1 outside."""
    jax = equation.context.jax
    numbers = jax.lax.GatherDimensionNumbers(
        offset_dims=dimensions.offsets,
        collapsed_slice_dims=dimensions.collapsed,
        start_index_map=dimensions.starts,
        operand_batching_dims=dimensions.batch,
        start_indices_batching_dims=dimensions.of_indices,
    )
    counted = np.arange(math.prod(shape), dtype=np.int32).reshape(shape)
    mode = equation["mode"]
    fill = {"fill_value": -1} if "FILL" in str(mode) else {}
    made = jax.lax.gather(counted, equation.inputs[1].array(), numbers, dimensions.sizes, mode=mode, **fill)
    return np.asarray(made, np.int64)


def picked(x: Tensor, places: NDArray[np.int64], shape: Shape) -> Tensor:
    """Return the elements of x at the given places, taken as whole rows of the last axes if these rows are read
    completely.
    """
    flat, rows = places.reshape(-1), x
    width = 1
    for axis in range(x.ndim - 1, -1, -1):
        wider = width * x.shape[axis]
        blocks = flat.reshape(-1, wider) if flat.size % wider == 0 else flat[None, :0]
        if not blocks.size or (blocks[:, :1] % wider).any() or (blocks != blocks[:, :1] + np.arange(wider)).any():
            break
        width = wider
    chosen = flat.reshape(-1, width)[:, 0] // width
    rows = x.reshape(-1, width)
    if len(chosen) == rows.shape[0] and (chosen == np.arange(len(chosen))).all():
        return rows.reshape(*shape)
    return rows[chosen].reshape(*shape)


def gathered(equation: Equation, x: Tensor, indices: Value, dimensions: Dimensions, shape: Shape) -> Tensor:
    """Return the elements at computed indices: of one axis, of several axes whose indices are joined, or with different
    indices for each row.
    """
    wire = indices.content
    assert isinstance(wire, Tensor)
    taken = set(dimensions.collapsed) | set(dimensions.batch)
    x, starts, columns = _cut(equation, x, indices, dimensions, taken)
    count = wire.ndim - 1
    kept = [axis for axis in range(x.ndim) if axis not in taken]
    order = [*dimensions.batch, *starts, *kept]
    ranked = x.transpose(*order)
    batch = [x.shape[axis] for axis in dimensions.batch]
    table = ranked.reshape(*batch, math.prod(x.shape[a] for a in starts), *[x.shape[a] for a in kept])
    places = _joined(columns, [x.shape[axis] for axis in starts]).reshape(*wire.shape[:-1])
    if dimensions.batch:
        made = _along(table, places, len(batch), dimensions.of_indices)
    else:
        made = functions.gather(table, places, 0)
    # Now: the axes of the indices, then the axes that are kept. These go to `offsets`.
    rest = iter(range(count))
    behind = iter(range(count, made.ndim))
    return made.transpose(
        *[next(behind) if axis in dimensions.offsets else next(rest) for axis in range(made.ndim)]
    ).reshape(*shape)


def _along(table: Tensor, places: Tensor, batch: int, of_indices: Sequence[int]) -> Tensor:
    """Return for each row of a table [batch.., n, kept..] the elements at that row's indices, computed by multiplying
    the row with an indicator of the place.
    """
    letters = "abcdefghijklmnopqrstuvwxy"
    hot = functions.one_hot(places, table.shape[batch])
    of_places = letters[: places.ndim]
    kept = letters[places.ndim : places.ndim + table.ndim - batch - 1]
    rows = "".join(of_places[axis] for axis in of_indices)
    return functions.einsum(f"{of_places}z,{rows}z{kept}->{of_places}{kept}", hot, table)


def _cut(
    equation: Equation, x: Tensor, indices: Value, dimensions: Dimensions, taken: set[int]
) -> tuple[Tensor, list[int], list[Number]]:
    """Return the operand without the parts that slices from known places leave out; also return the axes of the
    looked-up indices, and these indices.

    Raise CircuitizeError for slices of a JAX gather that begin at computed places.
    """
    wire = indices.content
    assert isinstance(wire, Tensor)
    starts: list[int] = []
    columns: list[Number] = []
    begin, end = [0] * x.ndim, list(x.shape)
    for axis, size in enumerate(dimensions.sizes):
        column = dimensions.starts.index(axis) if axis in dimensions.starts else None
        value = indices.columns[column] if column is not None and indices.columns else None
        if axis in taken:
            if column is not None:
                wires = wire[..., column : column + 1]
                columns.append(wires if value is None else _number(value))
                starts.append(axis)
            continue
        known = None if value is None else value.uniform()
        if column is not None and size < x.shape[axis]:
            if known is None:
                raise equation.fault(
                    "expected whole rows at computed places, found slices that begin at them; use jnp.take or "
                    "take_along_axis"
                )
            begin[axis] = min(max(int(known), 0), x.shape[axis] - size)
        end[axis] = begin[axis] + size
    return x[tuple(map(slice, begin, end))], starts, columns


def _number(value: Value) -> Number:
    """Return one column of a gather's indices: a wire, or numbers known while tracing."""
    return value.content if isinstance(value.content, Tensor) else value.array().astype(np.float64)


def _joined(columns: Sequence[Number], extents: Sequence[int]) -> Tensor:
    """Return places that are given by an index for each of several axes as one number each, in row-major order."""
    total: Number | None = None
    for column, extent in zip(columns, extents, strict=True):
        total = column if total is None else total * float(extent) + column
    assert isinstance(total, Tensor)
    return total


@primitive("scatter-add", "scatter_add", meaning="Add, and the reverse derivative of the gather that reads there")
def _scatter_add(equation: Equation) -> Tensor:
    x = equation.inputs[0]
    made = _spread(equation, equation.tensor(2))
    return made if x.uniform() == 0.0 else equation.tensor(0) + made


@primitive(
    "scatter",
    meaning="Select, and the reverse derivative of the gather that reads there: places are distinct",
    moves=True,
)
def _scatter(equation: Equation) -> Tensor:
    made = _spread(equation, equation.tensor(2))
    if not equation.inputs[1].known:
        equation.assume("places that are written to are distinct")
    reached = _spread(equation, equation.constant(np.ones(equation.inputs[2].shape)))
    return functions.where(reached, made, equation.tensor(0))


def _spread(equation: Equation, updates: Tensor) -> Tensor:
    """Return the result of a scatter-add, updates added to zeros, which is the reverse derivative of the gather of the
    same dimensions.
    """
    numbers = equation["dimension_numbers"]
    window = tuple(numbers.update_window_dims)
    gone = (*numbers.inserted_window_dims, *numbers.operand_batching_dims)
    shape = equation.shapes[0]
    extents = iter([updates.shape[axis] for axis in window])
    sizes = tuple(1 if axis in gone else next(extents) for axis in range(len(shape)))
    dimensions = Dimensions(
        window,
        tuple(numbers.inserted_window_dims),
        tuple(numbers.scatter_dims_to_operand_dims),
        tuple(numbers.operand_batching_dims),
        tuple(numbers.scatter_indices_batching_dims),
        sizes,
    )
    builder, indices = Builder(), equation.inputs[1]
    x = Tensor(builder, builder.input(Array(shape)))
    wires: list[int] = []
    if indices.known:
        made = _wired(equation, x, dimensions, updates.shape)
    else:
        _bounded(equation)
        inner, wires = _copied(builder, indices)
        made = gathered(equation, x, inner, dimensions, updates.shape)
    derivative = reverse_derivative(builder.build([made.wire]))
    zeros = equation.constant(np.zeros(shape))
    results = updates.builder.splice(derivative, [zeros.wire, *wires, updates.wire])
    return Tensor(updates.builder, results[0])


def _copied(builder: Builder, indices: Value) -> tuple[Value, list[int]]:
    """Return copies of indices that are inputs of another builder, and the wires for which these inputs stand."""
    wires: list[int] = []

    def copy(value: Value) -> Value:
        if not isinstance(value.content, Tensor):
            return value
        wires.append(value.content.wire)
        return Value(Tensor(builder, builder.input(Array(value.shape))), value.dtype, value.low, value.high)

    whole, columns = copy(indices), tuple(copy(column) for column in indices.columns)
    return Value(whole.content, whole.dtype, whole.low, whole.high, columns), wires


@primitive("dynamic_slice", meaning="Slice where the start is known; else Gather along one axis", moves=True)
def _dynamic_slice(equation: Equation) -> Tensor:
    x, sizes = equation.tensor(0), equation["slice_sizes"]
    for axis, value in enumerate(equation.inputs[1:]):
        last = x.shape[axis] - sizes[axis]
        if not last:
            continue
        index = [slice(None)] * axis
        if value.known:
            start = min(max(int(value.array()), 0), last)
            x = x[(*index, slice(start, start + sizes[axis]))]
        else:
            start_wire = _clamped(equation, axis + 1, last)
            x = functions.gather(x, start_wire + np.arange(sizes[axis]).astype(np.float64), axis)
    return x


def _clamped(equation: Equation, index: int, last: int) -> Tensor:
    """Return the start of a slice, clamped from 0 to the last start that fits."""
    value, start = equation.inputs[index], equation.tensor(index)
    return start if value.low >= 0 and value.high <= last else functions.clip(start, 0.0, float(last))


@primitive("dynamic_update_slice", meaning="Pad and Select where the start is known; refused otherwise", moves=True)
def _dynamic_update(equation: Equation) -> Tensor:
    x, update = equation.tensor(0), equation.tensor(1)
    starts = []
    for axis in range(x.ndim):
        found = int(equation.known(axis + 2, "a start of a slice"))
        starts.append(min(max(found, 0), x.shape[axis] - update.shape[axis]))
    after = tuple(n - s - m for n, s, m in zip(x.shape, starts, update.shape, strict=True))
    reached = np.pad(np.ones(update.shape), list(zip(starts, after, strict=True)))
    if reached.all():
        return update
    return functions.where(equation.constant(reached), update.apply(arrays.Pad(tuple(starts), after)), x)
