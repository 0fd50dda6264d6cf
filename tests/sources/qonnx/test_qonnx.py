"""QONNX graphs, beside the package qonnx that executes them: node by node, and a network, in constraints too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
import tiers
from numpy.typing import ArrayLike, NDArray
from onnx import TensorProto, helper, numpy_helper
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.transformation.infer_shapes import InferShapes

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import evaluate
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram, Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.values import to_integers, to_reals
from circuitize.frontends.formats import Format
from circuitize.frontends.onnx import arrow
from circuitize.sims.agree import R1CS, agree

DOMAIN = "qonnx.custom_op.general"
INPUT = Format.signed(11, 6)
MODES = ("ROUND", "HALF_EVEN", "CEIL", "FLOOR", "UP", "DOWN", "HALF_UP", "HALF_DOWN")
Reals = NDArray[np.float64]


def model(nodes: Sequence[Any], shape: tuple[int, ...], known: Mapping[str, ArrayLike], version: int = 1) -> Any:
    """From x to y; what is known are float32 initializers."""
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape if name == "x" else None) for name in "xy"]
    given = [numpy_helper.from_array(np.asarray(value, np.float32), name) for name, value in known.items()]
    graph = helper.make_graph(list(nodes), "quantized", ends[:1], ends[1:], given)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid(DOMAIN, version)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def one(operator: str, shape: tuple[int, ...], *known: ArrayLike, version: int = 1, **attributes: Any) -> Any:
    names = [f"known{place}" for place in range(len(known))]
    node = helper.make_node(operator, ["x", *names], ["y"], domain=DOMAIN, **attributes)
    return model([node], shape, dict(zip(names, known, strict=True)), version)


def theirs(given: Any, x: Reals) -> Reals:
    found: Reals = execute_onnx(ModelWrapper(given).transform(InferShapes()), {"x": x.astype(np.float32)})["y"].astype(
        np.float64
    )
    return found


def program(given: Any, shape: tuple[int, ...]) -> Program:
    """Calibrated on next to nothing."""
    ports = (Port("x", Visibility.PUBLIC, INPUT.of(shape)),)
    return Program(arrow(given).arrow, ports, (Port("y", Visibility.PUBLIC),), ({"x": np.full(shape, 1 / 64)},))


def drawn(shape: tuple[int, ...], seed: int = 0) -> Reals:
    """Multiples of 1/64, half of them small: of scales down to 1/16 many are ties."""
    random = np.random.default_rng(seed)
    numbers = random.integers(INPUT.low, INPUT.high, shape, endpoint=True)
    return np.where(random.random(shape) < 0.5, numbers, numbers // 16) / 64


def made(given: Program, program: IntegerProgram, x: Reals) -> tuple[Reals, Reals]:
    """By floats, and by integers."""
    (floats,) = evaluate(given.arrow, [x])
    (whole,) = evaluate(program.arrow, [to_integers(program.inputs[0], x, "x")])
    return floats, to_reals(program.outputs[0].format, whole)


SCALES: tuple[ArrayLike, ...] = (0.25, 1.0, 0.0625 * 2.0 ** np.arange(4).reshape(1, 4, 1))


@pytest.mark.parametrize("mode", MODES)
def test_quant(mode: str) -> None:
    """Of a third of the cases, another third for the next mode; in the deep tier all of them."""
    shape, thirds = (2, 4, 25), tiers.count(3, deep=1)
    cases = list(product(SCALES, (0.0, 3.0), (1, 2, 5), (0, 1), (0, 1)))
    for scale, zero, bits, signed, narrow in cases[MODES.index(mode) % thirds :: thirds]:
        if bits == 1 and (signed or narrow) and (zero or narrow):
            continue
        given = one("Quant", shape, scale, zero, bits, signed=signed, narrow=narrow, rounding_mode=mode)
        ours, x = program(given, shape), drawn(shape, bits)
        for found in made(ours, quantize(ours), x):
            np.testing.assert_array_equal(found, theirs(given, x), f"{scale} {zero} {bits} {signed} {narrow}")


def test_bipolar_and_trunc() -> None:
    shape = (2, 4, 25)
    x = drawn(shape)
    whole = np.floor(x * 4) / 4
    for scale in SCALES:
        given = one("BipolarQuant", shape, scale)
        for found in made(program(given, shape), quantize(program(given, shape)), x):
            np.testing.assert_array_equal(found, theirs(given, x))
    for mode, zero in product(MODES, (0.0, 4.0)):
        given = one("Trunc", shape, 0.25, zero, 8, 5, rounding_mode=mode)
        for found in made(program(given, shape), quantize(program(given, shape)), whole):
            np.testing.assert_array_equal(found, theirs(given, whole))
        for bits, signed in ((4, 1), (3, 0)):
            given = one(
                "Trunc", shape, 0.25, zero, 8, 2.0, bits, version=2, rounding_mode=mode, signed=signed, narrow=0
            )
            for found in made(program(given, shape), quantize(program(given, shape)), whole):
                np.testing.assert_array_equal(found, theirs(given, whole))


def network() -> Any:
    """Three layers: 4-bit weights by channel, 6-bit activations, then signs; then 3-bit weights."""
    random = np.random.default_rng(1)
    nodes: list[Any] = []
    known: dict[str, ArrayLike] = {}

    def add(operator: str, *inputs: str | ArrayLike, domain: str = "", **attributes: Any) -> str:
        names = []
        for given in inputs:
            if not isinstance(given, str):
                known[f"known{len(known)}"] = given
            names.append(given if isinstance(given, str) else f"known{len(known) - 1}")
        nodes.append(helper.make_node(operator, names, [f"t{len(nodes)}"], domain=domain, **attributes))
        return f"t{len(nodes) - 1}"

    def quant(x: str | ArrayLike, scale: ArrayLike, bits: int, signed: int, mode: str = "ROUND") -> str:
        return add("Quant", x, scale, 0.0, bits, domain=DOMAIN, signed=signed, narrow=signed, rounding_mode=mode)

    x = quant("x", 0.125, 6, 1)
    weight = quant(random.normal(0, 0.6, (6, 8)), 2.0 ** -np.arange(2, 10).reshape(1, 8) * 4, 4, 1)
    bias = quant(random.normal(0, 0.6, 8), 2.0**-6, 6, 1)
    x = quant(add("Relu", add("Add", add("MatMul", x, weight), bias)), 0.0625, 6, 0, "FLOOR")
    x = add("MatMul", x, quant(random.normal(0, 0.6, (8, 8)), 0.25, 3, 1))
    x = add("BipolarQuant", add("Sub", x, random.integers(-8, 8, 8) / 8), 0.625, domain=DOMAIN)
    x = add("MatMul", x, quant(random.normal(0, 0.6, (8, 3)), 0.25, 3, 1))
    add("Identity", quant(x, 0.25, 4, 1, "HALF_DOWN"))
    nodes[-1].output[0] = "y"
    return model(nodes, (1, 6), known)


def test_a_network_in_integers_and_in_constraints() -> None:
    given = network()
    ours = program(given, (1, 6))
    whole = quantize(ours)
    seen: list[Reals] = []
    for seed in tiers.seeds(12, deep=30):
        x = drawn((1, 6), seed)
        wanted = theirs(given, x)
        for found in made(ours, whole, x):
            np.testing.assert_array_equal(found, wanted)
        seen.append(wanted)
    assert len(np.unique(np.array(seen))) > 8
    vectors = [{"x": to_integers(whole.inputs[0], drawn((1, 6), 0), "x")}]
    compared = agree(whole, vectors, [R1CS(whole)])
    assert (compared.mismatches, compared.vectors) == (0, 1), compared.first_difference


def test_scales_that_are_not_powers_of_two() -> None:
    """Theirs, but at most one number beside it where a tie is near: float32's there, and here the scale's 16 bits."""
    shape, scale = (64, 64), 0.0573
    given = one("Quant", shape, scale, 0.0, 8, signed=1, narrow=0, rounding_mode="ROUND")
    ours, x = program(given, shape), drawn(shape)
    floats, integers = made(ours, quantize(ours), x)
    wanted = theirs(given, x)
    for found in (floats, integers):
        steps = np.abs(found - wanted) / scale
        assert steps.max() < 1.01 and (steps > 0.5).mean() <= 0.002


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (one("Quant", (2,), 0.5, 0.0, 2.5, signed=1), "expected a width of 1 to 60 bits, found 2.5"),
        (one("Quant", (2,), -0.5, 0.0, 4, signed=1), "expected numbers above 0 as the scale"),
        (one("Quant", (2,), 0.5, 0.0, 4, rounding_mode="NEAREST"), "expected rounding_mode among .*, found 'NEAREST'"),
        (one("Quant", (2,), 0.5, 0.0), "expected 4 inputs, found 3"),
        (one("FloatQuant", (2,), 0.5), "expected an operator that is understood, found qonnx.custom_op.general.Float"),
    ],
)
def test_refusals(given: Any, message: str) -> None:
    with pytest.raises(CircuitizeError, match=message):
        arrow(given)
