"""Modules of torch as models: by an archive, or by torch.export where torch is installed."""

from __future__ import annotations

import importlib
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from circuitize.circuits.errors import CircuitizeError, TypingError
from circuitize.circuits.types import Array
from circuitize.frontends.formats import Format
from circuitize.frontends.imported import Imported, model
from circuitize.frontends.layers import Model

from .graph import program

REMEDY = "pip install torch, or give an archive that torch.export.save wrote"


def network(source: str | Path | bytes, formats: Mapping[str, Format] | None = None) -> Model:
    """The module in an archive as a model that starts from its values, for `training_step` and `predict`.

    It fits the batch that it was exported for. Buffers, such as running statistics, are frozen parameters. Formats that
    are not given hold twice the values. Raises CircuitizeError for a module of several inputs or outputs, and as
    `arrow` does.
    """
    made, buffers = program(source)
    (data, *others) = [name for name in made.inputs if name not in made.parameters] or [""]
    shape = made.shapes.get(data, ())
    if others or not shape:
        raise CircuitizeError(
            f"expected one input with an axis of examples, found {len(others) + bool(data)}; use arrow(...).program()"
        )

    def fitted(batch: Array) -> Imported:
        if batch != Array(shape):
            raise TypingError(
                f"expected a batch of shape {list(shape)}, as it was exported, found {list(batch.shape)}; export again"
            )
        return made

    return model(made.parameters, fitted, shape[1:], "torch", formats).freeze(*buffers)


def from_torch(
    module: Any, example: Any = None, formats: Mapping[str, Format] | None = None, decompose: bool = True
) -> Model:
    """A module of torch on inputs such as the example's, a tensor or a tuple of them, as a model; or an archive's path.

    The module is exported as it is outside training, by torch.export, and where it says so in core ATen. Raises
    CircuitizeError where torch is missing or refuses it, and as `network` does.
    """
    if isinstance(module, (str, Path, bytes)):
        return network(module, formats)
    return network(exported(module, example, decompose), formats)


def exported(module: Any, example: Any, decompose: bool = True) -> bytes:
    """The archive of a module, of which torch.export makes a graph of its shapes on an example."""
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        raise CircuitizeError(f"expected the package torch to export a module, found none; {REMEDY}") from None
    if not isinstance(module, torch.nn.Module):
        raise CircuitizeError(f"expected a torch.nn.Module, found {type(module).__name__}; wrap it in one")
    given = example if isinstance(example, tuple) else (example,)
    if not all(isinstance(one, torch.Tensor) for one in given):
        raise CircuitizeError("expected an example of tensors, found another; give torch.zeros(batch, ...)")
    training, file = module.training, io.BytesIO()
    try:
        made = torch.export.export(module.eval(), given)
        torch.export.save(made.run_decompositions() if decompose else made, file)
    except Exception as error:
        told = " ".join(str(error).split())[:200]
        raise CircuitizeError(
            f"expected a module that torch.export takes, found {type(error).__name__}: {told}; change the module"
        ) from None
    finally:
        module.train(training)
    return file.getvalue()
