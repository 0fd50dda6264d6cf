"""Every elementwise operation in integers, on every integer of its operands' intervals: within what is stated of it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from arrays_cases import Case, Source, cases
from quantized_cases import real_program, tolerance

from circuitize.circuits import arrays
from circuitize.circuits.arrays.smooth import Smooth
from circuitize.circuits.hypergraph import evaluate
from circuitize.circuits.program import Program
from circuitize.circuits.quantize import quantize

MOST = 1 << 16
PAIRS = 1 << 8


def elementwise(case: Case) -> bool:
    """Whether an element of the result depends on those in its place alone: tried on numbers."""
    operation, count = case.operation, len(case.sources)
    if count not in (1, 2) or any(source.index or source.shape != case.sources[0].shape for source in case.sources):
        return False
    try:
        (target,) = operation.target_types(*(replace(source, shape=(3,)).array for source in case.sources))
    except Exception:
        return False
    if target.shape != (3,):
        return False
    random = np.random.default_rng(1)
    few = [replace(source, shape=(3,)) for source in case.sources]
    values = [source.real(source.awkward(random)) for source in few]
    (whole,) = operation.run(*values)
    apart = [operation.run(*[value[i : i + 1].repeat(3) for value in values])[0][0] for i in range(3)]
    return bool(np.array_equal(whole, apart))


def count(source: Source) -> int:
    return source.fixed.high - source.fixed.low + 1


@cache
def tried() -> list[Case]:
    """The cases of one operand with at most 2^16 integers, and of two, cut down to 2^8 integers each."""
    found = [case for case in cases() if elementwise(case)]
    single = [case for case in found if len(case.sources) == 1 and count(case.sources[0]) <= MOST]
    pairs: dict[type, Case] = {}
    for case in found:
        if len(case.sources) == 2:
            pairs.setdefault(type(case.operation), case)
    return single + list(pairs.values())


def narrowed(source: Source) -> Source:
    """The same ends with so few fraction bits that 2^8 integers cover them."""
    while count(source) > PAIRS:
        source = replace(source, fraction_bits=source.fraction_bits - 1)
    return source


def everything(case: Case) -> tuple[Case, dict[str, np.ndarray]]:
    """The case on one long axis, and all integers of its sources, or all pairs of them."""
    sources = case.sources if len(case.sources) == 1 else tuple(narrowed(source) for source in case.sources)
    ranges = [np.arange(source.fixed.low, source.fixed.high + 1) for source in sources]
    allowed = [r[np.abs(r) >= s.gap * 2.0**s.fraction_bits] for r, s in zip(ranges, sources, strict=True)]
    grids = [grid.reshape(-1) for grid in np.meshgrid(*allowed, indexing="ij")]
    long = replace(case, sources=tuple(replace(source, shape=grids[0].shape) for source in sources))
    return long, {f"x{i}": grid for i, grid in enumerate(grids)}


@pytest.mark.parametrize("case", tried(), ids=str)
def test_every_integer(case: Case) -> None:
    long, inputs = everything(case)
    given = real_program.__wrapped__(long)
    reals = {f"x{i}": source.real(inputs[f"x{i}"]) for i, source in enumerate(long.sources)}
    program: Program = quantize(replace(given, examples=(reals,)))
    (port,) = program.outputs
    assert port.format is not None
    bits = port.format.fraction_bits
    (found,) = evaluate(program.arrow, list(inputs.values()))
    (exact,) = case.operation.run(*reals.values())
    units = np.abs(found - np.ldexp(exact, bits)).max()
    if isinstance(case.operation, Smooth | arrays.Sin | arrays.Cos):
        allowed = case.operation.proved_error(long.sources[0].fixed, bits)
    else:
        allowed = tolerance(long, inputs, bits)
    assert units <= allowed + 2.0**-20


def test_most_of_the_language_is_tried() -> None:
    kinds = {type(case.operation) for case in tried()}
    assert {arrays.Exp, arrays.Log, arrays.Reciprocal, arrays.SquareRoot, arrays.ReciprocalSquareRoot} <= kinds
    assert {arrays.Divide, arrays.Maximum, arrays.Minimum, arrays.Greater, arrays.Multiply} <= kinds
    assert not kinds & {arrays.CumulativeSum, arrays.ArgMaxOneHot, arrays.Softmax, arrays.Normalize}
    assert len(kinds) >= 35, sorted(kind.__name__ for kind in kinds)
