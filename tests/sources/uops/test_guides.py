"""Our pages and examples, polygrad's own README as it is installed, proofs by the command line, and what is refused."""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Iterator
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

import gpt2_folder
import numpy as np
import pytest
from cli_programs import run
from packages import PACKAGES, Package, step_of
from test_uops import MODELS, ONE, made
from test_uops import run as computed

import circuitize as cz
from circuitize.circuits.errors import CircuitizeError
from circuitize.frontends.uops import polygrad, rules, system, tinygrad

ROOT = Path(__file__).parents[3]
POLYGRAD, TINYGRAD = PACKAGES["polygrad"], PACKAGES["tinygrad"]


def blocks(text: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", ONE)
def test_our_pages(page: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    text = (ROOT / "docs" / f"{page}.md").read_text()
    assert len(blocks(text)) == {"tinygrad": 3, "polygrad": 3}[page]
    for block in blocks(text):
        exec(compile(block, page, "exec"), names)
    assert page != "tinygrad" or rules.table() in text


INSTALLED: Any = metadata("polygrad")
README = blocks(str(INSTALLED.get_payload()))


def readme(word: str) -> str:
    """The one block of polygrad's README that has this in it."""
    (found,) = [block for block in README if word in block]
    return found


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[dict[str, Any]]:
    """What a block makes is garbage after it: each take of a function goes over all tensors that there still are."""
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "readme"}
    yield names
    names.clear()
    gc.collect()


def test_polygrads_softmax(names: dict[str, Any]) -> None:
    exec(readme("c = (a @ b).softmax(-1)"), names)
    a, b, c = (names[name] for name in "abc")
    taken = POLYGRAD.take(c, inputs={"a": a, "b": b})
    np.testing.assert_allclose(computed(taken, a.numpy(), b.numpy())["output"], c.numpy(), rtol=1e-6, atol=1e-6)


def test_polygrads_linear_model(names: dict[str, Any]) -> None:
    """The block fits it and saves it; it ends with the model disposed of, so the file is read."""
    exec(readme("class Linear:"), names)
    model = POLYGRAD.module().Model.load("linear.pgb")
    taken = POLYGRAD.take(model)
    assert (taken.inputs, taken.outputs) == (("a", "b", "x"), ("prediction",))
    x = np.array([3, 4, 5, 6, 7], np.float32)
    found = computed(taken, x)["prediction"]
    np.testing.assert_allclose(found, model.forward(x=x)["prediction"], rtol=1e-6)
    np.testing.assert_allclose(found, [11, 14, 17, 20, 23], atol=0.01)
    loss = POLYGRAD.take(model, entrypoint="loss")
    assert computed(loss, x, np.asarray(found))["loss"] == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(CircuitizeError, match=r"an entry point among \['forward', 'loss'\], found 'backward'"):
        POLYGRAD.take(model, entrypoint="backward")


def test_polygrads_compiled_steps(names: dict[str, Any]) -> None:
    for word, name in (("@jit", "step"), ("compiled = compile(step", "compiled")):
        exec(readme(word), names)
        x = np.array([7.0, 8.0, 9.0], np.float32)
        np.testing.assert_array_equal(computed(POLYGRAD.take(names[name], x), x)["output"], x + 1)


@pytest.mark.deep
def test_polygrads_training_loop(names: dict[str, Any]) -> None:
    """Its loop runs; what is within the loop is then taken as a step."""
    block = readme("model = Linear(2, 1)")
    exec(block, names)
    body = block.partition("        opt.zero_grad()\n")[2].partition("        opt.step()")[0]
    assert "loss.backward()" in body
    model, opt, given = names["model"], names["opt"], re.findall(r"Tensor\((\[.*\])\)", body)
    x, y = (np.array(json.loads(text), np.float32) for text in given)

    def step(x: Any, y: Any) -> Any:
        with POLYGRAD.training():
            opt.zero_grad()
            loss = (model(x) - y).square().mean()
            loss.backward()
            opt.step()
            return loss

    ours = computed(POLYGRAD.take(step, x, y, state=[model, opt]), x, y)
    step(POLYGRAD.tensor(x), POLYGRAD.tensor(y))
    np.testing.assert_allclose(ours["weight"], model.weight.numpy(), rtol=1e-6)


def test_polygrads_gpt2_folder(tmp_path: Path) -> None:
    model = POLYGRAD.module("hf").load_hf(gpt2_folder.written(tmp_path), max_batch=1, max_seq_len=gpt2_folder.LENGTH)
    taken = POLYGRAD.take(model)
    tokens, places = np.array([[3, 1, 16, 0, 5, 9]], np.int32), np.arange(6, dtype=np.int32)[None]
    expected = model.forward(x=tokens, positions=places)["output"]
    found = computed(taken, tokens, places)["output"]
    np.testing.assert_allclose(found.reshape(-1), np.asarray(expected).reshape(-1), rtol=1e-5, atol=1e-6)
    assert taken.shapes["h.0.attn.c_attn.weight"] == (24, 8) and found.shape == (1, 6, gpt2_folder.WORDS)


def test_models_of_a_configuration() -> None:
    model = POLYGRAD.module("models").MLP(layers=[4, 8, 3], batch_size=2, loss="mse")
    taken, x = POLYGRAD.take(model), np.random.default_rng(0).normal(0.0, 1.0, (2, 4)).astype(np.float32)
    assert taken.inputs[:2] == ("layers.0.weight", "layers.0.bias")
    np.testing.assert_allclose(computed(taken, x)["output"], model.forward(x=x)["output"], atol=1e-6)
    assert POLYGRAD.take(model, entrypoint="loss").inputs[-2:] == ("x", "y")


def test_models_that_renew_statistics() -> None:
    """The loss of a captured batch norm is that of training; what it renews leaves under its name."""
    layer, tensor = POLYGRAD.nn.BatchNorm(3), POLYGRAD.tensor
    model = POLYGRAD.module().Model(
        lambda x: {"y": layer(x)},
        inputs={"x": tensor.empty(2, 3, 2, 2)},
        targets={"t": tensor.empty(2, 3, 2, 2)},
        loss=lambda outputs, t: (outputs["y"] - t).square().mean(),
        params=POLYGRAD.state.get_state_dict(layer),
    )
    x = np.random.default_rng(0).normal(0.5, 2.0, (2, 3, 2, 2))
    found = computed(POLYGRAD.take(model, entrypoint="loss"), x, np.zeros_like(x))
    np.testing.assert_allclose(found["running_mean"], 0.1 * x.mean((0, 2, 3)), rtol=1e-6)
    assert found["num_batches_tracked"] == 1 and found["loss"] == pytest.approx(1.0, abs=1e-4)


def circuitize(*arguments: object) -> Any:
    outcome = run(*map(str, arguments), "--json")
    assert outcome.status == 0, outcome
    return json.loads(outcome.out)


def proved(program: str, folder: Path) -> None:
    circuitize("prove", program, "--prover", "tensor", "--not-zero-knowledge", "-o", folder)
    assert circuitize("verify", folder, "--program", program)["valid"]


EXAMPLES = ["polygrad/regression.py:predict"]
MORE = ["tinygrad/perceptron.py:step", "tinygrad/perceptron.py:predict", "polygrad/regression.py:step"]


@pytest.mark.parametrize("name", [*EXAMPLES, *(pytest.param(name, marks=pytest.mark.deep) for name in MORE)])
def test_examples_are_proved(name: str, tmp_path: Path) -> None:
    proved(str(ROOT / "examples" / name), tmp_path / "proof")


@pytest.mark.deep
@pytest.mark.parametrize("rule", ["SGD", "Adam"])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("package", PACKAGES)
def test_steps_are_proved(package: str, name: str, rule: str, tmp_path: Path) -> None:
    """Whole steps as given, in integers: near those in floats, and proved."""
    taken = PACKAGES[package]
    model, x, y = made(taken, name)
    options = {"eps": 2.0**-10} if rule == "Adam" else {}
    optimizer = getattr(taken.module("nn.optim"), rule)(taken.state.get_parameters(model), lr=2.0**-7, **options)
    step = taken.take(step_of(taken, model, optimizer), x, y, state=[model, optimizer])
    x = x if name == "gpt" else np.round(x * 256) / 256
    numbers = cz.Format.between(0.0, 7.0, 0)
    formats = {"x": numbers if name == "gpt" else cz.Format.between(-4.0, 4.0, 8), "y": numbers}
    formats |= {key: cz.Format.between(0.0, 1.0, 24) for key in ("b1_t", "b2_t") if key in step.parameters}
    formats |= {key: cz.Format.signed(36, 32) for key in step.parameters if key.startswith(("m.", "v."))}
    precision = cz.Precision(significant_bits=20) if rule == "Adam" else cz.Precision()
    program = step.program(formats, examples=[{"x": x, "y": y}], precision=precision)
    found = cz.run(program, program.examples[0])
    exact = dict(zip(step.outputs, computed(step, x, y).values(), strict=True))
    for key, value in found.items():
        if key in step.parameters and key.partition(".")[0] not in ("m", "v"):
            np.testing.assert_allclose(value, exact[key], atol=2.0**-11, err_msg=key)
    cz.save(cz.quantize(program), tmp_path / "step", examples=True)
    proved(str(tmp_path / "step"), tmp_path / "proof")


def refused(package: Package, function: Any, words: str, *examples: Any, **options: Any) -> None:
    with pytest.raises(CircuitizeError, match=words) as caught:
        package.take(function, *examples, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("package", ONE)
def test_what_is_refused(package: str) -> None:
    taken = PACKAGES[package]
    model, x, y = made(taken, "mlp")
    rule = taken.module("nn.optim").SGD(taken.state.get_parameters(model), lr=0.125)
    step = step_of(taken, model, rule)
    place = r"test_guides.py:\d+: expected a function "

    def reads(x: Any) -> Any:
        return x * x.sum().item()

    refused(taken, reads, place + r"that computes tensors only, found \.item\(\) in it", x)
    refused(taken, lambda x: x + taken.tensor.rand(2, 4), place + r"of its inputs alone, found \.rand\(\) in it", x)
    refused(taken, step, "changes of named tensors, found one of shape .* without a name; give what holds it", x, y)
    refused(taken, step, r"expected an example for each of \['x', 'y'\], found 1", x, state=[model, rule])
    refused(taken, lambda x: None, "expected a function that returns tensors, found None", x)
    refused(taken, lambda x: 3, "output: expected a tensor, found int", x)
    refused(taken, lambda x: [x, "loss"], "output2: expected a tensor, found str", x)
    refused(taken, x, "expected tensors, a function or a model, found ndarray")
    refused(taken, model.l1.weight * 2, "found examples beside them; write inputs=", x)
    refused(taken, model, "found inputs by name; leave out inputs=", x, inputs={"x": x})
    refused(taken, {"c": model.l1.weight}, "x: expected a tensor, found ndarray", inputs={"x": x})
    refused(taken, lambda x: x.cast("int32") // x.sum().cast("int32"), "expected [A-Z]+ to be an operation", x)
    refused(taken, lambda x: (x * x + 1) ** x, "POW of a known base above 0, or to a known multiple of 1/2", x)

    def dropping(x: Any) -> Any:
        with taken.training():
            return x.dropout(0.5)

    refused(taken, dropping, place + "of its inputs alone", x)

    class Held:
        def __init__(self) -> None:
            self.whole = taken.tensor.zeros(4, 2).contiguous().realize()
            self.part = self.whole[1:3]

    held = Held()

    def writes(x: Any) -> Any:
        held.whole[1:3].assign(x[:, :2]).realize()
        return held.whole * 1.0

    refused(
        taken,
        writes,
        "expected AFTER to follow a store of the whole tensor, found a store of a part of it",
        x,
        state=held,
    )


def test_views_of_one_buffer() -> None:
    whole = TINYGRAD.tensor(np.arange(6, dtype=np.float32)).realize()
    part = whole[2:4]
    refused(
        TINYGRAD,
        whole.sum() + part,
        "part: expected a tensor of its own, found a view of a buffer that is read",
        inputs={"part": part},
    )


def test_other_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    for known in (tinygrad.TINYGRAD, polygrad.POLYGRAD):
        monkeypatch.setattr(system, "version", lambda name: "0.15.0")
        with pytest.raises(CircuitizeError, match=rf"expected {known.name} {known.version}, found {known.name} 0.15.0"):
            known.is_tensor(3)


def test_curves_in_pieces_are_found() -> None:
    """polygrad's own tangent: of tensors that were made before anything was taken, as in a Model."""
    x = POLYGRAD.tensor(np.linspace(-3, 3, 13, dtype=np.float32)).realize()
    for function, name in ((x.tanh(), "real.tanh"), (x.gelu(), "real.tanh_gelu")):
        taken = POLYGRAD.take(function, inputs={"x": x})
        assert name in {operation.name for operation in taken.arrow.operations}
        np.testing.assert_allclose(computed(taken, x.numpy())["output"], function.numpy(), rtol=2e-6, atol=2e-6)


def test_methods_that_are_compiled() -> None:
    """TinyJit on a method is taken with its object, and names its tensors."""

    class Scaled:
        def __init__(self) -> None:
            self.weight = TINYGRAD.tensor([2.0, 3.0]).realize()

        @TINYGRAD.module().TinyJit
        def forward(self, x: Any) -> Any:
            return (self.weight * x).realize()

    taken = TINYGRAD.take(Scaled().forward, np.ones(2, np.float32))
    assert taken.inputs == ("weight", "x")
