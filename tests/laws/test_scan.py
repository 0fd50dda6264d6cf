"""A scan is its step, done in turn, bit for bit; and as much to check as one step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from example_programs import example

from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import TypingError, Undefined
from circuitize.circuits.hypergraph import evaluate
from circuitize.circuits.integers import Add, Check, Scale
from circuitize.circuits.port import Port, Role, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.scan import Scan, Told, scan
from circuitize.circuits.types import Fixed
from circuitize.circuits.validate import validate
from circuitize.circuits.values import raw, to_integers
from circuitize.provers.tensor.plan import plan
from circuitize.sims import integer

COUNT = 3
HELD = {"a": Role.PARAMETER, "b": Role.STATE, "c": Role.OPTIMIZER, "frozen": Role.PARAMETER}
NUMBERS = Fixed((2,), 0, -99, 99)


def exchange() -> IntegerProgram:
    """Of what is held, a takes b's place, b becomes a + x checked, c stays as it is, and one never leaves."""
    builder = Builder()
    a, b, c, frozen, x = builder.inputs([NUMBERS] * 5)
    moved = builder.add(Check(-99, 99), builder.add(Add(), a, x))
    loss = builder.add(Check(-999, 999), builder.add(Scale(3, 0), builder.add(Add(), b, frozen)))
    arrow = builder.build([b, moved, c, loss])
    inputs = [Port(name, Visibility.COMMITTED, NUMBERS, role) for name, role in HELD.items()]
    inputs.append(Port("x", Visibility.PUBLIC, NUMBERS, Role.SCALAR))
    outputs = [*inputs[:3], Port("loss", Visibility.PUBLIC, Fixed((2,), 0, -999, 999))]
    return IntegerProgram(arrow, tuple(inputs), tuple(outputs))


def given(step: IntegerProgram, count: int, seed: int = 0) -> dict[str, Any]:
    """What is held at first, and of each step all else, out of the step's examples or drawn."""
    draw, found = np.random.default_rng(seed), {}
    for port in step.inputs:
        assert port.format is not None
        if step.examples:
            batches = [to_integers(port, batch[port.name], "example") for batch in step.examples]
            values = [batches[k % len(batches)] for k in range(count)]
        else:
            values = [draw.integers(-9, 10, port.format.shape) for _ in range(count)]
        found[port.name] = values[0] if port.held else np.stack(values)
    return found


def in_turn(step: IntegerProgram, inputs: Mapping[str, Any], count: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is held at the end, and the other outputs of all steps, by the integer executor."""
    held = {port.name: inputs[port.name] for port in step.inputs if port.held}
    results: dict[str, list[Any]] = {}
    for time in range(count):
        fresh = {port.name: inputs[port.name][time] for port in step.inputs if not port.held}
        made = integer.run(step, raw({**held, **fresh}))
        held |= {name: made[name] for name in held if name in made}
        for name in made.keys() - held.keys():
            results.setdefault(name, []).append(made[name])
    return held, {name: np.stack(values) for name, values in results.items()}


MOMENTUM = pytest.param("digits.py:momentum", marks=pytest.mark.deep)
STEPS = ["iris.py:step", "digits_xent.py:adam", MOMENTUM, "cnn.py:step"]


@pytest.mark.parametrize("name", [*STEPS, "exchange"])
@pytest.mark.parametrize("count", [1, COUNT])
def test_a_scan_is_its_steps_in_turn(name: str, count: int) -> None:
    step = exchange() if name == "exchange" else example(name).integer
    made, inputs = scan(step, count), given(step, count)
    validate(made.program.arrow)
    found = integer.run(made.program, raw(made.inputs(inputs)))
    held, results = in_turn(step, inputs, count)
    for port in step.outputs:
        expected = held[port.name] if port.held else results[port.name]
        np.testing.assert_array_equal(found[port.name], expected, err_msg=port.name)
    assert all(p.visibility is not Visibility.PUBLIC for p in made.program.outputs)


@pytest.mark.parametrize("told", Told)
def test_public_outputs_are_told_of_the_steps_that_are_said(told: Told) -> None:
    step, inputs = exchange(), given(exchange(), COUNT)
    made = scan(step, COUNT, told)
    found = integer.run(made.program, raw(made.inputs(inputs)))
    _, results = in_turn(step, inputs, COUNT)
    np.testing.assert_array_equal(found[made.results["loss"]], results["loss"])
    public = [port.name for port in made.program.outputs if port.visibility is Visibility.PUBLIC]
    assert public == ([] if told is Told.NONE else ["loss"])
    if public:
        all_of = results["loss"]
        shown = {Told.ALL: all_of, Told.ENDS: all_of[[0, -1]], Told.TOTAL: all_of.sum(0)}[told]
        np.testing.assert_array_equal(found["loss"], shown)


def trajectories(made: Scan) -> list[str]:
    return [one.entering for one in made.trajectories]


def test_no_other_trajectory_has_a_value() -> None:
    """Each element of what enters a step is checked, at each time."""
    step = exchange()
    made = scan(step, COUNT)
    inputs = made.inputs(given(step, COUNT))
    for name in trajectories(made):
        for place in np.ndindex(inputs[name].shape):
            other = {**inputs, name: inputs[name].copy()}
            other[name][place] += 1
            with pytest.raises(Undefined):
                integer.run(made.program, raw(other))


def test_a_step_without_a_value_is_named() -> None:
    step = exchange()
    inputs = given(step, COUNT)
    inputs["x"][1] = 99
    inputs["a"][:] = inputs["b"][:] = 9
    seen: list[int] = []
    with pytest.raises(Undefined):
        scan(step, COUNT).inputs(inputs, seen.append)
    assert seen == [0, 1]


def test_what_is_held_leaves_in_its_format() -> None:
    builder = Builder()
    wire = builder.input(NUMBERS)
    arrow = builder.build([builder.add(Scale(2, 0), wire)])
    port = Port("w", Visibility.COMMITTED, NUMBERS, Role.PARAMETER)
    program = IntegerProgram(
        arrow, (port,), (Port("w", Visibility.COMMITTED, Fixed((2,), 0, -198, 198), Role.PARAMETER),)
    )
    with pytest.raises(TypingError, match="'w' to leave a step as it enters"):
        scan(program, 2)
    assert evaluate(arrow, [np.array([1, 2])])[0].tolist() == [2, 4]


def test_many_steps_are_no_more_to_check_than_few() -> None:
    """Claims, operations and equations do not grow with the steps, once blocks are worth their claims."""
    step = example("iris.py:step").integer
    few, many = (scan(step, count) for count in (1 << 14, 1 << 16))
    plans = [plan(one.program, assumed=("parameters", "data"), scanned=one) for one in (few, many)]
    assert few.program.arrow.edge_count == many.program.arrow.edge_count
    assert plans[0].claimed.claims == plans[1].claimed.claims and len(plans[0].bases) == len(plans[1].bases)
    assert [len(made.zeros) for made in plans] == [len(few.trajectories)] * 2
