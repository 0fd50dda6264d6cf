"""A folder as Hugging Face has it: a GPT-2 of random weights, in single precision."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

WIDTH, WORDS, LENGTH, BLOCKS = 8, 17, 6, 2


def written(folder: Path) -> Path:
    generator = np.random.default_rng(0)
    shapes: dict[str, tuple[int, ...]] = {"wte.weight": (WORDS, WIDTH), "wpe.weight": (LENGTH, WIDTH)}
    for block in range(BLOCKS):
        for name, shape in {
            "ln_1.weight": (WIDTH,),
            "ln_1.bias": (WIDTH,),
            "attn.c_attn.weight": (WIDTH, 3 * WIDTH),
            "attn.c_attn.bias": (3 * WIDTH,),
            "attn.c_proj.weight": (WIDTH, WIDTH),
            "attn.c_proj.bias": (WIDTH,),
            "ln_2.weight": (WIDTH,),
            "ln_2.bias": (WIDTH,),
            "mlp.c_fc.weight": (WIDTH, 4 * WIDTH),
            "mlp.c_fc.bias": (4 * WIDTH,),
            "mlp.c_proj.weight": (4 * WIDTH, WIDTH),
            "mlp.c_proj.bias": (WIDTH,),
        }.items():
            shapes[f"h.{block}.{name}"] = shape
    shapes |= {"ln_f.weight": (WIDTH,), "ln_f.bias": (WIDTH,)}
    header, data = {}, b""
    for name, shape in shapes.items():
        values = generator.normal(0.0, 0.3, shape).astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data)
    config = {
        "model_type": "gpt2",
        "n_layer": BLOCKS,
        "n_head": 2,
        "n_embd": WIDTH,
        "vocab_size": WORDS,
        "n_positions": LENGTH,
        "n_ctx": LENGTH,
        "layer_norm_epsilon": 1e-5,
        "activation_function": "gelu_new",
        "tie_word_embeddings": True,
        "architectures": ["GPT2LMHeadModel"],
    }
    (folder / "config.json").write_text(json.dumps(config))
    return folder
