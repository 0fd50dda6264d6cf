"""Programs written in tinygrad 0.14.0 and polygrad 0.7.1: the graphs of both have one language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from circuitize.frontends.formats import Format
from circuitize.frontends.imported import Imported
from circuitize.frontends.layers import Model

from . import arithmetic as arithmetic
from . import choices as choices
from .network import network
from .polygrad import POLYGRAD
from .taken import taken
from .tinygrad import TINYGRAD

__all__ = ["from_polygrad", "from_tinygrad", "polygrad_model", "tinygrad_model"]


def from_tinygrad(
    source: Any, *examples: Any, inputs: Mapping[str, Any] | None = None, state: object = None
) -> Imported:
    """The program of a model, a function or tensors of tinygrad 0.14.0.

    A function, or a model, which is a function that holds its parameters, is run once on tensors like the examples,
    without computing anything: its inputs have the names of its arguments. The argument `state` holds further tensors
    that the function reads or changes: objects, such as [model, optimizer], or a mapping from names. Tensors that the
    function changes leave under their names, before the values that it returns (`output`, or `output1`, ..., or the
    names of a mapping); an optimiser's tensors that it does not change, such as the learning rate, are constants. A
    TinyJit is taken as its function.

    Tensors are taken as they are, with `inputs` by name. Whatever else the tensors read is constant.

    Raise CircuitizeError for another version, a value read within the function, a changed tensor without a name, and
    an operation without a rule.
    """
    return taken(TINYGRAD, source, examples, inputs, state)


def from_polygrad(
    source: Any,
    *examples: Any,
    inputs: Mapping[str, Any] | None = None,
    state: object = None,
    entrypoint: str | None = None,
) -> Imported:
    """The program of a model, a function or tensors of polygrad 0.7.1, in the way of `from_tinygrad`.

    A `jit` or `compile`d function is taken as its function; a `Model`, captured, loaded or read from a Hugging Face
    folder, as the computation at an entry point, by default "forward", with its parameters and inputs by their names.
    """
    if POLYGRAD.is_model(source):
        return POLYGRAD.of_model(source, entrypoint)
    return taken(POLYGRAD, source, examples, inputs, state)


def tinygrad_model(source: Any, example: Any, formats: Mapping[str, Format] | None = None) -> Model:
    """A model of tinygrad as a `Model`, for `training_step` and `predict`; see `network`."""
    return network(TINYGRAD, source, example, formats)


def polygrad_model(source: Any, example: Any, formats: Mapping[str, Format] | None = None) -> Model:
    """A model of polygrad as a `Model`, for `training_step` and `predict`; see `network`."""
    return network(POLYGRAD, source, example, formats)
