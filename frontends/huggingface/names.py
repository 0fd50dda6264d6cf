"""The tensors of a Hugging Face GPT-2 by the names that `gpt2()` gives to its parameters."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from .config import Config

HEAD = "lm_head.weight"
TABLE = "wte.weight"

OUTER = {"tokens": TABLE, "positions": "wpe.weight", "layer_norm.weight": "ln_f.weight", "layer_norm.bias": "ln_f.bias"}

INNER = {
    "attention1.layer_norm1": "ln_1",
    "attention1.multi_head_attention1.in_": "attn.c_attn",
    "attention1.multi_head_attention1.out_": "attn.c_proj",
    "dense1.layer_norm1": "ln_2",
    "dense1.dense1": "mlp.c_fc",
    "dense1.dense2": "mlp.c_proj",
}
"""The parts of each block of GPT-2 that have a weight and a bias. GPT-2 keeps dense weights [in, out], as circuitize
does.
"""

BUFFERS = re.compile(r"(transformer\.)?h\.\d+\.attn\.(bias|masked_bias)")
"""Causal masks, which older folders of GPT-2 hold and which say nothing about the network."""


def names(config: Config, prefix: str) -> dict[str, str]:
    """Return the folder's names of tensors, by the names of parameters."""
    return dict(_pairs(config, prefix))


def _pairs(config: Config, prefix: str) -> Iterator[tuple[str, str]]:
    yield from ((ours, prefix + theirs) for ours, theirs in OUTER.items())
    for block in range(config.blocks):
        for ours, theirs in INNER.items():
            for kind in ("weight", "bias"):
                dot = "" if ours.endswith("_") else "."
                yield f"block{block + 1}.{ours}{dot}{kind}", f"{prefix}h.{block}.{theirs}.{kind}"
    if not config.tied:
        yield "head", HEAD


def prefix_of(found: Collection[str]) -> str:
    """Return the prefix of the network's tensor names: empty if the network was saved without its head."""
    return "" if TABLE in found else "transformer."
