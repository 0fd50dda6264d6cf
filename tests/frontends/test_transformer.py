"""A transformer's training step: derivatives, integers, circuits and proofs, with softmax and spherical attention."""

from __future__ import annotations

import sys
from importlib import util

import numpy as np
import pytest
from agreement import check_agreement
from example_programs import EXAMPLES, example
from tensor_forgery import answer, at_first, forged_trace
from tensor_proofs import example_inputs, planned, proved

from circuitize.circuits.differentiate import reverse_derivative
from circuitize.circuits.hypergraph import evaluate
from circuitize.circuits.integers import Shift
from circuitize.circuits.program import Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.values import to_reals
from circuitize.frontends.attention import Attention, softmax_attention, spherical_attention
from circuitize.frontends.datasets import accuracy, digits
from circuitize.frontends.formats import Format, labels
from circuitize.frontends.layers import Model, dense, sequential
from circuitize.frontends.losses import label_cross_entropy, mean_squared_error
from circuitize.frontends.normalization import batch_norm
from circuitize.frontends.optimizers import SGD
from circuitize.frontends.tensor import Tensor
from circuitize.frontends.training import predict, start, training_step, with_examples
from circuitize.frontends.transformer import gpt2, residual, transformer_block
from circuitize.sims import integer, real

SIGNED = Format.signed(12, 8)
ATTENTIONS = [softmax_attention, spherical_attention]


def small(attention: Attention) -> tuple[Model, Program]:
    """A block of width 4 on a batch of 1 sequence of 3 tokens, and its step."""
    block = transformer_block(4, heads=2, hidden=4, attention=attention, causally=True)
    model = Model(block.parameters, block.arrow, "block", (3, 4))
    step = training_step(model, mean_squared_error, SGD(), 1, SIGNED, SIGNED)
    random = np.random.default_rng(0)
    batches = [
        {
            **start(step, model, seed),
            "inputs": SIGNED.nearest(random.normal(size=(1, 3, 4))),
            "targets": SIGNED.nearest(random.normal(size=(1, 3, 4))),
            "learning_rate": np.array(0.125),
        }
        for seed in range(3)
    ]
    return model, with_examples(step, *batches)


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_a_step_descends_along_finite_differences(attention: Attention) -> None:
    model, step = small(attention)
    given = dict(step.examples[0])
    after = real.run(step, given)
    for parameter in model.parameters:
        slope = (given[parameter.name] - after[parameter.name]) / 0.125
        direction, width = np.random.default_rng(1).normal(size=parameter.shape), 1e-5
        ends = [
            float(real.run(step, {**given, parameter.name: given[parameter.name] + sign * width * direction})["loss"])
            for sign in (1, -1)
        ]
        assert abs((ends[0] - ends[1]) / (2 * width) - float((slope * direction).sum())) < 1e-6, parameter.name


@pytest.mark.parametrize("attention", [pytest.param(ATTENTIONS[0], marks=pytest.mark.deep), *ATTENTIONS[1:]])
def test_a_step_in_integers_is_its_circuit(attention: Attention) -> None:
    _, step = small(attention)
    exact = quantize(step)
    check_agreement(exact, [integer.rounded(exact, example) for example in exact.examples[:1]])
    expected, found = real.run(step, step.examples[0]), integer.run(exact, exact.examples[0])
    for port in exact.outputs:
        assert port.format is not None
        assert np.abs(to_reals(port.format, found[port.name]) - expected[port.name]).max() < 2.0**-8


def test_parameters_have_names_by_part() -> None:
    model = transformer_block(4, 2)
    assert [p.name for p in model.parameters] == [
        *(f"attention1.layer_norm1.{name}" for name in ("weight", "bias")),
        *(f"attention1.multi_head_attention1.{name}" for name in ("in_weight", "in_bias", "out_weight", "out_bias")),
        *(f"dense1.layer_norm1.{name}" for name in ("weight", "bias")),
        *(f"dense1.dense{number}.{name}" for number in (1, 2) for name in ("weight", "bias")),
    ]
    assert {p.name: p.shape for p in model.parameters}["dense1.dense1.weight"] == (4, 16)


def test_a_residual_keeps_the_state_of_what_it_skips() -> None:
    inner = sequential(dense(3, 3), batch_norm(3))
    outer, batch = residual(inner), inner.batch_type(4)
    assert outer.parameters == inner.parameters and outer.state == inner.state
    random = np.random.default_rng(2)
    values = [*inner.initial(0).values(), x := random.normal(size=batch.shape)]
    y, *state = evaluate(inner.arrow(batch), values)
    found, *renewed = evaluate(outer.arrow(batch), values)
    np.testing.assert_array_equal(found, x + y)
    for one, other in zip(state, renewed, strict=True):
        np.testing.assert_array_equal(one, other)
    assert inner.inference is not None and outer.inference is not None
    (made,), (skipped,) = (evaluate(m.inference(batch), values) for m in (inner, outer) if m.inference)
    np.testing.assert_array_equal(skipped, x + made)


@pytest.mark.proof
@pytest.mark.parametrize(
    "name", ["transformer.py:step", pytest.param("transformer.py:spherical_step", marks=pytest.mark.deep)]
)
def test_the_example_is_proved(name: str) -> None:
    program, made = planned(name)
    inputs = example_inputs(program)
    proved(program, inputs, made)
    wires = [edge.targets[0] for edge in made.arrow.edges() if isinstance(edge.operation, Shift)]
    changed = forged_trace(made, inputs, wires[len(wires) // 2], at_first(1))
    assert answer(program, made, changed)


@pytest.mark.deep
@pytest.mark.parametrize("name", ["step", "spherical_step"])
def test_digits_are_learned_in_integers(name: str) -> None:
    spec = util.spec_from_file_location("example_transformer", EXAMPLES / "transformer.py")
    assert spec is not None and spec.loader is not None
    module = util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    loaded, model, split = example(f"transformer.py:{name}"), module.MODELS[name], digits(0)
    first = start(loaded.given, model, 0)
    *_, floats = real.train(loaded.given, first, module.RECIPE.batches(split))
    *_, last = integer.train(loaded.integer, first, module.RECIPE.batches(split))
    ports = {port.name: port.format for port in loaded.integer.outputs}
    reals = {name: to_reals(format, last[name]) for name in floats if (format := ports[name]) is not None}
    tester = predict(model, len(split.test_labels))

    def tested(weights: dict[str, np.ndarray]) -> float:
        kept = {port.name: weights[port.name] for port in tester.inputs if port.name in weights}
        return accuracy(real.run(tester, {**kept, "inputs": split.test_inputs})["outputs"], split.test_labels)

    assert tested(reals) >= 0.93
    assert abs(tested(reals) - tested(floats)) <= 0.015


def test_gpt2_has_its_parameters_and_reads_backwards_only() -> None:
    """Small is 124,439,808 parameters; the table of tokens is read by the logits; no token sees a later one."""
    assert sum(int(np.prod(p.shape)) for p in gpt2().parameters) == 124_439_808
    model = gpt2(vocabulary=11, context=6, width=8, blocks=2, heads=2, length=4)
    arrow = model.arrow(model.batch_type(1))
    weights = list(model.initial(0).values())
    tokens, other = np.array([[1.0, 2.0, 3.0, 4.0]]), np.array([[1.0, 2.0, 3.0, 9.0]])
    first, second = (evaluate(arrow, [*weights, given])[0] for given in (tokens, other))
    assert first.shape == (1, 4, 11)
    np.testing.assert_array_equal(first[:, :3], second[:, :3])
    assert np.abs(first[:, 3] - second[:, 3]).max() > 0
    slope = evaluate(reverse_derivative(arrow), [*weights, tokens, np.ones(first.shape)])[0]
    assert np.abs(slope[10]).max() > 0, "a token that is not read, but in the logits"


def test_gpt2_trains_in_integers() -> None:
    """Its step descends in float and in integers alike, its labels and tokens whole numbers."""
    model = gpt2(vocabulary=11, context=6, width=8, blocks=1, heads=2, length=4)
    text = labels(11)

    def loss(logits: Tensor, following: Tensor) -> Tensor:
        return label_cross_entropy(logits.reshape(-1, 11), following.reshape(-1))

    step = training_step(model, loss, SGD(), 1, inputs=text, targets=text, target_shape=(4,))
    batch = {"inputs": np.array([[1, 2, 3, 4]]), "targets": np.array([[2, 3, 4, 5]]), "learning_rate": np.array(0.25)}
    given = with_examples(step, *real.record(step, model.initial(0), [batch] * 6, 6))
    exact = quantize(given)
    *_, floats = real.train(given, model.initial(0), [batch] * 6)
    measured = exact.outputs[-1].format
    assert measured is not None
    steps = integer.train(exact, model.initial(0), [batch] * 6)
    losses = [float(to_reals(measured, outputs["loss"])) for outputs in steps]
    assert losses[-1] < losses[0] - 0.1
    assert abs(losses[-1] - float(floats["loss"])) < 0.02
