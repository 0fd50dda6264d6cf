"""Tensors in blocks: they cover every element once, and what is proved of them is what is proved of whole tensors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from example_programs import example
from r1cs_programs import chain, program
from tensor_assignments import Bench
from tensor_forgery import answer
from tensor_proofs import committed_inputs, example_inputs, proved

from circuitize.backends.tensor import blocks
from circuitize.backends.tensor.draft import Draft
from circuitize.backends.tensor.forms import PRIME, Column
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.port import Role, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.provers.tensor.plan import Plan, plan


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Blocks cost nothing, so that every tensor is cut as far as it can be."""
    blocks.blocks.cache_clear()
    monkeypatch.setattr(blocks, "BLOCK", 0)
    yield
    blocks.blocks.cache_clear()


def every_cut(shape: tuple[int, ...]) -> None:
    seen = np.zeros(shape, np.int64)
    for block in blocks.blocks(shape):
        seen[block.places] += 1
        assert block.of(shape).target_shape == block.shape == block.pad(shape).source_shape
        values = np.arange(seen.size).reshape(shape)
        assert np.array_equal(block.of(shape).gather(values), values[block.places])
    assert (seen == 1).all()
    assert Draft().padded(shape) <= blocks.padded(shape)


@pytest.mark.parametrize("shape", [(), (1,), (7,), (300, 5), (784, 128), (64, 784), (3, 100, 70), (1232, 10)])
def test_blocks_cover_every_element_once(shape: tuple[int, ...]) -> None:
    every_cut(shape)
    cost = Draft().padded(shape) + blocks.BLOCK * (len(blocks.blocks(shape)) - 1)
    assert cost <= blocks.padded(shape)


@pytest.mark.parametrize("shape", [(), (7,), (12, 5), (3, 11, 6)])
def test_free_blocks_have_no_padding(small: None, shape: tuple[int, ...]) -> None:
    every_cut(shape)
    assert Draft().padded(shape) == int(np.prod(shape))


def weights(shape: tuple[int, int], batch: int) -> IntegerProgram:
    """x @ W, shifted and checked, then a step of W: a committed parameter that leaves in its own format."""
    builder = Builder()
    w, x = builder.input(Fixed(shape, 6, -128, 127)), builder.input(Fixed((batch, shape[0]), 2, -8, 7))
    y = builder.add(integers.Check(-512, 511), builder.add(integers.Shift(3), _product(builder, "xy,yz->xz", x, w)))
    h = builder.add(integers.ReLU(), y)
    step = _product(builder, "xy,xz->yz", x, h)
    scaled = builder.add(integers.Scale(1 << 1, 1), w)
    moved = builder.add(integers.Shift(1), builder.add(integers.Subtract(), scaled, step))
    made = program(builder.build([builder.add(integers.Clamp(-128, 127), moved), h]), Visibility.COMMITTED)
    roles = (Role.PARAMETER, Role.DATA)
    outputs = [replace(port, role=role) for port, role in zip(made.outputs, roles, strict=True)]
    return replace(
        made,
        inputs=tuple(replace(port, role=role) for port, role in zip(made.inputs, roles, strict=True)),
        outputs=(replace(outputs[0], name=made.inputs[0].name), *outputs[1:]),
    )


def _product(builder: Builder, equation: str, x: int, y: int) -> int:
    return builder.add(integers.Contract(equation), x, y)


def test_a_blocked_step_is_proved_and_each_block_is_bound(small: None) -> None:
    """Every block of every column, one element changed at a time: none passes."""
    given = weights((5, 6), 3)
    random = np.random.default_rng(4)
    inputs = {"in0": random.integers(-128, 127, (5, 6)), "in1": random.integers(-8, 7, (3, 5))}
    made = plan(given)
    cut = [i for i, base in enumerate(made.bases) if isinstance(base, Column) and base.name == "input in0"]
    assert [made.bases[i].shape for i in cut] == [(4, 4), (4, 2), (1, 4), (1, 2)]
    assert [made.bases[i].shape for i in [b for b in range(len(made.bases)) if _named(made, b, "input in1")]] == [
        (3, 5)
    ]
    proved(given, inputs, made)
    trace = made.trace(inputs)
    values = made.values(trace)
    for i, base in enumerate(made.bases):
        if isinstance(base, Column) and base.recipe is not None:
            changed = [np.array(value) for value in values]
            changed[i].reshape(-1)[-1] += 1
            assert answer(given, made, trace, changed), base.name


def _named(made: Plan, base: int, name: str) -> bool:
    found = made.bases[base]
    return isinstance(found, Column) and found.name == name


def test_one_witness_with_blocks(small: None) -> None:
    given = committed_inputs(chain(Fixed((3,), 0, -1, 2), integers.Shift(1), integers.Check(-1, 0), integers.ReLU()))
    port = replace(given.inputs[0], role=Role.PARAMETER)
    made = plan(replace(given, inputs=(port,)), 4)
    assert sum(isinstance(base, Column) and base.name == "input in0" for base in made.bases) == 2
    for values in ([-1, 0, 1], [1, 1, -1], [2, 0, 0], [0, 0, 2]):
        bench = Bench(made, {})
        bench.fixed = {}
        bench.free = [i for i in bench.free if not _named(made, i, "input in0")]
        given_blocks = iter((np.array(values[:2], object), np.array(values[2:], object)))
        inputs = {i: next(given_blocks) for i, base in enumerate(made.bases) if _named(made, i, "input in0")}
        found = [out for chosen in bench.assignments() if (out := bench.outputs({**inputs, **chosen})) is not None]
        defined = max(values) <= 1
        assert found == ([[max(0, value // 2) % PRIME for value in values]] if defined else []), values


def test_a_large_step_in_blocks_keeps_its_root_from_proof_to_proof() -> None:
    """Parameters leave one proof under the root that they enter the next one by."""
    given = weights((70, 130), 2)
    made = plan(given)
    assert sum(_named(made, base, "input in0") for base in range(len(made.bases))) > 1
    random = np.random.default_rng(1)
    inputs = {"in0": random.integers(-128, 127, (70, 130)), "in1": random.integers(-1, 2, (2, 70))}
    first = proved(given, inputs, made)
    salts = {("input", "parameters"): first.secrets["output", "parameters"]}
    after = {**inputs, "in0": first.outputs["in0"]}
    second = proved(given, after, made, salts=salts)
    assert second.statement.roots["input", "parameters"] == first.statement.roots["output", "parameters"]


def test_a_training_step_with_every_tensor_in_blocks(small: None) -> None:
    given = example("iris.py:step").integer
    made = plan(given)
    assert sum(isinstance(base, Column) for base in made.bases) > 40
    proved(given, example_inputs(given), made)
