"""A GPT-2 read from a Hugging Face folder, config.json and model.safetensors, which this example makes at random, with
two small blocks.

circuitize estimate examples/gpt2_folder.py:logits
circuitize prove    examples/gpt2_folder.py:logits --prover tensor -o proof
"""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from circuitize import Precision, Program, from_huggingface, predict, save_safetensors
from circuitize.frontends.formats import labels
from circuitize.frontends.layers import Model

CONFIG = {"model_type": "gpt2", "vocab_size": 27, "n_positions": 8, "n_embd": 16, "n_layer": 2, "n_head": 2}
"""What it leaves out is as in transformers: a layer norm's epsilon is 1e-5, tables are tied, GELU is `gelu_new`."""

LENGTH = 6
WORD = np.array([[2.0, 9.0, 14.0, 1.0, 18.0, 25.0]])


def shapes() -> dict[str, tuple[int, ...]]:
    """Return the shape of each tensor in the GPT-2 folder, by the tensor's name; dense weights are [in, out]."""
    width, found = 16, {"wte.weight": (27, 16), "wpe.weight": (8, 16), "ln_f.weight": (16,), "ln_f.bias": (16,)}
    dense = {"attn.c_attn": (width, 48), "attn.c_proj": (width, 16), "mlp.c_fc": (width, 64), "mlp.c_proj": (64, 16)}
    for block in ("h.0", "h.1"):
        for name, shape in {"ln_1": (width,), "ln_2": (width,), **dense}.items():
            found |= {f"{block}.{name}.weight": shape, f"{block}.{name}.bias": shape[-1:]}
    return found


def write(folder: Path) -> None:
    """Write a folder as the package transformers writes it, in sixteen-bit floats."""
    random = np.random.default_rng(0)
    tensors = {
        f"transformer.{name}": random.normal(float("ln_" in name and name.endswith("weight")), 0.2, shape)
        for name, shape in shapes().items()
    }
    (folder / "config.json").write_text(json.dumps(CONFIG))
    save_safetensors(folder, tensors, kind="BF16", metadata={"format": "pt"})


def model() -> Model:
    """Return the model in a GPT-2 folder that is made at random; to read a folder of your own, name it in this
    function.
    """
    with TemporaryDirectory() as folder:
        write(Path(folder))
        return from_huggingface(folder, length=LENGTH)


def logits() -> Program:
    """Return a program that gives the logits of what follows each letter of a word; the weights and the word are
    committed to.
    """
    network = model()
    example = {**network.initial(0), "inputs": WORD}
    return predict(network, 1, labels(27), [example], Precision(fraction_bits=16))


def apart() -> Program:
    """Return a program that gives the logits of what follows each letter, with weights that are committed to once:
    commit-weights, then prove and verify with --weights.
    """
    network = model().freeze(apart=True)
    example = {**network.initial(0), "inputs": WORD}
    return predict(network, 1, labels(27), [example], Precision(fraction_bits=16))
