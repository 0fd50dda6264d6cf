"""Layout: what each operation is by numpy and by JAX, and small cases of it."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from operations.real import Case, Described, Source, on

from circuitize.circuits import arrays
from circuitize.circuits.types import Array


def scattered(updates: Any, indices: Any, axis: int, size: int) -> Any:
    hot = np.eye(size)[np.int64(indices)]
    return np.moveaxis(np.tensordot(updates, hot, (range(axis, axis + indices.ndim), range(indices.ndim))), -1, axis)


def windows(x: Any, o: Any) -> Any:
    """Element by element."""
    (shape,) = (t.shape for t in o.target_types(Array(x.shape)))
    made = np.empty(shape)
    for at in np.ndindex(shape):
        place = list(at[: x.ndim])
        for axis, step, gap, offset in zip(o.axes, o.steps, o.dilations, at[x.ndim :], strict=True):
            place[axis] = step * place[axis] + gap * offset
        made[at] = x[tuple(place)]
    return made


def overlapped(x: Any, o: Any) -> Any:
    made = np.zeros(o.shape)
    for at in np.ndindex(x.shape):
        place = list(at[: made.ndim])
        for axis, step, gap, offset in zip(o.axes, o.steps, o.dilations, at[made.ndim :], strict=True):
            place[axis] = step * place[axis] + gap * offset
        made[tuple(place)] += x[at]
    return made


def jax_indices(indices: Any) -> Any:
    return jnp.asarray(indices, jnp.int32)


def jax_windows(x: Any, o: Any) -> Any:
    """Window k of each axis by a slice, all stacked in new last axes."""
    for axis, size, step, gap in zip(o.axes, o.sizes, o.steps, o.dilations, strict=True):
        count = (x.shape[axis] - gap * (size - 1) - 1) // step + 1
        rows = [jax.lax.slice_in_dim(x, gap * w, gap * w + (count - 1) * step + 1, step, axis) for w in range(size)]
        x = jnp.stack(rows, -1)
    return x


def jax_overlapped(x: Any, o: Any) -> Any:
    return jax.linear_transpose(lambda y: jax_windows(y, o), jnp.zeros(o.shape))(x)[0]


def jax_scattered(x: Any, indices: Any, axis: int, size: int) -> Any:
    return (
        jnp.zeros((*x.shape[:axis], size, *x.shape[axis + indices.ndim :]))
        .at[(slice(None),) * axis + (jax_indices(indices),)]
        .add(x)
    )


def among(size: int, *shape: int) -> Source:
    """Indices below a size."""
    return Source(shape, 0.0, size - 1.0, fraction_bits=0, index=True)


CASES = [
    Described(
        lambda o: lambda x: np.reshape(x, o.shape),
        lambda o: lambda x: x.reshape(o.shape),
        [
            Case(arrays.Reshape((2, 6)), on((3, 4))),
            Case(arrays.Reshape(()), on((1, 1))),
        ],
    ),
    Described(
        lambda o: lambda x: np.einsum(x, list(range(x.ndim)), list(o.axes)),
        lambda o: lambda x: x.transpose(o.axes),
        [
            Case(arrays.Transpose((2, 0, 1)), on((2, 3, 4))),
            Case(arrays.Transpose((1, 0)), on((2, 3))),
        ],
    ),
    Described(
        lambda o: lambda x: x.reshape([1 if a in o.axes else n for a, n in enumerate(o.shape)]) + np.zeros(o.shape),
        lambda o: lambda x: jnp.broadcast_to(jnp.expand_dims(x, o.axes), o.shape),
        [
            Case(arrays.Broadcast((4, 2, 3), (0,)), on((2, 3))),
            Case(arrays.Broadcast((2, 4, 3, 5), (1, 3)), on((2, 3))),
            Case(arrays.Broadcast((3,), (0,)), on(())),
        ],
    ),
    Described(
        lambda o: lambda x: np.einsum(x, list(range(x.ndim)), [a for a in range(x.ndim) if a not in o.axes]),
        lambda o: lambda x: x.sum(o.axes),
        [
            Case(arrays.Sum((0,)), on((4, 3))),
            Case(arrays.Sum((0, 2)), on((2, 3, 4))),
            Case(arrays.Sum((0, 1)), on((2, 3))),
        ],
    ),
    Described(
        lambda o: lambda x: x[np.ix_(*map(range, o.starts, o.stops))],
        lambda o: lambda x: jax.lax.slice(x, o.starts, o.stops),
        [Case(arrays.Slice((1, 0), (3, 2)), on((4, 3)))],
    ),
    Described(
        lambda o: lambda x: np.pad(x, list(zip(o.before, o.after, strict=True))),
        lambda o: lambda x: jnp.pad(x, list(zip(o.before, o.after, strict=True))),
        [
            Case(arrays.Pad((1, 0), (2, 3)), on((2, 3))),
            Case(arrays.Pad((2,), (0,)), (Source((3,), 0.5, 2.0),)),
        ],
    ),
    Described(
        lambda o: lambda x: x[tuple(slice(None, None, -1 if i in o.axes else 1) for i in range(x.ndim))],
        lambda o: lambda x: jnp.flip(x, o.axes),
        [
            Case(arrays.Flip((0,)), on((3, 2))),
            Case(arrays.Flip((0, 2)), on((2, 2, 3))),
        ],
    ),
    Described(
        lambda o: lambda *xs: np.concatenate(xs, o.axis),
        lambda o: lambda *xs: jnp.concatenate(xs, o.axis),
        [
            Case(arrays.Concatenate(0), on((2, 3), (1, 3), (4, 3))),
            Case(arrays.Concatenate(1), on((2, 3), (2, 2))),
        ],
    ),
    Described(
        lambda o: lambda x: windows(x, o),
        lambda o: lambda x: jax_windows(x, o),
        [
            Case(arrays.Window((1, 2), (2, 3), (1, 1)), on((2, 4, 5, 2))),
            Case(arrays.Window((0,), (3,), (2,)), on((6, 2))),
            Case(arrays.Window((0, 1), (2, 2), (1, 2), (3, 2)), on((5, 6))),
        ],
    ),
    Described(
        lambda o: lambda x: overlapped(x, o),
        lambda o: lambda x: jax_overlapped(x, o),
        [
            Case(arrays.OverlapAdd((7,), (0,), (3,), (1,), (2,)), on((3, 3))),
            Case(arrays.OverlapAdd((2, 4, 5), (1, 2), (2, 2), (1, 2)), on((2, 3, 2, 2, 2))),
            Case(arrays.OverlapAdd((5,), (0,), (2,), (3,)), on((2, 2))),
        ],
    ),
    Described(
        lambda o: (
            lambda x, i: np.moveaxis(
                np.moveaxis(x, o.axis, 0)[np.int64(i)], range(i.ndim), range(o.axis, o.axis + i.ndim)
            )
        ),
        lambda o: lambda x, i: jnp.take(x, jax_indices(i), o.axis),
        [
            Case(arrays.Gather(0), (*on((5, 3)), among(5, 4))),
            Case(arrays.Gather(1), (*on((2, 4, 2)), among(4, 3, 2))),
            Case(arrays.Gather(0), (*on((3,)), among(3))),
        ],
    ),
    Described(
        lambda o: lambda i: np.eye(o.size)[np.int64(i)],
        lambda o: lambda i: jax.nn.one_hot(jax_indices(i), o.size),
        [
            Case(arrays.OneHot(5), (among(5, 2, 3),), units=None),
            Case(arrays.OneHot(1), (among(1, 2),), units=None),
        ],
    ),
    Described(
        lambda o: lambda x, i: scattered(x, i, o.axis, o.size),
        lambda o: lambda x, i: jax_scattered(x, i, o.axis, o.size),
        [
            Case(arrays.ScatterAdd(0, 5), (*on((4, 3)), among(5, 4))),
            Case(arrays.ScatterAdd(1, 3), (*on((2, 2, 3, 2)), among(3, 2, 3))),
        ],
    ),
]
