"""Malformed ONNX graphs ended in KeyError, ValueError, MemoryError, or were taken as they were."""

from __future__ import annotations

import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from every_case import every_case
from onnx import TensorProto, helper, numpy_helper
from onnx_models import model, one

from circuitize.circuits.errors import CircuitizeError
from circuitize.frontends.onnx import arrow

X = np.array([[1, 2], [3, 4]], np.float32)
HUGE = 1 << 40


def _line(given: Any, *words: str) -> None:
    """The model is refused in one line with these words, and within 64 MiB."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(CircuitizeError) as caught:
        arrow(given)
    text = str(caught.value)
    assert text.isprintable() and "; " in text, text
    assert all(word in text for word in words), text
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10


def _changed(change: Callable[[Any], Any], given: Any = None) -> Any:
    made = one("Add", X, X, known=1) if given is None else given
    change(made)
    return made


def test_a_file_that_is_no_model(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"\x08\x07onnx" * 9)
    _line(path, str(path), "expected an ONNX model, found bytes that are none")
    _line(tmp_path / "none.onnx", "none.onnx", "No such file")
    _line(3, "expected an ONNX ModelProto or the path of a file, found int")


@pytest.mark.parametrize("dims", [[HUGE], [1 << 32, 1 << 32], [-1], [3, 3]])
def test_initializers_whose_shape_is_not_that_of_their_elements(dims: list[int]) -> None:
    def change(given: Any) -> None:
        del given.graph.initializer[0].dims[:]
        given.graph.initializer[0].dims.extend(dims)

    _line(_changed(change), "initializer 'x1'", "expected")


@every_case(
    [
        one("ConstantOfShape", np.array([HUGE]), known=1),
        one("ConstantOfShape", np.array([-1]), known=1),
        one("Expand", X, np.array([HUGE, 1, 1]), known=1),
        one("Expand", X, np.array([HUGE, 1, 1]), known=2),
        one("Tile", X, np.array([1 << 20, 1 << 20]), known=1),
        one("Tile", X, np.array([1 << 20, 1 << 20]), known=2),
        one("Range", np.array(0), np.array(HUGE), np.array(1), known=3),
        one("Range", np.array(0), np.array(HUGE), np.array(0), known=3),
        one("Pad", X, np.array([HUGE, 0, 0, 0]), np.array(1, np.float32), known=2),
        one("CenterCropPad", X, np.array([HUGE, HUGE]), known=1),
        one("MaxPool", X[None], kernel_shape=[HUGE]),
        one("AveragePool", X[None], kernel_shape=[2], pads=[HUGE, HUGE]),
        one("LRN", X[None], size=HUGE),
        one("TopK", X, np.array([HUGE]), known=1),
        one("ConvTranspose", X[None], X[None].transpose(1, 0, 2), known=1, strides=[HUGE]),
    ]
)
def test_nothing_is_allocated_before_its_size_is_known(given: Any) -> None:
    _line(given, given.graph.node[0].op_type, "expected")


def _input_type(kind: int) -> Callable[[Any], None]:
    def change(given: Any) -> None:
        given.graph.input[0].type.tensor_type.elem_type = kind

    return change


def _strings(given: Any) -> None:
    word: Any = b"a"
    given.graph.initializer[0].CopyFrom(helper.make_tensor("x1", TensorProto.STRING, [1], [word]))


def _again(given: Any) -> None:
    given.graph.node.append(helper.make_node("Neg", ["x0"], ["y"]))


def _overwrite(given: Any) -> None:
    given.graph.node[0].output[0] = "x0"
    given.graph.output[0].name = "x0"


def _unsorted(given: Any) -> None:
    given.graph.node.insert(0, helper.make_node("Neg", ["y"], ["z"]))


def _cycle(given: Any) -> None:
    given.graph.node.insert(0, helper.make_node("Neg", ["y"], ["z"]))
    given.graph.node[1].input[0] = "z"


def _external(given: Any) -> None:
    given.graph.initializer[0].data_location = TensorProto.EXTERNAL
    given.graph.initializer[0].external_data.add(key="location", value="../../secret")


def _both(given: Any) -> None:
    given.graph.initializer[0].float_data.extend([1.0] * 4)


def _attribute(name: str, value: Any) -> Callable[[Any], None]:
    return lambda given: given.graph.node[0].attribute.append(helper.make_attribute(name, value))


def _function(given: Any) -> None:
    body = [helper.make_node("Neg", ["a"], ["b"])]
    given.functions.append(helper.make_function("", "Add", ["a"], ["b"], body, given.opset_import))


CASES: list[tuple[Callable[[Any], Any], str]] = [
    (_input_type(TensorProto.STRING), "input 'x0': expected elements that are floats"),
    (_input_type(TensorProto.COMPLEX64), "input 'x0': expected elements that are floats"),
    (_input_type(TensorProto.INT32), "expected inputs of one type, found int32 and float"),
    (_input_type(99), "input 'x0': expected elements that are floats"),
    (_strings, "initializer 'x1': expected elements that are floats"),
    (_again, "expected outputs with names of their own, found 'y' again"),
    (_overwrite, "expected outputs with names of their own, found 'x0' again"),
    (_unsorted, "expected input 'y' to be written before it is read, found it written later"),
    (_cycle, "expected input 'y' to be written before it is read, found it written later"),
    (_external, "initializer 'x1': expected its elements in the model, found them in another file"),
    (_both, "initializer 'x1': expected its elements once"),
    (_attribute("broadcast", 1), "expected attributes [], found 'broadcast'"),
    (_function, "expected at most 1 inputs and 1 outputs, found 2 and 1; correct the node"),
    (lambda given: given.training_info.add(), "found training information"),
    (lambda given: given.graph.sparse_initializer.add(), "found sparse initializers"),
    (lambda given: given.ClearField("graph"), "expected a graph with outputs, found none"),
    (lambda given: given.graph.input.append(given.graph.input[0]), "input 'x0': expected a name of its own"),
    (lambda given: given.graph.initializer.append(given.graph.initializer[0]), "initializer 'x1': expected a name"),
    (lambda given: given.graph.node[0].input.pop(), "expected 2 inputs, found 1"),
    (lambda given: given.graph.node[0].output.append("z"), "expected 1 outputs, found 2"),
    (lambda given: given.graph.output.append(onnx.ValueInfoProto(name="q")), "expected input 'q' to be written"),
    (lambda given: given.opset_import.pop(), "expected an opset of domain '', found none"),
    (lambda given: setattr(given.opset_import[0], "version", 0), "expected an opset from 7"),
    (lambda given: setattr(given.opset_import[0], "version", 6), "expected an opset from 7 on, found 6"),
    (lambda given: setattr(given.opset_import[0], "version", 999), "expected an opset from 7"),
    (lambda given: setattr(given.graph.node[0], "op_type", "Add\x1b[31m\n"), r"found 'Add\x1b[31m\n'"),
]


@every_case(CASES)
def test_a_malformed_model_ends_in_one_line(change: Callable[[Any], Any], message: str) -> None:
    _line(_changed(change), message)


def test_an_attribute_of_another_kind() -> None:
    _line(_changed(_attribute("axis", "word"), one("Softmax", X)), "expected one attribute 'axis', of kind INT")
    _line(_changed(_attribute("axis", 1), one("Softmax", X, axis=0)), "expected one attribute 'axis'")
    _line(_changed(_attribute("axis", HUGE), one("Softmax", X)), "expected an axis from -2 to 1")
    _line(_changed(lambda given: None, one("Transpose", X, perm=[0, 0])), "expected each axis of [2, 2] once")


def test_ranks_that_do_not_match() -> None:
    kernel = np.ones((2, 2, 1), np.float32)
    _line(one("Conv", X, kernel, known=1), "Conv", "expected a tensor of rank at least 3, found shape [2, 2]")
    _line(one("Gemm", X[0], X, known=1), "Gemm", "expected a tensor of rank 2, found shape [2]")
    _line(one("Add", X, np.ones(3, np.float32), known=1), "Add", "expected shapes that broadcast")


def test_a_declared_output_is_held_against_what_it_is() -> None:
    given = one("Neg", X)
    given.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.INT8, [2, 2]))
    _line(given, "output 'y': expected what the graph declares, found float of shape [2, 2]")


def test_names_that_are_no_text() -> None:
    content = one("Neg", X).SerializeToString().replace(b"Neg", b"N\xffg")
    _line(onnx.ModelProto.FromString(content), "expected names that are text")


def test_a_constant_has_one_value() -> None:
    node = helper.make_node("Constant", [], ["y"], value=numpy_helper.from_array(X), value_int=3)
    _line(model([node], {}, ["y"]), "Constant", "expected one value")
    _line(model([helper.make_node("Constant", [], ["y"], value_string="a")], {}, ["y"]), "found strings")
