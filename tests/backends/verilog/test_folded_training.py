"""A whole training step as hardware: its weights are the executor's after every step, and a failed step leaves them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from example_programs import example
from folded_programs import frames, named
from numpy.typing import NDArray
from tiers import count

from circuitize.api.user_files import run_file
from circuitize.backends.verilog.folded import schedule
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.integers import Add, Check, Clamp, Contract, Multiply, Scale
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import to_integers
from circuitize.frontends.datasets import iris as flowers
from circuitize.sims.rtl import Simulation, check_design, compare, expected, state_names

Integers = NDArray[np.int64]
STEPS, PRESSED = count(2, deep=50), count(0, deep=50)
"""Steps without gaps, and with gaps and stalls; smaller steps have gaps in all tiers."""
BATCHES = max(8, STEPS)


@cache
def iris() -> tuple[IntegerProgram, dict[str, Integers], dict[str, Integers]]:
    """The 4-16-3 step on batches of irises, its initial weights, and the first batches of the training run."""
    step = example("iris.py:step").integer
    module = run_file(Path(__file__).parents[3] / "examples" / "iris.py")
    ports = {port.name: port for port in step.inputs}
    start = module.MODEL.initial(seed=0)
    initial = {name: to_integers(ports[name], start[name], "test") for name in state_names(step)}
    batches = list(islice(module.RECIPE.batches(flowers(seed=0)), BATCHES))
    fresh = [name for name in ports if name not in initial]
    vectors = {name: np.stack([to_integers(ports[name], b[name], "test") for b in batches]) for name in fresh}
    return step, initial, vectors


@pytest.fixture(scope="module")
def simulation() -> Iterator[Simulation]:
    """The step's design, built once."""
    step, initial, _ = iris()
    with Simulation(schedule(step, initial, lanes=24)) as built:
        yield built


def test_weights_equal_the_executors_after_each_step(simulation: Simulation) -> None:
    step, initial, batches = iris()
    vectors = {name: values[:STEPS] for name, values in batches.items()}
    design = simulation.design
    assert set(design.held) == set(initial)
    wanted = expected(step, vectors, initial)
    frames = simulation.run(vectors)
    assert compare(frames, wanted).mismatches == 0
    if PRESSED:
        few = {name: values[:PRESSED] for name, values in vectors.items()}
        assert compare(simulation.run(few, backpressure=1), expected(step, few, initial)).mismatches == 0
    for name in initial:
        assert (frames.outputs[name] == wanted.outputs[name]).all()
        assert (frames.outputs[name][-1] != initial[name]).any()
    assert (frames.interval_cycles, frames.latency_cycles) == (
        design.report["interval_cycles"],
        design.report["latency_cycles"],
    )


@pytest.mark.deep
def test_a_failed_step_changes_no_weight(simulation: Simulation) -> None:
    step, initial, vectors = iris()
    some = {name: values[:8].copy() for name, values in vectors.items()}
    highest = next(port.format for port in step.inputs if port.name == "learning_rate")
    assert highest is not None
    some["learning_rate"][[0, 3, 4]] = highest.high
    found = compare(simulation.run(some, 0), expected(step, some, initial))
    assert (found.undefined, found.mismatches) == (3, 0), found.first_difference


def counter() -> IntegerProgram:
    """State that adds up its input, and must stay within [-100, 100]; a second state is never changed."""
    builder = Builder()
    total, kept = builder.input(Fixed((2, 3), 0, -100, 100)), builder.input(Fixed((4,), 0, 0, 9))
    more = builder.input(Fixed((2, 3), 0, -60, 60))
    made = builder.add(Check(-100, 100), builder.add(Add(), total, more))
    return named(builder, ["total", "kept", "more"], [made, kept], held=["total", "kept"])


def test_state_follows_frames_that_fail_and_frames_that_do_not() -> None:
    program, draw = counter(), np.random.default_rng(0)
    initial = {"total": draw.integers(-100, 101, (2, 3)), "kept": np.arange(4)}
    vectors = {"more": draw.integers(-60, 61, (60, 2, 3))}
    found = check_design(schedule(program, initial, interval_budget=30), program, vectors, initial, backpressure=2)
    assert found.mismatches == 0, found.first_difference
    assert 10 < found.undefined < 50


def wide() -> IntegerProgram:
    """A step with products of factors of 26 to 52 bits, by numbers and by factors of up to 18 bits."""
    builder = Builder()
    w, x = builder.input(Fixed((2, 2), 0, -9, 9)), builder.input(Fixed((2, 2), 0, -9, 9))
    seen = builder.add(Clamp(-9, 9), builder.add(Contract("ij,jk->ik"), x, w))
    grown = builder.add(Clamp(-1, 1), builder.add(Contract("ij,ik->jk"), x, seen))
    made, inputs = [builder.add(Check(-9, 9), builder.add(Add(), w, grown))], ["w", "x"]
    for bits, own in ((26, 18), (35, 18), (36, 18), (44, 18), (52, 10)):
        factor, other = (builder.input(Fixed((3,), 0, -(1 << b - 1), (1 << b - 1) - 1)) for b in (bits, own))
        made.append(builder.add(Multiply(), factor, other))
        made += [builder.add(Scale(number, 0), factor) for number in (-(1 << own - 1) + 1, (1 << own - 1) - 3)]
        inputs += [f"x{bits}", f"y{bits}"]
    return named(builder, inputs, made, ["w"])


def test_a_wide_factor_is_multiplied_in_parts() -> None:
    """Each of 17 bits, which one multiplier of any family takes; the highest part alone has a sign."""
    program, initial = wide(), {"w": np.full((2, 2), 5)}
    design = schedule(program, initial, lanes=4)
    assert {int(low) for text in design.files.values() for low in re.findall(r"_from(\d+);", text)} == {0, 17, 34}
    found = check_design(design, program, frames(program, count(20, deep=300)), initial)
    assert found.mismatches == 0, found.first_difference


def test_state_needs_its_first_value() -> None:
    with pytest.raises(CircuitizeError, match=r"expected an initial value for state 'kept', found \['total'\]"):
        schedule(counter(), {"total": np.zeros((2, 3), np.int64)})
    with pytest.raises(CircuitizeError, match=r"expected the name of state \(total, kept\), found 'more'"):
        schedule(counter(), {"total": np.zeros((2, 3)), "kept": np.zeros(4), "more": np.zeros(1)})
