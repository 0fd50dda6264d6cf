"""Folders of small GPT-2s made at random, as transformers writes them, and the formula of their logits in numpy."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from circuitize.frontends.checkpoint import save_safetensors

Reals = NDArray[np.float64]
VOCABULARY, CONTEXT, WIDTH, BLOCKS, HEADS, HIDDEN = 13, 6, 8, 2, 2, 20


def tensors(tied: bool, seed: int = 0, prefix: str = "transformer.") -> dict[str, Reals]:
    """Of variance enough that layer norms matter, and small enough in one place that their epsilon does."""
    random = np.random.default_rng(seed)
    shapes: dict[str, tuple[int, ...]] = {"wte.weight": (VOCABULARY, WIDTH), "wpe.weight": (CONTEXT, WIDTH)}
    for block in range(BLOCKS):
        own = {
            "ln_1": (WIDTH,),
            "attn.c_attn": (WIDTH, 3 * WIDTH),
            "attn.c_proj": (WIDTH, WIDTH),
            "ln_2": (WIDTH,),
            "mlp.c_fc": (WIDTH, HIDDEN),
            "mlp.c_proj": (HIDDEN, WIDTH),
        }
        for name, shape in own.items():
            shapes |= {f"h.{block}.{name}.weight": shape, f"h.{block}.{name}.bias": shape[-1:]}
    shapes |= {"ln_f.weight": (WIDTH,), "ln_f.bias": (WIDTH,)}
    scale = {"wte.weight": 0.02, "wpe.weight": 0.01}
    made = {prefix + name: random.normal(0.0, scale.get(name, 0.4), shape) for name, shape in shapes.items()}
    return made if tied else {**made, "lm_head.weight": random.normal(0.0, 0.5, (VOCABULARY, WIDTH))}


def configuration(tied: bool, epsilon: float = 1e-5, **others: Any) -> dict[str, Any]:
    return {
        "activation_function": "gelu_new",
        "architectures": ["GPT2LMHeadModel"],
        "layer_norm_epsilon": epsilon,
        "model_type": "gpt2",
        "n_embd": WIDTH,
        "n_head": HEADS,
        "n_inner": HIDDEN,
        "n_layer": BLOCKS,
        "n_positions": CONTEXT,
        "tie_word_embeddings": tied,
        "vocab_size": VOCABULARY,
    } | others


def folder(
    path: Path,
    tied: bool = True,
    kind: str = "F32",
    most_bytes: int | None = None,
    epsilon: float = 1e-5,
    prefix: str = "transformer.",
    **others: Any,
) -> Path:
    path.mkdir(exist_ok=True)
    (path / "config.json").write_text(json.dumps(configuration(tied, epsilon, **others), indent=2) + "\n")
    held = tensors(tied, prefix=prefix)
    save_safetensors(path, held, kind=kind, metadata={"format": "pt"}, most_bytes=most_bytes)
    return path


def logits(held: Mapping[str, Any], tokens: NDArray[Any], epsilon: float, activation: str = "gelu_new") -> Reals:
    """Of a GPT-2, [B, length] to [B, length, vocabulary], from the tensors by their own names; in float64."""
    w = {name.removeprefix("transformer."): np.asarray(array, np.float64) for name, array in held.items()}
    length = tokens.shape[1]
    x = w["wte.weight"][tokens] + w["wpe.weight"][:length]

    def norm(name: str, x: Any) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        return (
            centred / np.sqrt((centred**2).mean(-1, keepdims=True) + epsilon) * w[f"{name}.weight"] + w[f"{name}.bias"]
        )

    def dense(name: str, x: Any) -> Any:
        return x @ w[f"{name}.weight"] + w[f"{name}.bias"]

    def act(x: Any) -> Any:
        if activation == "relu":
            return np.maximum(x, 0)
        if activation == "gelu":
            return x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))

    for block in range(BLOCKS):
        at = f"h.{block}."
        query, key, value = np.split(dense(f"{at}attn.c_attn", norm(f"{at}ln_1", x)), 3, axis=-1)
        read = np.zeros_like(x)
        for head in range(HEADS):
            own = slice(head * WIDTH // HEADS, (head + 1) * WIDTH // HEADS)
            scores = query[..., own] @ np.swapaxes(key[..., own], -1, -2) / math.sqrt(WIDTH // HEADS)
            scores = np.where(np.tri(length, dtype=bool), scores, -np.inf)
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            read[..., own] = weights / weights.sum(-1, keepdims=True) @ value[..., own]
        x = x + dense(f"{at}attn.c_proj", read)
        x = x + dense(f"{at}mlp.c_proj", act(dense(f"{at}mlp.c_fc", norm(f"{at}ln_2", x))))
    made: Reals = norm("ln_f", x) @ w.get("lm_head.weight", w["wte.weight"]).T
    return made
