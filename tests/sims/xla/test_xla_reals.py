"""Real operations and steps by XLA: close to numpy's, and without a value where numpy has none, in its words."""

from __future__ import annotations

import arrays_cases
import numpy as np
import pytest
import tiers
from example_programs import example
from operations.real import Case

from circuitize.circuits import arrays
from circuitize.circuits.builder import Builder, generator
from circuitize.circuits.errors import Undefined
from circuitize.circuits.hypergraph import tensor
from circuitize.circuits.operation import Values
from circuitize.circuits.requirement import noting
from circuitize.circuits.types import Array
from circuitize.sims import real
from circuitize.sims.device import CPU
from circuitize.sims.executor import Executor
from circuitize.sims.xla.compiled import Compiled
from circuitize.sims.xla.device import processor


def drawn(case: Case, random: np.random.Generator) -> list[Values] | None:
    """Values on which the operation has one; None where none were found."""
    for _ in range(20):
        values = case.reals(case.awkward(random))
        try:
            case.operation.run(*values)
        except Undefined:
            continue
        return list(values)
    return None


def requires(case: Case) -> bool:
    """Whether the operation says of which values it has none."""
    with noting() as found:
        case.operation.run(*case.reals(case.awkward(np.random.default_rng(0))))
    return bool(found)


def test_every_operation() -> None:
    """In `make test` those that may have no value: XLA is given what composites are made of, and the others are
    compiled in tests/circuits/arrays/test_array_modules.py.
    """
    random, deep = np.random.default_rng(1), tiers.TIER == "deep"
    simple = [case for case in tiers.of_each(arrays_cases.cases()) if not isinstance(case.operation, arrays.Composite)]
    chosen = tiers.of_each(arrays_cases.cases()) if deep else [case for case in simple if requires(case)]
    found = [(case, drawn(case, random)) for case in chosen]
    tried = [(case, values) for case, values in found if values is not None]
    assert len(tried) > 0.9 * len(found) > tiers.count(8, deep=30)
    arrow = real.simplified(tensor(*(case.arrow for case, _ in tried)))
    inputs = [value for _, values in tried for value in values]
    with np.errstate(all="ignore"):
        expected = Executor(arrow).outputs(inputs)
    made = Compiled(arrow, processor()).outputs(inputs)
    for (case, _), one, other in zip(tried, made, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=2.0**-40, atol=2.0**-40, err_msg=str(case))


@pytest.mark.parametrize("operation", [arrays.Reciprocal(), arrays.Log(), arrays.Exp()], ids=str)
def test_what_has_no_value_is_said_as_numpy_says_it(operation: arrays.RealOperation) -> None:
    value = np.array([1.0, 1e4 if isinstance(operation, arrays.Exp) else 0.0])
    arrow = generator(operation, Array((2,)))
    with pytest.raises(Undefined) as expected, np.errstate(all="ignore"):
        Executor(arrow).outputs([value])
    with pytest.raises(Undefined) as found, np.errstate(all="ignore"):
        Compiled(arrow, processor()).outputs([value])
    assert str(found.value) == str(expected.value)


def test_a_step_is_close_and_goes_on() -> None:
    program = example("iris.py:step").given
    held = {port.name for port in program.outputs} & {port.name for port in program.inputs}
    initial = {name: value for name, value in program.examples[0].items() if name in held}
    batches = [{k: v for k, v in one.items() if k not in held} for one in program.examples[:3]]
    ours, theirs = (list(real.train(program, initial, batches, device)) for device in (CPU, processor()))
    for one, other in zip(ours, theirs, strict=True):
        for name, value in one.items():
            np.testing.assert_allclose(processor().take(other[name]), value, rtol=1e-12, atol=1e-12)


def test_great_constants_are_handed_over() -> None:
    """Not compiled into the program; a number that fills one is."""
    builder = Builder()
    x = builder.input(Array((50, 60)))
    table = np.arange(3000.0).reshape(50, 60)
    made = builder.add(arrays.Add(), x, builder.add(arrays.Constant.of(table)))
    made = builder.add(arrays.Add(), made, builder.add(arrays.Constant.splat(0.5, (50, 60))))
    compiled = Compiled(builder.build([made]), processor())
    assert len(compiled.handed) == 1
    np.testing.assert_array_equal(compiled.outputs([np.ones((50, 60))])[0], table + 1.5)
