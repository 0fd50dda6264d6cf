"""ONNX's own tests of its operators, on the float meaning of our arrows."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_nodes
import pytest
import tiers
from onnx_models import one

from circuitize.circuits.errors import CircuitizeError
from circuitize.frontends.onnx import OPERATORS, arrow

SCOPE, REFUSED = {False: 988, True: 342}, {False: 38, True: 7}
"""How many node tests there are, and are expansions of a function; and how many of them may be refused."""
CLOSE = 0.99
"""The share of those that pass whose integers are close."""


@pytest.mark.parametrize("expanded", [False, True], ids=["plain", "expanded"])
def test_nodes(expanded: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """None is wrong; what is refused, is refused in one line. Each sixteenth in `make test`."""
    assert len(onnx_nodes.cases(expanded)) == SCOPE[expanded] - (0 if expanded else len(onnx_nodes.LONG))
    outcomes: Counter[str] = Counter()
    wrong: dict[str, str] = {}
    for case in onnx_nodes.cases(expanded)[:: tiers.count(16, 1)]:
        try:
            said = onnx_nodes.outcome(case)
        except Exception as error:
            wrong[case.name] = f"{type(error).__name__}: {error}"
            continue
        if said != "passed" and ("\n" in said or "expected" not in said):
            wrong[case.name] = said
        outcomes["passed" if said == "passed" else "refused"] += 1
    with capsys.disabled():
        print(f"\nof {outcomes.total()} {'expanded ' * expanded}node tests of ONNX {dict(outcomes)}")
    assert not wrong, wrong
    assert outcomes["refused"] <= REFUSED[expanded]


@pytest.mark.parametrize("expanded", [False, True], ids=["plain", "expanded"])
def test_nodes_in_integers(expanded: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """Each sixtieth in `make test`, all in deep: within 2^-8 or 1 %."""
    chosen = onnx_nodes.cases(expanded)[:: tiers.count(60, 1)]
    said = {case.name: onnx_nodes.in_integers(case) for case in chosen if onnx_nodes.outcome(case) == "passed"}
    with capsys.disabled():
        print(f"\n{Counter(said.values())} in integers")
    computed = {name: outcome for name, outcome in said.items() if outcome != "known"}
    far = [name for name, outcome in computed.items() if outcome != "close"]
    assert len(far) <= (1 - CLOSE) * len(computed), far


def test_the_guide_lists_every_operator() -> None:
    guide = (Path(__file__).parents[3] / "docs" / "onnx.md").read_text()
    _, _, table = guide.partition("| operators | elements |\n")
    rows = [row.split("|")[2:4] for row in table.splitlines() if row.startswith("| ")]
    kinds = {"floats": "float", "whole numbers": "int", "truth values": "bool", "all": "float, int, bool"}
    listed = {
        name.strip(): {kind for word in elements.strip().split(", ") for kind in kinds[word].split(", ")}
        for names, elements in rows
        for name in re.sub(r"\([^)]*\)", "", names).split(",")
    }
    assert listed == {name: set(translation.kinds) for name, translation in OPERATORS.items()}


LEFT = {"Bernoulli", "DynamicQuantizeLinear", "SequenceMap"}
"""Operators that ONNX defines by others, of which some are not read."""


def test_the_guide_lists_what_is_read_by_its_definition() -> None:
    guide = (Path(__file__).parents[3] / "docs" / "onnx.md").read_text()
    _, _, text = guide.partition("expanded by ONNX's own definition:")
    listed = {name.strip() for name in text.partition(".")[0].split(",")}
    schemas: list[Any] = list(onnx.defs.get_all_schemas())
    defined = {s.name for s in schemas if s.has_function or s.has_context_dependent_function}
    assert listed == defined - OPERATORS.keys() - LEFT
    seen = {node.op_type for case in onnx_nodes.cases() for node in case.model.graph.node}
    assert listed <= seen, "node tests read each"


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
