"""A Hugging Face folder of GPT-2: its configuration and its weights are read, turned into a model, and written
again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from circuitize.circuits.errors import CircuitizeError, FormatError, excerpt
from circuitize.circuits.files import write_whole
from circuitize.frontends.attention import Attention, softmax_attention
from circuitize.frontends.checkpoint import Tensors, load_safetensors, save_safetensors
from circuitize.frontends.formats import Format
from circuitize.frontends.imported import Reals, format_for, require_names
from circuitize.frontends.layers import Model
from circuitize.frontends.state_dict import from_state_dict, to_state_dict, with_weights
from circuitize.frontends.transformer import gpt2

from . import config as configuration
from .config import Config
from .names import BUFFERS, HEAD, names, prefix_of


@dataclass(frozen=True)
class Folder:
    """The content of a GPT-2 folder: config.json, and the tensors in the same folder."""

    path: Path
    config: Config
    tensors: Tensors
    text: bytes

    @cached_property
    def names(self) -> dict[str, str]:
        """Return the folder's names of tensors, by the names of parameters."""
        return names(self.config, prefix_of(self.tensors))

    @cached_property
    def weights(self) -> dict[str, Reals]:
        """Return the exact values of the parameters, by the names that `gpt2()` gives them."""
        return from_state_dict(self.tensors, self._plain(1), self.names)

    def model(
        self,
        length: int | None = None,
        attention: Attention = softmax_attention,
        formats: Mapping[str, Format] | None = None,
        last: bool = False,
    ) -> Model:
        """Return the network on sequences of `length` tokens, by default on its whole context; it starts from the
        folder's weights.

        The network of a GPT-2 folder gives the logits of every position, or with `last` those of the last position
        alone. A parameter whose format is not given has a format that holds values up to twice the parameter's. Raise
        CircuitizeError for a length that exceeds GPT-2's context, and for a format whose name is no parameter's.
        """
        longest = self.config.context
        if length is not None and (type(length) is not int or not 1 <= length <= longest):
            raise CircuitizeError(f"{self.path}: expected a length from 1 to {longest}, found {length!r}; shorten it")
        require_names("formats", dict(formats or {}), self.weights)
        chosen = {name: format_for(values) for name, values in self.weights.items()} | dict(formats or {})
        return with_weights(self._plain(length or longest, attention, last), self.weights, chosen)

    def _plain(self, length: int, attention: Attention = softmax_attention, last: bool = False) -> Model:
        c = self.config
        return gpt2(
            *(c.vocabulary, c.context, c.width, c.blocks, c.heads, length, attention),
            epsilon=c.epsilon,
            hidden=c.hidden,
            activation=c.layer(),
            tied=c.tied,
            last=last,
        )

    def save(self, path: str | Path, weights: Mapping[str, ArrayLike] | None = None) -> None:
        """Write the folder's config.json and tensors to another folder; the given weights, named as parameters, replace
        the folder's own.

        A folder that is written again has the files, headers and types that were read; without other weights the bytes
        are equal. Other files of a Hugging Face folder, such as a tokenizer's, are not copied. Raise CircuitizeError
        for weights of names or shapes that the Hugging Face folder does not have.
        """
        given = dict(weights or {})
        require_names("weights", given, self.names)
        changed = to_state_dict(given, {ours: self.names[ours] for ours in given})
        if self.config.tied and "tokens" in given and HEAD in self.tensors:
            changed[HEAD] = changed[self.names["tokens"]]
        save_safetensors(path, changed, like=self.tensors)
        write_whole(Path(path) / configuration.NAME, [self.text])


def read(folder: str | Path) -> Folder:
    """Return the folder of a GPT-2: config.json, and model.safetensors or an index with the files that it lists.

    Raise CircuitizeError for another model than GPT-2; raise FormatError for damaged files, and for tensors that are
    missing or that the configuration does not imply.
    """
    path = Path(folder)
    config, text = configuration.read(path)
    found = Folder(path, config, load_safetensors(path), text)
    wanted = {*found.names.values()}
    for name in found.tensors:
        if name not in wanted and name != HEAD and not BUFFERS.fullmatch(name):
            raise FormatError(
                f"{path}: expected tensors of a GPT-2 of {config.blocks} blocks, found {excerpt(name)}; correct "
                f"{configuration.NAME}, or take it out"
            )
    if config.tied and HEAD in found.tensors:
        table = found.names["tokens"]
        if table in found.tensors and not np.array_equal(found.tensors[HEAD], found.tensors[table]):
            raise FormatError(
                f"{path}: expected {HEAD} equal to {table}, as tie_word_embeddings says, found another; set it false"
            )
    try:
        assert found.weights
    except CircuitizeError as error:
        raise FormatError(f"{path}: {error}") from None
    return found


def from_huggingface(
    folder: str | Path,
    length: int | None = None,
    attention: Attention = softmax_attention,
    formats: Mapping[str, Format] | None = None,
    last: bool = False,
) -> Model:
    """Return the GPT-2 of a folder as a model that starts from the folder's weights, for `training_step` and `predict`.

    The model of a GPT-2 folder gives the logits of every position, or with `last` those of the last position alone. The
    layer norms of a GPT-2 folder's model have the epsilon of config.json. `read(folder)` of
    `circuitize.frontends.huggingface` returns a `Folder`, whose `model(...)` returns the model and whose `save(...)`
    writes the folder again.
    """
    return read(folder).model(length, attention, formats, last)
