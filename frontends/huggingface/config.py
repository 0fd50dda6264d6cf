"""The config.json of a Hugging Face GPT-2: the network that it describes, and the values in it that are refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from circuitize.circuits.errors import CircuitizeError, FormatError, excerpt
from circuitize.circuits.reading import Json, parse_json, read_at_most
from circuitize.frontends.layers import Model, gelu, relu

NAME = "config.json"
MOST_BYTES = 1 << 20
MOST_VALUES = 1 << 16
MOST_EXTENT = 1 << 24
"""The greatest extent that a network may have."""

MOST_BLOCKS = 1 << 12
"""The most blocks that a network may have."""

ACTIVATIONS: dict[str, Callable[[], Model]] = {
    "gelu_new": lambda: gelu(approximate=True),
    "gelu_pytorch_tanh": lambda: gelu(approximate=True),
    "gelu": gelu,
    "relu": relu,
}
"""The activation between the dense layers, by its name in transformers."""

FIXED = {
    "model_type": "gpt2",
    "scale_attn_weights": True,
    "scale_attn_by_inverse_layer_idx": False,
    "add_cross_attention": False,
}
"""The entries of config.json that must have one value. Dropout is ignored: predictions have none, and training takes
its masks as inputs.
"""


@dataclass(frozen=True, slots=True)
class Config:
    """A GPT-2 as config.json describes it; entries that config.json lacks have the defaults of transformers."""

    vocabulary: int
    context: int
    width: int
    blocks: int
    heads: int
    hidden: int
    epsilon: float
    activation: str
    tied: bool

    def layer(self) -> Model:
        """Return a new layer of the activation that the configuration names."""
        return ACTIVATIONS[self.activation]()


def read(folder: Path) -> tuple[Config, bytes]:
    """Return the configuration in a folder's config.json, and the bytes of that file. Raise CircuitizeError for a
    configuration that is not one of GPT-2.
    """
    path = folder / NAME
    try:
        content = read_at_most(path, MOST_BYTES, "a configuration", "fetch it again")
        given = parse_json(content, MOST_VALUES, distinct=True)
    except OSError as error:
        raise CircuitizeError(
            f"{path}: expected the configuration of a model, found {error.strerror or error}; name its folder"
        ) from None
    except ValueError as error:
        raise FormatError(
            f"{path}: expected a configuration in JSON, found another text ({' '.join(str(error).split())[:120]}); "
            "fetch it again"
        ) from None
    if not isinstance(given, dict):
        raise FormatError(f"{path}: expected a configuration by name, found {excerpt(given)}; fetch it again")
    return _config(given, str(path)), content


def _config(given: Json, where: str) -> Config:
    for name, value in FIXED.items():
        if given.get(name, value if name != "model_type" else None) != value:
            raise CircuitizeError(
                f"{where}: expected {name} {value!r}, found {excerpt(given.get(name))}; only such a GPT-2 is read"
            )

    def extent(name: str, default: int, most: int = MOST_EXTENT) -> int:
        found = given.get(name, default)
        if type(found) is not int or not 1 <= found <= most:
            raise FormatError(
                f"{where}: expected a whole number from 1 to {most} as {name}, found {excerpt(found)}; correct it"
            )
        return found

    width, heads = extent("n_embd", 768), extent("n_head", 12)
    if width % heads:
        raise FormatError(f"{where}: expected n_embd a multiple of n_head {heads}, found {width}; correct them")
    activation = given.get("activation_function", "gelu_new")
    if not isinstance(activation, str) or activation not in ACTIVATIONS:
        raise CircuitizeError(
            f"{where}: expected activation_function among {', '.join(ACTIVATIONS)}, found {excerpt(activation)}; "
            "only these are read"
        )
    tied: object = given.get("tie_word_embeddings", True)
    if not isinstance(tied, bool):
        raise FormatError(f"{where}: expected tie_word_embeddings true or false, found {excerpt(tied)}; correct it")
    epsilon: object = given.get("layer_norm_epsilon", 1e-5)
    if not isinstance(epsilon, (int, float)) or isinstance(epsilon, bool) or not 0 < epsilon < math.inf:
        raise FormatError(
            f"{where}: expected a number above 0 as layer_norm_epsilon, found {excerpt(epsilon)}; correct it"
        )
    return Config(
        extent("vocab_size", 50257),
        extent("n_positions", 1024),
        width,
        extent("n_layer", 12, MOST_BLOCKS),
        heads,
        4 * width if given.get("n_inner") is None else extent("n_inner", 0),
        float(epsilon),
        activation,
        tied,
    )
