"""Operations in integers, on every integer of their operands' intervals or at random beyond: within what is stated."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import tiers
from arrays_cases import cases
from every_case import every_case
from operations.real import Case, Integers, Source
from quantized_cases import real_program, reals, tolerance

from circuitize.circuits import arrays
from circuitize.circuits.hypergraph import evaluate
from circuitize.circuits.quantize import quantize

MOST = 1 << 16
PAIRS = 1 << 8
Inputs = dict[str, Integers]


def elementwise(case: Case) -> bool:
    """Whether an element of the result depends on those in its place alone: tried on numbers."""
    operation, count = case.operation, len(case.sources)
    if not count or any(source.index or source.shape != case.sources[0].shape for source in case.sources):
        return False
    few = [replace(source, shape=(3,)) for source in case.sources]
    try:
        (target,) = operation.target_types(*(source.array for source in few))
    except Exception:
        return False
    if target.shape != (3,):
        return False
    random = np.random.default_rng(1)
    values = [source.real(source.awkward(random)) for source in few]
    (whole,) = operation.run(*values)
    apart = [operation.run(*[value[i : i + 1].repeat(3) for value in values])[0][0] for i in range(3)]
    return bool(np.array_equal(whole, apart))


def count(source: Source) -> int:
    return source.fixed.high - source.fixed.low + 1


@cache
def kinds() -> tuple[list[Case], list[Case], list[Case], list[Case]]:
    """Elementwise cases of one operand with at most 2^16 integers, of wider ones, of several; and all other cases."""
    found = [case for case in cases() if elementwise(case)]
    single = [case for case in found if len(case.sources) == 1]
    narrow = [case for case in single if count(case.sources[0]) <= MOST]
    wide = [case for case in single if count(case.sources[0]) > MOST]
    several = [case for case in found if len(case.sources) > 1]
    return narrow, wide, several, [case for case in cases() if case.sources and not elementwise(case)]


def long(case: Case, extent: int) -> Case:
    """The case on one axis."""
    return replace(case, sources=tuple(replace(source, shape=(extent,)) for source in case.sources))


def narrowed(source: Source) -> Source:
    """The same ends with so few fraction bits that 2^8 integers cover them."""
    while count(source) > PAIRS:
        source = replace(source, fraction_bits=source.fraction_bits - 1)
    return source


def check(case: Case, every: list[Inputs]) -> None:
    """Quantized for just these inputs, so that all of them have a value."""
    given = real_program.__wrapped__(case)
    examples = [dict(zip(inputs, reals(case, inputs), strict=True)) for inputs in every]
    program = quantize(replace(given, examples=tuple(examples)))
    (port,) = program.outputs
    assert port.format is not None
    for inputs, example in zip(every, examples, strict=True):
        (found,) = evaluate(program.arrow, list(inputs.values()))
        (exact,) = case.operation.run(*example.values())
        units = np.abs(found - np.ldexp(exact, port.format.fraction_bits)).max()
        assert units <= tolerance(case, inputs, port.format) + 2.0**-20


@every_case(tiers.of_each(kinds()[0]))
def test_every_integer(case: Case) -> None:
    fixed, gap = case.sources[0].fixed, case.sources[0].gap
    whole = np.arange(fixed.low, fixed.high + 1)
    whole = whole[np.abs(whole) >= gap * 2.0**fixed.fraction_bits]
    check(long(case, len(whole)), [{"x0": whole}])


@every_case(tiers.of_each(kinds()[2]))
def test_every_pair_of_few_integers(case: Case) -> None:
    """All pairs of the intervals cut down to 2^8 integers each; of three operands, all triples of 2^5."""
    case = replace(case, sources=tuple(map(narrowed, case.sources)))
    ranges = [np.arange(source.fixed.low, source.fixed.high + 1) for source in case.sources]
    allowed = [r[np.abs(r) >= s.gap * 2.0**s.fraction_bits] for r, s in zip(ranges, case.sources, strict=True)]
    if len(allowed) > 2:
        allowed = [values[:: max(len(values) // 32, 1)] for values in allowed]
    grids = [grid.reshape(-1) for grid in np.meshgrid(*allowed, indexing="ij")]
    check(long(case, len(grids[0])), [{f"x{i}": grid for i, grid in enumerate(grids)}])


@every_case(tiers.of_each(kinds()[1]) + tiers.of_each(kinds()[2]))
def test_integers_at_random(case: Case) -> None:
    """2^16 of the whole interval of each operand, their ends and what is near them and near 0 among them."""
    wide = long(case, MOST)
    random = np.random.default_rng(3)
    inputs = {}
    for position, source in enumerate(wide.sources):
        values, fixed = source.awkward(random), source.fixed
        near = np.concatenate([fixed.low + np.arange(64), fixed.high - np.arange(64), np.arange(-64, 64)])
        near = np.clip(near, fixed.low, fixed.high)
        least = int(np.ceil(source.gap * 2.0**fixed.fraction_bits))
        near = np.where(np.abs(near) < least, np.where(near < 0, -least, least), near)
        values[random.choice(MOST, len(near), replace=False)] = near
        inputs[f"x{position}"] = values
    check(wide, [inputs])


@every_case(tiers.of_each(kinds()[3]))
def test_arrays_at_random(case: Case) -> None:
    """Operations of whole axes: dozens of arrays with ends of intervals, ties and zeros among their elements."""
    random = np.random.default_rng(4)
    check(case, [{f"x{i}": x for i, x in enumerate(case.awkward(random))} for _ in range(tiers.count(20, deep=100))])


def test_every_case_is_tried() -> None:
    narrow, wide, several, others = kinds()
    assert len(narrow) + len(wide) + len(several) + len(others) == sum(bool(case.sources) for case in cases())
    singles = {type(case.operation) for case in narrow + wide}
    assert {arrays.Exp, arrays.Log, arrays.Reciprocal, arrays.SquareRoot, arrays.ReciprocalSquareRoot} <= singles
    assert {arrays.Exp, arrays.Log, arrays.SquareRoot, arrays.ReciprocalSquareRoot} <= {type(c.operation) for c in wide}
    assert {arrays.Divide, arrays.Maximum, arrays.Minimum, arrays.Greater, arrays.Multiply, arrays.Select} <= {
        type(case.operation) for case in several
    }
    assert not singles & {arrays.CumulativeSum, arrays.ArgMaxOneHot, arrays.Softmax, arrays.Normalize}
