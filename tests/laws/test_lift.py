"""Lifting is a functor, and a lifted arrow is its arrow, run by run."""

from __future__ import annotations

import numpy as np
import pytest
from every_case import every_case
from example_programs import example
from integers_cases import cases
from operations.integer import Case

from circuitize.circuits.builder import Builder
from circuitize.circuits.encode import digest
from circuitize.circuits.errors import TypingError, Undefined
from circuitize.circuits.hypergraph import Arrow, compose, evaluate, identity, permute, tensor
from circuitize.circuits.integers import Check, Scale
from circuitize.circuits.lift import lift, lifted
from circuitize.circuits.types import Array, Fixed
from circuitize.circuits.validate import validate
from circuitize.circuits.values import to_integers

ALL = cases()
RUNS = 3


def arrow_of(case: Case) -> Arrow:
    builder = Builder()
    return builder.build([builder.add(case.operation, *builder.inputs(case.sources))])


@every_case(ALL)
def test_each_operation_run_by_run(case: Case) -> None:
    """Of several runs each is as it is alone; where one has no value, all together have none."""
    random = np.random.default_rng(3)
    arrow = arrow_of(case)
    made = lift(arrow, RUNS)
    validate(made)
    assert made.source == tuple(lifted(source, RUNS) for source in case.sources)
    assert made.target == tuple(lifted(target, RUNS) for target in arrow.target)  # type: ignore[arg-type]
    defined = 0
    for _ in range(6):
        runs = [case.draw(random) for _ in range(RUNS)]
        together = [np.stack(values) for values in zip(*runs, strict=True)]
        try:
            expected = [evaluate(arrow, values)[0] for values in runs]
        except Undefined:
            with pytest.raises(Undefined):
                evaluate(made, together)
            continue
        defined += 1
        (found,) = evaluate(made, together)
        np.testing.assert_array_equal(found, np.stack(expected) if runs[0] else [expected[0]] * RUNS)


def test_one_undefined_run_is_enough() -> None:
    builder = Builder()
    arrow = builder.build([builder.add(Check(0, 5), builder.input(Fixed((2,), 0, -9, 9)))])
    with pytest.raises(Undefined):
        evaluate(lift(arrow, 3), [np.array([[0, 1], [2, 6], [3, 4]])])
    assert evaluate(lift(arrow, 2), [np.array([[0, 1], [2, 5]])])[0].tolist() == [[0, 1], [2, 5]]


def test_it_is_a_functor() -> None:
    x, y = Fixed((2, 3), 4, -100, 100), Fixed((4,), 0, 0, 7)
    assert digest(lift(identity(x, y), 5)) == digest(identity(lifted(x, 5), lifted(y, 5)))
    assert digest(lift(permute([x, y], [1, 0, 1]), 5)) == digest(permute([lifted(x, 5), lifted(y, 5)], [1, 0, 1]))
    step = example("iris.py:step").integer.arrow
    builder = Builder()
    after = builder.build([builder.add(Scale(1, 0), wire) for wire in builder.inputs(step.target)])
    assert digest(lift(compose(step, after), 3)) == digest(compose(lift(step, 3), lift(after, 3)))
    assert digest(lift(tensor(step, after), 3)) == digest(tensor(lift(step, 3), lift(after, 3)))
    assert digest(lift(step, 3)) != digest(lift(step, 4))


@pytest.mark.parametrize("name", ["iris.py:step", "digits_xent.py:adam", "cnn.py:step", "jet.py:classify"])
def test_whole_steps_run_by_run(name: str) -> None:
    """On the program's own batches, each output of each run."""
    exact = example(name)
    program, runs = exact.integer, exact.integer.examples[:2]
    values = [[to_integers(port, batch[port.name], "example") for port in program.inputs] for batch in runs]
    expected = [evaluate(program.arrow, own) for own in values]
    found = evaluate(lift(program.arrow, len(runs)), [np.stack(own) for own in zip(*values, strict=True)])
    for outputs in zip(found, *expected, strict=True):
        np.testing.assert_array_equal(outputs[0], np.stack(outputs[1:]))


def test_what_cannot_be_lifted() -> None:
    with pytest.raises(TypingError, match="at least 1 run, found 0"):
        lift(identity(Fixed((), 0, 0, 1)), 0)
    with pytest.raises(TypingError, match="an arrow of integers"):
        lift(identity(Array((2,))), 2)
