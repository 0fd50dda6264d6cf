"""Low-rank adapters: a model whose weights are frozen, in which some weights get two thin matrices that are trained."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits import arrays
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import TypingError
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.types import Array, Shape

from .formats import WEIGHTS, Format
from .layers import Model, Parameter, require_model, zeros

DOWN, UP = "down", "up"
"""The adapter of a weight `name` is `name.down` [in, rank] and `name.up` [rank, out]."""


def lora(
    model: Model,
    rank: int,
    names: Collection[str] | None = None,
    *,
    scale: float = 1.0,
    format: Format = WEIGHTS,
) -> Model:
    """Return a model whose parameters are frozen and apart, and which has adapters that are trained instead of them.

    Where a model with adapters multiplies by a matrix W [in, out], scale * (x down) up is added to the result, with
    down [in, rank], which starts as normal numbers of variance 1 / in, and up [rank, out], which starts at zero, so
    that at first the model's predictions are unchanged. The argument `names` lists the matrices that get adapters; by
    default these are all matrices that are only multiplied by data that goes through the network, such as those of
    attention and of dense layers, and no table whose rows are looked up. `lora` is from Hu et al., arXiv 2106.09685.

    Proofs commit once to the parameters that `lora` freezes (docs/tensor.md). Raise TypingError for a name that is none
    of the matrices that the model only multiplies by, and for a rank that is not below both extents of a matrix.
    """
    require_model(model, "model")
    if type(rank) is not int or rank < 1:
        raise TypingError(f"expected a rank of at least 1, found {rank!r}; write lora(model, 8)")
    known = _products(model)
    chosen = tuple(known if names is None else names)
    for name in chosen:
        if name not in known:
            raise TypingError(
                f"expected matrices that the model multiplies by, among {sorted(known)}, found {name!r}; name these"
            )
        if rank >= min(known[name]):
            raise TypingError(
                f"expected a rank below the extents {list(known[name])} of {name!r}, found {rank}; a smaller one adapts"
            )
    if not chosen:
        raise TypingError(f"expected a model that multiplies by matrices, found {model.kind!r}; name them: names=[...]")
    adapters = tuple(one for name in chosen for one in _adapter(name, known[name], rank, format))
    kept = tuple(replace(p, frozen=True, apart=True) for p in model.parameters)
    places = {[p.name for p in kept].index(name): 2 * number for number, name in enumerate(chosen)}

    def adapted(arrow: Arrow) -> Arrow:
        return _adapted(arrow, places, [p.type for p in adapters], len(kept), scale)

    inference = model.inference
    other = None if inference is None else lambda batch: adapted(inference(batch))
    return replace(
        model, parameters=(*kept, *adapters), arrow=lambda batch: adapted(model.arrow(batch)), inference=other
    )


def _adapter(name: str, shape: Shape, rank: int, format: Format) -> tuple[Parameter, Parameter]:
    def normal(generator: np.random.Generator, shape: Shape) -> NDArray[np.float64]:
        return generator.normal(0.0, shape[0] ** -0.5, shape)

    down = Parameter(f"{name}.{DOWN}", (shape[0], rank), normal, format)
    return down, Parameter(f"{name}.{UP}", (rank, shape[1]), zeros, format)


def _products(model: Model) -> dict[str, Shape]:
    """Return the matrices that a model uses only as factors of products, along their first axis."""
    arrow = model.arrow(model.batch_type(1))
    wires = dict(zip(arrow.inputs.tolist(), model.parameters, strict=False))
    other = set(arrow.outputs.tolist())
    read = set()
    for operation, sources, _, _ in arrow.rows:
        for place, wire in enumerate(sources):
            found = arrow.operations[operation]
            read.add(wire)
            if not (isinstance(found, arrays.Einsum) and _letters(found, place) is not None):
                other.add(wire)
    return {p.name: p.shape for wire, p in wires.items() if len(p.shape) == 2 and wire in read - other}


def _letters(product: arrays.Einsum, place: int) -> tuple[str, str, str, str] | None:
    """Return for a product of x and a matrix [i, o], in any order of operands, the letters of x and of the target, and
    i and o; None for other products.
    """
    *operands, target = product.letters
    own, x = operands[place], operands[1 - place]
    if len(own) != 2 or own[0] not in x or own[0] in target or own[1] in x or own[1] not in target:
        return None
    return x, target, own[0], own[1]


def _adapted(arrow: Arrow, places: dict[int, int], types: list[Array], count: int, scale: float) -> Arrow:
    """Return the arrow with adapters behind its first `count` inputs, whose places are given by the places of their
    matrices.
    """
    builder = Builder()
    source = list(arrow.source)
    kept = builder.inputs(source[:count])
    adapters = builder.inputs(types)
    rest = builder.inputs(source[count:])
    wires = [0] * arrow.wire_count
    matrices = {}
    for place, (inner, wire) in enumerate(zip(arrow.inputs.tolist(), [*kept, *rest], strict=True)):
        wires[inner] = wire
        if place in places:
            matrices[inner] = adapters[places[place]], adapters[places[place] + 1]
    for index, sources, targets, provenance in arrow.rows:
        builder.provenance = arrow.provenances[provenance]
        operation, outer = arrow.operations[index], [wires[wire] for wire in sources]
        made = builder.apply(operation, *outer)
        for place, wire in enumerate(sources):
            if wire in matrices and isinstance(operation, arrays.Einsum):
                made = [_beside(builder, operation, place, outer, matrices[wire], made[0], scale)]
        for inner, wire in zip(targets, made, strict=True):
            wires[inner] = wire
    return builder.build([wires[wire] for wire in arrow.outputs.tolist()])


def _beside(
    builder: Builder,
    product: arrays.Einsum,
    place: int,
    sources: list[int],
    adapter: tuple[int, int],
    made: int,
    scale: float,
) -> int:
    """Return the result of a product, plus scale * (x down) up."""
    found = _letters(product, place)
    assert found is not None
    x, target, i, o = found
    r = next(letter for letter in ascii_lowercase if letter not in x + target + i + o)
    inner = x.replace(i, r)
    low = builder.add(arrays.Einsum(f"{x},{i}{r}->{inner}"), sources[1 - place], adapter[0])
    high = builder.add(arrays.Einsum(f"{inner},{r}{o}->{target}"), low, adapter[1])
    if scale != 1.0:
        high = builder.add(arrays.Scale(scale), high)
    return builder.add(arrays.Add(), made, high)
