"""Networks from ONNX files as programs and models: parameters, open extents, training, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from onnx_files import built, cnn, floats, mlp, written

import circuitize as cz
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.port import Role
from circuitize.frontends.onnx.network import network
from circuitize.sims import real

RATE = 0.125


def values(model: Any) -> dict[str, NDArray[np.float64]]:
    return {e.name: numpy_helper.to_array(e).astype(np.float64) for e in model.graph.initializer}


def test_a_step_is_that_of_the_same_network_by_our_layers(tmp_path: Path) -> None:
    """Weights have torch's layout in the file, [out, in], so that gradients are transposed."""
    held = values(mlp())
    ours = cz.from_onnx(written(tmp_path / "net.onnx", mlp()))
    native = cz.sequential(cz.dense(3, 4), cz.relu(), cz.dense(4, 2))
    draw = np.random.default_rng(2)
    batch = {"inputs": draw.random((5, 3)), "targets": draw.random((5, 2)), "learning_rate": np.array(RATE)}
    steps = [cz.training_step(model, cz.mean_squared_error, cz.SGD(), 5) for model in (ours, native)]
    theirs = {
        "dense1.weight": held["w1"].T,
        "dense1.bias": held["b1"],
        "dense2.weight": held["w2"].T,
        "dense2.bias": held["b2"],
    }
    mine, wanted = real.run(steps[0], {**held, **batch}), real.run(steps[1], {**theirs, **batch})
    for name, other in zip(("w1", "b1", "w2", "b2"), theirs, strict=True):
        renewed = wanted[other].T if name.startswith("w") else wanted[other]
        np.testing.assert_allclose(mine[name], renewed, rtol=0, atol=1e-15)
    assert mine["loss"] == pytest.approx(float(wanted["loss"]), abs=1e-15)


def test_initial_values_are_the_files() -> None:
    model = cz.from_onnx(cnn())
    initial, held = model.initial(seed=7), values(cnn())
    assert set(initial) == set(held) and model.inputs == (1, 8, 8)
    assert max(np.abs(initial[name] - held[name]).max() for name in held) <= 2.0**-15


def normalized(ratio: float = 0.25) -> Any:
    """Dense, batch norm, dropout, dense: as exporters write a network that keeps them."""
    draw = np.random.default_rng(0).normal
    nodes = [
        helper.make_node("Gemm", ["x", "w", "b"], ["h"]),
        helper.make_node("BatchNormalization", ["h", "scale", "shift", "mean", "variance"], ["n"], momentum=0.75),
        helper.make_node("Dropout", ["n", "ratio"], ["d"]),
        helper.make_node("Gemm", ["d", "v", "c"], ["y"]),
    ]
    weights = {
        "w": draw(size=(3, 4)),
        "b": draw(size=4),
        "scale": np.ones(4),
        "shift": np.zeros(4),
        "mean": np.full(4, 0.5),
        "variance": np.full(4, 2.0),
        "ratio": np.array(ratio),
        "v": draw(size=(4, 2)),
        "c": np.zeros(2),
    }
    return built(nodes, [floats("x", "batch", 3)], [floats("y", "batch", 2)], weights)


def test_batch_norm_and_dropout_train_as_they_do_in_training() -> None:
    model, held = cz.from_onnx(normalized(), {"batch": 6}), values(normalized())
    assert [p.name for p in model.parameters] == ["w", "b", "scale", "shift", "v", "c"]
    assert [(p.name, p.fresh) for p in model.state] == [("mean", False), ("variance", False), ("d.mask", True)]
    step = cz.training_step(model, cz.mean_squared_error, cz.SGD(), 6)
    draw = np.random.default_rng(1)
    x, t = draw.random((6, 3)), draw.random((6, 2))
    masks = model.drawn(3)
    assert set(np.unique(masks["d.mask"])) == {0.0, 1.0} and masks["d.mask"].shape == (6, 4)
    given = {**held, **masks, "inputs": x, "targets": t, "learning_rate": np.array(RATE)}
    made = real.run(step, {port.name: given[port.name] for port in step.inputs})
    h = x @ held["w"] + held["b"]
    n = (h - h.mean(0)) / np.sqrt(h.var(0) + 1e-5)
    y = n * masks["d.mask"] / 0.75 @ held["v"]
    assert made["loss"] == pytest.approx(((y - t) ** 2).mean(), abs=1e-9)
    np.testing.assert_allclose(made["mean"], 0.75 * held["mean"] + 0.25 * h.mean(0), atol=1e-12)
    np.testing.assert_allclose(made["variance"], 0.75 * held["variance"] + 0.25 * h.var(0), atol=1e-12)
    assert "d.mask" not in made
    roles = {port.name: port.role for port in step.inputs}
    assert (roles["mean"], roles["d.mask"], roles["scale"]) == (Role.STATE, Role.DATA, Role.PARAMETER)


def test_outside_training_statistics_are_given_and_nothing_is_dropped() -> None:
    model, held = cz.from_onnx(normalized(), {"batch": 2}), values(normalized())
    x = np.random.default_rng(1).random((2, 3))
    made = real.run(cz.predict(model, 2), {**{p: held[p] for p in held if p != "ratio"}, "inputs": x})
    n = (x @ held["w"] + held["b"] - held["mean"]) / np.sqrt(held["variance"] + 1e-5)
    np.testing.assert_allclose(made["outputs"], n @ held["v"], atol=1e-12)


def test_a_mask_has_the_shape_of_a_batch() -> None:
    with pytest.raises(CircuitizeError, match="expected the batch of a network with dropout"):
        cz.from_onnx(normalized())
    assert [p.name for p in cz.from_onnx(normalized(0.0)).state] == ["mean", "variance"]


def two() -> Any:
    """Two outputs, of which one alone needs the second weight."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"]), helper.make_node("MatMul", ["y", "v"], ["z"])]
    ends = [floats("y", "batch", 2), floats("z", "batch", 2)]
    return built(nodes, [floats("x", "batch", 2)], ends, {"w": np.eye(2), "v": np.eye(2)})


def test_an_output_is_chosen_with_what_it_needs() -> None:
    assert network(two(), {"batch": 1}).outputs == ("y", "z")
    only = network(two(), {"batch": 1}, outputs=["y"])
    assert (only.inputs, only.outputs) == (("x", "w"), ("y",))
    assert [p.name for p in cz.from_onnx(two(), output="y").parameters] == ["w"]
    with pytest.raises(CircuitizeError, match=r"expected one output, found \['y', 'z'\]; choose one: output='y'"):
        cz.from_onnx(two())


def test_what_decides_shapes_stays_a_constant() -> None:
    nodes = [
        helper.make_node("Mul", ["x", "w"], ["s"]),
        helper.make_node("Resize", ["s", "", "scales"], ["y"], mode="nearest"),
    ]
    model = built(
        nodes, [floats("x", "batch", 2)], [floats("y", "batch", 4)], {"w": np.ones(2), "scales": np.array([1.0, 2.0])}
    )
    assert network(model, {"batch": 3}).inputs == ("x", "w")


def test_known_inputs_are_no_inputs() -> None:
    node = helper.make_node("Mul", ["x", "k"], ["y"])
    model = built([node], [floats("x", 2), floats("k")], [floats("y", 2)], {})
    made = network(model, known={"k": 3})
    assert made.inputs == ("x",) and real.run(made.program(), {"x": np.array([0.5, 1.0])})["y"].tolist() == [1.5, 3.0]
    with pytest.raises(CircuitizeError, match="known input 'k': expected numbers, found 'three'; correct it"):
        network(model, known={"k": "three"})


def test_a_file_of_a_fixed_batch_is_of_that_batch() -> None:
    model = built([helper.make_node("Relu", ["x"], ["y"])], [floats("x", 2, 3)], [floats("y", 2, 3)], {})
    assert cz.predict(cz.from_onnx(model), 2).arrow.target[0] == cz.Array((2, 3))
    with pytest.raises(CircuitizeError, match="expected a batch of 2 examples, as the file says, found 4"):
        cz.predict(cz.from_onnx(model), 4)


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ([], r"expected one input besides? parameters, found \[\]"),
        ([floats("x", 2), floats("k")], r"expected one input besides? parameters, found \['x', 'k'\]"),
        ([floats("x")], "expected a first axis that counts examples, found none"),
    ],
)
def test_a_model_has_one_input_of_examples(inputs: list[Any], said: str) -> None:
    node = helper.make_node("Constant", [], ["y"], value_float=1.0)
    with pytest.raises(CircuitizeError, match=said):
        cz.from_onnx(built([node], inputs, [floats("y")], {}))


@pytest.mark.parametrize("dims", [{"batch": 0}, {"batch": True}, {"batch": 2.0}])
def test_extents_are_whole_numbers(dims: Any) -> None:
    with pytest.raises(CircuitizeError, match="dims: expected a whole number of at least 1 for 'batch'"):
        network(mlp(), dims)


def test_a_file_that_protobuf_cannot_hold_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "large.onnx"
    with path.open("wb") as file:
        file.truncate(1 << 31)
    with pytest.raises(CircuitizeError, match=r"expected a model of at most 2147483647 bytes, found 2147483648"):
        network(path)
