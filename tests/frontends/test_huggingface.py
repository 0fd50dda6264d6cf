"""GPT-2 folders of Hugging Face: logits at the epsilon of the configuration, written back byte for byte, faults."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gpt2_folders as made
import numpy as np
import pytest
from tensor_proofs import proved

import circuitize as cz
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import evaluate
from circuitize.frontends.checkpoint import load_safetensors, save_safetensors
from circuitize.frontends.formats import labels
from circuitize.frontends.huggingface import read

TOKENS = np.array([[1, 5, 12, 0, 7], [2, 2, 3, 11, 4]])
CASES = [(kind, tied, most) for kind in ("F32", "F16", "BF16") for tied in (True, False) for most in (None, 1000)]


def found_logits(folder: Path) -> Any:
    model = cz.from_huggingface(folder, length=TOKENS.shape[1])
    values = [p.initializer(np.random.default_rng(), p.shape) for p in model.parameters]
    return evaluate(model.arrow(model.batch_type(2)), [*values, TOKENS.astype(float)])[0]


@pytest.mark.parametrize(("kind", "tied", "most"), CASES)
def test_logits_are_those_of_the_formula_and_bytes_come_back(
    kind: str, tied: bool, most: int | None, tmp_path: Path
) -> None:
    folder = made.folder(tmp_path / "gpt2", tied, kind, most, prefix="transformer." if tied else "")
    assert len(list(folder.glob("*.safetensors"))) == (1 if most is None else max(2, len(list(folder.iterdir())) - 2))
    expected = made.logits(load_safetensors(folder), TOKENS, 1e-5)
    np.testing.assert_allclose(found_logits(folder), expected, rtol=0, atol=1e-12)
    found = read(folder)
    found.save(tmp_path / "again", found.weights)
    files = sorted(path.name for path in folder.iterdir())
    assert files == sorted(path.name for path in (tmp_path / "again").iterdir())
    assert all((folder / file).read_bytes() == (tmp_path / "again" / file).read_bytes() for file in files)


def test_the_epsilon_of_the_configuration_is_seen(tmp_path: Path) -> None:
    """Its tokens are small: with 2^-10, the default of our own GPT-2, logits would be far off."""
    folder = made.folder(tmp_path / "gpt2", epsilon=1e-5)
    wrong = made.logits(load_safetensors(folder), TOKENS, 2.0**-10)
    assert np.abs(found_logits(folder) - wrong).max() > 1e-2
    folder = made.folder(tmp_path / "coarse", epsilon=2.0**-10)
    np.testing.assert_allclose(found_logits(folder), wrong, rtol=0, atol=1e-12)


@pytest.mark.parametrize("activation", ["gelu", "relu", "gelu_pytorch_tanh"])
def test_activations(activation: str, tmp_path: Path) -> None:
    folder = made.folder(tmp_path / "gpt2", activation_function=activation)
    expected = made.logits(load_safetensors(folder), TOKENS, 1e-5, activation)
    np.testing.assert_allclose(found_logits(folder), expected, rtol=0, atol=1e-12)


def test_buffers_and_a_tied_head_are_kept(tmp_path: Path) -> None:
    folder = made.folder(tmp_path / "gpt2")
    held = dict(load_safetensors(folder))
    table = held["transformer.wte.weight"]
    mask = np.tril(np.ones((1, 1, 6, 6), np.bool_))
    save_safetensors(folder, {**held, "lm_head.weight": table, "transformer.h.0.attn.bias": mask})
    found = read(folder)
    found.save(tmp_path / "again", {"tokens": found.weights["tokens"] + 1.0})
    written = load_safetensors(tmp_path / "again")
    np.testing.assert_array_equal(written["lm_head.weight"], table + np.float32(1.0))
    np.testing.assert_array_equal(written["transformer.wte.weight"], written["lm_head.weight"])
    np.testing.assert_array_equal(written["transformer.h.0.attn.bias"], mask)
    save_safetensors(folder, {"lm_head.weight": table + 1}, like=load_safetensors(folder))
    with pytest.raises(CircuitizeError, match=r"expected lm_head.weight equal to transformer.wte.weight, as tie_"):
        read(folder)


@pytest.mark.proof
def test_a_small_folder_is_proved(tmp_path: Path) -> None:
    """Its logits in integers, close to the formula's, by a tensor proof that both verifiers accept."""
    folder = made.folder(tmp_path / "gpt2", tied=False)
    model = cz.from_huggingface(folder, length=3)
    tokens = np.array([[1.0, 5.0, 12.0]])
    values = {**model.initial(0), "inputs": tokens}
    program = cz.quantize(
        cz.predict(model, 1, labels(made.VOCABULARY), [values], precision=cz.Precision(fraction_bits=14))
    )
    from circuitize.circuits.values import to_reals
    from circuitize.sims import integer

    found = to_reals(program.outputs[0].format, integer.run(program, values)["outputs"])
    expected = made.logits(load_safetensors(folder), tokens.astype(int), 1e-5)
    assert np.abs(found - expected).max() < 0.05
    proved(program, integer.rounded(program, values))


FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "another model": ({"model_type": "llama"}, "expected model_type 'gpt2', found 'llama'; only such"),
    "no model": ({"model_type": None}, "expected model_type 'gpt2', found None"),
    "heads": ({"n_head": 3}, "expected n_embd a multiple of n_head 3, found 8"),
    "a fraction": ({"n_embd": 8.0}, "expected a whole number from 1 to 16777216 as n_embd, found 8.0"),
    "a truth": ({"n_layer": True}, "expected a whole number from 1 to 4096 as n_layer, found True"),
    "endless blocks": ({"n_layer": 10**9}, "expected a whole number from 1 to 4096 as n_layer, found 1000000000"),
    "more blocks": ({"n_layer": 3}, "parameter 'block3.attention1.layer_norm1.weight': expected a tensor"),
    "fewer blocks": ({"n_layer": 1}, "expected tensors of a GPT-2 of 1 blocks, found 'transformer.h.1."),
    "width": ({"n_embd": 16}, "parameter 'tokens': expected shape"),
    "activation": ({"activation_function": "swish"}, "expected activation_function among gelu_new, .* found 'swish'"),
    "epsilon": ({"layer_norm_epsilon": 0}, "expected a number above 0 as layer_norm_epsilon, found 0"),
    "endless epsilon": ({"layer_norm_epsilon": float("inf")}, "expected a number above 0 as layer_norm_epsilon"),
    "scaled by blocks": ({"scale_attn_by_inverse_layer_idx": True}, "expected scale_attn_by_inverse_layer_idx False"),
    "not scaled": ({"scale_attn_weights": False}, "expected scale_attn_weights True, found False"),
    "tied": ({"tie_word_embeddings": "yes"}, "expected tie_word_embeddings true or false, found 'yes'"),
    "no head": ({"tie_word_embeddings": False}, "parameter 'head': expected a tensor 'lm_head.weight', found"),
}


@pytest.mark.parametrize(("changes", "message"), FAULTS.values(), ids=FAULTS)
def test_other_folders_are_refused_in_one_line(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    folder = made.folder(tmp_path / "gpt2", **changes)
    with pytest.raises(CircuitizeError, match=message) as raised:
        cz.from_huggingface(folder)
    assert "\n" not in str(raised.value) and str(folder) in str(raised.value) and ";" in str(raised.value)


@pytest.mark.parametrize("text", [b"", b"[]", b'{"a": 1, "a": 2}', b"\xff", b"[" * 5000, None])
def test_other_configurations_are_refused_in_one_line(text: bytes | None, tmp_path: Path) -> None:
    folder = made.folder(tmp_path / "gpt2")
    (folder / "config.json").unlink()
    if text is not None:
        (folder / "config.json").write_bytes(text)
    with pytest.raises(CircuitizeError, match=r"config.json: expected .*, found .*;") as raised:
        cz.from_huggingface(folder)
    assert "\n" not in str(raised.value)


def test_what_a_caller_gives_is_checked(tmp_path: Path) -> None:
    folder = made.folder(tmp_path / "gpt2")
    with pytest.raises(CircuitizeError, match="expected a length from 1 to 6, found 7; shorten it"):
        cz.from_huggingface(folder, length=7)
    with pytest.raises(CircuitizeError, match="formats: expected names among"):
        cz.from_huggingface(folder, formats={"table": labels(3)})
    with pytest.raises(CircuitizeError, match="weights: expected names among"):
        read(folder).save(tmp_path / "again", {"table": np.zeros(3)})
    with pytest.raises(CircuitizeError, match=r"expected shape \[13, 8\], found \[3\]"):
        read(folder).save(tmp_path / "again", {"tokens": np.zeros(3)})
    assert json.loads((folder / "config.json").read_text())["n_layer"] == 2
