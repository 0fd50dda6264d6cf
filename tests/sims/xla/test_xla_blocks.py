"""Great arrays by blocks of rows are those of numpy; here blocks are of a few elements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product

import jax
import numpy as np
import pytest
import tiers
import trained_programs
from numpy.typing import NDArray
from r1cs_programs import program as integer_program
from xla_programs import compare, draw

from circuitize.api.exact import exact
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import Undefined
from circuitize.circuits.integers import View
from circuitize.circuits.phases import Phases
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import Raw
from circuitize.sims import integer
from circuitize.sims.xla import blocks
from circuitize.sims.xla.compiled import Compiled
from circuitize.sims.xla.device import processor
from circuitize.sims.xla.regions import regions
from circuitize.sims.xla.stretch import Stretches
from circuitize.sims.xla.traced import Traced

EQUATIONS = [
    "bi,ij->bj",
    "bj,ij->bi",
    "bi,bj->ij",
    "bj,bi->ij",
    "bij,bjk->bik",
    "ij,->ij",
    "bi,jk->ij",
    "j,ij->i",
    "i,j->ij",
]
Integers = NDArray[np.int64]
LIMIT = 1 << 44
EXTENTS = {"b": 3, "i": 11, "j": 6, "k": 2}


@pytest.fixture(autouse=True)
def of_a_few_elements(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Compiled for each test anew."""
    monkeypatch.setattr(blocks, "ELEMENTS", 5)
    jax.clear_caches()
    yield
    jax.clear_caches()


def shifted(builder: Builder, wire: int, bits: int) -> int:
    """With the fraction bits that it had."""
    return builder.add(integers.Scale(1, bits), builder.add(integers.Shift(bits), wire))


def changed(builder: Builder, random: np.random.Generator, one: int, other: int, made: int) -> int:
    """One operation element by element, more often on what was contracted."""
    size = int(random.choice([40, 1 << 12, 1 << 33]))
    choices: list[Callable[[], int]] = [
        lambda: builder.add(integers.Add(), one, other),
        lambda: builder.add(integers.Subtract(), one, made),
        lambda: builder.add(integers.Scale(int(random.integers(1, 99)), 0), made),
        lambda: shifted(builder, one, int(random.integers(1, 9))),
        lambda: builder.add(integers.IsNegative(), one),
        lambda: builder.add(integers.ReLU(), one),
        lambda: builder.add(integers.Clamp(-size, size), one),
        lambda: builder.add(integers.Check(-size, size), one),
        lambda: builder.add(integers.Select(), builder.add(integers.IsNegative(), other), one, made),
    ]
    return choices[random.integers(len(choices))]()


def updated(random: np.random.Generator) -> IntegerProgram:
    """A contraction, and what is done with it element by element until others read it: any operations, any order."""
    builder = Builder()
    equation = str(random.choice(EQUATIONS))
    x, y, target = equation.replace("->", ",").split(",")
    bits = int(random.choice([2, 7, 15, 23]))
    factors = [
        builder.input(Fixed(tuple(EXTENTS[letter] for letter in own), 0, -(1 << bits), (1 << bits) - 1))
        for own in (x, y)
    ]
    shape = tuple(EXTENTS[letter] for letter in target)
    made = builder.add(integers.Contract(equation), *factors)
    held = builder.input(Fixed(shape, 0, -500, 500))
    row = builder.add(integers.Reindex(View.broadcast(shape, (0,))), builder.input(Fixed(shape[1:], 0, -9, 9)))
    rounding = builder.add(integers.Constant.splat(8, shape, 0))
    table = builder.add(integers.Constant.of(random.integers(-99, 99, shape), 0))
    known = [made, held, row, rounding, table]
    for _ in range(random.integers(2, 9)):
        one, other = (known[k] for k in random.integers(len(known), size=2))
        if (
            max(abs(end) for wire in (one, other) for end in (builder.format(wire).low, builder.format(wire).high))
            > LIMIT
        ):
            known.append(shifted(builder, one, 12))
            continue
        known.append(changed(builder, random, one, other, made))
    outputs = {known[-1], known[int(random.integers(len(known)))]} - {held, row, *factors}
    if random.random() < 0.5:
        outputs = {known[-1]}
    return integer_program(builder.build(sorted(outputs - {rounding, table}) or [made]))


def few(program: IntegerProgram, random: np.random.Generator) -> list[Integers]:
    return [value if random.random() < 0.7 else value % 3 for value in draw(program, random)]


def test_updates_are_those_of_numpy() -> None:
    count = tiers.count(20, deep=1000)
    found = 0
    for start in range(0, count, 20):
        randoms = [np.random.default_rng([7, seed]) for seed in range(start, start + 20)]
        programs = [updated(random) for random in randoms]
        found += sum(len(Traced(one.arrow, "cpu").regions) for one in programs)
        draws = [[few(one, random) for one, random in zip(programs, randoms, strict=True)] for _ in range(10)]
        defined, undefined = compare(programs, draws)
        assert defined > undefined > 0
    assert found > count // 4


def gradient(most: int) -> IntegerProgram:
    """A step that adds the product of a batch to what is held, which leaves it checked."""
    builder = Builder()
    held = builder.input(Fixed((11, 6), 0, -(1 << 20), 1 << 20))
    x, y = builder.input(Fixed((3, 11), 0, -most, most)), builder.input(Fixed((3, 6), 0, -most, most))
    score = builder.add(integers.Contract("bi,ij->bj"), x, held)  # reads what is written over
    made = builder.add(integers.Add(), builder.add(integers.Contract("bi,bj->ij"), x, y), held)
    kept = builder.add(integers.Check(-(1 << 20), 1 << 20), made)
    program = integer_program(builder.build([kept, score]))
    return replace(program, outputs=(replace(program.outputs[0], name="in0"), program.outputs[1]))


def test_what_is_held_is_written_over_once_it_is_read() -> None:
    step, random = gradient(1 << 9), np.random.default_rng(5)
    assert [region.last for region in regions(step.arrow, ())] == [3]
    assert not Traced(step.arrow, "gpu").regions, "blocks are made for the cache of a processor"
    score = step.outputs[1].name
    stretches = Stretches(step, step.arrow, processor(), [score], 6)
    start = {"in0": random.integers(-9, 9, (11, 6))}
    for most in (9, 1 << 8):
        batches = {
            name: random.integers(-most, most, (6, *shape), endpoint=True)
            for name, shape in (("in1", (3, 11)), ("in2", (3, 6)))
        }
        one_by_one = [{name: Raw(values[k]) for name, values in batches.items()} for k in range(6)]
        made = list(integer.train(step, {"in0": Raw(start["in0"])}, one_by_one))
        done = stretches.run(stretches.put(start), batches)
        assert done is not None
        np.testing.assert_array_equal(stretches.take(done.held)["in0"], made[-1]["in0"], strict=True)
        np.testing.assert_array_equal(done.told[score], [one[score] for one in made], strict=True)


PAIRS = list(product((0, 1, 10), (0, 3, 5)))
DIAGONAL = [(0, 3), (1, 5), (10, 0)]
"""Each row and each step once; in `deep` all pairs."""


@pytest.mark.parametrize(
    ("row", "last"),
    [pytest.param(*pair, marks=() if pair in DIAGONAL else pytest.mark.deep) for pair in PAIRS],
)
def test_a_block_without_a_value_is_found(row: int, last: int) -> None:
    """In the first block, within and in the last, at any step; the one before it is done."""
    step = gradient(1 << 9)
    stretches = Stretches(step, step.arrow, processor(), [], 6)
    held = np.zeros((11, 6), np.int64)
    held[row, 5] = (1 << 20) - 1
    x, y = np.zeros((6, 3, 11), np.int64), np.ones((6, 3, 6), np.int64)
    x[last, 0, row] = 2
    start = stretches.put({"in0": held})
    assert stretches.run(start, {"in1": x, "in2": y}) is None
    if last:
        done = stretches.run(start, {"in1": x[:last], "in2": y[:last]})
        assert done is not None
        np.testing.assert_array_equal(stretches.take(done.held)["in0"], held)
    alone = [processor().put(one) for one in (held, x[last], y[last])]
    with pytest.raises(Undefined, match=rf"integer.check: expected .*, found 1048577 at element \[{row}, 5\]"):
        Compiled(step.arrow, processor(), ["in0", "in1", "in2"]).outputs(alone)


@pytest.mark.deep
def test_a_training_by_blocks_is_that_of_numpy() -> None:
    program = exact(trained_programs.step(), Phases()).integer
    held = {port.name for port in program.outputs} & {port.name for port in program.inputs}
    assert Traced(program.arrow, "cpu").regions
    example = {name: Raw(value) for name, value in integer.rounded(program, program.examples[0]).items()}
    *_, last = integer.train(program, example, [example] * 3)
    stretches = Stretches(program, program.arrow, processor(), [], 3)
    start = stretches.put({name: example[name].array for name in held})
    batches = {name: np.stack([example[name].array] * 3) for name in stretches.fresh}
    done = stretches.run(start, batches)
    assert done is not None
    for name, value in stretches.take(done.held).items():
        np.testing.assert_array_equal(value, last[name], strict=True)
