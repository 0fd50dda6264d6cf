"""Weights of other systems moved into parameters and back: names, layouts, and formats that hold the weights."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from circuitize.circuits.errors import CircuitizeError, excerpt
from circuitize.circuits.port import Role
from circuitize.circuits.program import Program
from circuitize.circuits.types import Shape

from .formats import Format
from .imported import constantly, require_names
from .layers import Model

Reals = NDArray[np.float64]
Number = TypeVar("Number", bound=np.generic)


def from_state_dict(
    tensors: Mapping[str, ArrayLike],
    into: Model | Program,
    names: Mapping[str, str] | None = None,
    outputs_first: Collection[str] = (),
) -> dict[str, Reals]:
    """Return the values of a model's parameters and state, or of a program's, by their names; other tensors of the
    state dict are not read.

    The argument `names` maps the model's names to the tensors' names where these differ. The argument `outputs_first`
    lists the parameters that are stored as in torch: a linear weight [out, in], which is [in, out] in circuitize, or a
    kernel [out, in, rows, columns], which is [rows, columns, in, out] in circuitize. Raise CircuitizeError for a tensor
    of the state dict that is missing, has another shape, or holds a number that is not finite; a square weight in the
    other layout cannot be recognised.
    """
    shapes = _shapes(into)
    theirs = dict(names or {})
    require_names("names", theirs, shapes)
    require_names("outputs_first", dict.fromkeys(outputs_first), shapes)
    found = {}
    for ours, shape in shapes.items():
        name = theirs.get(ours, ours)
        if name not in tensors:
            some = ", ".join(list(tensors)[:8])
            raise CircuitizeError(
                f"parameter {ours!r}: expected a tensor {name!r}, found {some or 'none'}; give names={{{ours!r}: ...}}"
            )
        given = np.asarray(tensors[name])
        if given.dtype.kind not in "biuf":
            raise CircuitizeError(f"parameter {ours!r}: expected numbers in {name!r}, found {given.dtype}; convert it")
        placed = inputs_first(given) if ours in outputs_first else given
        if placed.shape != shape:
            remedy = "choose another tensor"
            if inputs_first(placed).shape == shape:
                remedy = "torch keeps outputs first: add it to outputs_first"
            raise CircuitizeError(
                f"parameter {ours!r}: expected shape {list(shape)}, found {list(placed.shape)} in {name!r}; {remedy}"
            )
        found[ours] = np.array(placed, np.float64)
        if not np.isfinite(found[ours]).all():
            raise CircuitizeError(
                f"parameter {ours!r}: expected finite numbers, found others in {name!r}; correct the file"
            )
    return found


def to_state_dict(
    values: Mapping[str, ArrayLike], names: Mapping[str, str] | None = None, outputs_first: Collection[str] = ()
) -> dict[str, Reals]:
    """Return values by the model's names, converted to the other system's layouts and names: the inverse of
    `from_state_dict`. Raise CircuitizeError for a name of a value that the model does not have.
    """
    theirs = dict(names or {})
    require_names("names", theirs, values)
    require_names("outputs_first", dict.fromkeys(outputs_first), values)
    return {
        theirs.get(ours, ours): outputs_last(np.asarray(array, np.float64))
        if ours in outputs_first
        else np.asarray(array)
        for ours, array in values.items()
    }


def with_weights(model: Model, values: Mapping[str, ArrayLike], formats: Mapping[str, Format] | None = None) -> Model:
    """Return the model with parameters and state that start from the given values, in the given formats or, if none are
    given, in those that the model states.

    Raise CircuitizeError for a name that the model does not have, for a value of another shape, and for values beyond a
    parameter's format.
    """
    kept = {p.name: p for p in (*model.parameters, *model.state)}
    chosen = dict(formats or {})
    require_names("values", values, kept)
    require_names("formats", chosen, kept)
    for name, given in values.items():
        array, format = np.asarray(given, np.float64), chosen.get(name, kept[name].format)
        if array.shape != kept[name].shape:
            raise CircuitizeError(
                f"parameter {name!r}: expected shape {list(kept[name].shape)}, found {list(array.shape)}; correct it"
            )
        ends = [float(np.ldexp(float(end), -format.fraction_bits)) for end in (format.low, format.high)]
        if not ((array >= ends[0] - 1e-9) & (array <= ends[1] + 1e-9)).all():
            worst = array.flat[int(np.argmax(np.abs(np.nan_to_num(array, nan=np.inf))))]
            raise CircuitizeError(
                f"parameter {name!r}: expected values in {ends}, found {worst:g}; give formats={{{name!r}: ...}}"
            )
        kept[name] = replace(kept[name], initializer=constantly(array), format=format)
    parameters, state = (tuple(kept[p.name] for p in group) for group in (model.parameters, model.state))
    return replace(model, parameters=parameters, state=state)


def inputs_first(array: NDArray[Number]) -> NDArray[Number]:
    """Return an array with its axes moved from [out, in, ...] to [..., in, out]."""
    return np.transpose(array, (*range(2, array.ndim), 1, 0)) if array.ndim > 1 else array


def outputs_last(array: NDArray[Number]) -> NDArray[Number]:
    """Return an array with its axes moved from [..., in, out] to [out, in, ...]: the inverse of `inputs_first`."""
    return np.transpose(array, (array.ndim - 1, array.ndim - 2, *range(array.ndim - 2))) if array.ndim > 1 else array


def _shapes(into: Model | Program) -> dict[str, Shape]:
    if isinstance(into, Model):
        return {p.name: p.shape for p in (*into.parameters, *into.state) if not p.fresh}
    if isinstance(into, Program):
        return {p.name: p.format.shape for p in into.inputs if p.role in (Role.PARAMETER, Role.FROZEN, Role.STATE)}
    raise CircuitizeError(f"expected a Model or a Program, found {excerpt(into)}; give what has parameters")
