"""Cases of every integer operation: sources it is applied to, and random, awkward and extreme values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tiers import TIER

from circuitize.circuits import integers
from circuitize.circuits.integers import View
from circuitize.circuits.types import Fixed

Integers = NDArray[np.int64]
TOP = (1 << 62) - 1
TABLE = np.array([5, -7, 0, 3, 1 << 40, -9, 2, 2])


@dataclass(frozen=True)
class Case:
    """An operation on sources of these types."""

    operation: integers.IntegerOperation
    sources: tuple[Fixed, ...]

    def __str__(self) -> str:
        shapes = "x".join(str(list(s.shape)).replace(" ", "") for s in self.sources)
        return f"{self.operation.name.removeprefix('integer.')}-{shapes}"

    def draw(self, random: np.random.Generator) -> list[Integers]:
        return [draw(source, random) for source in self.sources]


@cache
def awkward(low: int, high: int) -> Integers:
    """0, +-1, +-2^k, +-2^k +- 1 and both ends, as far as they lie in the interval."""
    powers = [1 << k for k in range(63)]
    near = {sign * (power + step) for sign in (1, -1) for power in powers for step in (-1, 0, 1)}
    found = np.array(sorted(v for v in {*near, 0, low, high, low + 1, high - 1} if low <= v <= high), np.int64)
    found.flags.writeable = False
    return found


def draw(source: Fixed, random: np.random.Generator) -> Integers:
    """Values of a type: uniform, awkward and at the ends, mixed element by element."""
    ends = np.array([source.low, source.high])
    choices = [
        random.integers(source.low, source.high, source.shape, endpoint=True),
        random.choice(awkward(source.low, source.high), source.shape),
        random.choice(ends, source.shape),
        np.broadcast_to(random.choice(awkward(source.low, source.high)), source.shape),
    ]
    return np.asarray(np.choose(random.integers(len(choices), size=source.shape), choices), np.int64)


def fixed(shape: tuple[int, ...], low: int, high: int, fraction_bits: int = 0) -> Fixed:
    return Fixed(shape, fraction_bits, low, high)


def case(operation: integers.IntegerOperation, *sources: Fixed) -> Case:
    return Case(operation, sources)


def views() -> list[View]:
    """Views of each kind, and compositions that do and do not merge."""
    window = View.window((5, 4), (0, 1), (3, 2), (1, 2))
    heads = View.reshape((4, 6), (4, 2, 3))
    strided = View.window((9,), (0,), (3,), (2,), (2,))
    return [
        View((3, 2)),
        View.reshape((3, 4), (2, 6)),
        View.reshape((3, 1), (1, 3, 1)),
        View.transpose((2, 3, 4), (2, 0, 1)),
        View.broadcast((3, 2, 4), (0, 2)),
        View.broadcast((3,), (0,)),
        View.slice((5, 6), (1, 0), (4, 6), (2, 3)),
        View.pad((2, 3), (1, 0), (0, 2)),
        View.flip((3, 4), (1,)),
        window,
        strided,
        View.pad((4,), (1,), (1,)).then(View.window((6,), (0,), (3,))),
        View.pad((4,), (1,), (1,)).then(View.slice((6,), (0,), (6,), (2,))),
        View.slice((6,), (2,), (4,)).then(View.pad((2,), (2,), (2,))),
        heads.then(View.transpose((4, 2, 3), (1, 0, 2))).then(View.reshape((2, 4, 3), (8, 3))),
        View((4, 4), (integers.Affine((4,), (0, 0), ((1,), (1,))),)),  # the diagonal
        View((3,), (integers.Affine((5, 4), (-9,), ((3, 0),)),)),
        View((3,), (integers.Affine((2,), (7,), ((1,),)),)),  # nothing inside
        View((2, 3), (integers.Affine((3, 40), (0, 0), ((0, 500), (1, 0))),)),
        View((30,), (integers.Affine((6, 5), (29,), ((-5, -1),)),)),
    ]


def cases() -> list[Case]:
    wide, small, unsigned = fixed((3, 4), -TOP, TOP, 7), fixed((3, 4), -5, 9, 2), fixed((3, 4), 0, 300)
    half = fixed((3, 4), -(TOP >> 1), TOP >> 1, 7)
    int32 = fixed((3, 4), -(1 << 31), (1 << 31) - 1, 5)
    thirty = fixed((3, 4), -(1 << 30), 1 << 30, 5)
    found = [
        case(integers.Constant.of(np.arange(-5, 7).reshape(3, 4), 3)),
        case(integers.Constant.splat(-TOP, (2, 2), 1)),
        case(integers.Constant.splat(7)),
        case(integers.Add(), half, half),
        case(integers.Add(), fixed((), -3, 4), fixed((), 5, 6)),
        case(integers.Subtract(), half, half),
        case(integers.Scale(-3, 2), small),
        case(integers.Scale(0, -9), wide),
        case(integers.Scale(1, 0), wide),
        case(integers.Scale((1 << 30) - 1, 30), int32),
        case(integers.Multiply(), thirty, int32),
        case(integers.Multiply(), small, fixed((3, 4), -8, -2, 1)),
        *(case(integers.Shift(bits), wide) for bits in (0, 1, 17, 61, 62)),
        *(case(integers.IsNegative(), source) for source in (wide, unsigned, fixed((2,), -9, -1), small)),
        *(case(integers.ReLU(), source) for source in (wide, fixed((2,), -9, -1), fixed((2,), 2, 5), fixed((), -1, 1))),
        case(integers.Divide(), wide, fixed((3, 4), 1, TOP, 3)),
        case(integers.Divide(), small, fixed((3, 4), 2, 7)),
        case(integers.Divide(), wide, fixed((3, 4), 1, 3)),
        case(integers.SquareRoot(), fixed((3, 4), 0, TOP, 8)),
        case(integers.SquareRoot(), unsigned),
        case(integers.Lookup(-3, TABLE, 4), fixed((3, 4), -3, 4)),
        case(integers.Lookup(-3, TABLE, 4), fixed((5,), -1, 0)),
        case(integers.Check(-TOP, TOP), wide),
        case(integers.Check(-5, 9), fixed((3, 4), -6, 9)),
        case(integers.Check(0, 16), fixed((2,), 0, 17)),
        case(integers.Check(-TOP, 3), fixed((), -TOP, TOP)),
        *(case(integers.Contract(e), *s) for e, s in contractions(int32)),
        case(integers.Concatenate(1), small, fixed((3, 1), 3, 99, 2), fixed((3, 2), -7, -7, 2)),
        case(integers.Concatenate(0), small),
        case(integers.Select(), fixed((3, 4), 0, 1), half, fixed((3, 4), -1, 3, 7)),
        case(integers.Select(), fixed((2,), 1, 1), fixed((2,), -3, 4), fixed((2,), 0, 9)),
        case(integers.Select(), fixed((2,), 0, 0), fixed((2,), -3, 4), fixed((2,), 0, 9)),
        case(integers.Maximum(), fixed((3, 4), -(TOP >> 2), TOP >> 2), fixed((3, 4), -9, 99)),
        case(integers.Maximum(), fixed((3,), -9, -2), fixed((3,), 0, 0)),
        *(case(integers.Clamp(-4, 5), fixed((3, 4), low, high)) for low, high in CLAMPED),
        *(case(kind(axis), fixed(shape, -3, 3, 1)) for kind in (integers.ArgMax, integers.ArgMaxOneHot)
          for axis, shape in ((0, (5,)), (1, (3, 4)), (0, (3, 4)), (1, (2, 1, 3)), (2, (2, 2, 7)))),
        case(integers.ArgMax(1), fixed((3, 6), -(TOP >> 3), TOP >> 3)),
        case(integers.Gather(0), fixed((5, 2), -99, 99, 3), fixed((4,), 0, 4)),
        case(integers.Gather(1), fixed((2, 5, 2), -99, 99, 3), fixed((2, 3), -1, 5)),
        case(integers.Gather(0), fixed((1,), -99, 99, 3), fixed((), 0, 0)),
        case(integers.Gather(1), fixed((2, 3), 7, 9), fixed((), -9, 99)),
        case(integers.ScatterAdd(0, 5), fixed((4, 2), -99, 99, 3), fixed((4,), 0, 4)),
        case(integers.ScatterAdd(1, 3), fixed((2, 2, 3, 2), 5, 99, 3), fixed((2, 3), -1, 3)),
        case(integers.ScatterAdd(0, 1), fixed((4,), 5, 99, 3), fixed((4,), 0, 0)),
        case(integers.ScatterAdd(0, 4), fixed((2,), 5, 99, 3), fixed((), 0, 3)),
    ]  # fmt: skip
    for view in views():
        found.append(case(integers.Reindex(view), fixed(view.source_shape, 3, 1 << 40, 2)))
        found.append(case(integers.Sum(view), fixed(view.target_shape, -(1 << 50), 1 << 40, 2)))
    return found


CLAMPED = [(-9, 99), (-9, 3), (-2, 99), (-2, 2), (5, 9), (-9, -4), (7, 8), (-4, 5), (-TOP >> 1, TOP >> 1)]


def contractions(wide: Fixed) -> list[tuple[str, tuple[Fixed, Fixed]]]:
    """Equations of each kind, with operands whose products need one limb, several, or int64."""

    def operands(equation: str, low: int, high: int) -> tuple[Fixed, Fixed]:
        extents = dict(zip("bijkmn", (2, 3, 4, 5, 2, 3), strict=True))
        x, y = equation.split("->")[0].split(",")
        return (
            fixed(tuple(extents[c] for c in x), low, high, 3),
            fixed(tuple(extents[c] for c in y), -(1 << 25), 1 << 25, 2),
        )  # fmt: skip

    equations = [
        "bi,ij->bj", "bi,ji->jb", "ib,ij->bj", "bij,bjk->bik", "bij,jk->ikb", "i,i->i", "i,i->", "i,j->ij", ",ij->ji",
        ",->", "bij,i->b", "bijm,ijmn->bn", "bi,bi->b", "ij,k->k", "ij,jk->",
    ]  # fmt: skip
    found = [(e, operands(e, -(1 << 20), 1 << 20)) for e in equations]
    found += [(e, operands(e, -(1 << 30), (1 << 30) - 1)) for e in equations]
    big = (1 << 56) - 1
    found.append(("bi,ij->bj", (fixed((2, 3), -big, big), fixed((3, 4), -20, 20))))
    found.append(("bi,ij->bj", (fixed((2, 3), -20, 20), fixed((3, 4), -big, big))))
    found.append(("bi,ij->bj", (fixed((2, 512), -(1 << 26), 1 << 26), fixed((512, 2), -(1 << 26) + 1, 1 << 26))))
    found.append(("bi,ij->bj", (fixed((1, 1 << 14), -(1 << 23), 1 << 23), fixed((1 << 14, 1), -(1 << 24), 1 << 24))))
    return found


def by_operation(chosen: Iterable[Case]) -> dict[str, list[Case]]:
    """Cases by the name of their operation, so that those of one share what is dear."""
    found: dict[str, list[Case]] = {}
    for one in chosen:
        found.setdefault(one.operation.name.removeprefix("integer."), []).append(one)
    return found


def plain_sources(values: list[Any]) -> list[Any]:
    from plain_integers import Plain

    return [Plain.of(value) for value in values]


def few() -> list[Case]:
    """All cases, but of contractions, views and sums every fourth; in the deep tier all of those too."""
    kept: list[Case] = []
    seen: Counter[type] = Counter()
    for one in cases():
        kind = type(one.operation)
        seen[kind] += 1
        if TIER == "deep" or kind not in (integers.Contract, integers.Reindex, integers.Sum) or seen[kind] % 4 == 0:
            kept.append(one)
    return kept
