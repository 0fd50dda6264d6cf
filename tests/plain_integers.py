"""A second definition of every integer operation, element by element in plain Python integers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Index = tuple[int, ...]


class NoValueError(Exception):
    """The operation has no value on these elements."""


@dataclass(frozen=True)
class Plain:
    """An integer array: a shape, and a Python integer for every index."""

    shape: Index
    elements: dict[Index, int]

    @classmethod
    def of(cls, array: Any) -> Plain:
        """From anything with a shape that is indexed by tuples."""
        return cls(tuple(array.shape), {p: int(array[p]) for p in every(tuple(array.shape))})

    def __getitem__(self, index: Index) -> int:
        return self.elements[index]


def every(shape: Index) -> Iterator[Index]:
    """Every index of a shape, last axis fastest."""
    return itertools.product(*(range(extent) for extent in shape))


def made(shape: Index, element: Callable[[Index], int]) -> Plain:
    return Plain(shape, {p: element(p) for p in every(shape)})


def flat(index: Index, shape: Index) -> int:
    """The position of an index in row-major order."""
    position = 0
    for i, extent in zip(index, shape, strict=True):
        position = position * extent + i
    return position


def index_of(position: int, shape: Index) -> Index:
    found: list[int] = []
    for extent in reversed(shape):
        position, i = divmod(position, extent)
        found.insert(0, i)
    return tuple(found)


def reads(source_shape: Index, steps: Any, target: Index) -> Index | None:
    """The source index that a target index of a list of view steps reads, or None."""
    shapes = [source_shape, *(step.shape for step in steps)]
    p = target
    for number in range(len(steps) - 1, -1, -1):
        step, before = steps[number], shapes[number]
        if type(step).__name__ == "Regroup":
            p = index_of(flat(p, step.shape), before)
            continue
        x = [step.offsets[i] + sum(step.strides[i][j] * p[j] for j in range(len(p))) for i in range(len(before))]
        if any(x[i] < 0 or x[i] >= before[i] for i in range(len(before))):
            return None
        p = tuple(x)
    return p


def run(operation: Any, sources: list[Plain]) -> Plain:
    """The operation's value; raises NoValueError where it has none."""
    return DEFINITIONS[operation.name](operation, *sources)


def constant(o: Any) -> Plain:
    return Plain.of(o.constant)


def reindex(o: Any, x: Plain) -> Plain:
    steps = o.view.steps

    def element(p: Index) -> int:
        q = reads(x.shape, steps, p)
        return 0 if q is None else x[q]

    return made(steps[-1].shape if steps else x.shape, element)


def sum_of_fibres(o: Any, x: Plain) -> Plain:
    y = dict.fromkeys(every(o.view.source_shape), 0)
    for p in every(x.shape):
        q = reads(o.view.source_shape, o.view.steps, p)
        if q is not None:
            y[q] += x[p]
    return Plain(o.view.source_shape, y)


def check(o: Any, x: Plain) -> Plain:
    if any(not o.low <= value <= o.high for value in x.elements.values()):
        raise NoValueError
    return x


def divide(o: Any, x: Plain, y: Plain) -> Plain:
    if min(y.elements.values()) <= 0:
        raise NoValueError

    def element(p: Index) -> int:
        quotient = abs(x[p]) // y[p]
        if x[p] < 0 and abs(x[p]) % y[p]:
            return -quotient - 1
        return -quotient if x[p] < 0 else quotient

    return made(x.shape, element)


def square_root(o: Any, x: Plain) -> Plain:
    def element(p: Index) -> int:
        if x[p] < 0:
            raise NoValueError
        below, above = 0, 1 << 32
        while above - below > 1:
            middle = (below + above) // 2
            below, above = (middle, above) if middle * middle <= x[p] else (below, middle)
        return below

    return made(x.shape, element)


def lookup(o: Any, x: Plain) -> Plain:
    entries = {o.low + i: int(entry) for i, entry in enumerate(o.table.tolist())}
    if any(value not in entries for value in x.elements.values()):
        raise NoValueError
    return made(x.shape, lambda p: entries[x[p]])


def contract(o: Any, x: Plain, y: Plain) -> Plain:
    operands, target = o.equation.split("->")
    of_x, of_y = operands.split(",")
    extents = dict(zip(of_x + of_y, x.shape + y.shape, strict=True))
    letters = sorted(extents)
    total = dict.fromkeys(every(tuple(extents[c] for c in target)), 0)
    for values in every(tuple(extents[c] for c in letters)):
        at = dict(zip(letters, values, strict=True))
        product = x[tuple(at[c] for c in of_x)] * y[tuple(at[c] for c in of_y)]
        total[tuple(at[c] for c in target)] += product
    return Plain(tuple(extents[c] for c in target), total)


def concatenate(o: Any, *parts: Plain) -> Plain:
    a = o.axis
    shape = list(parts[0].shape)
    shape[a] = sum(part.shape[a] for part in parts)

    def element(p: Index) -> int:
        i = p[a]
        for part in parts:
            if i < part.shape[a]:
                return part[(*p[:a], i, *p[a + 1 :])]
            i -= part.shape[a]
        raise AssertionError

    return made(tuple(shape), element)


def best(x: Plain, axis: int, p: Index) -> int:
    """The lowest i with the greatest x[p with i at the axis]; p lacks the axis."""
    row = [x[(*p[:axis], i, *p[axis:])] for i in range(x.shape[axis])]
    return row.index(max(row))


def arg_max(o: Any, x: Plain) -> Plain:
    return made(x.shape[: o.axis] + x.shape[o.axis + 1 :], lambda p: best(x, o.axis, p))


def arg_max_one_hot(o: Any, x: Plain) -> Plain:
    return made(x.shape, lambda p: int(best(x, o.axis, p[: o.axis] + p[o.axis + 1 :]) == p[o.axis]))


def gather(o: Any, x: Plain, indices: Plain) -> Plain:
    if any(i < 0 or i >= x.shape[o.axis] for i in indices.elements.values()):
        raise NoValueError
    a, b = o.axis, o.axis + len(indices.shape)
    shape = x.shape[:a] + indices.shape + x.shape[a + 1 :]
    return made(shape, lambda p: x[(*p[:a], indices[p[a:b]], *p[b:])])


def scatter_add(o: Any, updates: Plain, indices: Plain) -> Plain:
    if any(i < 0 or i >= o.size for i in indices.elements.values()):
        raise NoValueError
    a, b = o.axis, o.axis + len(indices.shape)
    shape = (*updates.shape[:a], o.size, *updates.shape[b:])
    y = dict.fromkeys(every(shape), 0)
    for p in every(updates.shape):
        y[(*p[:a], indices[p[a:b]], *p[b:])] += updates[p]
    return Plain(shape, y)


def elementwise(function: Callable[..., int]) -> Callable[..., Plain]:
    return lambda o, *sources: made(sources[0].shape, lambda p: function(o, *(x[p] for x in sources)))


DEFINITIONS: dict[str, Callable[..., Plain]] = {
    "integer.constant": constant,
    "integer.reindex": reindex,
    "integer.sum": sum_of_fibres,
    "integer.add": elementwise(lambda o, x, y: x + y),
    "integer.scale": elementwise(lambda o, x: o.factor * x),
    "integer.multiply": elementwise(lambda o, x, y: x * y),
    "integer.shift": elementwise(lambda o, x: (x - x % 2**o.bits) // 2**o.bits),
    "integer.is_negative": elementwise(lambda o, x: 1 if x < 0 else 0),
    "integer.relu": elementwise(lambda o, x: x if x > 0 else 0),
    "integer.divide": divide,
    "integer.square_root": square_root,
    "integer.lookup": lookup,
    "integer.check": check,
    "integer.subtract": elementwise(lambda o, x, y: x - y),
    "integer.contract": contract,
    "integer.concatenate": concatenate,
    "integer.select": elementwise(lambda o, c, a, b: {1: a, 0: b}[c]),
    "integer.maximum": elementwise(lambda o, x, y: x if x > y else y),
    "integer.clamp": elementwise(lambda o, x: o.low if x < o.low else o.high if x > o.high else x),
    "integer.arg_max": arg_max,
    "integer.arg_max_one_hot": arg_max_one_hot,
    "integer.gather": gather,
    "integer.scatter_add": scatter_add,
}


def fraction_bits(operation: Any, *sources: int) -> int:
    """The fraction bits of the target, from those of the sources."""
    name, first = operation.name.removeprefix("integer."), sources[0] if sources else 0
    special: dict[str, Callable[[], int]] = {
        "constant": lambda: operation.fraction_bits,
        "lookup": lambda: operation.fraction_bits,
        "scale": lambda: first + operation.fraction_bits,
        "shift": lambda: first - operation.bits,
        "multiply": lambda: sum(sources),
        "contract": lambda: sum(sources),
        "divide": lambda: first - sources[1],
        "square_root": lambda: first // 2,
        "select": lambda: sources[1],
        "is_negative": lambda: 0,
        "arg_max": lambda: 0,
        "arg_max_one_hot": lambda: 0,
    }
    return special[name]() if name in special else first
