"""Forests as integer programs: each distinct comparison is made once, followed by choices between leaves from the
bottom up, sums and the class.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike, NDArray

from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError, excerpt
from circuitize.circuits.integers import (
    Add,
    ArgMax,
    Check,
    Constant,
    Contract,
    IsNegative,
    Reindex,
    Scale,
    Select,
    Subtract,
    View,
)
from circuitize.circuits.operation import Provenance
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.frontends.formats import Format

from .estimators import forest_of
from .forest import ABOVE, AT_LEAST, GREATEST, SCORES, Forest, Integers

GROUP = 256
"""The most nodes of the trees that are evaluated together: so that the matrices of zeros and ones which pick columns
stay small.
"""
SCORE_BITS = 16
WIDE = 44
"""The number of bits beyond which the interval of picked values, which a product with a matrix widens, is narrowed by a
Check.
"""
EXACT = 24
"""The bits of a float32's significand."""


def from_trees(
    estimator: object,
    inputs: Format,
    *,
    score_bits: int = SCORE_BITS,
    batch: int = 1,
    outputs: Sequence[str] = ("class",),
    data: ArrayLike | None = None,
    labels: ArrayLike | None = None,
) -> IntegerProgram:
    """Return a program from a fitted tree, forest or boosted ensemble of scikit-learn: `inputs` [batch, features] ->
    outputs.

    The argument `inputs` is the format of the features: a threshold between two numbers of the format decides exactly
    as the lower of the two numbers does, so that every comparison has scikit-learn's result. The leaves of a forest are
    rounded to `score_bits` fraction bits. Of a forest's program, the output `class` [batch] is the place of the
    decision in `classes_`, and `scores` [batch, scores] are the sums over the trees; the program of a regressor has
    only the output of scores. If `forest_of(estimator).certain(x, score_bits)` is true, the output `class` is
    scikit-learn's in spite of rounding. The arguments `data` [N, features] and `labels` [N], which are places in
    `classes_`, become examples. Raise CircuitizeError for an object that is no scikit-learn estimator of trees, for
    formats that float32 does not hold if the estimator compares in float32, and for names that are none of the
    outputs'.
    """
    forest = forest_of(estimator)
    wanted = ("scores",) if forest.decides == SCORES and tuple(outputs) == ("class",) else tuple(outputs)
    known = ("scores",) if forest.decides == SCORES else ("class", "scores")
    if not wanted or len(set(wanted)) < len(wanted) or not set(wanted) <= set(known):
        raise CircuitizeError(f"expected outputs among {', '.join(known)}, found {list(outputs)}; name each once")
    if not isinstance(batch, int) or isinstance(batch, bool) or batch < 1:
        raise CircuitizeError(f"expected a batch of at least 1, found {batch!r}; write batch=1")
    if not isinstance(inputs, Format):
        raise CircuitizeError(f"expected a Format of the features, found {excerpt(inputs)}; write cz.Format(0, 0, 16)")
    if not isinstance(score_bits, int) or isinstance(score_bits, bool) or not 0 <= score_bits <= 40:
        raise CircuitizeError(f"expected score_bits from 0 to 40, found {score_bits!r}; write 16")
    if forest.narrow and max(-inputs.low, inputs.high).bit_length() > EXACT:
        raise CircuitizeError(
            f"expected features of at most {EXACT} bits, since scikit-learn compares float32, found [{inputs.low}, "
            f"{inputs.high}]; narrow the format"
        )
    builder = Builder(share=True)
    x = builder.input(inputs.of((batch, forest.features)))
    made = {"scores": _scores(builder, x, forest, score_bits)}
    if "class" in wanted:
        made["class"] = _decided(builder, made["scores"], forest.decides)
    arrow = builder.build([made[name] for name in wanted])
    entering = Port("inputs", Visibility.COMMITTED, inputs.of((batch, forest.features)))
    leaving = tuple(Port(name, Visibility.PUBLIC, builder.format(made[name])) for name in wanted)
    return IntegerProgram(arrow, (entering,), leaving, _examples(inputs, forest.features, batch, data, labels))


def _scores(builder: Builder, x: int, forest: Forest, score_bits: int) -> int:
    """Return the base scores plus the sums of all trees, [batch, scores]."""
    answers, place = _answers(builder, x, forest)
    sizes = np.bincount(forest.owner, minlength=len(forest.roots))
    group = np.cumsum(sizes) // GROUP
    units, base = _on_base(
        forest,
        np.rint(np.ldexp(forest.values, score_bits)).astype(np.int64),
        np.rint(np.ldexp(forest.base, score_bits)).astype(np.int64),
    )
    batch = builder.format(x).shape[0]
    terms = []
    if base.any():
        terms.append(builder.add(Constant.of(np.broadcast_to(base, (batch, len(base))), score_bits)))
    for number in np.unique(group):
        trees = np.flatnonzero(group == number)
        builder.provenance = Provenance(f"trees{int(number) + 1}")
        leaves = _walked(builder, answers, place, forest, forest.roots[trees], units, score_bits, batch)
        if units.shape[1] > 1:
            ones = builder.add(Constant.splat(1, (len(trees),)))
            terms.append(builder.add(Contract("btc,t->bc"), leaves, ones))
        else:
            belongs = (forest.first[trees][:, None] == np.arange(len(base))).astype(np.int64)
            flat = builder.add(Reindex(View.reshape((batch, len(trees), 1), (batch, len(trees)))), leaves)
            terms.append(builder.add(Contract("bt,tc->bc"), flat, builder.add(Constant.of(belongs))))
    return reduce(lambda total, term: builder.add(Add(), total, term), terms)


def _on_base(forest: Forest, units: Integers, base: Integers) -> tuple[Integers, Integers]:
    """Return the values of leaves with the base scores spread over them, and the base scores that remain: those of
    scores to which no tree adds.

    Each tree of a score takes an equal part of the base score, so that leaves need hardly more bits, and hardware needs
    no sum for the base scores.
    """
    if units.shape[1] > 1:
        return units + _shares(base, len(forest.roots))[forest.owner], np.zeros_like(base)
    parts, left = np.zeros(len(forest.roots), np.int64), base.copy()
    for score in np.unique(forest.first):
        trees = np.flatnonzero(forest.first == score)
        parts[trees], left[score] = _shares(base[score : score + 1], len(trees))[:, 0], 0
    return units + parts[forest.owner][:, None], left


def _shares(numbers: Integers, count: int) -> Integers:
    """Return `count` equal parts of whole numbers, [count, numbers], the first ones one greater if need be."""
    part, rest = np.divmod(numbers, count)
    return part + (np.arange(count)[:, None] < rest)


def _answers(builder: Builder, x: int, forest: Forest) -> tuple[int, Integers]:
    """Return for all distinct tests of a forest whether x is at most the threshold, [batch, tests], and the test of
    each node.

    Since a feature x is a whole number of units, x <= t is equivalent to x <= floor(t), for a threshold t in these
    units.
    """
    builder.provenance = Provenance("comparisons")
    format = builder.format(x)
    inner = np.flatnonzero(forest.inner)
    place = np.zeros(len(forest.left), np.int64)
    if not len(inner):
        return builder.add(Constant.splat(0, (format.shape[0], 1))), place
    floors = np.floor(np.ldexp(forest.threshold[inner], format.fraction_bits))
    units = np.clip(floors, format.low - 1, format.high).astype(np.int64)
    tests, place[inner] = np.unique(np.stack([forest.feature[inner], units]), axis=1, return_inverse=True)
    picked = builder.add(Contract("bf,fn->bn"), x, builder.add(_picking(tests[0], forest.features)))
    bounds = np.broadcast_to(tests[1], (format.shape[0], tests.shape[1]))
    above = builder.add(IsNegative(), builder.add(Subtract(), _constant(builder, bounds, format.fraction_bits), picked))
    ones = builder.add(Constant.splat(1, (format.shape[0], tests.shape[1])))
    return builder.add(Subtract(), ones, above), place


def _walked(
    builder: Builder,
    answers: int,
    place: Integers,
    forest: Forest,
    roots: Integers,
    units: Integers,
    score_bits: int,
    batch: int,
) -> int:
    """Return the values of the leaves that are reached in each tree, [batch, trees, values], computed level by level
    from the lowest.

    The children of a level's inner nodes form the next level: first all left children, then all right ones. Return a
    wire with a Check for the interval that a product with a matrix of zeros and ones loses; if elements have their own
    intervals, the Check costs nothing.
    """
    levels = [roots]
    while len(inner := levels[-1][forest.inner[levels[-1]]]):
        levels.append(np.concatenate([forest.left[inner], forest.right[inner]]))
    wide, below = units.shape[1], None
    within = Check(min(0, int(units.min())), max(0, int(units.max())))
    for level in reversed(levels):
        at = np.flatnonzero(forest.inner[level])
        ends = np.where(forest.inner[level][:, None], 0, units[level])
        leaves = _constant(builder, np.broadcast_to(ends, (batch, *ends.shape)), score_bits)
        if below is None:
            below = leaves
            continue
        shape = (batch, 2 * len(at), wide)
        sides = [
            builder.add(Reindex(View.slice(shape, (0, start, 0), (batch, start + len(at), wide))), below)
            for start in (0, len(at))
        ]
        tests = builder.format(answers).shape[1]
        picked = builder.add(Contract("bt,tn->bn"), answers, builder.add(_picking(place[level[at]], tests)))
        yes = builder.add(Check(0, 1), picked)
        spread = builder.add(Reindex(View.broadcast((batch, len(at), wide), [2])), yes)
        chosen = builder.add(Select(), spread, *sides)
        if len(at) == len(level):
            below = chosen
            continue
        spots = (at[:, None] == np.arange(len(level))).astype(np.int64)
        placed = builder.add(Contract("bnc,nm->bmc"), chosen, builder.add(Constant.of(spots)))
        below = builder.add(Add(), placed, leaves)
        if builder.format(below).width > WIDE:
            below = builder.add(within, below)
    assert below is not None
    return builder.add(within, below)


def _decided(builder: Builder, scores: int, decides: str) -> int:
    """Return the class of each row, by the first of its greatest scores or by the sign of its only score."""
    builder.provenance = Provenance("class")
    if decides == GREATEST:
        return builder.add(ArgMax(1), scores)
    batch = builder.format(scores).shape[0]
    score = builder.add(Reindex(View.reshape((batch, 1), (batch,))), scores)
    if decides == ABOVE:
        return builder.add(IsNegative(), builder.add(Scale(-1, 0), score))
    assert decides == AT_LEAST
    return builder.add(Subtract(), builder.add(Constant.splat(1, (batch,))), builder.add(IsNegative(), score))


def _picking(columns: Integers, extent: int) -> Constant:
    """Return the matrix of zeros and ones that picks columns, in which a column may be picked several times."""
    return Constant.of((np.arange(extent)[:, None] == columns).astype(np.int64))


def _constant(builder: Builder, values: NDArray[np.generic], fraction_bits: int) -> int:
    return builder.add(Constant.of(np.ascontiguousarray(values, dtype=np.int64), fraction_bits))


def _examples(
    inputs: Format, features: int, batch: int, data: ArrayLike | None, labels: ArrayLike | None
) -> tuple[dict[str, NDArray[np.float64]], ...]:
    """Return examples as batches of data, with answers if there are labels; an incomplete last batch is left out."""
    if data is None:
        return ()
    x = np.asarray(data, np.float64)
    if x.ndim != 2 or x.shape[1] != features or len(x) < batch:
        raise CircuitizeError(
            f"data: expected shape [N, {features}], N at least {batch}, found {list(x.shape)}; reshape it"
        )
    rows = [slice(start, start + batch) for start in range(0, len(x) - batch + 1, batch)]
    found = [{"inputs": inputs.nearest(x[row])} for row in rows]
    if labels is not None:
        y = np.asarray(labels, np.float64)
        if y.shape != (len(x),):
            raise CircuitizeError(f"labels: expected shape [{len(x)}], found {list(y.shape)}; give one a row")
        found = [{**entry, "class": y[row]} for entry, row in zip(found, rows, strict=True)]
    return tuple(found)
