"""Low-rank adapters: what is adapted and what is frozen, that a model begins as it was, and what a step changes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

import circuitize as cz
from circuitize.circuits.port import Role
from circuitize.frontends.formats import labels
from circuitize.frontends.layers import Model
from circuitize.frontends.tensor import Tensor
from circuitize.frontends.transformer import gpt2
from circuitize.sims import integer, real

WORDS, LENGTH = 11, 4


def base() -> Model:
    return gpt2(WORDS, context=8, blocks=1, width=8, heads=2, length=LENGTH)


def test_adapters_are_beside_matrices_that_are_products_alone() -> None:
    """Not the table of tokens, of which rows are read; named ones alone, where names are given."""
    model = cz.lora(base(), 2)
    frozen = [p for p in model.parameters if p.apart]
    assert [p.name for p in frozen] == [p.name for p in base().parameters] and all(p.frozen for p in frozen)
    adapted = {p.name.rpartition(".")[0] for p in model.parameters if not p.apart}
    block, heads = "block1.dense1.", "block1.attention1.multi_head_attention1."
    assert adapted == {f"{heads}in_weight", f"{heads}out_weight", f"{block}dense1.weight", f"{block}dense2.weight"}
    shapes = {p.name: p.shape for p in model.parameters}
    assert shapes[f"{heads}in_weight.down"] == (8, 2) and shapes[f"{heads}in_weight.up"] == (2, 24)
    one = cz.lora(base(), 3, [f"{heads}out_weight"])
    assert [p.name for p in one.parameters if not p.apart] == [f"{heads}out_weight.down", f"{heads}out_weight.up"]


def test_a_model_begins_as_it_was_and_its_adapters_add_to_it() -> None:
    """In reals: with any adapter the layer is x (W + scale * down up)."""
    model = cz.sequential(cz.dense(5, 4), cz.relu(), cz.dense(4, 3))
    adapted = cz.lora(model, 2, scale=0.5)
    random = np.random.default_rng(0)
    x, values = random.normal(size=(6, 5)), adapted.initial(0)

    def run(model: Model, values: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        program = cz.predict(model, 6)
        return real.run(program, {port.name: {**values, "inputs": x}[port.name] for port in program.inputs})["outputs"]

    kept = {name: values[name] for name in (p.name for p in model.parameters)}
    assert np.array_equal(run(adapted, values), run(model, kept))
    values = {name: value if name in kept else random.normal(size=value.shape) for name, value in values.items()}
    merged = dict(kept)
    for name in ("dense1.weight", "dense2.weight"):
        merged[name] = kept[name] + 0.5 * values[f"{name}.down"] @ values[f"{name}.up"]
    assert np.allclose(run(adapted, values), run(model, merged), atol=1e-12)


@pytest.mark.parametrize("optimizer", [cz.SGD(), cz.Adam()], ids=["SGD", "Adam"])
def test_a_step_takes_frozen_weights_in_and_changes_adapters_alone(optimizer: cz.SGD | cz.Adam) -> None:
    model = cz.lora(base(), 2)
    text = labels(WORDS)
    step = cz.training_step(model, loss, optimizer, 1, text, text, (LENGTH,))
    frozen = {port.name for port in step.inputs if port.role is Role.FROZEN}
    assert frozen == {p.name for p in base().parameters}
    assert not frozen & {port.name for port in step.outputs}
    tokens, targets = np.random.default_rng(0).integers(0, WORDS, (2, 1, LENGTH))
    example = {**cz.start(step, model, 0), "inputs": tokens, "targets": targets, **optimizer.values(1, 2.0**-4)}
    example = {port.name: np.asarray(example[port.name], np.float64) for port in step.inputs}
    found = real.run(step, example)
    ups = [port.name for port in step.outputs if port.name.endswith(".up")]
    assert ups and all(found[name].any() for name in ups)
    program = cz.quantize(cz.training_step(model, loss, optimizer, 1, text, text, (LENGTH,), [example]))
    made = integer.run(program, program.examples[0])
    assert made.keys() == {port.name for port in program.outputs}
    assert all(made[name].any() for name in ups)


def loss(logits: Tensor, following: Tensor) -> Tensor:
    from circuitize.frontends.losses import label_cross_entropy

    return label_cross_entropy(logits.reshape(-1, WORDS), following.reshape(-1))


def test_a_step_follows_the_slope_of_the_loss() -> None:
    """Against differences of the loss, in reals."""
    model, text = cz.lora(cz.sequential(cz.dense(5, 4), cz.dense(4, 3)), 2), cz.Format.signed(16, 8)
    step = cz.training_step(model, cz.mean_squared_error, cz.SGD(), 2, text, text)
    random, rate = np.random.default_rng(1), 2.0**-3
    example = {port.name: random.normal(size=port.format.shape) for port in step.inputs if port.format is not None}
    example["learning_rate"] = np.array(rate)
    found, small = real.run(step, example), 1e-6
    for name in ("dense1.weight.down", "dense2.weight.up"):
        for place in np.ndindex(*example[name].shape):
            ends = []
            for sign in (1, -1):
                moved = np.array(example[name])
                moved[place] += sign * small
                ends.append(float(real.run(step, {**example, name: moved})["loss"]))
            slope = (ends[0] - ends[1]) / (2 * small)
            assert np.isclose(example[name][place] - found[name][place], rate * slope, atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"rank": 0}, "rank of at least 1"),
        ({"rank": 8}, "rank below"),
        ({"rank": 2, "names": ["tokens"]}, "multiplies by"),
        ({"rank": 2, "names": []}, "name them"),
    ],
)
def test_what_cannot_be_adapted_is_refused(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(cz.CircuitizeError, match=said):
        cz.lora(base(), **arguments)  # type: ignore[arg-type]
