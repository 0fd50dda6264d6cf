"""ONNX's operators of quantized networks, one by one beside onnxruntime; scales that are no powers of two, measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, ValueInfoProto, helper, numpy_helper
from qdq_networks import Network, asymmetric, perceptron
from tiers import count

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import evaluate
from circuitize.circuits.lowering import Precision
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.values import to_integers, to_reals
from circuitize.frontends.formats import Format
from circuitize.frontends.onnx import UnknownValue, arrow

INPUT = Format.signed(12, 6)
Known = NDArray[Any]


def model(operator: str, x: Known, *known: Known | None, opset: int = 21, **attributes: Any) -> Any:
    """One node, whose first input is x and whose others are known; no name where one is left out."""
    names = ["" if array is None else f"known{place}" for place, array in enumerate(known)]
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    given = [numpy_helper.from_array(a, name) for a, name in zip(known, names, strict=True) if a is not None]
    node = helper.make_node(operator, ["x", *names], ["y"], **attributes)
    ends = [helper.make_tensor_value_info("x", kind, x.shape), ValueInfoProto(name="y")]
    graph = helper.make_graph([node], "graph", ends[:1], ends[1:], given)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def theirs(given: Any, x: Known) -> NDArray[np.float64]:
    session = onnxruntime.InferenceSession(given.SerializeToString(), providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, {"x": x})[0], np.float64)


def check(given: Any, x: Known) -> None:
    """Floats and integers are onnxruntime's, on formats that calibration saw next to nothing of."""
    imported, wanted = arrow(given).arrow, theirs(given, x)
    ends = np.iinfo(x.dtype) if x.dtype.kind in "iu" else None
    format = INPUT.of(x.shape) if ends is None else Format(0, int(ends.min), int(ends.max)).of(x.shape)
    small = np.full(x.shape, 1 / 64 if ends is None else 1.0)
    ports = (Port("x", Visibility.PUBLIC, format),), (Port("y", Visibility.PUBLIC),)
    program = Program(imported, *ports, ({"x": small},))
    whole = quantize(program)
    np.testing.assert_array_equal(evaluate(imported, [x.astype(np.float64)])[0], wanted)
    (found,) = evaluate(whole.arrow, [to_integers(program.inputs[0], x, "x")])
    np.testing.assert_array_equal(to_reals(whole.outputs[0].format, found), wanted)


RANDOM = np.random.default_rng(0)
X = (RANDOM.integers(INPUT.low, INPUT.high, (4, 6, 5), endpoint=True) / 64).astype(np.float32)
SCALES = (2.0 ** -RANDOM.integers(0, 7, 6)).astype(np.float32)


def whole(kind: type[np.integer[Any]], shape: tuple[int, ...]) -> Known:
    ends = np.iinfo(kind)
    return RANDOM.integers(ends.min, ends.max, shape, endpoint=True).astype(kind)


def weights(of_a: type[np.integer[Any]], of_b: type[np.integer[Any]], shape: tuple[int, ...]) -> Known:
    """Signed weights of unsigned values have seven bits: without VNNI instructions onnxruntime adds two such products
    in 16 bits, which saturate.
    """
    return whole(of_b, shape) >> (of_a is np.uint8 and of_b is np.int8)


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.uint16, np.int16])
def test_to_whole_numbers_and_back(kind: type[np.integer[Any]]) -> None:
    ends = np.iinfo(kind)
    for zero in (0, int(ends.max) // 3, int(ends.min)):
        for scale in (np.float32(2**-5), np.float32(0.5)):
            check(model("QuantizeLinear", X, np.asarray(scale), np.asarray(zero, kind)), X)
            q = whole(kind, (4, 6, 5))
            check(model("DequantizeLinear", q, np.asarray(scale), np.asarray(zero, kind)), q)
    zeros = (whole(kind, (6,)) // 2).astype(kind)
    check(model("QuantizeLinear", X, SCALES, zeros, axis=1), X)
    q = whole(kind, (4, 6, 5))
    check(model("DequantizeLinear", q, SCALES, zeros, axis=-2), q)


def test_what_is_left_out_and_blocks() -> None:
    check(model("QuantizeLinear", X, np.asarray(0.25, np.float32)), X)
    check(model("QuantizeLinear", X, np.asarray(0.25, np.float32), None, output_dtype=TensorProto.INT8), X)
    check(model("QuantizeLinear", X, np.asarray(0.25, np.float32), np.asarray(7, np.uint8), opset=13), X)
    q = whole(np.int32, (4, 6, 5)) >> 12
    check(model("DequantizeLinear", q, np.asarray(2**-14, np.float32)), q)
    blocks = (2.0 ** -RANDOM.integers(0, 7, (4, 2, 5))).astype(np.float32)
    zeros = whole(np.int8, (4, 2, 5))
    check(model("QuantizeLinear", X, blocks, zeros, axis=1, block_size=3), X)
    q8 = whole(np.int8, (4, 6, 5))
    check(model("DequantizeLinear", q8, blocks, zeros, axis=1, block_size=3), q8)


@pytest.mark.parametrize(("code", "low", "high"), [(TensorProto.INT4, -8, 7), (TensorProto.UINT4, 0, 15)])
def test_four_bits(code: int, low: int, high: int) -> None:
    """Weights in blocks, packed two to a byte, raw and listed; activations to four bits and back."""
    weights, zeros = (RANDOM.integers(low, high, shape, endpoint=True) for shape in ((5, 7), (5, 2)))
    for raw in (False, True):
        given = model("Add", X[0, :5, :1].repeat(7, 1), np.zeros((5, 7), np.float32))
        known = [packed(name, code, array, raw) for name, array in (("w", weights), ("zeros", zeros))]
        scales = (2.0 ** -RANDOM.integers(0, 7, (5, 2))).astype(np.float32)
        given.graph.initializer.extend([*known, numpy_helper.from_array(scales, "scales")])
        back = helper.make_node("DequantizeLinear", ["w", "scales", "zeros"], ["back"], axis=1, block_size=4)
        given.graph.node.insert(0, back)
        given.graph.node[1].input[1] = "back"
        check(given, X[0, :5, :1].repeat(7, 1))
    given = model("QuantizeLinear", X, np.asarray(0.25, np.float32), None, output_dtype=code)
    given.graph.node.append(helper.make_node("DequantizeLinear", ["q", "known0"], ["y"]))
    given.graph.node[0].output[0] = "q"
    check(given, X)
    given.graph.initializer.append(packed("w", code, weights, False))
    given.graph.initializer[-1].int32_data.append(1)
    with pytest.raises(CircuitizeError, match=r"initializer 'w': expected 18 bytes for shape \[5, 7\], found 19"):
        arrow(given)


def test_two_bits() -> None:
    numbers = np.array([[-2, 1, 0], [-1, -2, 1]])
    for raw in (False, True):
        given = model("Add", X[0, :2, :3], np.zeros((2, 3), np.float32), opset=25)
        given.graph.initializer.append(packed("w", TensorProto.INT2, numbers, raw))
        given.graph.initializer.append(numpy_helper.from_array(np.asarray(0.25, np.float32), "scale"))
        given.graph.node.insert(0, helper.make_node("DequantizeLinear", ["w", "scale"], ["back"]))
        given.graph.node[1].input[1] = "back"
        np.testing.assert_array_equal(evaluate(arrow(given).arrow, [X[0, :2, :3]])[0], X[0, :2, :3] + numbers / 4)


def packed(name: str, code: int, array: Known, raw: bool) -> Any:
    made = helper.make_tensor(name, code, array.shape, array.reshape(-1).tolist())
    if raw:
        made.raw_data = bytes(made.int32_data)
        del made.int32_data[:]
    return made


@pytest.mark.parametrize(("of_a", "of_b"), [(np.uint8, np.int8), (np.int8, np.int8), (np.uint8, np.uint8)])
def test_products(of_a: type[np.integer[Any]], of_b: type[np.integer[Any]]) -> None:
    a, b = whole(of_a, (3, 7)), weights(of_a, of_b, (7, 5))
    zero, zeros = np.asarray(3, of_a), np.full(5, 2, of_b)
    check(model("MatMulInteger", a, b), a)
    check(model("MatMulInteger", a, b, zero, zeros), a)
    if of_a is np.uint8:
        image, kernel = whole(of_a, (1, 2, 6, 5)), weights(of_a, of_b, (3, 2, 3, 3))
        check(model("ConvInteger", image, kernel, zero, np.asarray(2, of_b), pads=[1, 0, 0, 1], strides=[2, 1]), image)
    one = np.asarray(2**-4, np.float32)
    scales = (2.0 ** -np.arange(2, 7)).astype(np.float32)
    columns = np.zeros(5, of_b)
    check(model("QLinearMatMul", a, one, zero, b, scales, columns, np.asarray(2**-3, np.float32), zero), a)
    image, kernel = whole(of_a, (2, 2, 6, 5)), weights(of_a, of_b, (4, 1, 3, 3))
    channels, rest = (2.0 ** -np.arange(4, 8)).astype(np.float32), (np.asarray(2**-1, np.float32), zero)
    bias = RANDOM.integers(-2000, 2000, 4).astype(np.int32)
    check(model("QLinearConv", image, one, zero, kernel, channels, np.zeros(4, of_b), *rest, bias, group=2), image)


def test_dynamic_ranges() -> None:
    """Of an input whose range is 255 times a power of two the scale is that power, and everything exact."""
    x = X.copy()
    x.flat[:2] = (-8.0, 8.0 - 1 / 16)
    given = model("DynamicQuantizeLinear", x)
    given.graph.node[0].output.extend(["scale", "zero"])
    for name in ("scale", "zero"):
        given.graph.output.append(ValueInfoProto(name=name))
    x = np.clip(x, -8.0, 8.0 - 1 / 16).astype(np.float32)
    session = onnxruntime.InferenceSession(given.SerializeToString(), providers=["CPUExecutionProvider"])
    for ours, wanted in zip(evaluate(arrow(given).arrow, [x]), session.run(None, {"x": x}), strict=True):
        np.testing.assert_array_equal(ours, wanted)


@pytest.mark.parametrize("kind", [np.uint8, np.int8])
def test_onnxruntimes_own(kind: type[np.integer[Any]]) -> None:
    x, other, zero = whole(kind, (2, 4, 4, 3)), whole(kind, (2, 4, 4, 3)), np.asarray(5, kind)
    half, unit, fine = (np.asarray(2.0**-n, np.float32) for n in (1, 4, 7))

    def own(operator: str, given: Known, *known: Known | None, **attributes: Any) -> None:
        check(model(operator, given, *known, domain="com.microsoft", **attributes), given)

    own("QLinearAdd", x, unit, zero, other, half, np.asarray(0, kind), half, zero)
    own("QLinearMul", x, unit, zero, other, fine, zero, unit, zero)
    own("QLinearLeakyRelu", x, unit, zero, fine, None, alpha=0.25)
    own("QLinearGlobalAveragePool", whole(kind, (2, 3, 4, 4)), unit, zero, fine, zero)
    own("QLinearAveragePool", x, unit, zero, fine, zero, kernel_shape=[2, 2], strides=[2, 1])
    rows, columns, bias = whole(kind, (3, 6)), whole(kind, (6, 5)), RANDOM.integers(-3000, 3000, 5).astype(np.int32)
    own("QGemm", rows, unit, zero, columns, fine, zero, bias, half, zero)
    by_column = (2.0 ** -np.arange(3, 8)).astype(np.float32)
    own("QGemm", rows.T.copy(), unit, zero, columns.T.copy(), by_column, np.zeros(5, kind), bias, transA=1, transB=1)
    # Concat has the result's scale and zero point first.
    given = model("QLinearConcat", x, unit, zero, half, zero, other, fine, zero, axis=1, domain="com.microsoft")
    names = given.graph.node[0].input
    first = names.pop(0)
    names.insert(2, first)
    check(given, x)
    check(model("QuantizeLinear", X, unit, zero, domain="com.microsoft"), X)
    with pytest.raises(CircuitizeError, match="expected channels before positions, found them last"):
        own("QLinearGlobalAveragePool", x, unit, zero, fine, zero, channels_last=1)
    with pytest.raises(
        CircuitizeError, match=r"expected an operator that is understood, found com\.microsoft\.QLinearWhere"
    ):
        own("QLinearWhere", x, unit, zero)


def test_a_sigmoid_between_whole_numbers() -> None:
    """All 256 of them: float32 and float64 may fall on either side of a tie."""
    x = np.arange(-128, 128).astype(np.int8)
    zero, unit, fine = np.asarray(-3, np.int8), np.asarray(2**-4, np.float32), np.asarray(2**-7, np.float32)
    given = model("QLinearSigmoid", x, unit, zero, fine, zero, domain="com.microsoft")
    (floats,) = evaluate(arrow(given).arrow, [x.astype(np.float64)])
    assert np.abs(floats - theirs(given, x)).max() <= 1 and (floats != theirs(given, x)).mean() <= 0.02


def dynamic(random: np.random.Generator) -> Any:
    """Two layers as quantize_dynamic(reduce_range=True) writes them: the range of each layer's input is its scale and
    zero point, and weights have seven bits.
    """
    nodes, given, x = [], [], "x"
    for place, (rows, columns) in enumerate(((12, 20), (20, 6))):
        weight, scale = random.integers(-63, 64, (rows, columns)).astype(np.int8), np.float32(0.4 / 63)
        bias = random.normal(0, 0.1, columns).astype(np.float32)
        known = (("w", weight), ("zero", np.int8(0)), ("scale", scale), ("bias", bias))
        given += [numpy_helper.from_array(np.asarray(value), f"{name}{place}") for name, value in known]
        steps: Sequence[tuple[str, list[str], list[str], dict[str, Any]]] = (
            ("DynamicQuantizeLinear", [x], ["q", "of_q", "zero_of_q"], {}),
            ("MatMulInteger", ["q", "w", "zero_of_q", "zero"], ["sums"], {}),
            ("Cast", ["sums"], ["floats"], {"to": TensorProto.FLOAT}),
            ("Mul", ["of_q", "scale"], ["factor"], {}),
            ("Mul", ["floats", "factor"], ["scaled"], {}),
            ("Add", ["scaled", "bias"], ["moved"], {}),
            ("Relu", ["moved"], ["made"], {}),
        )
        for operator, inputs, outputs, attributes in steps[: 7 - place]:
            names = [x if name == x else f"{name}{place}" for name in inputs]
            nodes.append(helper.make_node(operator, names, [f"{name}{place}" for name in outputs], **attributes))
        x = nodes[-1].output[0]
    ends = [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 12)), ValueInfoProto(name=x)]
    graph = helper.make_graph(nodes, "dynamic", ends[:1], ends[1:], given)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_dynamic_quantization_is_close() -> None:
    random = np.random.default_rng(1)
    given, format = dynamic(random), Format.signed(14, 10)
    imported = arrow(given)
    drawn = [format.nearest(random.normal(0, 1, (1, 12))) for _ in range(30)]
    ports = (Port("x", Visibility.PUBLIC, format.of((1, 12))),), (Port("y", Visibility.PUBLIC),)
    program = Program(imported.arrow, *ports, tuple({"x": x} for x in drawn[:10]), Precision(16, 16))
    made = quantize(program)
    for x in drawn:
        wanted = theirs(given, x.astype(np.float32))
        np.testing.assert_allclose(evaluate(imported.arrow, [x])[0], wanted, rtol=0, atol=1e-5)
        (found,) = evaluate(made.arrow, [to_integers(program.inputs[0], x, "x")])
        np.testing.assert_allclose(to_reals(made.outputs[0].format, found), wanted, rtol=0, atol=0.03)


def steps_apart(network: Network, scale: float, bits: int) -> NDArray[np.float64]:
    """By how many steps of the last scale integers differ from onnxruntime, coefficients having so many bits."""
    drawn = network.drawn(count(100, deep=2000))
    program = replace(network.program(drawn[:1]), precision=Precision(coefficient_bits=bits))
    made = quantize(program)
    found = [evaluate(made.arrow, [to_integers(made.inputs[0], x, "x")])[0] for x in drawn]
    reals = to_reals(made.outputs[0].format, np.array(found))
    steps: NDArray[np.float64] = np.rint((reals - np.array(network.judged(drawn))) / scale)
    return steps


@pytest.mark.parametrize(
    ("network", "scale"),
    [
        (lambda: perceptron((0.0313, 0.0071, 0.0597, 0.0153, 0.117)), 0.117),
        (lambda: asymmetric(0.0313, 0.0071, 0.0597, 0.0153), 2**-3),
    ],
)
def test_scales_that_are_not_powers_of_two(network: Callable[[], Network], scale: float) -> None:
    """Of sixteen bits one number in two hundred is off, by one step; of twenty one in two thousand."""
    sixteen, twenty = (steps_apart(network(), scale, bits) for bits in (16, 20))
    assert np.abs(sixteen).max() <= 1 and (sixteen != 0).mean() <= 0.005
    assert np.abs(twenty).max() <= 1 and (twenty != 0).mean() <= 0.0005


UNIT = np.asarray(1.0, np.float32)
BYTES = np.zeros((2, 3), np.uint8)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda: model("QuantizeLinear", X, np.asarray(-1.0, np.float32)), "expected scales above 0, found one that"),
        (lambda: model("QuantizeLinear", X, SCALES[:5], axis=1), r"expected 6 scales along axis 1, found \[5\]"),
        (lambda: model("QuantizeLinear", X, UNIT, np.zeros(6, np.int8)), r"expected a zero point of shape \[\]"),
        (lambda: model("QuantizeLinear", X, SCALES, axis=1, block_size=2), r"expected a scale of shape \[4, 3, 5\]"),
        (
            lambda: model("QuantizeLinear", X, UNIT, None, output_dtype=17),
            "expected output_dtype of whole numbers or a float",
        ),
        (lambda: model("QLinearMatMul", BYTES, UNIT, *bad_result()), "expected one scale of the result, found 2"),
        (lambda: model("MatMulInteger", np.zeros((1, 70000), np.uint8), np.full((70000, 1), 255, np.uint8)), "int32"),
    ],
)
def test_refusals(given: Callable[[], Any], message: str) -> None:
    with pytest.raises(CircuitizeError, match=message):
        arrow(given())


def bad_result() -> Sequence[Known]:
    byte = np.asarray(0, np.uint8)
    return byte, np.zeros((3, 2), np.uint8), UNIT, byte, np.ones(2, np.float32), np.zeros(2, np.uint8)


def test_a_scale_that_is_an_input_is_to_be_known() -> None:
    given = model("QuantizeLinear", X, UNIT)
    del given.graph.initializer[:]
    given.graph.input.append(helper.make_tensor_value_info("known0", TensorProto.FLOAT, ()))
    with pytest.raises(UnknownValue, match="expected the scale of QuantizeLinear to be known, found input 'known0'"):
        arrow(given)
    made = arrow(given, {"known0": UNIT})
    np.testing.assert_array_equal(evaluate(made.arrow, [X])[0], np.clip(np.rint(X), 0, 255))


def test_formats_by_the_names_of_tensors() -> None:
    """Any tensor of floats that a node writes has the format that the caller gives it."""
    given = model("Sigmoid", X)
    given.graph.node[0].output[0] = "between"
    given.graph.node.append(helper.make_node("Add", ["between", "x"], ["y"]))
    made = arrow(given, formats={"between": Format(3, 1, 6)}).arrow
    wanted = np.clip(np.rint(8 / (1 + np.exp(-X.astype(float)))), 1, 6) / 8 + X
    np.testing.assert_array_equal(evaluate(made, [X])[0], wanted)
    for name, graph, message in (
        ("nowhere", given, "formats: expected names of tensors that nodes write, found 'nowhere'"),
        (
            "y",
            model("QuantizeLinear", X, UNIT),
            "format of 'y': expected a tensor of floats, found uint8; leave it out",
        ),
    ):
        with pytest.raises(CircuitizeError, match=message):
            arrow(graph, formats={name: Format(3, 1, 6)})
