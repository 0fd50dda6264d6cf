"""Indexing of tensors in brackets: by whole numbers, slices of any step, lists of places, `...` and None."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from types import EllipsisType
from typing import TYPE_CHECKING, SupportsIndex, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits import arrays
from circuitize.circuits.operation import Values

from .provenance import refused

if TYPE_CHECKING:
    from .tensor import Tensor

Places: TypeAlias = Sequence[int] | Values
Index: TypeAlias = int | slice | EllipsisType | Places | None


def indexed(x: Tensor, index: Index | tuple[Index, ...]) -> Tensor:
    """Return the elements that numpy's indexing gives, by operations that only move elements.

    One entry of the index may be a list, or an array, of places or of truth values that are known while tracing. Raise
    TypingError for an entry of a tensor's index that is of another kind.
    """
    entries = index if isinstance(index, tuple) else (index,)
    given = sum(entry is not None and entry is not Ellipsis for entry in entries)
    if given > x.ndim or sum(entry is Ellipsis for entry in entries) > 1:
        raise refused(f"expected at most {x.ndim} indices of {list(x.shape)}, found {given}")
    whole = [slice(None)] * (x.ndim - given)
    at = next((i for i, entry in enumerate(entries) if entry is Ellipsis), len(entries))
    if sum(_is_list(entry) for entry in entries) and sum(_is_list(e) or _is_whole(e) for e in entries) > 1:
        raise refused(
            "expected a list beside slices only, found another list or a number; index twice: x[[0, 1]][:, 0]"
        )
    starts, stops, shape = [0] * x.ndim, list(x.shape), list[int]()
    stepped: list[tuple[int, NDArray[np.int64]]] = []
    axis = 0
    for entry in (*entries[:at], *whole, *entries[at + 1 :]):
        if entry is None:
            shape.append(1)
            continue
        places, extents = _places(entry, x.shape[axis], axis)
        steps = np.diff(places)
        if (steps == 1).all():
            starts[axis], stops[axis] = int(places[0]), int(places[-1]) + 1
        else:
            stepped.append((axis, places))
        shape += extents
        axis += 1
    taken = x
    if tuple(b - a for a, b in zip(starts, stops, strict=True)) != x.shape:
        taken = x.apply(arrays.Slice(tuple(starts), tuple(stops)))
    for axis, places in stepped:
        taken = _chosen(taken, axis, places)
    return taken.reshape(*shape)


def progression(x: Tensor, axis: int, places: range) -> Tensor:
    """Return the elements of one axis at an arithmetic progression of places."""
    if places.step < 0:
        return progression(x, axis, places[::-1]).apply(arrays.Flip((axis,)))
    starts, stops = [0] * x.ndim, list(x.shape)
    starts[axis], stops[axis] = places[0], places[-1] + 1
    if stops[axis] - starts[axis] != x.shape[axis]:
        x = x.apply(arrays.Slice(tuple(starts), tuple(stops)))
    if places.step == 1 or len(places) == 1:
        return x
    stepped = x.apply(arrays.Window((axis,), (1,), (places.step,)))
    return stepped.reshape(*stepped.shape[:-1])


def _chosen(x: Tensor, axis: int, places: NDArray[np.int64]) -> Tensor:
    """Return the elements of one axis at some places, as joined pieces: a pass from left to right cuts the places into
    few arithmetic progressions.
    """
    pieces: list[Tensor] = []
    start = 0
    while start < len(places):
        step = int(places[start + 1] - places[start]) if start + 1 < len(places) else 1
        after = np.flatnonzero(np.diff(places[start:]) != step)
        count = 1 if step == 0 else int(after[0]) + 1 if len(after) else len(places) - start
        first = int(places[start])
        pieces.append(progression(x, axis, range(first, first + count * (step or 1), step or 1)))
        start += count
    return pieces[0].apply(arrays.Concatenate(axis), *pieces[1:]) if len(pieces) > 1 else pieces[0]


def _places(entry: object, extent: int, axis: int) -> tuple[NDArray[np.int64], list[int]]:
    """Return the elements of an axis that an index entry chooses, one after the other, and the extents that replace the
    axis.
    """
    if isinstance(entry, slice):
        try:
            chosen = range(*entry.indices(extent))
        except (TypeError, ValueError):
            raise refused(f"expected a slice of whole numbers at axis {axis}, found {_text(entry)}") from None
        if not chosen:
            raise refused(f"expected a slice with elements of {extent} at axis {axis}, found {_text(entry)}")
        return np.arange(chosen.start, chosen.stop, chosen.step), [len(chosen)]
    if _is_whole(entry):
        place = int(entry)
        if not -extent <= place < extent:
            raise refused(f"expected an index below {extent} or a slice at axis {axis}, found {entry}")
        return np.array([place % extent]), []
    if _is_list(entry):
        return _listed(entry, extent, axis)
    if hasattr(entry, "builder"):
        raise refused(
            f"expected places known now at axis {axis}, found a tensor; use gather(x, indices) for places, "
            "where(condition, x, y) for a condition"
        )
    raise refused(f"expected an index below {extent}, a slice or a list at axis {axis}, found {_short(entry)}")


def _listed(entry: Places, extent: int, axis: int) -> tuple[NDArray[np.int64], list[int]]:
    try:
        chosen = np.asarray(entry)
    except ValueError:
        chosen = np.zeros(0, object)
    if chosen.dtype == bool and chosen.shape == (extent,) and chosen.any():
        chosen = np.flatnonzero(chosen)
    if chosen.dtype.kind not in "iu" or not chosen.size or ((chosen < -extent) | (chosen >= extent)).any():
        raise refused(f"expected a list of whole numbers below {extent} at axis {axis}, found {_short(entry)}")
    return chosen.reshape(-1).astype(np.int64) % extent, list(chosen.shape)


def _is_list(entry: object) -> TypeGuard[Places]:
    return isinstance(entry, (list, range)) or (isinstance(entry, np.ndarray) and entry.ndim > 0)


def _is_whole(entry: object) -> TypeGuard[SupportsIndex]:
    if isinstance(entry, np.ndarray) and not entry.ndim:
        entry = entry[()]
    return isinstance(entry, (int, np.integer)) and not isinstance(entry, bool)


def _short(entry: object) -> str:
    return " ".join(reprlib.repr(entry).split())


def _text(entry: slice) -> str:
    return (
        ":".join("" if part is None else str(part) for part in (entry.start, entry.stop, entry.step)).rstrip(":") or ":"
    )
