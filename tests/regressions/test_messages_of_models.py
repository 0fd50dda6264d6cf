"""Mistakes of newcomers in a model, its loss, its optimiser and its values: one line that leads on."""

# mypy: disable-error-code="arg-type, call-arg, return-value"
from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_programs import refused
from every_case import every_case

from circuitize import Format, Parameter, Port, Visibility, predict, quantize, relu, trace, traced, training_step
from circuitize.circuits.errors import CircuitizeError, TypingError, Undefined
from circuitize.circuits.program import Program
from circuitize.frontends import formats, functions, layers
from circuitize.frontends.adam import Adam
from circuitize.frontends.clipping import ClippedByNorm
from circuitize.frontends.layers import dense, gelu, sequential
from circuitize.frontends.losses import (
    binary_cross_entropy,
    cross_entropy,
    huber,
    kullback_leibler,
    label_cross_entropy,
    mean_squared_error,
)
from circuitize.frontends.optimizers import SGD, Momentum
from circuitize.frontends.training import with_examples
from circuitize.sims import integer, real

BATCH = 4


def model() -> layers.Model:
    return sequential(dense(3, 5), relu(), dense(5, 2))


def step(loss: Any = mean_squared_error, optimizer: Any = None, **more: Any) -> Program:
    return training_step(model(), loss, SGD() if optimizer is None else optimizer, BATCH, **more)


def example() -> dict[str, Any]:
    held = model().initial(0)
    return held | {"inputs": np.full((BATCH, 3), 0.5), "targets": np.eye(2)[[0, 1, 0, 1]], "learning_rate": 0.125}


MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {
    "relu without ()": (lambda: sequential(dense(3, 4), relu), "layer 2: .* found the function relu; write relu()"),
    "dense without ()": (lambda: sequential(dense), "found the function dense; write dense(...)"),
    "a function of tensors": (lambda: sequential(functions.relu), "write activation(relu)"),
    "a lambda": (lambda: sequential(lambda x: x * 2), "write activation(<lambda>)"),
    "a list of layers": (lambda: sequential([dense(3, 4), relu()]), "found list; write sequential(*layers)"),
    "no layers": (lambda: sequential(), "at least one layer, found none"),
    "a number for a layer": (lambda: sequential(3), "expected a model, found 3; give a layer"),
    "a layer on a tensor": (
        lambda: predict(traced(lambda w, x: relu(x @ w), [Parameter("w", (3, 2))], (3,)), 1),
        "expected relu() without arguments, which is a layer, found Tensor([1, 2]); the function of a tensor is relu",
    ),
    "gelu on a tensor": (
        lambda: predict(traced(lambda w, x: gelu(x @ w), [Parameter("w", (3, 2))], (3,)), 1),
        "the function of a tensor is gelu of circuitize.frontends.functions",
    ),
    "SGD without ()": (lambda: step(optimizer=SGD), "expected an optimiser, found the function SGD; write SGD()"),
    "a word for an optimiser": (lambda: step(optimizer="sgd"), "expected an optimiser, found 'sgd'; give one, such as"),
    "a rate for SGD": (lambda: SGD(learning_rate=0.1), "found 0.1; write SGD(): a learning rate is an input of every"),
    "a rate first": (lambda: SGD(0.1), "--scalar learning_rate=0.1, or by --schedule"),
    "a rate of momentum": (lambda: Momentum(0.9, 0.1), "Momentum: expected a Format for learning_rate, found 0.1"),
    "a rate for Adam": (lambda: Adam(learning_rate=0.001), "found learning_rate=0.001; write Adam(): a learning rate"),
    "lr": (lambda: SGD(lr=0.1), "found lr=0.1; write SGD(): a learning rate"),
    "an unknown argument": (lambda: SGD(momentum=0.9), "among ['learning_rate', 'weight_decay'], found momentum=0.9"),
    "no format": (lambda: Momentum(velocity=(24, 20)), "expected a Format for velocity, found tuple"),
    "clipping without an optimiser": (lambda: ClippedByNorm(SGD, 1.0), "write ClippedByNorm(SGD(), bound)"),
    "a loss that is a number": (lambda: step(loss=0.5), "a function of predictions and targets, found 0.5"),
    "a loss of many": (lambda: step(loss=lambda p, t: p - t), "a loss that is one number, found real[4, 2]; take its"),
    "a word for a batch": (lambda: training_step(model(), huber, SGD(), "16"), "at least 1, found '16'"),
    "a batch of none": (lambda: training_step(model(), huber, SGD(), 0), "at least 1, found 0"),
    "a batch of data": (lambda: predict(model(), np.zeros((4, 3))), "expected a batch of a whole number of examples"),
    "a function for a model": (lambda: training_step(relu, huber, SGD(), 4), "found the function relu; write relu()"),
    "a type for a format": (lambda: step(inputs=formats.DATA.of((3,))), "inputs: expected a Format, found Fixed"),
    "an example for examples": (lambda: step(examples=example()), "expected a list of batches, found one; write"),
    "words for extents": (lambda: dense("3", 4), "parameter 'weight': .* found '3' at axis 0"),
    "an extent for a shape": (lambda: Parameter("w", 8), "parameter 'w': .* found 8; write (8,)"),
    "a list for a shape": (lambda: Parameter("w", [8, 2]), "found [8, 2]; write (2, 3)"),
    "a word for a format": (lambda: dense(3, 4, format="int8"), "parameter 'weight': expected a Format, found 'int8'"),
    "layers that do not fit": (
        lambda: predict(sequential(dense(3, 4), dense(3, 2)), 2),
        "found 4 of [2, 4] and 3 of [3, 2]; check which layer",
    ),
    "labels for one-hot": (
        lambda: step(cross_entropy, target_shape=()),
        "targets of shape [4, 2], an indicator (one-hot) for each class, found [4]; use label_cross_entropy",
    ),
    "labels for distributions": (lambda: step(kullback_leibler, target_shape=()), "found [4]; use label_cross_entropy"),
    "one-hot for labels": (
        lambda: step(label_cross_entropy),
        "labels of shape [4], a class number for each example, found [4, 2]; give training_step targets=formats.labels"
        "(2), target_shape=(), or use cross_entropy for indicators",
    ),
    "labels spread": (lambda: step(target_shape=()), "shape of predictions, [4, 2], found [4]; leave target_shape out"),
    "labels of two": (
        lambda: step(binary_cross_entropy, target_shape=(1,)),
        "[4, 2], found [4, 1]; leave target_shape",
    ),
    "labels that would fit": (lambda: step(huber, target_shape=(1, 2)), "[4, 2], found [4, 1, 2]; leave target_shape"),
    "an example without a rate": (
        lambda: with_examples(step(), {k: v for k, v in example().items() if k != "learning_rate"}),
        "'learning_rate' in example 1, .*optimizer.values(t, learning_rate)",
    ),
    "an example without weights": (
        lambda: with_examples(step(), {k: v for k, v in example().items() if k != "dense1.bias"}),
        "'dense1.bias' in example 1, .*as model.initial(seed) has them",
    ),
    "a loss for a model": (lambda: training_step(huber, model(), SGD(), 4), "model: .* found the function huber"),
    "an optimiser for a loss": (lambda: step(SGD(), huber), "found SGD; write training_step(model, mean_squared_error"),
    "a function of too few": (
        lambda: predict(traced(lambda x: x, [Parameter("w", (3, 2))], (3,)), 2),
        "expected a function of 2 tensors, one for each parameter or shape, then the batch, found <lambda>(x); give it",
    ),
    "a tensor in a text": (
        lambda: predict(traced(lambda w, x: f"{x:.3f}" and x @ w, [Parameter("w", (3, 2))], (3,)), 2),
        "expected a number known now, found a tensor",
    ),
    "a word for bits": (lambda: Format.signed("8", 4), "expected a whole number for bits of a format, found '8'"),
    "no bits": (lambda: Format.signed(0, 4), "expected at least 1 bit, the sign, found 0"),
    "half a bit": (lambda: Format.signed(8, 4.5), "whole number for fraction_bits of a format, found 4.5"),
    "bounds exchanged": (lambda: Format(4, 3, 1), "found the interval [3, 1]; exchange them"),
    "a word for a bound": (lambda: Format.between("a", 1, 4), "a finite number for low, found 'a'"),
    "an infinite bound": (lambda: Format.between(0, float("inf"), 4), "a finite number for high, found inf"),
    "examples in a list": (lambda: with_examples(step(), [example()]), "found list as example 1; write with_examples("),
}


@every_case(MISTAKES)
def test_mistakes_are_one_line_with_file_and_line(name: str) -> None:
    make, words = MISTAKES[name]
    with pytest.raises(TypingError, match=".*".join(map(re.escape, words.split(".*")))) as caught:
        make()
    message = str(caught.value)
    assert "\n" not in message
    assert re.search(rf"{Path(__file__).name}:\d+", message), message


SHAPES: dict[str, tuple[str, tuple[int, ...], str]] = {
    "transposed": (
        "dense1.weight",
        (5, 3),
        "[3, 5], found [5, 3]; transpose it (array.T): reshaping would scramble it",
    ),
    "flat": ("dense1.weight", (15,), "found [15]; reshape it: array.reshape(3, 5), if its elements are in that order"),
    "of another layer": ("dense1.weight", (5, 2), "found [5, 2]; give an array of this shape, or change the model"),
    "another batch": ("inputs", (6, 3), "[4, 3], found [6, 3]; give 4 examples, or make the program with batch=6"),
    "no batch": ("inputs", (3,), "[4, 3], found [3]; give a batch of 4 examples: this is one"),
    "labels": ("targets", (4,), "[4, 2], found [4]; give an indicator (one-hot) for each of 2 classes: numpy.eye(2)["),
    "a row": ("dense1.bias", (1, 5), "[5], found [1, 5]; reshape it: array.reshape(5)"),
    "a vector of one": ("learning_rate", (1,), "[], found [1]; reshape it: array.reshape(())"),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_of_values(name: str) -> None:
    port, shape, words = SHAPES[name]
    given: Mapping[str, Any] = example() | {port: np.zeros(shape)}
    exact = quantize(with_examples(step(), example()))
    for run in (lambda: integer.run(exact, given), lambda: real.run(step(), given)):
        with pytest.raises(CircuitizeError, match=re.escape(words)):
            run()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([[0.5], [0.5, 0.5]], "found rows of different lengths"),
        ("abc", "found dtype <U3"),
        (None, "found dtype object"),
    ],
)
def test_examples_that_are_no_arrays(value: Any, words: str) -> None:
    with pytest.raises(CircuitizeError, match=f"example 0: expected .*{words}"):
        quantize(with_examples(step(), example() | {"inputs": value}))


def test_ports_whose_format_has_no_shape() -> None:
    arrow = trace(lambda x: x * 2.0, (3,))
    for format, words in ((formats.DATA, r"write format.of\(\(3,\)\)"), (formats.DATA.of((4,)), r"one of shape \[3\]")):
        with pytest.raises(TypingError, match=words):
            Program(arrow, (Port("x", Visibility.PUBLIC, format),), (Port("y", Visibility.PUBLIC),))


RETURNED = {
    "Model": ("dense(3, 2)", "found Model; make one of it: training_step(model, loss, optimizer, batch), or predict"),
    "function": ("lambda: 3", "found function; return what the function makes: add ()"),
    "list": ("[predict(dense(3, 2), 1)]", "found list; return one of them alone"),
    "number": ("3", "found int; the file has f0, f1, f2, f3, f4, f5, f6, f7 and 32 others"),
}


@pytest.mark.parametrize("name", RETURNED)
def test_what_is_no_program(name: str, tmp_path: Path) -> None:
    returned, words = RETURNED[name]
    others = "".join(f"def f{n}(): pass\n" for n in range(39))
    text = f"from circuitize import dense, predict\n{others}def made(): return {returned}\n"
    (tmp_path / "program.py").write_text(text)
    assert words in refused("estimate", f"{tmp_path / 'program.py'}:made")


def test_one_hot_where_class_numbers_are_expected() -> None:
    program = step(label_cross_entropy, targets=formats.labels(2), target_shape=())
    with pytest.raises(CircuitizeError, match=r"\[4\], found \[4, 2\]; give the number of a class for each example"):
        real.run(program, example())


def test_axes_in_another_order() -> None:
    from circuitize.circuits.shapes import remedy

    assert "transpose its axes" in remedy((2, 3, 4), (3, 4, 2), False)
    assert "transpose it" in remedy((3, 4), (4, 3), True)


def test_a_learning_rate_past_calibration_says_what_fits() -> None:
    exact = quantize(with_examples(step(), example()))
    with pytest.raises(Undefined, match="comes of input 'learning_rate' alone, of which at most") as caught:
        integer.run(exact, example() | {"learning_rate": 1.0})
    found = re.search(r"at most ([\d.]+) fits: use less, or calibrate with examples", str(caught.value))
    assert found is not None
    most = float(found[1])
    assert 0.125 < most < 1.0
    for rate, defined in ((most, True), (most + 2**-10, False)):
        try:
            integer.run(exact, example() | {"learning_rate": rate})
        except Undefined as error:
            assert not defined or "learning_rate" not in str(error), error
        else:
            assert defined


def test_other_values_past_calibration_say_which_numbers_fit() -> None:
    exact = quantize(with_examples(step(), example()))
    high = {"inputs": np.ones((BATCH, 3)), "dense1.weight": np.full((3, 5), 3.0), "learning_rate": 2**-8}
    with pytest.raises(Undefined, match=r"; numbers from -[\d.]+ to [\d.]+ fit there: use inputs that stay inside"):
        integer.run(exact, example() | high)
    precision = step().precision
    for _ in range(8):
        try:
            integer.run(quantize(with_examples(replace(step(), precision=precision), example())), example() | high)
        except Undefined as error:
            found = re.search(r"or with ([\d,]+) times the margin", str(error))
            assert found is not None, error
            precision = replace(precision, margin=precision.margin * int(found[1].replace(",", "")))
        else:
            break
    else:
        pytest.fail("the margins that the messages name do not hold")
    assert precision.margin > step().precision.margin
