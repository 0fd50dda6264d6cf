"""Layout, and contractions: what each operation is in plain Python integers, and cases of it."""

from __future__ import annotations

from typing import Any

from operations.integer import FEW, Described, case, fixed, of_one, of_two
from plain_integers import Index, NoValueError, Plain, every, made, reads

from circuitize.circuits import integers
from circuitize.circuits.integers import View
from circuitize.circuits.types import Fixed


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


def contractions() -> list[tuple[str, tuple[Fixed, Fixed]]]:
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


PAD, DIAGONAL = View.pad((1,), (1,), (0,)), View((2, 2), (integers.Affine((2,), (0, 0), ((1,), (1,))),))
OUTSIDE = View((2,), (integers.Affine((2,), (7,), ((1,),)),))
SMALL = fixed((3, 4), -5, 9, 2)

CASES = [
    Described(
        contract,
        [case(integers.Contract(equation), *sources) for equation, sources in contractions()],
        lambda: [
            *of_two(integers.Contract("i,i->"), (2,), (2,), intervals=FEW),
            *of_two(integers.Contract("i,j->ij"), (2,), (1,), intervals=FEW),
        ],
        lambda o, *bits: sum(bits),
    ),
    Described(
        concatenate,
        [
            case(integers.Concatenate(1), SMALL, fixed((3, 1), 3, 99, 2), fixed((3, 2), -7, -7, 2)),
            case(integers.Concatenate(0), SMALL),
        ],
        lambda: of_two(integers.Concatenate(0), (1,), (2,), intervals=FEW),
    ),
    Described(
        gather,
        [
            case(integers.Gather(0), fixed((5, 2), -99, 99, 3), fixed((4,), 0, 4)),
            case(integers.Gather(1), fixed((2, 5, 2), -99, 99, 3), fixed((2, 3), -1, 5)),
            case(integers.Gather(0), fixed((1,), -99, 99, 3), fixed((), 0, 0)),
            case(integers.Gather(1), fixed((2, 3), 7, 9), fixed((), -9, 99)),
        ],
        lambda: [(integers.Gather(0), [fixed((2,), *x), fixed((1,), 0, 1)]) for x in FEW],
    ),
    Described(
        scatter_add,
        [
            case(integers.ScatterAdd(0, 5), fixed((4, 2), -99, 99, 3), fixed((4,), 0, 4)),
            case(integers.ScatterAdd(1, 3), fixed((2, 2, 3, 2), 5, 99, 3), fixed((2, 3), -1, 3)),
            case(integers.ScatterAdd(0, 1), fixed((4,), 5, 99, 3), fixed((4,), 0, 0)),
            case(integers.ScatterAdd(0, 4), fixed((2,), 5, 99, 3), fixed((), 0, 3)),
        ],
        lambda: [(integers.ScatterAdd(0, n), [fixed((2,), *x), fixed((2,), 0, n - 1)]) for x in FEW for n in (1, 2, 3)],
    ),
    Described(
        reindex,
        [case(integers.Reindex(view), fixed(view.source_shape, 3, 1 << 40, 2)) for view in views()],
        lambda: [
            entry
            for view in (PAD, DIAGONAL, View.window((3,), (0,), (2,)), OUTSIDE, View((1, 2)))
            for entry in of_one(integers.Reindex(view), view.source_shape, FEW)
        ],
    ),
    Described(
        sum_of_fibres,
        [case(integers.Sum(view), fixed(view.target_shape, -(1 << 50), 1 << 40, 2)) for view in views()],
        lambda: [
            entry
            for view in (
                PAD,
                DIAGONAL,
                View.window((3,), (0,), (2,), (1,), (2,)),
                OUTSIDE,
                View.broadcast((2, 2), (1,)),
            )
            for entry in of_one(integers.Sum(view), view.target_shape, FEW)
        ],
    ),
]
