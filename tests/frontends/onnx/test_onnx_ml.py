"""Operators of ai.onnx.ml beside onnxruntime, on models made at random, and what is refused of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import evaluate
from circuitize.frontends.onnx import arrow

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
helper, F, WHOLE = onnx.helper, onnx.TensorProto.FLOAT, onnx.TensorProto.INT64

FEATURES = 3


def built(operator: str, outputs: dict[str, int], opset: int = 3, **attributes: Any) -> Any:
    """A model of one node on x [5, 3]."""
    node = helper.make_node(operator, ["x"], list(outputs), domain="ai.onnx.ml", **attributes)
    graph = helper.make_graph(
        [node],
        "one",
        [helper.make_tensor_value_info("x", F, [5, FEATURES])],
        [helper.make_tensor_value_info(name, kind, None) for name, kind in outputs.items()],
    )
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", opset)]
    return helper.make_model(graph, opset_imports=imports, ir_version=9)


def judge(model: Any, seed: int) -> None:
    """What our arrow makes of random rows, some of them at thresholds, is what onnxruntime makes."""
    x = np.random.default_rng(seed).integers(-8, 9, (5, FEATURES)).astype(np.float32) / 4
    found = evaluate(arrow(model).arrow, [x.astype(np.float64)])
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for ours, theirs in zip(found, session.run(None, {"x": x}), strict=True):
        assert ours.shape == theirs.shape
        assert np.abs(ours - theirs).max() <= 1e-5 * max(1.0, np.abs(theirs).max())


def trees(random: np.random.Generator, count: int, mixed: bool) -> dict[str, list[Any]]:
    """Nodes of random trees, one of them a leaf alone, with thresholds on the grid of the rows."""
    modes = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
    made: dict[str, list[Any]] = {
        name: [] for name in ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids")
    }

    def add(tree: int, node: int, mode: str, true: int, false: int) -> None:
        entry = (tree, node, int(random.integers(FEATURES)), mode, float(random.integers(-8, 9)) / 4, true, false)
        for name, value in zip(made, entry, strict=True):
            made[name].append(value)

    for tree in range(count):
        waiting, numbered = [0], 1
        while waiting:
            node = waiting.pop(0)
            if tree == 0 or numbered > 11 or (node and random.random() < 0.3):
                add(tree, node, "LEAF", 0, 0)
                continue
            add(tree, node, str(random.choice(modes)) if mixed else "BRANCH_LEQ", numbered, numbered + 1)
            waiting += [numbered, numbered + 1]
            numbered += 2
    return {f"nodes_{name}": entries for name, entries in made.items()}


def weighed(random: np.random.Generator, nodes: dict[str, list[Any]], prefix: str, ids: list[int], least: float) -> Any:
    """A random weight of each of these targets at each leaf."""
    leaves = [place for place, mode in enumerate(nodes["nodes_modes"]) if mode == "LEAF"]
    return {
        f"{prefix}_ids": ids * len(leaves),
        f"{prefix}_treeids": [nodes["nodes_treeids"][at] for at in leaves for _ in ids],
        f"{prefix}_nodeids": [nodes["nodes_nodeids"][at] for at in leaves for _ in ids],
        f"{prefix}_weights": [float(v) for v in random.uniform(least, 1.0, len(leaves) * len(ids))],
    }


@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
@pytest.mark.parametrize("targets", [1, 3])
def test_regression_trees(aggregate: str, targets: int) -> None:
    for seed in range(3):
        random = np.random.default_rng(seed)
        nodes = trees(random, 4, mixed=seed > 0)
        given = nodes | weighed(random, nodes, "target", list(range(targets)), -1.0)
        base = [float(v) for v in random.normal(size=targets)] if seed else []
        named = given | ({"base_values": base} if base else {})
        judge(built("TreeEnsembleRegressor", {"y": F}, n_targets=targets, aggregate_function=aggregate, **named), seed)


@pytest.mark.parametrize("after", ["NONE", "SOFTMAX", "LOGISTIC"])
@pytest.mark.parametrize(
    ("classes", "ids", "least"),
    [(3, [0, 1, 2], -1.0), (2, [1], 0.0), (2, [1], -1.0), (2, [0], 0.0), (2, [0], -1.0)],
)
def test_classification_trees(after: str, classes: int, ids: list[int], least: float) -> None:
    for seed in range(3):
        random = np.random.default_rng(seed)
        nodes = trees(random, 4, mixed=False)
        given = nodes | weighed(random, nodes, "class", ids, least)
        names = [int(n) for n in random.permutation(classes) * 3 - 2]
        judge(
            built(
                "TreeEnsembleClassifier", {"y": WHOLE, "z": F}, classlabels_int64s=names, post_transform=after, **given
            ),
            seed,
        )


@pytest.mark.parametrize("after", ["NONE", "SOFTMAX", "LOGISTIC"])
@pytest.mark.parametrize(("rows", "classes"), [(1, 2), (2, 2), (4, 4)])
def test_linear_classifiers(after: str, rows: int, classes: int) -> None:
    for seed in range(3):
        random = np.random.default_rng(seed)
        judge(
            built(
                "LinearClassifier",
                {"y": WHOLE, "z": F},
                classlabels_ints=list(range(5, 5 + classes)),
                coefficients=[float(v) for v in random.normal(size=rows * FEATURES)],
                intercepts=[float(v) for v in random.normal(size=rows)],
                post_transform=after,
            ),
            seed,
        )


@pytest.mark.parametrize("targets", [1, 2])
def test_linear_regressors(targets: int) -> None:
    random = np.random.default_rng(targets)
    numbers = [float(v) for v in random.normal(size=targets * FEATURES)]
    judge(built("LinearRegressor", {"y": F}, targets=targets, coefficients=numbers, intercepts=[0.5] * targets), 0)


KERNELS = [
    ("LINEAR", [0.0, 0.0, 0.0]),
    ("POLY", [0.5, 1.0, 3.0]),
    ("RBF", [0.25, 0.0, 0.0]),
    ("SIGMOID", [0.5, -0.25, 0.0]),
]


@pytest.mark.parametrize(("kernel", "parameters"), KERNELS)
@pytest.mark.parametrize("one", [0, 1])
def test_support_vector_regressors(kernel: str, parameters: list[float], one: int) -> None:
    random = np.random.default_rng(3)
    judge(
        built(
            "SVMRegressor",
            {"y": F},
            coefficients=[float(v) for v in random.normal(size=4)],
            support_vectors=[float(v) for v in random.normal(size=4 * FEATURES)],
            n_supports=4,
            rho=[0.25],
            kernel_type=kernel,
            one_class=one,
            kernel_params=parameters,
        ),
        1,
    )


@pytest.mark.parametrize(("kernel", "parameters"), KERNELS)
@pytest.mark.parametrize("classes", [2, 4])
def test_support_vector_classifiers(kernel: str, parameters: list[float], classes: int) -> None:
    for seed in range(3):
        random = np.random.default_rng(seed)
        counts = [2, 1, 3, 2][:classes]
        total = sum(counts)
        judge(
            built(
                "SVMClassifier",
                {"y": WHOLE, "z": F},
                classlabels_ints=list(range(classes)),
                coefficients=[float(v) for v in random.normal(size=total * (classes - 1))],
                support_vectors=[float(v) for v in random.normal(size=total * FEATURES)],
                vectors_per_class=counts,
                rho=[float(v) for v in random.normal(size=classes * (classes - 1) // 2)],
                kernel_type=kernel,
                kernel_params=parameters,
            ),
            seed,
        )


@pytest.mark.parametrize(
    ("operator", "attributes"),
    [
        ("Scaler", {"offset": [0.5, -1.0, 2.0], "scale": [2.0, 0.5, 1.0]}),
        ("Scaler", {"offset": [0.5], "scale": [2.0]}),
        ("Binarizer", {"threshold": 0.25}),
        ("Normalizer", {"norm": "L1"}),
        ("Normalizer", {"norm": "L2"}),
    ],
)
def test_features(operator: str, attributes: dict[str, Any]) -> None:
    judge(built(operator, {"y": F}, **attributes), 5)


def test_elements_of_rows_are_picked() -> None:
    node = helper.make_node("ArrayFeatureExtractor", ["x", "places"], ["y"], domain="ai.onnx.ml")
    ends = [helper.make_tensor_value_info(name, F, [5, FEATURES] if name == "x" else None) for name in "xy"]
    places = onnx.numpy_helper.from_array(np.array([2, 0, 2], np.int64), "places")
    graph = helper.make_graph([node], "picked", ends[:1], ends[1:], [places])
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 3)]
    judge(helper.make_model(graph, opset_imports=imports, ir_version=9), 6)


def test_maps_are_columns_in_the_order_of_their_labels() -> None:
    labels, random = [9, 5, 7], np.random.default_rng(7)
    coefficients, intercepts = random.normal(size=3 * FEATURES).tolist(), random.normal(size=3).tolist()
    linear: dict[str, Any] = {"coefficients": coefficients, "intercepts": intercepts, "post_transform": "SOFTMAX"}
    model = built("LinearClassifier", {"y": WHOLE, "z": F}, classlabels_ints=labels, **linear)
    model.graph.node.append(helper.make_node("ZipMap", ["z"], ["maps"], domain="ai.onnx.ml", classlabels_int64s=labels))
    maps = helper.make_map_type_proto(WHOLE, helper.make_tensor_type_proto(F, None))
    model.graph.output[1].CopyFrom(helper.make_value_info("maps", helper.make_sequence_type_proto(maps)))
    x = random.integers(-8, 9, (5, FEATURES)).astype(np.float32) / 4
    found = evaluate(arrow(model).arrow, [x.astype(np.float64)])[1]
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    wanted = session.run(["maps"], {"x": x})[0]
    np.testing.assert_allclose(found, [[row[label] for label in labels] for row in wanted], rtol=1e-5, atol=1e-6)


def test_opset_five_has_one_operator_of_all_trees() -> None:
    """Three trees, one of them a leaf alone, which is written as a node with that leaf on both sides."""
    from onnx import numpy_helper

    def tensor(values: list[float], kind: Any = np.float32) -> Any:
        return numpy_helper.from_array(np.array(values, kind))

    model = built(
        "TreeEnsemble",
        {"y": F},
        opset=5,
        n_targets=2,
        nodes_featureids=[0, 2, 1, 1],
        nodes_splits=tensor([0.25, -0.5, 1.0, 0.5]),
        nodes_modes=tensor([0, 3, 0, 2], np.uint8),
        nodes_truenodeids=[1, 0, 2, 4],
        nodes_trueleafs=[0, 1, 1, 1],
        nodes_falsenodeids=[1, 3, 2, 5],
        nodes_falseleafs=[1, 1, 1, 1],
        leaf_targetids=[0, 1, 0, 1, 1, 0],
        leaf_weights=tensor([1.5, -2.0, 0.5, 3.0, 0.25, -0.75]),
        tree_roots=[0, 2, 3],
    )
    x = np.array([[0.0, 0.0, 0.0], [0.25, 1.0, -1.0], [1.0, 2.0, 0.0], [0.5, -1.0, 0.0], [0.0, 0.5, -0.5]])
    wanted = np.zeros((5, 2))
    for row, (a, b, c) in enumerate(x):
        for end in [(0 if c > -0.5 else 3) if a <= 0.25 else 1, 2, 4 if b >= 0.5 else 5]:
            wanted[row, [0, 1, 0, 1, 1, 0][end]] += [1.5, -2.0, 0.5, 3.0, 0.25, -0.75][end]
    np.testing.assert_allclose(evaluate(arrow(model).arrow, [x])[0], wanted)


LEAVES: dict[str, Any] = {
    "nodes_treeids": [0, 0, 0],
    "nodes_nodeids": [0, 1, 2],
    "nodes_featureids": [0, 0, 0],
    "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
    "nodes_values": [0.5, 0.0, 0.0],
    "nodes_truenodeids": [1, 0, 0],
    "nodes_falsenodeids": [2, 0, 0],
    "target_ids": [0, 0],
    "target_treeids": [0, 0],
    "target_nodeids": [1, 2],
    "target_weights": [1.0, 2.0],
}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"nodes_falsenodeids": [1, 0, 0]}, "expected one root of each tree, found more or fewer"),
        ({"nodes_falsenodeids": [0, 0, 0]}, "expected nodes that a root leads to, found one that none does"),
        ({"nodes_falsenodeids": [7, 0, 0]}, "found one to nowhere"),
        ({"nodes_featureids": [3, 0, 0]}, "expected tests of features below 3, found 3"),
        ({"nodes_nodeids": [0, 1, 1]}, "expected each node of each tree once"),
        ({"nodes_modes": ["BRANCH_MAYBE", "LEAF", "LEAF"]}, "found 'BRANCH_MAYBE'"),
        ({"nodes_modes": ["BRANCH_MEMBER", "LEAF", "LEAF"]}, "expected comparisons, found BRANCH_MEMBER"),
        ({"nodes_values": [float("nan"), 0.0, 0.0]}, "expected finite thresholds"),
        ({"target_ids": [0, 1]}, "expected target_ids below 1, found 1"),
        ({"target_nodeids": [1, 9]}, "expected weights of nodes that there are"),
        ({"nodes_values": [0.5]}, "expected 3 entries of each attribute of nodes"),
        ({"post_transform": "PROBIT"}, "expected post_transform NONE, SOFTMAX or LOGISTIC, found PROBIT"),
        ({"aggregate_function": "MAX", "target_nodeids": [1, 1]}, "found none at one; give all"),
    ],
)
def test_what_is_no_forest_is_refused(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(CircuitizeError, match=said) as raised:
        arrow(built("TreeEnsembleRegressor", {"y": F}, **{**LEAVES, **changed}))
    assert "\n" not in str(raised.value)


def test_labels_that_are_texts_are_their_places() -> None:
    model = built(
        "LinearClassifier",
        {"y": onnx.TensorProto.STRING, "z": F},
        classlabels_strings=["owl", "elk"],
        coefficients=[1.0, 0.0, 0.0, -1.0, 0.0, 0.0],
    )
    x: NDArray[np.float64] = np.array([[1.0, 0, 0], [-1.0, 0, 0], [2.0, 0, 0], [0.5, 0, 0], [-3.0, 0, 0]])
    assert evaluate(arrow(model).arrow, [x])[0].tolist() == [0, 1, 0, 0, 1]
