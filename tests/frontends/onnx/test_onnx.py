"""ONNX's own tests of its operators, on the float meaning of our arrows."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx_models import one

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import evaluate
from circuitize.frontends.onnx import OPERATORS, UnknownValue, arrow

LEAST_RUN = 300
REFUSED = (
    "expected axes of at least one element",
    "expected slices with elements, found an empty one",
    "expected inference, found training mode",
    "expected the maximum alone, found its place too",
)
"""Why cases of operators that are read are none of ours: nothing else is left out."""


@cache
def cases() -> list[Any]:
    """The node tests of concrete float and integer tensors, finite and at most 1000, that are no expansions."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.loader import load_model_tests

        found = load_model_tests(kind="node")
    return [case for case in found if "_expanded" not in case.name and _plain(case)]


def _plain(case: Any) -> bool:
    arrays = [array for inputs, outputs in case.data_sets for array in (*inputs, *outputs)]
    kinds = (np.float32, np.int32, np.int64, np.bool_)
    return all(
        isinstance(array, np.ndarray)
        and array.dtype in kinds
        and np.isfinite(array).all()
        and (array.dtype.kind != "f" or (abs(array) <= 1e3).all())
        for array in arrays
    )


def outcomes(case: Any) -> str:
    """ "passed", or why a case is none of ours; what is computed wrongly raises."""
    for inputs, outputs in case.data_sets:
        given = dict(zip((entry.name for entry in case.model.graph.input), inputs, strict=False))
        known: dict[str, np.ndarray] = {}
        whole = {name: (int(a.min()), int(a.max())) for name, a in given.items() if a.dtype.kind in "iu" and a.size}
        while True:
            try:
                imported = arrow(case.model, known, {name: ends for name, ends in whole.items() if name not in known})
                break
            except UnknownValue as unknown:
                known[unknown.name] = given[unknown.name]
            except CircuitizeError as error:
                return str(error)
        found = evaluate(imported.arrow, [np.asarray(given[name], np.float64) for name in imported.inputs])
        names = [entry.name for entry in case.model.graph.output]
        assert list(imported.outputs) == names
        for name, ours, expected in zip(names, found, outputs, strict=True):
            assert ours.shape == expected.shape, name
            np.testing.assert_allclose(ours, expected.astype(np.float64), case.rtol, max(case.atol, 2e-6), err_msg=name)
    return "passed"


def test_nodes(capsys: pytest.CaptureFixture[str]) -> None:
    passed: Counter[str] = Counter()
    wrong: dict[str, str] = {}
    for case in cases():
        operators = {node.op_type for node in case.model.graph.node}
        if not operators <= OPERATORS.keys():
            continue
        try:
            outcome = outcomes(case)
        except Exception as error:
            wrong[case.name] = f"{type(error).__name__}: {error}"
            continue
        if outcome != "passed" and not any(reason in outcome for reason in REFUSED):
            wrong[case.name] = outcome
        if outcome == "passed":
            passed["+".join(sorted(operators))] += 1
    with capsys.disabled():
        print(f"\n{passed.total()} of ONNX's node tests run and passed, of {len(passed)} operators")
    assert not wrong, wrong
    assert passed.total() >= LEAST_RUN


def test_the_guide_lists_every_operator() -> None:
    guide = (Path(__file__).parents[3] / "docs" / "onnx.md").read_text()
    rows = [row.split("|")[2:4] for row in guide.splitlines() if row.startswith("| ") and "| operators |" not in row]
    kinds = {"floats": "float", "whole numbers": "int", "truth values": "bool", "all": "float, int, bool"}
    listed = {
        name.strip(): {kind for word in elements.strip().split(", ") for kind in kinds[word].split(", ")}
        for names, elements in rows
        for name in re.sub(r"\([^)]*\)", "", names).split(",")
    }
    assert listed == {name: set(translation.kinds) for name, translation in OPERATORS.items()}


def test_refusals() -> None:
    from onnx import TensorProto, helper

    def model(
        operator: str, shape: list[int | str], inputs: int = 1, last: int = TensorProto.FLOAT, domain: str = ""
    ) -> Any:
        names = [f"x{n}" for n in range(inputs)]
        node = helper.make_node(operator, names, ["y"], domain=domain)
        declared = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in names[:-1]]
        declared.append(helper.make_tensor_value_info(names[-1], last, shape))
        made = [helper.make_tensor_value_info("y", 0, None)]
        return helper.make_model(helper.make_graph([node], "graph", declared, made))

    for given, message in (
        (
            model("Sinus", [2], domain="mine"),
            "expected an operator that is understood, found mine.Sinus; see docs/onnx.md",
        ),
        (model("DeformConv", [2], 3), "expected an operator that is understood, found DeformConv"),
        (model("Relu", ["batch", 3]), r"input 'x0': expected a concrete shape, found \['batch'\]; fix its extents"),
        (
            model("Reshape", [2], 2, TensorProto.INT64),
            "expected the shape of Reshape to be known, found input 'x1'; fix its value",
        ),
    ):
        with pytest.raises(CircuitizeError, match=message):
            arrow(given)


def test_intervals() -> None:
    x = np.array([3, 4], np.int64)
    given = one("Mul", x, x)
    imported = arrow(given, intervals={"x0": (0, 1023), "x1": (-5, 5)})
    assert imported.input_types == ("int64", "int64") and imported.output_types == ("int64",)
    assert imported.arrow.edge_count == 1, "nothing wraps"
    narrow = one("Add", x.astype(np.uint8), x.astype(np.uint8))
    assert arrow(narrow).arrow.edge_count > 1
    assert arrow(narrow, intervals={"x0": (0, 9), "x1": (0, 9)}).arrow.edge_count == 1
    for wrong, message in (
        ({"x0": (0, 1 << 60)}, r"interval of 'x0': expected one in \[-4503599627370496, 4503599627370496\], found"),
        ({"x0": (4, 3)}, "interval of 'x0': expected one in"),
        ({"q": (0, 1)}, r"intervals: expected names of inputs of the graph, found \['q'\]"),
    ):
        with pytest.raises(CircuitizeError, match=message):
            arrow(given, intervals=wrong)
