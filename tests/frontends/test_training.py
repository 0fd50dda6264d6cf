"""Training steps are the steps of the textbook, in real and in integer arithmetic, and they compose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError, TypingError
from circuitize.circuits.port import Role, Visibility
from circuitize.circuits.program import IntegerProgram, Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.unroll import compose_steps
from circuitize.circuits.validate import validate
from circuitize.circuits.values import raw, to_integers, to_reals
from circuitize.frontends import functions
from circuitize.frontends.formats import DATA, WEIGHTS, Format
from circuitize.frontends.layers import Model, Parameter, dense, relu, sequential, traced, zeros
from circuitize.frontends.losses import mean_squared_error
from circuitize.frontends.optimizers import SGD, Momentum, Optimizer
from circuitize.frontends.tensor import Tensor
from circuitize.frontends.training import predict, training_step, with_examples
from circuitize.frontends.training import start as started
from circuitize.sims import integer, real

Reals = NDArray[np.float64]
BATCH = 4


def perceptron() -> Model:
    return sequential(dense(5, 6), relu(), dense(6, 3))


def batches(count: int, seed: int = 0) -> list[dict[str, Any]]:
    generator = np.random.default_rng(seed)
    return [
        {
            "inputs": generator.integers(0, 17, (BATCH, 5)) / 16.0,
            "targets": np.eye(3)[generator.integers(0, 3, BATCH)],
            "learning_rate": 0.125,
        }
        for _ in range(count)
    ]


def step(optimizer: Optimizer | None = None) -> Program:
    model = perceptron()
    program = training_step(model, mean_squared_error, optimizer or SGD(), BATCH)
    return with_examples(program, *real.record(program, start(program, model), batches(16, seed=3), 8))


def start(program: Program, model: Model) -> dict[str, Reals]:
    return started(program, model, seed=1)


def gradients(held: dict[str, Reals], batch: dict[str, Any]) -> tuple[dict[str, Reals], float]:
    """The derivative of the mean squared error by hand."""
    x, target = batch["inputs"], batch["targets"]
    hidden = x @ held["dense1.weight"] + held["dense1.bias"]
    active = np.maximum(hidden, 0)
    difference = active @ held["dense2.weight"] + held["dense2.bias"] - target
    above = 2 * difference / difference.size
    below = above @ held["dense2.weight"].T * (hidden > 0)
    found = {
        "dense2.weight": active.T @ above,
        "dense2.bias": above.sum(0),
        "dense1.weight": x.T @ below,
        "dense1.bias": below.sum(0),
    }
    return found, float((difference**2).mean())


def test_program_form() -> None:
    program = step(Momentum())
    validate(program.arrow)
    weights = ["dense1.weight", "dense1.bias", "dense2.weight", "dense2.bias"]
    states = [f"{name}.velocity" for name in weights]
    assert [p.name for p in program.inputs] == [*weights, *states, "inputs", "targets", "learning_rate"]
    assert [p.name for p in program.outputs] == [*weights, *states, "loss"]
    assert program.inputs[:8] == program.outputs[:8]
    roles = [Role.PARAMETER] * 4 + [Role.OPTIMIZER] * 4 + [Role.DATA] * 2 + [Role.SCALAR]
    assert [p.role for p in program.inputs] == roles
    assert program.inputs[0].format == WEIGHTS.of((5, 6)) and program.inputs[8].format == DATA.of((BATCH, 5))
    public = {p.name for p in program.inputs + program.outputs if p.visibility is Visibility.PUBLIC}
    committed = {p.name for p in program.inputs + program.outputs if p.visibility is Visibility.COMMITTED}
    assert public == {"learning_rate", "loss"} and committed == {*weights, *states, "inputs", "targets"}


def test_sgd_is_the_textbook_step() -> None:
    held: dict[str, Any] = perceptron().initial(1)
    program = step()
    for batch, made in zip(batches(5), real.train(program, held, batches(5)), strict=True):
        gradient, loss = gradients(held, batch)
        np.testing.assert_allclose(made["loss"], loss, rtol=1e-12)
        held = {name: held[name] - 0.125 * gradient[name] for name in held}
        for name, value in held.items():
            np.testing.assert_allclose(made[name], value, rtol=1e-12, atol=1e-15)


def test_momentum_is_the_textbook_step() -> None:
    model = perceptron()
    program = step(Momentum(decay=0.75))
    held: dict[str, Any] = model.initial(1)
    velocity = {name: np.zeros_like(value) for name, value in held.items()}
    for batch, made in zip(batches(5), real.train(program, start(program, model), batches(5)), strict=True):
        gradient, _ = gradients(held, batch)
        velocity = {name: 0.75 * velocity[name] + 0.125 * gradient[name] for name in held}
        held = {name: held[name] - velocity[name] for name in held}
        for name in held:
            np.testing.assert_allclose(made[name], held[name], rtol=1e-12, atol=1e-15)
            np.testing.assert_allclose(made[f"{name}.velocity"], velocity[name], rtol=1e-12, atol=1e-15)


def test_a_model_may_be_a_plain_function() -> None:
    def network(w: Tensor, b: Tensor, v: Tensor, c: Tensor, x: Tensor) -> Tensor:
        return functions.relu(x @ w + b) @ v + c

    layered = perceptron()
    written = traced(network, layered.parameters, inputs=(5,))
    example = {**layered.initial(1), **batches(1)[0]}
    expected = real.run(training_step(layered, mean_squared_error, SGD(), BATCH), example)
    found = real.run(training_step(written, mean_squared_error, SGD(), BATCH), example)
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value)


def test_names_and_lines_of_layers() -> None:
    model = sequential(dense(2, 3, bias=False), relu(), dense(3, 3), relu(), sequential(dense(3, 1)))
    names = [p.name for p in model.parameters]
    assert names == [
        "dense1.weight",
        "dense2.weight",
        "dense2.bias",
        "sequential1.dense1.weight",
        "sequential1.dense1.bias",
    ]
    provenances = {e.provenance.part: e.provenance for e in model.arrow(model.batch_type(2)).edges()}
    assert set(provenances) == {"dense1", "relu1", "dense2", "relu2", "sequential1.dense1"}
    line = test_names_and_lines_of_layers.__code__.co_firstlineno + 1
    assert all(p.line == line and p.file.endswith("test_training.py") for p in provenances.values())


def test_initial_values_are_in_their_formats() -> None:
    model = sequential(dense(64, 32, format=Format.signed(8, 6)), dense(32, 10, initializer=zeros))
    program = predict(model, 1)
    for port in program.inputs[:-1]:
        value = model.initial(3)[port.name]
        assert port.format is not None
        np.testing.assert_array_equal(to_reals(port.format, to_integers(port, value, "test")), value)
    assert not model.initial(3)["dense2.weight"].any() and model.initial(3)["dense1.weight"].any()


@pytest.mark.parametrize("optimizer", [SGD(weight_decay=0.25), Momentum(decay=0.75, weight_decay=0.25)])
def test_weight_decay_is_the_derivative_of_the_squares(optimizer: Optimizer) -> None:
    model, program = perceptron(), step(optimizer)
    held: dict[str, Any] = start(program, model)
    (batch,) = batches(1)
    gradient, _ = gradients(held, batch)
    made = real.run(program, held | batch)
    for name in gradient:
        wanted = held[name] - 0.125 * (gradient[name] + 0.25 * held[name])
        np.testing.assert_allclose(made[name], wanted, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("optimizer", [SGD(), Momentum()])
@pytest.mark.parametrize("prepare", [lambda program: program, quantize], ids=["real", "integer"])
def test_steps_compose(prepare: Callable[[Program], Program], optimizer: Optimizer) -> None:
    single = prepare(step(optimizer))
    run: Callable[[Any, Any], Any] = integer.run if isinstance(single, IntegerProgram) else real.run
    twice, thrice = compose_steps(single, single), compose_steps(single, single, single)
    validate(thrice.arrow)
    assert twice.inputs[-6].name == "inputs.1" and thrice.outputs[-1].name == "loss.3"
    assert len(thrice.examples) == len(single.examples)
    held: dict[str, Any] = start(single, perceptron())
    chosen = batches(3)
    numbered = {f"{k}.{n}": v for n, batch in enumerate(chosen, 1) for k, v in batch.items()}
    fused = run(thrice, held | numbered)
    fused2 = run(twice, held | {k: v for k, v in numbered.items() if not k.endswith("3")})
    for n, batch in enumerate(chosen, 1):
        made = run(single, held | batch)
        left: dict[str, Any] = {name: made[name] for name in held}
        held = raw(left) if isinstance(single, IntegerProgram) else left
        np.testing.assert_array_equal(fused[f"loss.{n}"], made["loss"])
        if n == 2:
            for name, value in left.items():
                np.testing.assert_array_equal(fused2[name], value)
    for name, value in left.items():
        np.testing.assert_array_equal(fused[name], value)


def test_steps_of_different_formats_do_not_compose() -> None:
    model = sequential(dense(5, 6, format=Format.signed(20, 16)), relu(), dense(6, 3))
    program = training_step(model, mean_squared_error, SGD(), BATCH)
    examples = [{**model.initial(0), **batch} for batch in batches(2)]
    with pytest.raises(TypingError, match="expected outputs of arrow"):
        compose_steps(quantize(step()), quantize(with_examples(program, *examples)))


def test_integer_parameters_leave_as_they_enter() -> None:
    program = quantize(step(Momentum()))
    assert isinstance(program, IntegerProgram) and program.inputs[:8] == program.outputs[:8]
    assert program.arrow.source[:8] == program.arrow.target[:8]


@pytest.mark.parametrize("optimizer", [SGD(), Momentum()])
def test_integer_step_is_close_to_the_real_step(optimizer: Optimizer) -> None:
    program = step(optimizer)
    integers = quantize(program)
    for example in program.examples:
        exact, found = real.run(program, example), integer.run(integers, example)
        for port in integers.outputs[:-1]:
            assert port.format is not None
            error = np.abs(to_reals(port.format, found[port.name]) - exact[port.name]).max()
            assert error <= 2e-4, (port.name, error)


def test_integer_training_follows_real_training() -> None:
    program = step()
    integers, initial = quantize(program), perceptron().initial(1)
    *_, exact = real.train(program, initial, batches(40))
    *_, found = integer.train(integers, initial, batches(40))
    format = integers.outputs[-1].format
    assert format is not None
    np.testing.assert_allclose(to_reals(format, found["loss"]), exact["loss"], atol=5e-3)


def test_trace_gives_every_wire() -> None:
    integers = quantize(step())
    example = integers.examples[0]
    wires = integer.trace(integers, integer.rounded(integers, example))
    assert len(wires) == integers.arrow.wire_count
    for wire, value in enumerate(wires):
        assert value.dtype == np.int64 and value.shape == integers.arrow.type(wire).shape
    for wire, value in zip(integers.arrow.outputs.tolist(), integer.run(integers, example).values(), strict=True):
        np.testing.assert_array_equal(wires[wire], value)


def bad(**changes: Any) -> dict[str, Any]:
    return {name: v for name, v in (perceptron().initial(1) | batches(1)[0] | changes).items() if v is not None}


MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "missing": (bad(targets=None), "value for input 'targets'"),
    "unknown": (bad(target=1.0), "found 'target'"),
    "shape": (bad(inputs=np.zeros((5, BATCH))), r"shape \[4, 5\], found \[5, 4\]"),
    "not a number": (bad(learning_rate=float("nan")), "finite"),
    "infinite": (bad(inputs=np.full((BATCH, 5), np.inf)), "finite"),
    "ragged": (bad(inputs=[[1.0, 2.0], [3.0]]), "different lengths"),
    "complex": (bad(inputs=np.zeros((BATCH, 5), complex)), "expected numbers"),
    "words": (bad(learning_rate="fast"), "expected numbers"),
}


@pytest.mark.parametrize("name", MISTAKES)
@pytest.mark.parametrize("prepare", [lambda program: program, quantize], ids=["real", "integer"])
def test_bad_inputs_are_named(prepare: Callable[[Program], Program], name: str) -> None:
    program = prepare(step())
    inputs, words = MISTAKES[name]
    with pytest.raises(CircuitizeError, match=words) as caught:
        if isinstance(program, IntegerProgram):
            integer.run(program, inputs)
        else:
            real.run(program, inputs)
    assert "\n" not in str(caught.value)


def test_values_outside_the_format_are_refused() -> None:
    with pytest.raises(CircuitizeError, match=r"'inputs' in \[0, 1\], found 1.5"):
        integer.run(quantize(step()), bad(inputs=np.full((BATCH, 5), 1.5)))


def test_a_failed_check_names_operation_and_line() -> None:
    program = quantize(step())
    inputs = bad(**{"dense1.weight": np.full((5, 6), 7.0), "dense2.weight": np.full((6, 3), 7.0)})
    with pytest.raises(CircuitizeError, match=r"integer\.check.*element.*test_training\.py:\d+.*calibrate") as caught:
        integer.run(program, inputs)
    assert "\n" not in str(caught.value)


def test_a_real_program_is_not_an_integer_program() -> None:
    with pytest.raises(CircuitizeError, match="quantize it first"):
        integer.run(step(), bad())  # type: ignore[arg-type]  # The mistake itself.


def test_a_loss_must_be_one_number() -> None:
    with pytest.raises(TypingError, match=r"one number, found real\[4, 3\]"):
        training_step(perceptron(), lambda p, t: p - t, SGD(), BATCH)


def test_a_model_must_know_the_shape_of_an_example() -> None:
    with pytest.raises(TypingError, match="shape of an example"):
        predict(sequential(relu(), dense(3, 3)), 1)


def test_a_parameter_that_the_model_ignores_stays() -> None:
    spare = Parameter("spare", (2,))
    model = traced(lambda w, s, x: x @ w, [Parameter("weight", (5, 3)), spare], inputs=(5,), kind="model")
    program = training_step(model, mean_squared_error, SGD(), BATCH)
    example = {**model.initial(0), **batches(1)[0]}
    np.testing.assert_array_equal(real.run(program, example)["spare"], example["spare"])
