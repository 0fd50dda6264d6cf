"""Archives of torch.export: outputs and gradients are torch's, models train, and what is no archive is one line."""

from __future__ import annotations

import gzip
import io
import json
import re
import sys
import zipfile
from collections.abc import Callable
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from agreement import check_agreement
from every_case import every_case
from example_modules import example
from mutated_json import mutated
from tiers import seeds

import circuitize as cz
from circuitize.circuits.differentiate import reverse_derivative
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import evaluate
from circuitize.frontends import datasets, torch
from circuitize.frontends.checkpoint import load_safetensors
from circuitize.frontends.formats import Format, labels
from circuitize.frontends.imported import Imported
from circuitize.sims import integer, real

STORED = Path(__file__).parents[1] / "golden" / "torch"
"""Archives with inputs, outputs and gradients, and the script that wrote them."""

NAMES = sorted(path.name.partition(".")[0] for path in STORED.glob("*.pt2.gz"))
EXPORTED = sorted(path.name.partition(".")[0] for path in STORED.glob("*.onnx.gz"))
"""Also written by torch's exporter to ONNX."""


def archive(name: str) -> bytes:
    return gzip.decompress((STORED / f"{name}.pt2.gz").read_bytes())


@cache
def stored(name: str) -> tuple[Imported, dict[str, Any]]:
    return torch.arrow(archive(name)), dict(load_safetensors(STORED / f"{name}.safetensors"))


def values(name: str) -> list[Any]:
    made, given = stored(name)
    data = iter(sorted(key for key in given if key.startswith("input")))
    held = made.parameters
    return [held[name] if name in held else given[next(data)].astype(np.float64) for name in made.inputs]


def test_the_archives_are_these() -> None:
    assert {"perceptron", "convolutional", "generative", "attending", "elements"} <= set(NAMES) and len(NAMES) == 9


@pytest.mark.parametrize("name", NAMES)
def test_outputs_are_those_of_torch(name: str) -> None:
    made, given = stored(name)
    found = evaluate(made.arrow, values(name))
    assert len(found) == sum(key.startswith("output") for key in given)
    for number, one in enumerate(found):
        np.testing.assert_allclose(one, given[f"output{number}"], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "elements"])
def test_gradients_are_those_of_torch(name: str) -> None:
    """Of what is tied, one gradient, of both uses."""
    made, given = stored(name)
    found = evaluate(reverse_derivative(made.arrow), [*values(name), given["cotangent"].astype(np.float64)])
    gradients = dict(zip(made.inputs, found, strict=True))
    wanted = {key.removeprefix("gradient."): one for key, one in given.items() if key.startswith("gradient.")}
    assert wanted.keys() <= gradients.keys() and len(wanted) > 2
    for parameter, expected in wanted.items():
        np.testing.assert_allclose(gradients[parameter], expected, rtol=1e-4, atol=2e-5, err_msg=parameter)


def test_a_network_trains_in_integers(tmp_path: Path) -> None:
    """The convolutional one: its running statistics stay, its loss falls, its circuit is its integers."""
    path = tmp_path / "convolutional.pt2"
    path.write_bytes(archive("convolutional"))
    model = cz.from_torch(path)
    assert {p.name for p in model.parameters if p.frozen} == {"stem.1.running_mean", "stem.1.running_var"}
    step = cz.training_step(model, cz.mean_squared_error, cz.SGD(), 2, Format.signed(12, 8), Format.signed(12, 8))
    random = np.random.default_rng(0)
    pictures = Format.signed(12, 8).nearest(random.normal(size=(2, 2, 8, 8)))
    batch = {"inputs": pictures, "targets": np.zeros((2, 3)), "learning_rate": np.array(0.0625)}
    given = cz.simplify(step.arrow)
    assert given.edge_count < step.arrow.edge_count
    floats = list(real.train(step, model.initial(0), [batch] * 3))
    exact = cz.quantize(cz.calibrated(step, model.initial(0), [batch] * 3))
    losses = [
        outputs["loss"] * 2.0 ** -exact.outputs[-1].format.fraction_bits
        for outputs in integer.train(exact, model.initial(0), [batch] * 3)
    ]
    assert losses[2] < losses[0] and abs(losses[2] - float(floats[2]["loss"])) < 0.02
    np.testing.assert_array_equal(floats[2]["stem.1.running_mean"], model.initial(0)["stem.1.running_mean"])


@cache
def generating() -> tuple[cz.IntegerProgram, dict[str, Any]]:
    """The generative network's prediction in integers, and its inputs: tokens are whole numbers."""
    model = cz.from_torch(archive("attending"))
    given = {**model.initial(0), "inputs": stored("attending")[1]["input0"].astype(np.float64)}
    return cz.quantize(cz.predict(model, 2, labels(11), [given])), given


def test_a_generative_network_in_integers_is_close_to_torch() -> None:
    program, given = generating()
    found = np.ldexp(integer.run(program, given)["outputs"].astype(float), -program.outputs[0].format.fraction_bits)
    assert np.abs(found - stored("attending")[1]["output0"]).max() < 0.05


@pytest.mark.deep
def test_a_generative_network_is_its_circuit() -> None:
    program, given = generating()
    check_agreement(program, [integer.rounded(program, given)])


@pytest.mark.parametrize("name", EXPORTED)
def test_what_torch_writes_as_onnx_is_the_same(name: str) -> None:
    """`from_torch(..., exporter="onnx")` reads these; any batch fits."""
    model = cz.from_onnx(onnx.load_from_string(gzip.decompress((STORED / f"{name}.onnx.gz").read_bytes())))
    given = stored(name)[1]
    data = np.concatenate([given["input0"]] * 3).astype(np.float64)
    held = [parameter.initializer(np.random.default_rng(0), parameter.shape) for parameter in model.parameters]
    (found,) = evaluate(cz.predict(model, len(data)).arrow, [*held, data])
    np.testing.assert_allclose(found, np.concatenate([given["output0"]] * 3), rtol=1e-5, atol=1e-5)


@pytest.mark.deep
def test_the_example_learns_digits_in_integers() -> None:
    digits = example("torch/digits")
    split, step, predict = datasets.digits(0), digits.step(), digits.predict()
    *_, trained = integer.train(cz.quantize(step), digits.MODEL.initial(0), islice(digits.RECIPE.batches(split), 150))
    ports = {port.name: port.format.fraction_bits for port in predict.inputs}
    weights = {name: np.ldexp(trained[name].astype(float), -ports[name]) for name in digits.PARAMETERS}
    right = [
        np.argmax(real.run(predict, {**weights, "inputs": split.test_inputs[at : at + 16]})["outputs"], 1)
        == split.test_labels[at : at + 16]
        for at in range(0, 352, 16)
    ]
    assert np.mean(right) > 0.8


def test_an_exporter_that_there_is_not() -> None:
    with pytest.raises(CircuitizeError, match="exporter: expected 'export' or 'onnx', found 'tf'; choose one of them"):
        cz.from_torch(archive("perceptron"), exporter="tf")  # type: ignore[arg-type]


def test_tied_parameters_are_one_input() -> None:
    made, _ = stored("generative")
    assert "tokens.weight" in made.inputs and "head.weight" not in made.inputs


def test_it_fits_the_batch_it_was_exported_for() -> None:
    model = cz.from_torch(archive("perceptron"))
    assert cz.predict(model, 4).arrow.target[0].shape == (4, 3)
    with pytest.raises(
        CircuitizeError, match=r"expected a batch of shape \[4, 6\], as it was exported, found \[5, 6\]"
    ):
        cz.predict(model, 5)
    with pytest.raises(CircuitizeError, match=r"expected one input with an axis of examples, found 2"):
        cz.from_torch(archive("elements"))


def test_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(CircuitizeError, match="expected the package torch to export a module, found none; pip install"):
        cz.from_torch(object(), 3)


def test_the_page_lists_the_operators() -> None:
    page = (STORED.parents[2] / "docs" / "torch.md").read_text()
    listed = re.search(r"## Operators\n.*?\n\n(`.*?`)\n\n", page, re.DOTALL)
    assert listed and re.findall(r"`([^`]*)`", listed.group(1)) == sorted(torch.rules())


def repacked(change: Callable[[dict[str, bytes]], None], name: str = "perceptron") -> bytes:
    """An archive with other entries."""
    with zipfile.ZipFile(io.BytesIO(archive(name))) as found:
        entries = {entry.filename.partition("/")[2]: found.read(entry) for entry in found.infolist()}
    change(entries)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        for name, content in entries.items():
            file.writestr(f"archive/{name}", content)
    return made.getvalue()


MODEL, WEIGHTS = "models/model.json", "data/weights/model_weights_config.json"


def edited(file: str, *path: Any, value: Any) -> bytes:
    def change(entries: dict[str, bytes]) -> None:
        made = at = json.loads(entries[file])
        for name in path[:-1]:
            at = at[name]
        at[path[-1]] = value
        entries[file] = json.dumps(made).encode()

    return repacked(change)


NODES = ("graph_module", "graph", "nodes")
TENSOR = ("config", "first.weight")
META = (*TENSOR, "tensor_meta")
FAULTS: dict[str, tuple[Callable[[], bytes], str]] = {
    "no archive": (lambda: b"PK", "expected an archive of torch.export, found another"),
    "nothing": (lambda: b"", "expected an archive of torch.export, found another"),
    "cut off": (lambda: archive("perceptron")[:4000], "expected an archive of torch.export, found another"),
    "older": (
        lambda: repacked(lambda entries: entries.update({"serialized_exported_program.json": b"{}"})),
        "expected tensors as bytes, found an older archive, with pickles",
    ),
    "no model": (lambda: repacked(lambda entries: entries.__delitem__(MODEL)), "found another"),
    "no JSON": (lambda: repacked(lambda entries: entries.update({MODEL: b"{"})), "found another"),
    "another schema": (lambda: edited(MODEL, "schema_version", "major", value=9), "expected version 8 of the schema"),
    "a pickle": (lambda: edited(WEIGHTS, *TENSOR, "use_pickle", value=True), "as bytes, found a pickle"),
    "a path": (lambda: edited(WEIGHTS, *TENSOR, "path_name", value="../../../etc/passwd"), "found another"),
    "complex numbers": (lambda: edited(WEIGHTS, *META, "dtype", value=10), "expected tensor .* of real numbers"),
    "past its bytes": (lambda: edited(WEIGHTS, *META, "storage_offset", value={"as_int": 1}), "of which one at 30"),
    "strides past its bytes": (
        lambda: edited(WEIGHTS, *META, "strides", value=[{"as_int": 1 << 40}, {"as_int": 1}]),
        "a place past 268435456",
    ),
    "negative strides": (
        lambda: edited(WEIGHTS, *META, "strides", value=[{"as_int": -6}, {"as_int": 1}]),
        "expected extents that are numbers",
    ),
    "endless": (
        lambda: edited(WEIGHTS, *META, "sizes", value=[{"as_int": 1 << 40}, {"as_int": 1 << 40}]),
        "found another .extents",
    ),
    "another shape": (
        lambda: edited(WEIGHTS, *META, "sizes", value=[{"as_int": 5}, {"as_int": 5}]),
        "expected the shape of its wire",
    ),
    "no weight": (lambda: edited(WEIGHTS, "config", value={}), "expected a tensor for 'first.weight', found none"),
    "symbolic": (
        lambda: edited(MODEL, "graph_module", "graph", "tensor_values", "x", "sizes", 0, value={"as_expr": {}}),
        "'x': expected extents that are numbers, found .*; export without dynamic shapes",
    ),
    "an unknown operator": (
        lambda: edited(MODEL, *NODES, 0, "target", value="torch.ops.aten.fft_fft.default"),
        r"list in docs/torch.md, found 'torch.ops.aten.fft_fft.default'; export with run_decompositions",
    ),
    "another argument": (
        lambda: edited(MODEL, *NODES, 0, "inputs", 1, "name", value="axes"),
        r"node 'permute' \(permute\): .*; only these forms of it are read",
    ),
    "another kind": (
        lambda: edited(MODEL, *NODES, 0, "inputs", 1, "arg", value={"as_graph": 3}),
        "expected numbers, tensors and text, found 'as_graph'",
    ),
    "no tensor": (
        lambda: edited(MODEL, *NODES, 0, "inputs", 0, "arg", value={"as_tensor": {"name": "nothing"}}),
        "expected a tensor that is read here, found 'nothing'",
    ),
    "axes past the end": (
        lambda: edited(MODEL, *NODES, 0, "inputs", 1, "arg", value={"as_ints": [3, 0]}),
        r"node 'permute' \(permute\): .*axis",
    ),
    "a node that is none": (
        lambda: edited(MODEL, *NODES, 0, value=3),
        "expected a graph of torch.export, found another",
    ),
    "another output": (
        lambda: edited(MODEL, "graph_module", "signature", "output_specs", 0, value={"buffer_mutation": {}}),
        "expected outputs that are tensors, found 'buffer_mutation'",
    ),
}


@every_case(FAULTS.values())
def test_other_archives_are_refused_in_one_line(make: Callable[[], bytes], message: str, tmp_path: Path) -> None:
    path = tmp_path / "module.pt2"
    path.write_bytes(make())
    with pytest.raises(CircuitizeError, match=message) as raised:
        torch.arrow(path)
    assert "\n" not in str(raised.value) and str(raised.value).startswith(str(path)) and ";" in str(raised.value)


def test_no_file_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(CircuitizeError, match=r"expected an archive of torch.export, found No such file or directory"):
        torch.arrow(tmp_path / "module.pt2")


@every_case(seeds(20, deep=1500))
def test_a_damaged_archive_is_refused_in_one_line_or_read(seed: int) -> None:
    random, content = np.random.default_rng(seed), bytearray(archive("perceptron"))
    for _ in range(int(random.integers(1, 6))):
        content[int(random.integers(len(content)))] = int(random.integers(256))
    try:
        torch.arrow(bytes(content))
    except CircuitizeError as error:
        assert "\n" not in str(error)


@every_case(seeds(20, deep=3000))
def test_an_archive_of_other_values_is_refused_in_one_line_or_read(seed: int) -> None:
    random = np.random.default_rng(seed)

    def change(entries: dict[str, bytes]) -> None:
        file = MODEL if random.random() < 0.8 else WEIGHTS
        entries[file] = json.dumps(mutated(json.loads(entries[file]), random)).encode()

    try:
        torch.arrow(repacked(change, NAMES[seed % len(NAMES)]))
    except CircuitizeError as error:
        assert "\n" not in str(error) and ";" in str(error)
