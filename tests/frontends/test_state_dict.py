"""Weights of other systems into parameters and back: torch's layouts, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_programs import STEP, refused, step
from every_case import every_case

import circuitize as cz
from circuitize.api.values import program_inputs
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import evaluate
from circuitize.frontends.formats import Format
from circuitize.frontends.imported import format_for
from circuitize.sims import real

NAMES = {
    "conv2d1.weight": "features.0.weight",
    "conv2d1.bias": "features.0.bias",
    "dense1.weight": "fc.weight",
    "dense1.bias": "fc.bias",
}
TORCH = ("conv2d1.weight", "dense1.weight")


def network() -> cz.Model:
    return cz.sequential(
        cz.image(4, 4, 2), cz.conv2d(2, 3, 3), cz.relu(), cz.flatten(), cz.dense(2 * 2 * 3, 5), cz.batch_norm(5)
    )


def tensors(seed: int = 0) -> dict[str, Any]:
    """As torch keeps them: a kernel [out, in, rows, columns], a linear weight [out, in]."""
    random = np.random.default_rng(seed)
    shapes = {"features.0.weight": (3, 2, 3, 3), "features.0.bias": (3,), "fc.weight": (5, 12), "fc.bias": (5,)}
    made = {name: random.normal(0.0, 0.5, shape) for name, shape in shapes.items()}
    norm = {f"batch_norm1.{name}": random.uniform(0.5, 1.5, 5) for name in ("weight", "bias", "mean", "variance")}
    return made | norm


def test_a_network_of_torch_computes_what_its_formula_says_and_is_saved_again(tmp_path: Path) -> None:
    model, held = network(), tensors()
    cz.save_safetensors(tmp_path / "net.safetensors", held)
    loaded = cz.load_safetensors(tmp_path / "net.safetensors")
    values = cz.from_state_dict(loaded, model, NAMES, TORCH)
    x = np.random.default_rng(1).normal(size=(2, 4, 4, 2))
    assert model.inference is not None
    (found,) = evaluate(
        model.inference(model.batch_type(2)),
        [*(values[p.name] for p in (*model.parameters, *model.state)), x.reshape(2, *(model.inputs or ()))],
    )
    kernel, y = held["features.0.weight"], np.zeros((2, 2, 2, 3))
    for row in range(2):
        for column in range(2):
            window = x[:, row : row + 3, column : column + 3, :].transpose(0, 3, 1, 2)
            y[:, row, column] = np.einsum("bihw,oihw->bo", window, kernel) + held["features.0.bias"]
    z = np.maximum(y, 0).reshape(2, -1) @ held["fc.weight"].T + held["fc.bias"]
    norm = {name: held[f"batch_norm1.{name}"] for name in ("weight", "bias", "mean", "variance")}
    expected = (z - norm["mean"]) / np.sqrt(norm["variance"] + 2.0**-8) * norm["weight"] + norm["bias"]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    cz.save_safetensors(tmp_path / "again.safetensors", cz.to_state_dict(values, NAMES, TORCH), like=loaded)
    assert (tmp_path / "again.safetensors").read_bytes() == (tmp_path / "net.safetensors").read_bytes()


def test_a_model_trains_from_loaded_weights() -> None:
    model = network()
    values = cz.from_state_dict(tensors(), model, NAMES, TORCH)
    formats = {name: format_for(values[name]) for name in values}
    started = cz.with_weights(model, values, formats)
    first = started.initial(0)
    assert all(np.abs(first[name] - values[name]).max() <= 2.0**-15 for name in values)
    step = cz.training_step(started, cz.mean_squared_error, cz.SGD(), 2)
    assert {p.name: p.format for p in step.inputs}["dense1.weight"] == formats["dense1.weight"].of((12, 5))
    pictures = np.random.default_rng(1).uniform(size=(2, 32))
    batch = {"inputs": pictures, "targets": np.zeros((2, 5)), "learning_rate": np.array(0.125)}
    after = real.run(step, {**cz.start(step, started, 0), **batch})
    saved = cz.to_state_dict({name: after[name] for name in values}, NAMES, TORCH)
    assert saved["fc.weight"].shape == (5, 12) and np.abs(saved["fc.weight"] - tensors()["fc.weight"]).max() > 1e-3


def test_a_program_takes_them_too() -> None:
    program = cz.predict(network(), 1)
    values = cz.from_state_dict(tensors(), program, NAMES, TORCH)
    assert set(values) == {port.name for port in program.inputs if port.name != "inputs"}


def test_a_command_takes_a_file_of_weights(tmp_path: Path) -> None:
    """The same integers as by one .npz of all inputs."""
    values = step().examples[1]
    cz.save_safetensors(tmp_path / "w.safetensors", {"w": values["w"]}, kind="BF16")
    np.savez(tmp_path / "x.npz", x=values["x"])
    np.savez(tmp_path / "all.npz", x=values["x"], w=values["w"])
    program = cz.quantize(step())
    both, one = (
        program_inputs(program, [tmp_path / name for name in names])
        for names in (("w.safetensors", "x.npz"), ("all.npz",))
    )
    assert both.keys() == one.keys() == {"x", "w"} and all(np.array_equal(both[name], one[name]) for name in one)
    (tmp_path / "w.safetensors").write_bytes(b"x")
    line = refused("compile", STEP, "--target", "r1cs", "--inputs", tmp_path / "w.safetensors", "-o", tmp_path / "2")
    assert "w.safetensors: expected a safetensors file, found 1 bytes" in line


def faults() -> dict[str, tuple[Any, str]]:
    held, model = tensors(), network()

    def taken(tensors: Any = held, names: Any = NAMES, first: Any = TORCH) -> Any:
        return lambda: cz.from_state_dict(tensors, model, names, first)

    def given(formats: Any = None, **values: Any) -> Any:
        renamed = {name.replace("_1", "1."): array for name, array in values.items()}
        return lambda: cz.with_weights(model, renamed, formats)

    return {
        "missing": (taken(names={}), r"'conv2d1.weight': expected a tensor 'conv2d1.weight', found features.0.weight"),
        "no name": (taken(names={"dense9.weight": "fc.weight"}), "names: expected names among"),
        "no layout": (taken(first=["dense9.weight"]), "outputs_first: expected names among"),
        "torch's": (taken(first=TORCH[:1]), r"shape \[12, 5\], found \[5, 12\] in 'fc.weight'; torch keeps outputs"),
        "another": (taken({**held, "fc.weight": np.ones(3)}), r"expected shape \[12, 5\], found \[3\] in 'fc.weight'"),
        "text": (taken({**held, "fc.bias": np.array(["a"] * 5)}), "expected numbers in 'fc.bias', found <U1"),
        "NaN": (taken({**held, "fc.bias": np.full(5, np.nan)}), "expected finite numbers, found others in 'fc.bias'"),
        "unknown": (given(dense9=np.ones(5)), "values: expected names among"),
        "shape": (given(dense_1bias=np.ones(4)), r"parameter 'dense1.bias': expected shape \[5\], found \[4\]"),
        "past": (given(dense_1bias=np.full(5, 9.0)), r"expected values in \[-8.0, 7.99.*\], found 9; give formats="),
        "NaN again": (given(dense_1bias=np.full(5, np.nan)), "expected values in .*, found nan; give formats="),
        "format": (given({"dense9": Format.signed(8, 4)}), "formats: expected names among"),
        "nothing": (lambda: cz.from_state_dict(held, 3), "expected a Model or a Program, found 3"),  # type: ignore[arg-type]
    }


@every_case(faults().values())
def test_what_does_not_fit_is_refused_in_one_line(called: Any, message: str) -> None:
    with pytest.raises(CircuitizeError, match=message) as raised:
        called()
    assert "\n" not in str(raised.value) and ";" in str(raised.value)
