"""Functions, branches, loops, and what is known: how an ONNX graph is walked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiers
from onnx import FunctionProto, ModelProto, TensorProto, helper, numpy_helper
from onnx_models import model, one, run
from onnx_oracles import onnxruntime

from circuitize.circuits import arrays
from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.frontends.onnx import UnknownValue, arrow

X = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]], np.float32)
OPSETS = [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)]


def with_functions(nodes: list[Any], functions: list[FunctionProto], inputs: Any = None) -> Any:
    given = model(nodes, inputs or {"x": X}, ["y"])
    given.opset_import.append(OPSETS[1])
    given.functions.extend(functions)
    return given


def scaled(name: str = "Scaled", body: list[Any] | None = None) -> FunctionProto:
    """x * factor + shift, the factor an attribute with a default, the shift an input that may be left out."""
    factor = helper.make_node("Constant", [], ["f"])
    factor.attribute.add(name="value_float", ref_attr_name="factor", type=1)
    nodes = body or [
        factor,
        helper.make_node("Mul", ["a", "f"], ["m"]),
        helper.make_node("Sum", ["m", "m"], ["twice"]),
        helper.make_node("Identity", ["twice"], ["out"]),
    ]
    return helper.make_function(
        "own", name, ["a", "shift"], ["out"], nodes, OPSETS, [], [helper.make_attribute("factor", 3.0)]
    )


def test_a_model_brings_functions() -> None:
    twice = [
        helper.make_node("Scaled", ["x"], ["s"], domain="own"),
        helper.make_node("Scaled", ["s"], ["y"], domain="own", factor=0.5),
    ]
    given = with_functions(twice, [scaled()])
    np.testing.assert_allclose(run(given, X), X * 6, rtol=1e-6)
    inside = scaled("Outer", [helper.make_node("Scaled", ["a"], ["out"], domain="own", factor=2.0)])
    nested = with_functions([helper.make_node("Outer", ["x"], ["y"], domain="own")], [scaled(), inside])
    np.testing.assert_allclose(run(nested, X), X * 4, rtol=1e-6)


def test_functions_that_are_refused() -> None:
    itself = scaled("Scaled", [helper.make_node("Scaled", ["a"], ["out"], domain="own")])
    call = [helper.make_node("Scaled", ["x"], ["y"], domain="own")]
    for given, message in (
        (with_functions(call, [itself]), "expected functions that do not call themselves, found one; unroll it"),
        (with_functions(call, [scaled(), scaled()]), "expected one of that name, found two; rename one"),
        (
            with_functions([helper.make_node("Scaled", ["x", "x", "x"], ["y"], domain="own")], [scaled()]),
            "expected at most 2 inputs and 1 outputs, found 3 and 1; correct the node",
        ),
    ):
        with pytest.raises(FormatError, match=message):
            arrow(given)


def test_functions_that_double_end_somewhere() -> None:
    """Each calls the one before twice: 2^40 nodes are not written out."""
    functions = [scaled("F0")]
    for level in range(1, 41):
        calls = [
            helper.make_node(f"F{level - 1}", ["a"], ["b"], domain="own"),
            helper.make_node(f"F{level - 1}", ["b"], ["out"], domain="own"),
        ]
        functions.append(helper.make_function("own", f"F{level}", ["a"], ["out"], calls, OPSETS))
    given = with_functions([helper.make_node("F40", ["x"], ["y"], domain="own")], functions)
    from circuitize.frontends.onnx import walk

    most, walk.MOST_NODES = walk.MOST_NODES, 1000
    try:
        with pytest.raises(FormatError, match="expected at most 1000 nodes"):
            arrow(given)
    finally:
        walk.MOST_NODES = most


def branches(condition: str) -> list[Any]:
    parts = {}
    for name, operator in (("then_branch", "Relu"), ("else_branch", "Neg")):
        nodes = [helper.make_node(operator, ["x"], ["r"]), helper.make_node("Add", ["r", "k"], ["s"])]
        constant = numpy_helper.from_array(np.array(1, np.float32), "k")
        made = [helper.make_tensor_value_info("s", TensorProto.FLOAT, None)]
        parts[name] = helper.make_graph(nodes, name, [], made, [constant])
    return [helper.make_node("If", [condition], ["y"], **parts)]


def test_the_branch_of_a_known_condition_is_taken() -> None:
    for value, wanted in ((True, np.maximum(X, 0) + 1), (False, 1 - X)):
        given = model(branches("c"), {"x": X}, ["y"], {"c": np.array(value)})
        np.testing.assert_allclose(run(given, X), wanted, rtol=1e-6)
    with pytest.raises(UnknownValue, match="expected the condition of If to be known, found input 'c'; fix its value"):
        arrow(model(branches("c"), {"x": X, "c": np.array(True)}, ["y"]))


def recurrence() -> Any:
    """state' = state * 0.5 + x[t]; each state is kept."""
    nodes = [
        helper.make_node("Mul", ["h", "half"], ["m"]),
        helper.make_node("Add", ["m", "part"], ["next"]),
        helper.make_node("Identity", ["next"], ["kept"]),
    ]
    half = numpy_helper.from_array(np.array(0.5, np.float32), "half")
    names = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [3]) for n in ("h", "part", "next", "kept")]
    return helper.make_graph(nodes, "body", names[:2], names[2:], [half])


@pytest.mark.parametrize("backward", [0, 1])
def test_a_scan_is_written_out(backward: int) -> None:
    start = np.ones(3, np.float32)
    node = helper.make_node(
        "Scan", ["s", "x"], ["end", "y"], body=recurrence(), num_scan_inputs=1, scan_input_directions=[backward]
    )
    state, kept = start, []
    for row in X[::-1] if backward else X:
        state = state * 0.5 + row
        kept.append(state)
    np.testing.assert_allclose(run(model([node], {"s": start, "x": X}, ["y"]), start, X), np.array(kept), rtol=1e-6)


def doubling() -> Any:
    """A Loop that doubles x, three times at most."""
    nodes = [
        helper.make_node("Add", ["v", "v"], ["w"]),
        helper.make_node("Less", ["i", "last"], ["more"]),
        helper.make_node("Cast", ["i"], ["number"], to=1),
    ]
    last = numpy_helper.from_array(np.array(2, np.int64), "last")
    inputs = [
        helper.make_tensor_value_info("i", TensorProto.INT64, []),
        helper.make_tensor_value_info("go", TensorProto.BOOL, []),
        helper.make_tensor_value_info("v", TensorProto.FLOAT, [2, 3]),
    ]
    outputs = [
        helper.make_tensor_value_info("more", TensorProto.BOOL, []),
        helper.make_tensor_value_info("w", TensorProto.FLOAT, [2, 3]),
        helper.make_tensor_value_info("number", TensorProto.FLOAT, []),
    ]
    body = helper.make_graph(nodes, "body", inputs, outputs, [last])
    return helper.make_node("Loop", ["most", "", "x"], ["y", "numbers"], body=body)


def test_a_loop_of_known_rounds_is_written_out() -> None:
    node = doubling()
    for most, doubled in ((9, 3), (2, 2)):
        given = model([node], {"x": X}, ["y"], {"most": np.array(most, np.int64)})
        np.testing.assert_allclose(run(given, X), X * 2**doubled, rtol=1e-6)
    with pytest.raises(UnknownValue, match="expected the number of rounds of Loop to be known"):
        arrow(model([node], {"x": X, "most": np.array(3, np.int64)}, ["y"]))


def test_known_nodes_are_computed_in_their_own_types() -> None:
    """A sum of float32 is rounded as float32 is; whole numbers wrap and divide as theirs do."""
    small, large = np.array(1e-4, np.float32), np.array(4096, np.float32)
    nodes = [helper.make_node("Add", ["a", "b"], ["s"]), helper.make_node("Mul", ["x", "s"], ["y"])]
    found = run(model(nodes, {"x": X}, ["y"], {"a": small, "b": large}), X)
    np.testing.assert_array_equal(found, X.astype(np.float64) * np.float64(small + large))
    assert np.float64(small + large) != np.float64(small) + np.float64(large)
    shapes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Div", ["s", "two"], ["half"]),
        helper.make_node("Mod", ["s", "two"], ["odd"]),
        helper.make_node("Add", ["half", "odd"], ["sum"]),
        helper.make_node("Concat", ["sum", "rest"], ["to"], axis=0),
        helper.make_node("Reshape", ["x", "to"], ["y"]),
    ]
    told = {"two": np.array(2, np.int64), "rest": np.array([-1], np.int64)}
    assert run(model(shapes, {"x": X}, ["y"], told), X).shape == (1, 2, 3)


def test_nothing_large_is_computed_to_be_thrown_away() -> None:
    """2^60 elements out of two known numbers: refused before they are made."""
    shape = np.array([1 << 30, 1 << 30], np.int64)
    nodes = [helper.make_node("Expand", ["one", "shape"], ["y"])]
    with pytest.raises(CircuitizeError, match="expected at most 67108864 elements"):
        arrow(model(nodes, {"x": X}, ["y"], {"one": np.ones(1, np.float32), "shape": shape}))


def test_masks_of_minus_infinity_are_far_below_scores() -> None:
    mask = np.where(np.tril(np.ones((3, 3), bool)), 0.0, -np.inf).astype(np.float32)
    least = np.where(mask == 0.0, mask, np.finfo(np.float32).min)
    scores = np.random.default_rng(0).normal(size=(3, 3)).astype(np.float32)
    wanted = np.exp(scores) * (mask == 0)
    wanted /= wanted.sum(1, keepdims=True)
    for known in (mask, least):
        nodes = [helper.make_node("Add", ["x", "mask"], ["s"]), helper.make_node("Softmax", ["s"], ["y"])]
        found = run(model(nodes, {"x": scores}, ["y"], {"mask": known}), scores)
        np.testing.assert_allclose(found, wanted, atol=1e-6)
    infinity = np.array(-np.inf, np.float32)
    np.testing.assert_array_equal(run(one("Max", X, infinity, known=1), X), X)
    np.testing.assert_array_equal(run(one("Clip", X, infinity, -infinity, known=2), X), X)
    with pytest.raises(CircuitizeError, match="expected known floats that are finite, found others; replace them"):
        arrow(one("Add", X, -infinity, known=1))


def test_parts_without_elements_are_left_out() -> None:
    nodes = [
        helper.make_node("Split", ["x", "sizes"], ["whole", "none"], axis=1),
        helper.make_node("Neg", ["whole"], ["n"]),
        helper.make_node("Concat", ["none", "n", "none"], ["y"], axis=1),
    ]
    given = model(nodes, {"x": X}, ["y"], {"sizes": np.array([3, 0], np.int64)})
    np.testing.assert_array_equal(run(given, X), -X)


def test_a_value_that_decides_names_the_input_behind_it() -> None:
    nodes = [
        helper.make_node("Neg", ["n"], ["extents"]),
        helper.make_node("Reshape", ["x", "extents"], ["y"]),
    ]
    given = model(nodes, {"x": X, "n": np.array([-3, -2], np.int64)}, ["y"])
    with pytest.raises(UnknownValue, match="found 'extents', which follows from input 'n'; fix its value") as caught:
        arrow(given)
    assert caught.value.name == "n"


def test_a_mask_of_dropout_is_an_input() -> None:
    training = [helper.make_node("Dropout", ["x", "ratio", "mode"], ["y", "kept"])]
    given = model(training, {"x": X}, ["y"], {"ratio": np.array(0.25, np.float32), "mode": np.array(True)})
    imported = arrow(given)
    assert imported.inputs == ("x", "y.mask") and imported.input_types == ("float", "bool")
    mask = np.array([[1, 0, 1], [0, 0, 1]])
    np.testing.assert_allclose(run(given, X, mask), X * mask / 0.75, rtol=1e-6)


def test_images_are_turned_once_on_the_way_in_and_out() -> None:
    """Between convolutions nothing is turned: what works element by element is done in our layers' order."""
    random = np.random.default_rng(1)
    kernels = {f"k{n}": random.normal(size=(2, 2, 2, 2)).astype(np.float32) for n in range(3)}
    x = random.normal(size=(1, 2, 8, 8)).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["x", "k0"], ["a"]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("MaxPool", ["b"], ["c"], kernel_shape=[2, 2]),
        helper.make_node("Conv", ["c", "k1"], ["d"], pads=[1, 1, 0, 0]),
        helper.make_node("Conv", ["c", "k2"], ["e"], pads=[1, 1, 0, 0]),
        helper.make_node("Add", ["d", "e"], ["f"]),
        helper.make_node("Concat", ["f", "d"], ["both"], axis=1),
        helper.make_node("Sigmoid", ["both"], ["g"]),
        helper.make_node("AveragePool", ["g"], ["y"], kernel_shape=[2, 2], strides=[2, 2]),
    ]
    given = model(nodes, {"x": x}, ["y"], kernels)
    made = arrow(given).arrow
    turns = [edge for edge in made.edges() if isinstance(edge.operation, arrays.Transpose)]
    needed = set(made.outputs.tolist())
    for edge in reversed(list(made.edges())):
        if needed.intersection(edge.targets):
            needed.update(edge.sources)
    assert sum(bool(needed.intersection(edge.targets)) for edge in turns) == 2
    kinds = {type(edge.operation) for edge in made.edges()}
    assert arrays.Window in kinds and not kinds & {arrays.Gather, arrays.OneHot}
    if onnxruntime is not None:
        session = onnxruntime.InferenceSession(given.SerializeToString(), providers=["CPUExecutionProvider"])
        np.testing.assert_allclose(run(given, x), session.run(None, {"x": x})[0], atol=1e-5)


def test_damaged_files_end_in_one_line() -> None:
    """Bytes of models with functions, branches and loops changed at random."""
    whole = [
        with_functions([helper.make_node("Scaled", ["x"], ["y"], domain="own", factor=0.5)], [scaled()]),
        model(branches("c"), {"x": X}, ["y"], {"c": np.array(True)}),
        model([doubling()], {"x": X}, ["y"], {"most": np.array(3, np.int64)}),
        model(
            [helper.make_node("Scan", ["s", "x"], ["end", "y"], body=recurrence(), num_scan_inputs=1)],
            {"s": np.ones(3, np.float32), "x": X},
            ["y"],
        ),
    ]
    random = np.random.default_rng(9)
    for _ in tiers.seeds(200, 10_000):
        content = bytearray(whole[int(random.integers(len(whole)))].SerializeToString())
        for place in random.integers(0, len(content), int(random.integers(1, 4))):
            content[place] = int(random.integers(256))
        try:
            given = ModelProto.FromString(bytes(content))
        except Exception:  # protobuf's own
            continue
        try:
            arrow(given)
        except CircuitizeError as error:
            assert "\n" not in str(error)


def test_group_norm_of_opset_18_scales_groups() -> None:
    random = np.random.default_rng(2)
    x = random.normal(size=(2, 4, 3)).astype(np.float32)
    scale, bias = (random.normal(size=2).astype(np.float32) for _ in range(2))
    parts = x.reshape(2, 2, -1)
    scaled = (parts - parts.mean(2, keepdims=True)) / np.sqrt(parts.var(2, keepdims=True) + 1e-5)
    wanted = (scaled * scale[:, None] + bias[:, None]).reshape(x.shape)
    given = one("GroupNormalization", x, scale, bias, known=2, num_groups=2)
    np.testing.assert_allclose(run(given, x), wanted, atol=1e-5)


def test_a_slope_of_rank_one_is_one_for_each_channel() -> None:
    x, slope = np.array([[[-1.0, 2.0, -3.0], [-1.0, -2.0, 3.0]]], np.float32), np.array([0.5, 2.0], np.float32)
    wanted = np.where(x < 0, x * slope[:, None], x)
    np.testing.assert_allclose(run(one("PRelu", x, slope, known=1), x), wanted)
