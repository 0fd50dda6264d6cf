"""Modules of torch as models, from an archive, or through torch.export if torch is installed."""

from __future__ import annotations

import importlib
import io
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Literal, TypeVar

from circuitize.circuits.errors import CircuitizeError, TypingError, excerpt
from circuitize.circuits.types import Array
from circuitize.frontends.formats import Format
from circuitize.frontends.imported import Imported, model
from circuitize.frontends.layers import Model
from circuitize.frontends.onnx.models import from_onnx

from .graph import program

Made = TypeVar("Made")

REMEDY = "pip install torch, or give an archive that torch.export.save wrote"


def network(source: str | Path | bytes, formats: Mapping[str, Format] | None = None) -> Model:
    """Return the module in an archive file as a model that starts from the module's values, for `training_step` and
    `predict`.

    The model of an archive fits the batch size that it was exported for. Buffers, such as running statistics, are
    frozen parameters of the model. A parameter whose format is not given has a format that holds values up to twice the
    parameter's. Raise CircuitizeError for a torch module of several inputs or outputs, and the errors that `arrow`
    raises.
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
    module: object,
    example: object = None,
    formats: Mapping[str, Format] | None = None,
    decompose: bool = True,
    exporter: Literal["export", "onnx"] = "export",
) -> Model:
    """Return a module of torch, on inputs like the example (a tensor or a tuple of tensors), as a model; or return the
    model in the archive at a path.

    A module of torch is exported with the behaviour that it has outside training. Through torch.export, in core ATen if
    `decompose` is true, the module keeps its names, its tied parameters and its batch norms, and accepts only the
    example's batch size. Through torch's exporter to ONNX, which needs the package onnxscript, the module accepts any
    batch size, but batch norms are folded, tied parameters are separated, and parameters that the exporter transposes
    are renamed. Raise CircuitizeError if torch is missing or refuses the module, and the errors that `network` or
    `from_onnx` raises.
    """
    if exporter not in ("export", "onnx"):
        raise CircuitizeError(f"exporter: expected 'export' or 'onnx', found {excerpt(exporter)}; choose one of them")
    if isinstance(module, (str, Path, bytes)):
        return network(module, formats)
    if exporter == "onnx":
        return from_onnx(exported_to_onnx(module, example), formats=formats)
    return network(exported(module, example, decompose), formats)


def exported(module: object, example: object, decompose: bool = True) -> bytes:
    """Return the archive of a module, whose graph torch.export makes for the shapes of an example."""

    def export(torch: ModuleType, given: tuple[object, ...]) -> bytes:
        file = io.BytesIO()
        made = torch.export.export(module, given)
        torch.export.save(made.run_decompositions() if decompose else made, file)
        return file.getvalue()

    return _outside_training(module, example, "torch.export", export)


def exported_to_onnx(module: object, example: object) -> object:
    """Return the ONNX model of a module, made by torch's exporter; the first axis of each input is left open."""

    def export(torch: ModuleType, given: tuple[object, ...]) -> object:
        axes = tuple({0: torch.export.Dim.DYNAMIC} for _ in given)
        return torch.onnx.export(module, given, dynamo=True, dynamic_shapes=axes, verbose=False).model_proto

    return _outside_training(module, example, "torch.onnx.export", export)


def _outside_training(
    module: object, example: object, exporter: str, export: Callable[[ModuleType, tuple[object, ...]], Made]
) -> Made:
    """Return the export of a module outside training, and restore the module's mode afterwards."""
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        raise CircuitizeError(f"expected the package torch to export a module, found none; {REMEDY}") from None
    if not isinstance(module, torch.nn.Module):
        raise CircuitizeError(f"expected a torch.nn.Module, found {type(module).__name__}; wrap it in one")
    given = example if isinstance(example, tuple) else (example,)
    if not all(isinstance(one, torch.Tensor) for one in given):
        raise CircuitizeError("expected an example of tensors, found another; give torch.zeros(batch, ...)")
    modes = {part: part.training for part in module.modules()}
    try:
        module.eval()
        return export(torch, given)
    except Exception as error:
        cause = error.__cause__ or error
        told = " ".join(str(cause).split())[:200]
        raise CircuitizeError(
            f"expected a module that {exporter} takes, found {type(cause).__name__}: {told}; change the module"
        ) from None
    finally:
        for part, mode in modes.items():
            part.training = mode
