"""Networks of HGQ2, a Keras library, imported through the combinational logic that da4ml or alkaid traces from them.

HGQ2 is described in Sun et al., "Gradient-based automatic mixed precision quantization for neural networks on-chip",
arXiv 2405.00645; HGQ2 0.2 with alkaid 0.8 or da4ml 0.6 (LGPL-3, optional) runs unchanged, and the logic that it gives
is read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from traceback import extract_tb
from typing import Protocol, TypeGuard

from circuitize.circuits.errors import CircuitizeError, excerpt
from circuitize.circuits.program import IntegerProgram

from .files import parsed
from .logic import Logic
from .programs import program

TRACERS = ("alkaid", "da4ml")
Bits = tuple[int, int, int]


class _Model(Protocol):
    """A model of Keras (`keras.Model`)."""

    name: str


class _Number(Protocol):
    """A number of numpy (`numpy.generic`)."""

    def item(self) -> object:
        """Return the number as Python's."""


def _is_keras(found: object) -> TypeGuard[_Model]:
    return any(kind.__module__.split(".")[0] == "keras" for kind in type(found).__mro__)


def from_hgq(
    model: object, batch: int = 1, *, tracer: str | None = None, inputs: Bits | Sequence[Bits] | None = None
) -> IntegerProgram:
    """Return the integer program of a network of HGQ2: `inputs` [batch, n] -> `outputs` [batch, m], each example a flat
    row.

    The argument `model` is a Keras model of HGQ2's quantized layers, or a `.keras` file with such a model. The value of
    an HGQ2 network's program equals that of `model.predict` to the bit, for inputs in the program's format and if
    float32 is exact on them. The argument `tracer` names the package that traces the HGQ2 model, by default alkaid if
    it is installed, else da4ml. The inputs of an HGQ2 network have the bits that its first quantizers read, or the
    given bits: sign, integer and fraction bits for each input. Raise CircuitizeError if a package is missing, and for
    an HGQ2 model that the tracing package refuses.
    """
    return program(logic_of(model, tracer, inputs), batch)


def logic_of(model: object, tracer: str | None = None, inputs: Bits | Sequence[Bits] | None = None) -> Logic:
    """Return the combinational logic of an HGQ2 network, as `from_hgq` reads it."""
    name = _tracer(tracer)
    if isinstance(model, (str, Path)):
        model = _loaded(Path(model))
    if not _is_keras(model):
        raise CircuitizeError(f"expected a Keras model or a .keras file, found {excerpt(model)}; give keras.Model")
    where = f"{name}'s trace of {model.name}"
    try:
        traced, leaving = import_module(f"{name}.converter").trace_model(model, inputs_kif=inputs)
        tracing = import_module(f"{name}.trace")
        logic = (tracing.trace if name == "alkaid" else tracing.comb_trace)(traced, leaving)
    except (AssertionError, KeyError, NotImplementedError, TypeError, ValueError, AttributeError) as error:
        line = extract_tb(error.__traceback__)[-1].line
        told = " ".join(f"{type(error).__name__} {str(error) or line}".split())
        raise CircuitizeError(
            f"{where}: expected layers that it traces, found {told[:300]}; take HGQ2's layers with rounding RND or "
            "TRN, and give inputs=(sign, integer, fraction bits) where the first quantizer does not wrap"
        ) from None
    saved = {"model": logic, "meta": "ALIRModel", "spec_version": 4} if name == "alkaid" else logic
    return parsed(json.loads(json.dumps(saved, default=_plain)), where)


def _plain(value: _Number) -> object:
    """Return values that JSON does not know, such as tables and numbers of numpy, in the form in which da4ml's and
    alkaid's own `save` writes them.
    """
    return value.to_dict() if hasattr(value, "to_dict") else value.item()


def _tracer(name: str | None) -> str:
    if name is not None and name not in TRACERS:
        raise CircuitizeError(f"expected a tracer among {', '.join(TRACERS)}, found {excerpt(name)}; take one of these")
    found = [known for known in TRACERS if name in (None, known) and find_spec(known) is not None]
    if not found:
        wanted = name or " or ".join(TRACERS)
        raise CircuitizeError(f"expected {wanted}, found none; pip install hgq2==0.2.0 {name or TRACERS[0]}")
    return found[0]


def _loaded(path: Path) -> object:
    if not path.is_file():
        raise CircuitizeError(f"{path}: expected a .keras file, found none; check the path")
    for package in ("keras", "hgq"):
        if find_spec(package) is None:
            raise CircuitizeError(f"{path}: expected {package} to read it, found none; pip install hgq2==0.2.0 jax")
    if find_spec("tensorflow") is None:
        os.environ.setdefault("KERAS_BACKEND", "jax")
    import_module("hgq")
    try:
        model: object = import_module("keras").models.load_model(path, compile=False)
        return model
    except (OSError, ValueError, TypeError, KeyError, ImportError) as error:
        told = " ".join(str(error).split())
        raise CircuitizeError(f"{path}: expected a model that Keras loads, found {told[:200]}; save it again") from None
