"""catgrad's models, steps and faults, taken in and compared with what catgrad itself computes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import models
import numpy as np
import pytest
import tiers
from catgrad.bidirectional.functor import Forget
from catgrad.bidirectional.operation import Lens, Sigmoid, canonical, copy, mse, scale, sgd, subtract
from catgrad.combinators import identity
from catgrad.compile import compile_model
from catgrad.core.operation import Add, Copy
from catgrad.layers import dense
from catgrad.signature import NdArrayType, obj, op
from catgrad.target.python.array_backend.numpy import Numpy
from cli_programs import run
from numpy.typing import NDArray
from open_hypergraphs import OpenHypergraph

from circuitize.circuits import arrays
from circuitize.circuits.differentiate import reverse_derivative
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import compose, evaluate, tensor
from circuitize.circuits.hypergraph import identity as wires
from circuitize.circuits.simplify import simplify
from circuitize.frontends import catgrad as imported
from circuitize.frontends.catgrad import installed
from circuitize.frontends.catgrad import operations as meanings
from circuitize.frontends.catgrad.programs import step_diagram
from circuitize.frontends.losses import mean_squared_error
from circuitize.frontends.optimizers import SGD
from circuitize.frontends.trace import trace
from circuitize.frontends.training import training_step

MODELS = {
    "perceptron": lambda: models.perceptron(4, 12, 5, 3),
    "transformer": lambda: models.transformer(
        blocks=tiers.count(1, deep=6), batch=2, length=5, heads=2, width=8, words=7
    ),
    "linear": lambda: models.linear(models.real(3), models.real(4), models.real(2)),
}
RATE = 0.125
Reals = NDArray[np.float32]
Case = tuple[Any, Any, list[Reals], list[Reals], list[Reals]]


@pytest.fixture(scope="module", params=MODELS)
def case(request: pytest.FixtureRequest) -> Case:
    """(model, catgrad's compiled class, parameters, input, target): single precision, as catgrad runs it."""
    model = MODELS[request.param]()
    compiled, parameters, _ = compile_model(model, sgd(RATE), mse)
    generator = np.random.default_rng(0)

    def drawn(types: Iterable[Any]) -> list[Reals]:
        return [generator.normal(0.0, 0.3, type.shape).astype(np.float32) for type in types]

    return model, compiled(Numpy), drawn(parameters), drawn(model.source), drawn(model.target)


def test_predictions_are_those_of_catgrad(case: Case) -> None:
    model, theirs, parameters, inputs, _ = case
    arrow, count = imported.forward(model)
    assert count == len(parameters)
    (found,) = evaluate(arrow, [*parameters, *inputs])
    (expected,) = theirs.predict(*parameters, *inputs)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_steps_are_those_of_catgrad(case: Case) -> None:
    model, theirs, parameters, inputs, targets = case
    program = imported.step(model, sgd(RATE), mse)
    found = evaluate(program.arrow, [*parameters, *inputs, *targets])
    expected = theirs.step(*parameters, *inputs, *targets)
    for ours, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, other, rtol=1e-5, atol=1e-5)


def test_a_step_computes_nothing_twice() -> None:
    model = MODELS["linear"]()
    assert imported.step(model, sgd(RATE), mse).arrow.edge_count < imported.arrow(_diagram(model), "step").edge_count


def test_our_derivative_is_that_of_catgrad(case: Case) -> None:
    """catgrad's mse has the gradient of half the sum of squares, whatever its name."""
    model, theirs, parameters, inputs, targets = case
    forward, count = imported.forward(model)
    (prediction,) = forward.target
    loss = trace(lambda x, y: ((x - y) * (x - y)).sum() * 0.5, prediction, prediction)
    derivative = reverse_derivative(compose(tensor(forward, wires(prediction)), loss))
    values = [value.astype(np.float64) for value in (*parameters, *inputs, *targets)]
    gradients = evaluate(simplify(derivative), [*values, np.float64(1.0)])[:count]
    expected = theirs.step(*parameters, *inputs, *targets)
    for parameter, gradient, other in zip(parameters, gradients, expected, strict=True):
        np.testing.assert_allclose(parameter - RATE * gradient, other, rtol=1e-4, atol=2e-5)


def _diagram(model: Any) -> Any:
    return step_diagram(model, sgd(RATE), mse)[0]


def test_sizes() -> None:
    """The step of 784-128-10 at batch 32: 61 operations of catgrad's core, sigmoid one of them, 67 with it expanded."""
    diagram = _diagram(models.perceptron(32, 784, 128, 10))
    core = Forget()(diagram)
    sigmoids = [operation for operation in core.H.x.table if type(operation) is Sigmoid]
    expanded = len(core.H.x.table) + sum(len(sigmoid.arrow().H.x.table) - 1 for sigmoid in sigmoids)
    assert (len(core.H.x.table), expanded) == (61, 67)
    # Copies and discards are wiring here, and (x > 0) * x is one ReLU.
    assert imported.arrow(core).edge_count == imported.arrow(diagram).edge_count == 39


@pytest.mark.deep
def test_size_of_a_transformer() -> None:
    transformer = Forget()(_diagram(models.transformer(6, 2, 5, 2, 8, 7)))
    assert len(transformer.H.x.table) == 1578


def test_idioms() -> None:
    program = imported.predict(models.perceptron(4, 3, 5, 2))
    assert [program.arrow.operations[edge].name for edge in program.arrow.edge_operations.tolist()] == [
        *["real.einsum", "real.add", "real.relu"],
        *["real.einsum", "real.add", "real.sigmoid"],
    ]
    assert [port.name for port in program.inputs] == ["parameter1", "parameter2", "parameter3", "parameter4", "inputs"]


def test_a_network_trains_with_our_losses_and_optimisers() -> None:
    network = imported.network(models.perceptron(4, 3, 5, 2))
    program = training_step(network, mean_squared_error, SGD(), 4)
    names = [port.name for port in program.outputs]
    assert names == ["parameter1", "parameter2", "parameter3", "parameter4", "loss"]
    with pytest.raises(CircuitizeError, match=r"batch of shape \[4, 3\], found \[5, 3\]"):
        training_step(network, mean_squared_error, SGD(), 5)


class Sine:
    """An operation that catgrad does not have, and that says nothing of itself."""

    def __init__(self, type: NdArrayType) -> None:
        self.type = type

    def source(self) -> Any:
        return obj(self.type)

    def target(self) -> Any:
        return obj(self.type)


def test_operations_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meanings, "_registered", {})
    diagram = op(Sine(models.real(3)))
    with pytest.raises(CircuitizeError, match=r"wave: Sine: expected an operation of catgrad's core.*register"):
        imported.arrow(diagram, "wave")
    imported.register(Sine, lambda operation, x: x - x * x * x * (1 / 6))
    (found,) = evaluate(imported.arrow(diagram), [np.array([0.0, 0.1, 0.2])])
    np.testing.assert_allclose(found, np.sin([0.0, 0.1, 0.2]), atol=1e-5)
    imported.register(Sine, lambda operation, x: x.sum())
    with pytest.raises(CircuitizeError, match=r"expected Sine to make shapes \[\(3,\)\], found \[\(\)\]"):
        imported.arrow(diagram)
    imported.register(Sigmoid, lambda operation, x: x.apply(arrays.Tanh()))
    (found,) = evaluate(imported.arrow(op(Sigmoid(models.real(3)))), [np.array([0.0, 0.1, 0.2])])
    np.testing.assert_allclose(found, np.tanh([0.0, 0.1, 0.2]))


def wired(
    operations: list[Any], sources: list[list[int]], targets: list[list[int]], ends: list[list[int]], wires: int
) -> Any:
    """An open hypergraph over wires of three numbers, wired as told."""
    like = op(operations[0])
    function, family = type(like.s), type(like.H.s)

    def table(values: list[int], target: int | None) -> Any:
        return function(target, np.array(values, np.uint32))

    def segments(each: list[list[int]]) -> Any:
        flat = [wire for one in each for wire in one]
        return family(table([len(one) for one in each], None), table(flat, wires))

    labels = function(None, np.array(operations, object))
    inner = type(like.H)(segments(sources), segments(targets), obj(*[models.real(3)] * wires), labels)
    return OpenHypergraph(table(ends[0], wires), table(ends[1], wires), inner)


def test_diagrams_that_are_not_monogamous() -> None:
    """x + x with one wire read twice: catgrad's derivative of it would be wrong, without a word."""
    three = models.real(3)
    for sources, targets, ends, message in (
        ([[0, 0]], [[1]], [[0], [1]], "expected each wire to be read once, found wire 0 of shape [3] read 2 times"),
        (
            [[0, 1]],
            [[2]],
            [[0, 1], [2, 2]],
            "expected each wire to be read once, found wire 2 of shape [3] read 2 times",
        ),
        (
            [[0, 1]],
            [[2]],
            [[0], [2]],
            "expected each wire to be written once, found wire 1 of shape [3] written 0 times",
        ),
        (
            [[0, 1]],
            [[1]],
            [[0, 1], [1]],
            "expected each wire to be written once, found wire 1 of shape [3] written 2 times",
        ),
    ):
        with pytest.raises(CircuitizeError, match=re.escape(f"diagram: {message}; use copy and discard")):
            imported.arrow(wired([Add(three)], sources, targets, ends, 3 if 2 in ends[1] else 2))
    assert evaluate(imported.arrow(copy(obj(three)) >> op(Add(three))), [np.ones(3)])[0].tolist() == [2, 2, 2]


def test_cycles() -> None:
    three = models.real(3)
    looped = wired([Add(three), Copy(three)], [[0, 1], [2]], [[2], [3, 1]], [[0], [3]], 4)
    with pytest.raises(CircuitizeError, match="diagram: expected no cycle, found Add reading what follows from it"):
        imported.arrow(looped)


def test_other_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    real = version
    for package, found, message in (
        ("catgrad", "0.3.0", "expected catgrad 0.2.2, found catgrad 0.3.0; pip install"),
        ("numpy", "2.1.0", "expected numpy below 2, as catgrad 0.2.2 needs, found numpy 2.1.0"),
    ):
        monkeypatch.setattr(installed, "version", lambda name, p=package, f=found: f if name == p else real(name))
        installed.module.cache_clear()
        with pytest.raises(CircuitizeError, match=message):
            installed.module("catgrad.core.operation")
    monkeypatch.undo()
    installed.module.cache_clear()


def test_other_things() -> None:
    assert imported.program_of(3) is None and imported.program_of((1, 2, 3)) is None
    with pytest.raises(CircuitizeError, match="expected an open hypergraph of catgrad, found int"):
        imported.predict(3)
    two = identity(obj(models.real(2), models.real(2)))
    with pytest.raises(CircuitizeError, match="expected one input and one output, found 2 and 2"):
        imported.network(two)


GUIDE = Path(__file__).parents[3] / "docs" / "catgrad.md"


def circuitize(*arguments: object, status: int = 0) -> Any:
    outcome = run(*map(str, arguments), "--json")
    assert outcome.status == status, outcome
    return json.loads(outcome.out)


def test_the_command_line_takes_models_as_they_are(tmp_path: Path) -> None:
    """The guide's own file, of fewer pixels, neurons and classes, and its commands."""
    file, text = tmp_path / "network.py", GUIDE.read_text().partition("```python\n")[2].partition("```")[0]
    for before, after in (("real(64)", "real(8)"), ("real(16)", "real(3)"), ("real(10)", "real(2)")):
        assert text.count(before) == 1
        text = text.replace(before, after)
    file.write_text(text)
    assert circuitize("estimate", f"{file}:model", "--target", "r1cs")["targets"]["r1cs"]["constraints"] > 100
    assert circuitize("compile", f"{file}:model", "--target", "r1cs", "-o", tmp_path / "circuit")["constraints"] > 100
    step = f"{file}:training"
    proof = tmp_path / "proof"
    circuitize("prove", step, "--prover", "tensor", "--not-zero-knowledge", "-o", proof)
    verdict = circuitize("verify", proof, "--program", step)
    assert verdict["valid"]
    other = circuitize("verify", proof, "--program", f"{file}:model", status=1)
    assert not other["valid"]


def test_dense_layers_of_catgrad_have_a_batch_in_their_parameters() -> None:
    """Its bias has the batch's shape: a bias per example, as catgrad has it."""
    layer = dense(models.real(4), models.real(3), models.real(2))
    program = imported.predict(layer)
    assert sorted(port.format.shape for port in program.inputs[:2] if port.format) == [(3, 2), (4, 2)]


class Nudge(Sine, Lens):
    """w - dw / 4: an optimiser that catgrad does not know."""

    def to_core(self) -> Any:
        return identity(obj(self.type))

    def rev(self) -> Any:
        types = obj(self.type)
        return (identity(types) @ scale(0.25)(types)) >> subtract(types)


class Residue(Nudge):
    """(p - t) / 2: a loss that catgrad does not know."""

    def rev(self) -> Any:
        types = obj(self.type)
        return subtract(types) >> scale(0.5)(types)


class Decay(Nudge):
    """w - w / 8 - dw: an optimiser that moves weights without a gradient."""

    def rev(self) -> Any:
        types = obj(self.type)
        return (scale(0.875)(types) @ identity(types)) >> subtract(types)


NUDGE, RESIDUE, DECAY = (canonical(lambda type, kind=kind: op(kind(type))) for kind in (Nudge, Residue, Decay))
MODEL = models.linear(models.real(3), models.real(4), models.real(2))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((MODEL, mse, sgd(RATE)), "found MSE, a loss, as optimizer and SGD, an optimiser, as loss; exchange them"),
        ((MODEL, sgd(RATE), sgd(RATE)), "SGD, an optimiser, as loss"),
        ((MODEL, mse, mse), "MSE, a loss, as optimizer"),
        ((MODEL, mse, NUDGE), "MSE, a loss, as optimizer"),
        ((MODEL, RESIDUE, NUDGE), "Residue, a loss, as optimizer and Nudge, an optimiser, as loss"),
        ((MODEL, RESIDUE, sgd(RATE)), "SGD, an optimiser, as loss"),
        ((sgd(RATE), MODEL, mse), "found the function .* at place 1, a model (a diagram) at place 2"),
        ((MODEL, sgd(RATE)), "expected (model, optimizer, loss)"),
        ((MODEL, sgd, mse), "place 2 the function sgd, which makes function of types; does it want its arguments"),
        ((MODEL, sgd(RATE), MODEL), "place 3 a model (a diagram)"),
        ((MODEL, 0.1, mse), "place 2 float"),
    ],
)
def test_another_order_is_refused(given: tuple[object, ...], words: str) -> None:
    words = ".*".join(map(re.escape, words.split(".*")))
    with pytest.raises(CircuitizeError, match=words) as caught:
        imported.program_of(given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("optimizer", "loss"), [(sgd(RATE), mse), (sgd(1.0), RESIDUE), (NUDGE, mse), (NUDGE, RESIDUE), (DECAY, mse)]
)
def test_the_right_order_is_taken(optimizer: Any, loss: Any) -> None:
    program = imported.program_of((MODEL, optimizer, loss))
    assert program is not None
    assert [port.name for port in program.outputs][:1] == ["parameter1"]


def test_an_exchange_is_said_by_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "network.py"
    text = GUIDE.read_text().partition("```python\n")[2].partition("```")[0]
    file.write_text(text.replace("(model, sgd(0.125), mse)", "(model, mse, sgd(0.125))"))
    outcome = run("estimate", f"{file}:training")
    assert outcome.status == 2 and f"{file}:training: expected (model, optimizer, loss)" in outcome.line
