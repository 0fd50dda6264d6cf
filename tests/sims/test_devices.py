"""Executors compute in the module of their values: a strict one, and a GPU by XLA where there is one."""

from __future__ import annotations

import numpy as np
import pytest
import strict_arrays
from arrays_cases import cases as real_cases
from every_case import every_case
from example_programs import example
from fault_programs import everything
from integers_cases import cases
from operations.integer import Case
from operations.real import Case as RealCase
from quantized_cases import drawn, real_program
from r1cs_programs import single

from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import Undefined
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.sims import integer, real
from circuitize.sims.agree import OnDevice, agree
from circuitize.sims.device import Device
from circuitize.sims.executor import Executor
from circuitize.sims.vectors import inputs_to_try
from circuitize.sims.xla.device import gpu

STRICT = Device("strict", strict_arrays)
GPU = pytest.param(gpu(), marks=pytest.mark.skipif(gpu() is None, reason="needs a CUDA GPU and JAX for it"), id="gpu")
DEVICES = [pytest.param(STRICT, id="strict"), GPU]


@pytest.mark.parametrize("device", DEVICES)
@every_case(cases())
def test_integers_are_the_same_to_the_bit(case: Case, device: Device) -> None:
    program = single(case.operation, *case.sources)
    random = np.random.default_rng(3)
    inputs = [case.draw(random) for _ in range(3)] if case.sources else [[np.array(1)]]
    for values in inputs:
        named = {f"in{i}": value for i, value in enumerate(values)}
        try:
            expected = integer.trace(program, named)
        except Undefined as error:
            with pytest.raises(Undefined) as found:
                integer.trace(program, named, device)
            assert str(found.value) == str(error)
            continue
        for one, other in zip(expected, integer.trace(program, named, device), strict=True):
            assert one.dtype == other.dtype == np.int64
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("device", DEVICES)
@every_case(real_cases())
def test_reals_are_close(case: RealCase, device: Device) -> None:
    program = real_program(case)
    for inputs in drawn(case)[:2]:
        formats = {port.name: port.format for port in program.inputs}
        reals = {name: np.ldexp(value, -formats[name].fraction_bits) for name, value in inputs.items()}
        expected, found = real.run(program, reals)["y"], real.run(program, reals, device)["y"]
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["iris.py:step", "digits.py:step", "mnist_mlp.py:step64"])
def test_training_steps_agree_on_every_wire(name: str, device: Device) -> None:
    program = example(name).integer
    found = agree(program, inputs_to_try(program, 5, np.random.default_rng(0)), [OnDevice(program, device)])
    assert found.mismatches == 0, found.first_difference
    assert found.undefined < found.vectors


def batches(program: IntegerProgram) -> tuple[dict[str, np.ndarray], list[dict[str, np.ndarray]]]:
    carried = {port.name for port in program.outputs} & {port.name for port in program.inputs}
    initial = {name: value for name, value in program.examples[0].items() if name in carried}
    return initial, [{k: v for k, v in batch.items() if k not in carried} for batch in program.examples[:4]]


@pytest.mark.parametrize("name", ["iris.py:step", "digits.py:step", "mnist_mlp.py:step64", "cnn.py:step"])
def test_writing_over_spent_values_changes_nothing(name: str) -> None:
    """Not the outputs, not the inputs, not the constants: a second run gives the same."""
    program = example(name).integer
    prepared = integer.executor(program)
    (vector,) = inputs_to_try(program, 1, np.random.default_rng(0))
    inputs = [vector[port.name] for port in program.inputs]
    kept = [value.copy() for value in inputs]
    wires = prepared.wires(inputs)
    for _ in range(2):
        for wire, found in zip(program.arrow.outputs.tolist(), prepared.outputs(inputs), strict=True):
            np.testing.assert_array_equal(found, wires[wire])
        for value, before in zip(inputs, kept, strict=True):
            np.testing.assert_array_equal(value, before)


def test_only_values_that_nothing_else_reads_are_written_over() -> None:
    """x + 1 is read by two, a view of it shares its memory, and an output is kept."""
    builder = Builder()
    x = builder.input(Fixed((3,), 0, -9, 9))
    one = builder.add(integers.Constant.of(np.arange(1, 4)))
    more = builder.add(integers.Add(), x, one)
    flipped = builder.add(integers.Reindex(integers.View.flip((3,), (0,))), more)
    outputs = [builder.add(integers.Scale(2, 0), flipped), builder.add(integers.Scale(3, 0), more)]
    outputs += [builder.add(integers.Multiply(), outputs[0], outputs[1]), builder.add(integers.ReLU(), x)]
    spent = builder.add(integers.Shift(1), builder.add(integers.Scale(5, 1), more))
    arrow = builder.build([*outputs, builder.add(integers.Subtract(), spent, one), one])
    given = np.array([-5, 0, 7])
    prepared = Executor(arrow)
    for _ in range(2):
        found = [value.tolist() for value in prepared.outputs([given])]
        total = [-4, 2, 10]
        assert found[:2] == [[20, 4, -8], [-12, 6, 30]]
        assert found[2:4] == [[-240, 24, -240], [0, 0, 7]]
        assert found[4:] == [[(5 * n >> 1) - k for k, n in enumerate(total, 1)], [1, 2, 3]]
    assert given.tolist() == [-5, 0, 7]


@pytest.mark.parametrize("device", DEVICES)
def test_training_stays_on_the_device(device: Device) -> None:
    program = example("iris.py:step").integer
    initial, rest = batches(program)
    expected = list(integer.train(program, initial, rest))
    before = strict_arrays.calls["asnumpy"]
    found = list(integer.train(program, initial, rest, device))
    assert strict_arrays.calls["asnumpy"] == before
    for one, other in zip(expected, found, strict=True):
        for name, value in one.items():
            np.testing.assert_array_equal(value, device.take(other[name]))


def test_constants_and_tables_move_once() -> None:
    program = everything()
    (vector,) = inputs_to_try(program, 1, np.random.default_rng(0))
    prepared = integer.executor(program, STRICT)
    inputs = [STRICT.put(vector[port.name]) for port in program.inputs]
    prepared.outputs(inputs)
    before = strict_arrays.calls["asarray"]
    prepared.outputs(inputs)
    assert strict_arrays.calls["asarray"] == before


def test_the_strict_module_refuses_numpy() -> None:
    held = STRICT.put(np.arange(3))
    for wrong in (lambda: np.asarray(held), lambda: held + np.arange(3), lambda: np.add(held, 1)):
        with pytest.raises(TypeError):
            wrong()
