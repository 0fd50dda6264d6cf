"""Programs written in tinygrad 0.14.0 and polygrad 0.7.1, whose graphs are in the same language of UOps."""

from __future__ import annotations

from collections.abc import Mapping

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
    source: object,
    *examples: object,
    inputs: Mapping[str, object] | None = None,
    state: object = None,
) -> Imported:
    """Return the program of a model, a function or tensors of tinygrad 0.14.0.

    A function of tinygrad, or a model, which is a function that holds its parameters, is traced once on tensors like
    the examples; the program's inputs have the names of the function's arguments. The argument `state` names further
    tensors that a traced function reads or changes: it is an object or a list of objects that hold the tensors, such as
    [model, optimizer], or a mapping from names. Tensors that a traced function changes are outputs under their names,
    before the values that the function returns (`output`, or `output1`, ..., or the names of a mapping); tensors of an
    optimiser that the function does not change, such as the learning rate, are constants. A TinyJit of tinygrad is
    replaced by the function inside it.

    If tensors are given instead of a function, their graph is imported, with the inputs that `inputs` names. All other
    tensors that the given tensors' graph reads are constants.

    Raise CircuitizeError for another version of tinygrad or polygrad, a value read within the function, a changed
    tensor without a name, and an operation without a rule.
    """
    return taken(TINYGRAD, source, examples, inputs, state)


def from_polygrad(
    source: object,
    *examples: object,
    inputs: Mapping[str, object] | None = None,
    state: object = None,
    entrypoint: str | None = None,
) -> Imported:
    """Return the program of a model, a function or tensors of polygrad 0.7.1, as `from_tinygrad` does for tinygrad.

    A function made by polygrad's `jit` or `compile` is replaced by the function inside it; a `Model`, captured, loaded
    or read from a Hugging Face folder, is read as the computation at an entry point, by default "forward", with its
    parameters and inputs by their names.
    """
    if POLYGRAD.is_model(source):
        return POLYGRAD.of_model(source, entrypoint)
    return taken(POLYGRAD, source, examples, inputs, state)


def tinygrad_model(source: object, example: object, formats: Mapping[str, Format] | None = None) -> Model:
    """Return a model of tinygrad as a `Model`, for `training_step` and `predict`, as `network` makes it."""
    return network(TINYGRAD, source, example, formats)


def polygrad_model(source: object, example: object, formats: Mapping[str, Format] | None = None) -> Model:
    """Return a model of polygrad as a `Model`, for `training_step` and `predict`, as `network` makes it."""
    return network(POLYGRAD, source, example, formats)
