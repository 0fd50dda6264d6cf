"""ONNX values had no element type: casts kept the number, whole numbers neither wrapped nor were cut off."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx_models import model, one, run

from circuitize.circuits.errors import CircuitizeError
from circuitize.frontends.onnx import arrow

FIVE = np.array([0, 5, -3, 1], np.int32)


def test_a_whole_number_cast_to_a_truth_value_is_0_or_1() -> None:
    assert run(one("Cast", FIVE, to=TensorProto.BOOL), FIVE).tolist() == [0, 1, 1, 1]
    assert run(one("CastLike", FIVE, np.array([True]), known=1), FIVE).tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize("wanted", ["Not", "Where"])
def test_what_reads_a_cast_takes_the_right_branch(wanted: str) -> None:
    cast = helper.make_node("Cast", ["x"], ["b"], to=TensorProto.BOOL)
    if wanted == "Not":
        given = model([cast, helper.make_node("Not", ["b"], ["y"])], {"x": FIVE}, ["y"])
        assert run(given, FIVE).tolist() == [1, 0, 0, 0]
        return
    branches = {"p": np.array([1, 1, 1, 1], np.float32), "q": np.array([2, 2, 2, 2], np.float32)}
    given = model([cast, helper.make_node("Where", ["b", "p", "q"], ["y"])], {"x": FIVE}, ["y"], branches)
    assert run(given, FIVE).tolist() == [2, 1, 1, 1]


def test_a_cast_that_narrows_wraps() -> None:
    wide = np.array([300, -1, 255, -129, 128, 70000], np.int32)
    for to, kind in ((TensorProto.UINT8, np.uint8), (TensorProto.INT8, np.int8), (TensorProto.INT16, np.int16)):
        assert run(one("Cast", wide, to=to), wide).tolist() == wide.astype(kind).tolist()
        assert run(one("CastLike", wide, np.zeros(1, kind), known=1), wide).tolist() == wide.astype(kind).tolist()


def test_a_cast_of_floats_to_whole_numbers_cuts_the_fraction_off() -> None:
    x = np.array([1.9, -1.9, 0.5, -0.5, 3], np.float32)
    assert run(one("Cast", x, to=TensorProto.INT32), x).tolist() == [1, -1, 0, 0, 3]


def test_a_known_number_is_cast_as_one_that_is_not() -> None:
    assert run(one("Cast", FIVE, known=1, to=TensorProto.BOOL)).tolist() == [0, 1, 1, 1]
    wide = np.array([300, -1], np.int32)
    assert run(one("Cast", wide, known=1, to=TensorProto.UINT8)).tolist() == [44, 255]


def test_narrow_whole_numbers_wrap() -> None:
    x, y = np.array([200, 3, 16], np.uint8), np.array([100, 5, 16], np.uint8)
    for operator, made in (("Add", x + y), ("Sub", x - y), ("Mul", x * y)):
        assert run(one(operator, x, y), x, y).tolist() == made.tolist(), operator
    least = np.array([-128, 5], np.int8)
    assert run(one("Neg", least), least).tolist() == [-128, -5]
    assert run(one("Abs", least), least).tolist() == [-128, 5]


def test_sums_of_the_greatest_numbers_of_32_bits_wrap() -> None:
    x = np.array([2**31 - 1, -(2**31), 7], np.int32)
    y = np.array([1, -1, 8], np.int32)
    assert run(one("Add", x, y), x, y).tolist() == [-(2**31), 2**31 - 1, 15]


def test_what_float64_does_not_hold_is_refused() -> None:
    x = np.array([3, 4], np.int64)
    for operator in ("Add", "Mul", "Sub"):
        with pytest.raises(CircuitizeError, match=r"2\^52 in magnitude.*give the intervals of the inputs"):
            arrow(one(operator, x, x))
    with pytest.raises(CircuitizeError, match=r"up to 2\^52"):
        arrow(one("Add", np.array([2**53 + 1]), np.array([1]), known=2))


def test_means_and_quotients_of_whole_numbers_are_cut_off() -> None:
    x = np.array([[1, 2], [-1, -2]], np.int8)
    with pytest.raises(CircuitizeError, match="expected input 'data' of"):
        arrow(one("ReduceMean", x))  # no operator of ONNX
    known = np.array([[1, 2], [-1, -2]], np.int32)
    assert run(one("ReduceMean", known, known=1, opset=13, axes=[1], keepdims=0)).tolist() == [1, -1]
    for operator in ("ReduceL2", "ReduceLogSum", "ReduceLogSumExp"):
        with pytest.raises(CircuitizeError, match="expected floats, found int32; cast the input"):
            arrow(one(operator, known, opset=13, axes=[1]))
    a, b = np.array([7, -7, 7, -7], np.int32), np.array([2, 2, -2, -2], np.int32)
    assert run(one("Div", a, b), a, b).tolist() == [3, -3, -3, 3]


def test_hardmax_before_opset_13_is_of_all_axes_together() -> None:
    x = np.array([[[1, 5], [7, 2]], [[0, 0], [3, 9]]], np.float32)
    assert run(one("Hardmax", x, opset=11), x).tolist() == [[[0, 0], [1, 0]], [[0, 0], [0, 1]]]
    assert run(one("Hardmax", x, opset=13), x).tolist() == [[[0, 1], [1, 0]], [[1, 0], [0, 1]]]


def test_an_operator_of_another_opset_is_refused() -> None:
    x, ones = np.ones((1, 2, 2), np.float32), np.ones(2, np.float32)
    for given in (
        one("Upsample", x, ones.repeat(2)[:3], known=1, opset=10),  # withdrawn
        one("Gelu", x, opset=19),
        one("Erf", x, opset=8),
    ):
        with pytest.raises(CircuitizeError, match="expected an operator of opset"):
            arrow(given)


def test_shrink_takes_the_lower_branch_first() -> None:
    x = np.array([-3, -0.2, 0.2, 3], np.float32)
    assert run(one("Shrink", x, lambd=-1.0, bias=0.5), x).tolist() == pytest.approx([-2.5, 0.3, 0.7, 2.5])


def test_an_attribute_that_is_not_read_is_refused() -> None:
    x, small = np.array([[[1, 2], [3, 4]]], np.float32), np.ones(2, np.float32)
    given = one("BatchNormalization", x, small, small, small, small, known=4, opset=7, epsilon=0.1)
    given.graph.node[0].attribute.append(helper.make_attribute("spatial", 0))
    with pytest.raises(CircuitizeError):
        arrow(given)
