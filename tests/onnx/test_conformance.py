"""ONNX's own node tests on the float semantics: those of covered operators run, and their number is printed."""

from __future__ import annotations

import warnings
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest

from circuitize.circuits.hypergraph import evaluate
from circuitize.frontends.trace import Tensor, trace

from . import structure
from .nodes import OPERATORS, Node, Outside

LEAST = 300
GREATEST = 1e3
"""Beyond it, and NaN and infinity, are none of this language's business."""

NUMBERS = {1, 6, 7, 9, 11}
"""Element types float, int32, int64, bool and double of ONNX: real numbers, whole numbers, 0 and 1."""

Arrays = list[np.ndarray[Any, Any]]


@cache
def cases() -> list[tuple[Any, Any, Arrays, Arrays]]:
    """Test, model, inputs and outputs of each node test of one node on finite numbers of moderate size."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.loader import load_model_tests

        found = load_model_tests(kind="node")
    chosen = []
    for case in found:
        if "_expanded" in case.name or case.model is None or len(case.model.graph.node) != 1:
            continue
        graph = case.model.graph
        ports = [*graph.input, *graph.output]
        if any(port.type.tensor_type.elem_type not in NUMBERS for port in ports):
            continue
        for inputs, outputs in case.data_sets:
            if not all(isinstance(value, (np.ndarray, np.generic)) for value in (*inputs, *outputs)):
                continue
            values = [np.asarray(value) for value in (*inputs, *outputs)]
            if all(value.size and np.isfinite(value).all() for value in values) and all(
                np.abs(value).max() <= GREATEST for value in values if value.dtype.kind == "f"
            ):
                chosen.append((case, case.model, values[: len(inputs)], values[len(inputs) :]))
    return chosen


def made(model: Any, inputs: Arrays) -> Arrays:
    """What the node makes of the inputs, in float64; raises Outside where it is not covered."""
    from onnx import helper

    (node,) = model.graph.node
    if node.op_type not in OPERATORS or node.domain not in ("", "ai.onnx"):
        raise Outside(node.op_type)
    given = {port.name: value for port, value in zip(model.graph.input, inputs, strict=True)}
    attributes = {a.name: _plain(helper.get_attribute_value(a)) for a in node.attribute} | {"kind": node.op_type}
    values = [given.get(name) for name in node.input]
    present = [value for value in values if value is not None]

    def traced(*tensors: Tensor) -> list[Tensor]:
        rest = iter(tensors)
        placed = [None if value is None else next(rest) for value in values]
        version = max(entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx"))
        found = OPERATORS[node.op_type](Node(attributes, placed, values, len(node.output), version))
        found = list(found) if isinstance(found, (tuple, list)) else [found]
        return found[: len(node.output)]

    arrow = trace(traced, *[value.shape for value in present])
    return evaluate(arrow, [value.astype(np.float64) for value in present])


def _plain(value: Any) -> Any:
    from onnx import TensorProto, numpy_helper

    return numpy_helper.to_array(value) if isinstance(value, TensorProto) else value


def test_node_tests_of_onnx(capsys: pytest.CaptureFixture[str]) -> None:
    passed: Counter[str] = Counter()
    outside: Counter[str] = Counter()
    wrong = []
    for case, model, inputs, outputs in cases():
        kind = model.graph.node[0].op_type
        try:
            found = made(model, inputs)
        except Outside:
            outside[kind] += 1
            continue
        except Exception as error:
            wrong.append(f"{case.name}: {type(error).__name__}: {error}")
            continue
        try:
            for one, expected in zip(found, outputs, strict=True):
                assert one.shape == expected.shape, f"expected shape {expected.shape}, found {one.shape}"
                np.testing.assert_allclose(one, expected.astype(np.float64), rtol=case.rtol, atol=max(case.atol, 1e-6))
            passed[kind] += 1
        except AssertionError as error:
            wrong.append(f"{case.name}: {str(error).strip().splitlines()[0]}")
    with capsys.disabled():
        print(f"\nONNX node tests: {passed.total()} run and passed, of {len(passed)} operators; outside: ", end="")
        print(f"{outside.total()} of {len(outside)}")
    assert not wrong, "\n".join(wrong)
    assert passed.total() >= LEAST


def test_every_translation_is_tested() -> None:
    """An operator without a test that ran would be a claim without proof."""
    assert structure.MODES
    covered = {model.graph.node[0].op_type for _, model, _, _ in cases()}
    assert not OPERATORS.keys() - covered
