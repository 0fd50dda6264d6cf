"""Attention is JAX's, masks included; spherical attention by its definition, its edges, and any tiling."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import util
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from agreement import check_agreement, honest_witness
from jax_derivatives import pulled
from tensor_forgery import answer, at_first, forged_trace
from tensor_proofs import both, committed_inputs, proved

from circuitize.backends.r1cs.checker import failing_rows
from circuitize.backends.tensor.forms import Column
from circuitize.circuits import arrays
from circuitize.circuits.differentiate import reverse_derivative
from circuitize.circuits.errors import TypingError
from circuitize.circuits.hypergraph import evaluate
from circuitize.circuits.integers import Divide, SquareRoot
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram, Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import raw, to_reals
from circuitize.frontends.attention import causal, multi_head_attention, softmax_attention, spherical_attention
from circuitize.frontends.tensor import Tensor
from circuitize.frontends.trace import trace
from circuitize.provers.tensor.plan import plan
from circuitize.sims import integer
from circuitize.sims.agree import R1CS

jax.config.update("jax_enable_x64", True)

SHAPES = ((2, 3, 4), (2, 5, 4), (2, 5, 3))
FLOOR = 2.0**-6


def jax_softmax(q: Any, k: Any, v: Any, mask: Any) -> Any:
    scores = jnp.where(mask > 0, q @ jnp.swapaxes(k, 1, 2) / np.sqrt(q.shape[-1]), -jnp.inf)
    return jax.nn.softmax(scores) @ v


def jax_spherical(q: Any, k: Any, v: Any, mask: Any) -> Any:
    scores = q @ jnp.swapaxes(k, 1, 2) * mask
    return scores @ v / jnp.fmax(jnp.sqrt((scores**2).sum(-1, keepdims=True)), FLOOR)


PAIRS = [
    pytest.param(softmax_attention, jax_softmax, id="softmax"),
    pytest.param(spherical_attention, jax_spherical, id="spherical"),
]


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_attention_and_its_derivatives_are_jax_s(ours: Callable[..., Tensor], theirs: Any, masked: bool) -> None:
    random = np.random.default_rng(0)
    q, k, v = (random.normal(size=shape) for shape in SHAPES)
    mask = random.integers(0, 2, (2, 3, 5)) | (np.arange(5) == 1) if masked else np.ones((2, 3, 5))
    arrow = trace(lambda q, k, v: ours(q, k, v, q.constant(mask) if masked else None), *SHAPES)
    (value,) = evaluate(arrow, [q, k, v])
    cotangent = random.normal(size=value.shape)
    expected, slopes = pulled(lambda q, k, v: theirs(q, k, v, mask))([q, k, v], cotangent)
    np.testing.assert_allclose(value, expected, atol=1e-12)
    found = evaluate(reverse_derivative(arrow), [q, k, v, cotangent])
    for slope, wanted in zip(found, slopes, strict=True):
        np.testing.assert_allclose(slope, wanted, atol=1e-12)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("attention", [softmax_attention, spherical_attention])
def test_gradients_are_finite_differences(attention: Callable[..., Tensor], masked: bool) -> None:
    """To within 1e-6, element by element."""
    random, step = np.random.default_rng(1), 1e-5
    values = [random.normal(size=shape) for shape in SHAPES]
    mask = np.tril(np.ones((3, 5)), 1)
    arrow = trace(lambda q, k, v: attention(q, k, v, q.constant(mask) if masked else None), *SHAPES)
    cotangent = random.normal(size=(2, 3, 3))
    slopes = evaluate(reverse_derivative(arrow), [*values, cotangent])
    for position, slope in enumerate(slopes):
        for place in np.ndindex(slope.shape):
            ends = []
            for sign in (1, -1):
                moved = [value.copy() for value in values]
                moved[position][place] += sign * step
                ends.append(float((evaluate(arrow, moved)[0] * cotangent).sum()))
            assert abs((ends[0] - ends[1]) / (2 * step) - slope[place]) < 1e-6


def test_a_row_without_scores_is_defined() -> None:
    """Spherical: it reads 0, and its derivative is that of s v / floor. Softmax: every position weighs the same."""
    v = np.arange(6.0).reshape(3, 2)
    arrow = trace(lambda s, v: s.apply(arrays.SphericalAttention(FLOOR), v), (1, 3), (3, 2))
    assert not evaluate(arrow, [np.zeros((1, 3)), v])[0].any()
    of_scores, of_values = evaluate(reverse_derivative(arrow), [np.zeros((1, 3)), v, np.ones((1, 2))])
    np.testing.assert_allclose(of_scores, v.sum(axis=1)[None] / FLOOR)
    assert not of_values.any()
    blind = trace(lambda q, k, v: softmax_attention(q, k, v, q.constant(np.zeros((1, 3)))), (1, 4), (3, 4), (3, 2))
    found = evaluate(blind, [np.ones((1, 4)), np.arange(12.0).reshape(3, 4), v])[0]
    np.testing.assert_allclose(found, v.mean(axis=0)[None])


def test_no_multiple_of_a_row_changes_what_it_reads() -> None:
    random = np.random.default_rng(2)
    s, v = random.normal(size=(4, 6)), random.normal(size=(6, 3))
    arrow = trace(lambda s, v: s.apply(arrays.SphericalAttention(), v), s.shape, v.shape)
    (once,) = evaluate(arrow, [s, v])
    np.testing.assert_allclose(evaluate(arrow, [s * 7.5, v])[0], once, rtol=1e-12)
    np.testing.assert_allclose(evaluate(arrow, [-s, v])[0], -once, rtol=1e-12)


def test_a_masked_position_is_not_read() -> None:
    """Causally, a later token changes nothing before it; and the mask is that of JAX's tril."""
    np.testing.assert_array_equal(causal(4), np.tril(np.ones((4, 4))))
    for attention in (softmax_attention, spherical_attention):
        model = multi_head_attention(6, 2, attention, causally=True)
        arrow = model.arrow(model_type := trace(lambda x: x, (1, 4, 6)).source[0])  # type: ignore[arg-type]
        random = np.random.default_rng(3)
        weights = list(model.initial(0).values())
        x = random.normal(size=model_type.shape)
        later = x.copy()
        later[:, 2:] += 1.0
        first, second = (evaluate(arrow, [*weights, given])[0] for given in (x, later))
        np.testing.assert_array_equal(first[:, :2], second[:, :2])
        assert np.abs(first[:, 2:] - second[:, 2:]).min() > 0


def test_heads_divide_the_width() -> None:
    with pytest.raises(TypingError, match="expected a width that is a multiple of 4 heads, found 6"):
        multi_head_attention(6, 4)


def spherical_program(tile: int, length: int = 5) -> IntegerProgram:
    """Scores [2, length] with a row of zeros and one near the floor, values [length, 2]."""
    random = np.random.default_rng(4)
    shapes = ((3, length), (length, 2))
    arrow = trace(lambda s, v: s.apply(arrays.SphericalAttention(FLOOR, tile), v), *shapes)
    formats = [Fixed(shape, 8, -1024, 1023) for shape in shapes]
    ports = [Port(name, Visibility.PUBLIC, format) for name, format in zip("sv", formats, strict=True)]
    scores, values = (np.rint(random.normal(0.0, 1.0, shape) * 256) / 256 for shape in shapes)
    scores[0], scores[1] = 0.0, np.arange(length) % 2 / 256
    return quantize(Program(arrow, tuple(ports), (Port("y", Visibility.PUBLIC),), ({"s": scores, "v": values},)))


def test_every_tiling_gives_the_same_integers() -> None:
    programs = [spherical_program(tile, 7) for tile in (0, 1, 2, 3, 4, 7, 9)]
    random = np.random.default_rng(5)
    given = programs[0].inputs
    for _ in range(20):
        vector = {p.name: random.integers(-400, 400, p.format.shape) for p in given if p.format is not None}
        vector["s"][0] = 0
        found = [integer.run(program, raw(vector))["y"] for program in programs]
        assert not found[0][0].any()
        for other in found[1:]:
            np.testing.assert_array_equal(other, found[0])


def test_integers_are_within_a_unit_of_the_exact_quotient() -> None:
    program = spherical_program(2)
    (y,) = program.outputs
    assert y.format is not None
    random = np.random.default_rng(6)
    for _ in range(50):
        s, v = random.integers(-512, 512, (3, 5)), random.integers(-256, 256, (5, 2))
        s[0] = random.integers(-1, 2, 5)
        found = to_reals(y.format, integer.run(program, raw({"s": s, "v": v}))["y"])
        norms = np.fmax(np.sqrt((s / 256) ** 2 @ np.ones((5, 1))), FLOOR)
        assert np.abs(found - (s / 256) @ (v / 256) / norms).max() <= 1.5 * 2.0**-y.format.fraction_bits


def test_no_wire_of_its_circuit_can_be_another() -> None:
    """Root, quotient, remainder and their bits: each wire that is no input, changed alone, breaks some constraint."""
    program = spherical_program(0, 3)
    vector = integer.rounded(program, program.examples[0])
    check_agreement(program, [vector])
    target = R1CS(program)
    system, made = target.emission.system, honest_witness(target, [vector])
    assert made is not None
    for wire in [*range(1, 1 + system.public_outputs), *range(1 + system.public + system.private_inputs, system.wires)]:
        changed = made.copy()
        (value,) = system.field.to_integers(made[wire : wire + 1])
        changed[wire] = system.field.from_integers([(value + 1) % system.field.prime])[0]
        assert len(failing_rows(system, changed)), wire


@pytest.mark.proof
@pytest.mark.parametrize("kind", [SquareRoot, Divide])
def test_another_root_or_quotient_is_no_proof(kind: type) -> None:
    program = committed_inputs(spherical_program(0, 3))
    made = plan(program)
    inputs = {p.name: np.rint(np.ldexp(program.examples[0][p.name], 8)).astype(np.int64) for p in program.inputs}
    proved(program, inputs, made)
    (wire,) = [edge.targets[0] for edge in made.arrow.edges() if isinstance(edge.operation, kind)]
    for amount in (1, -1, 1 << 20):
        assert answer(program, made, forged_trace(made, inputs, wire, at_first(amount)))


@pytest.mark.proof
@pytest.mark.parametrize("amount", [1, -1, 1 << 40])
def test_no_column_of_its_proof_can_be_another(amount: int) -> None:
    """The limbs of root, quotients and both remainders among them, each changed alone."""
    program = committed_inputs(spherical_program(0, 3))
    made = plan(program)
    inputs = {p.name: np.rint(np.ldexp(program.examples[0][p.name], 8)).astype(np.int64) for p in program.inputs}
    honest = made.trace(inputs)
    values = made.values(honest)
    columns = {
        i: base.name for i, base in enumerate(made.bases) if isinstance(base, Column) and base.recipe is not None
    }
    assert len(columns) >= 8
    for column, name in columns.items():
        changed = [at_first(amount)(value) if i == column else value for i, value in enumerate(values)]
        assert answer(program, made, honest, changed), name


@pytest.mark.proof
def test_another_output_is_no_proof() -> None:
    """An honest proof, beside the claim that another number was read: in a row of zeros, and in one of scores."""
    program = committed_inputs(spherical_program(0, 3))
    inputs = {p.name: np.rint(np.ldexp(program.examples[0][p.name], 8)).astype(np.int64) for p in program.inputs}
    found = proved(program, inputs)
    ((name, honest),) = found.statement.publics.items()
    for place in ((0, 0), (2, 1)):
        changed = honest.copy()
        changed[place] += 1
        assert both(program, replace(found.statement, publics={name: changed}), found.proof)


@pytest.mark.parametrize("length", [257, 515, 1023])
def test_the_maximum_of_a_long_odd_axis(length: int) -> None:
    """Its halves overlap in the middle: wherever the greatest is, it is found."""
    format = Fixed((2, length), 4, -999, 999)
    ports = (Port("x", Visibility.PUBLIC, format),), (Port("y", Visibility.PUBLIC),)
    random = np.random.default_rng(7)
    x = random.integers(-999, 900, (2, length))
    program = quantize(Program(trace(lambda x: x.max(1), (2, length)), *ports, ({"x": x / 16},)))
    for place in (0, length // 2 - 1, length // 2, length // 2 + 1, length - 1):
        moved = x.copy()
        moved[1, place] = 999
        np.testing.assert_array_equal(integer.run(program, raw({"x": moved}))["y"], moved.max(axis=1))


def test_the_table_of_costs_is_what_estimates_say() -> None:
    """Of 64 positions, by the benchmark that prints the table: longer ones take minutes."""
    root = Path(__file__).parents[2]
    spec = util.spec_from_file_location("attention_benchmark", root / "benchmarks" / "attention.py")
    assert spec is not None and spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    guide = (root / "docs" / "attention.md").read_text()
    forms = {"softmax": softmax_attention, "spherical": spherical_attention, "products": module.products}
    for name, attention in forms.items():
        found = " | ".join(f"{count:,}" for count in module.counts(attention, 64))
        assert f"| {name} | 64 | {found} |" in guide, found
