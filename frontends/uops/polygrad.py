"""polygrad 0.7.1: its graphs, which are read through the C functions that its package exports, its tensors and its
compiled functions.
"""

from __future__ import annotations

import copy
import ctypes
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TypeGuard, TypeVar

import numpy as np

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.types import Shape
from circuitize.frontends.imported import Imported, Reals

from .graph import Node, Port
from .known import Known
from .objects import Entry, Numbers, PolygradModel, PolygradUOp, Tensor
from .system import DRAWING, Cuts, System, forbidden
from .taken import imported

F = TypeVar("F")
N = TypeVar("N", bound=Numbers)
_ARGUMENT = re.compile(
    r"UOp\((?P<name>\w+)(?:, (?P<dtype>[^,()]+))?(?:, (?P<argument>.*?))?(?:, src=\d+)?\)", re.DOTALL
)


class Polygrad(System[PolygradUOp]):
    """The system polygrad, whose UOps are described by its C functions."""

    name = "polygrad"
    version = "0.7.1"

    @cached_property
    def _native(self) -> ctypes.CDLL:
        library: ctypes.CDLL = self.module("_ffi")._lib
        return library

    @cached_property
    def _described(self) -> Callable[[object], int | None]:
        """Return the C function of polygrad that writes one UOp as a text, which the caller frees."""
        function = self._native.poly_uop_str
        prototype = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
        return ctypes.cast(function, prototype)

    @cached_property
    def _free(self) -> Callable[[int | None], object]:
        free = ctypes.CDLL(None).free
        free.argtypes = [ctypes.c_void_p]
        return free

    def operation(self, uop: PolygradUOp) -> str:
        return str(uop.op_name)

    def sources(self, uop: PolygradUOp) -> Sequence[PolygradUOp]:
        return () if uop.op_name == "BUFFER" else tuple(uop.src)

    def described(self, uop: PolygradUOp, sources: tuple[int, ...]) -> Node:
        name, shape = uop.op_name, self._shape(uop)
        return Node(name, str(uop.dtype.name), shape, sources, self._argument(uop, name))

    def _argument(self, uop: PolygradUOp, name: str) -> object:
        if name not in ("CONST", "PERMUTE", "FLIP", "REDUCE"):
            return None
        place = self._described(uop.raw)
        text = ctypes.string_at(place).decode() if place else ""
        self._free(place)
        found = _ARGUMENT.fullmatch(text)
        argument = (found["argument"] if found else None) or ""
        try:
            if name == "CONST":
                if argument in ("True", "False"):
                    return argument == "True"
                whole = re.fullmatch(r"-?\d+", argument) and str(uop.dtype.name) not in ("float", "weakfloat", "double")
                return int(argument) if whole else float(argument)
            parts = [part for part in argument.strip("()").replace(" ", "").split(",") if part]
            if name == "REDUCE":
                operation, count = parts
                return operation, int(count)
            return tuple(part == "True" for part in parts) if name == "FLIP" else tuple(map(int, parts))
        except ValueError:
            raise CircuitizeError(
                f"polygrad: expected {name} to be written as in {self.version}, found {text!r}; install that version"
            ) from None

    def _shape(self, uop: PolygradUOp) -> Shape:
        if uop.op_name in ("STACK", "SINK", "CONST") and uop.dtype.name in ("void", "weakint"):
            return (len(uop.src),) if uop.op_name == "STACK" else ()
        shape = self.module("tensor")._shape_from_uop(uop.ctx, uop.raw)
        if not all(isinstance(extent, int) for extent in shape):
            raise CircuitizeError(f"{uop.op_name}: expected extents known now, found others; give tensors fixed shapes")
        return tuple(shape)

    def elements(self, uop: PolygradUOp) -> Known | None:
        if uop.op_name != "BUFFER" or uop.realized is None:
            return None
        tensor = self.module("tensor").Tensor
        handle = tensor._core_create_with_roots_for(uop.ctx, uop, uop, 0, uop.device)
        return np.asarray(tensor(_ctx=uop.ctx, _tensor=handle, _device=uop.device).numpy()).reshape(-1)

    def saved(self, tensor: Tensor[PolygradUOp]) -> Callable[[], None]:
        before, gradient = copy.copy(tensor), tensor.grad
        before.grad = None  # Else backward would add to the gradient that is to be put back.

        def restore() -> None:
            if not self.same(tensor.uop, before.uop):
                tensor.replace(before)
            tensor.grad = gradient

        return restore

    def unwrapped(self, function: F) -> F:
        jit = self.module("jit")
        if isinstance(function, jit.CompiledCallable):
            function = function._jit
        return function.fxn if isinstance(function, jit.TinyJit) else function

    def written(self) -> Mapping[str, Callable[..., object]]:
        """Return replacements for methods of polygrad's tensors: the hyperbolic tangent is computed from the sigmoid,
        as in tinygrad, because polygrad's own is piecewise.

        A hyperbolic tangent that is computed from the sigmoid has a short derivative, with intervals that stay small.
        The method for dropout of polygrad's tensors is replaced, because polygrad draws the mask in C.
        """
        tensor = self.module("tensor").Tensor
        gelu, dropout = tensor.gelu, tensor.dropout

        def tanh(x: N) -> N:
            return (x * 2.0).sigmoid() * 2.0 - 1.0

        def tanh_gelu(x: N, approximate: str = "tanh") -> N:
            if approximate != "tanh":
                exact: N = gelu(x, approximate)
                return exact
            return x * 0.5 * (tanh((x + x**3 * 0.044715) * math.sqrt(2 / math.pi)) + 1.0)

        def dropped(x: object, p: float = 0.5) -> object:
            drawing = p and self.module("helpers").TRAINING
            return forbidden("dropout", DRAWING)() if drawing else dropout(x, p)

        return {"tanh": tanh, "gelu": tanh_gelu, "dropout": dropped}

    def compiled(self) -> list[type]:
        jit = self.module("jit")
        return [jit.TinyJit, jit.CompiledCallable]

    def state_dict(self, found: object) -> Mapping[str, Tensor[PolygradUOp]]:
        return dict(self.module("nn.state").get_state_dict(found))

    def is_model(self, found: object) -> TypeGuard[PolygradModel]:
        """Return whether an object is a Model of polygrad, which C owns: captured, built from a configuration, or read
        from a file.
        """
        return isinstance(found, self.module("model").Model)

    def of_model(self, model: PolygradModel, entrypoint: str | None) -> Imported:
        """Return the computation of a polygrad Model at an entry point, with its parameters and other buffers by their
        names.
        """
        entries = {entry["name"]: entry for entry in model.entrypoints()}
        name = entrypoint or ("forward" if "forward" in entries else next(iter(entries), "forward"))
        if name not in entries:
            raise CircuitizeError(f"polygrad: expected an entry point among {sorted(entries)}, found {name!r}")
        shapes, kept = self._bindings(model, entries[name])
        nodes = {self._buffer(model, binding["name"]): binding for binding in model.bindings()}
        cuts = Cuts(
            {node: Port(b["name"], shapes[b["name"]], flat=True) for node, b in nodes.items() if b["name"] in shapes},
            {},
        )
        stores = list(self._node(model, "poly_model_get_sink", name).src)
        targets = [self._stored(store) for store in stores]
        if any(target not in nodes for target in targets):
            raise CircuitizeError(
                f"polygrad: expected {name!r} to store whole outputs and states, found something else; capture it anew"
            )
        stored = [nodes[target] for target in targets]
        graph = self.graph([store.src[1] for store in stores], cuts)
        leaving = [tuple(map(int, binding["shape"])) for binding in stored]
        return imported(self, graph, [binding["name"] for binding in stored], shapes, kept, leaving)

    def _stored(self, store: PolygradUOp) -> PolygradUOp:
        """Return the buffer that an effect (a UOp such as STORE) writes as a whole, or the effect itself if it is of
        another kind.
        """
        target = store.src[0] if store.op_name == "STORE" else store
        while target.op_name == "RESHAPE":
            target = target.src[0]
        return target

    def _bindings(self, model: PolygradModel, entry: Entry) -> tuple[dict[str, Shape], dict[str, Reals]]:
        """Return the inputs of a polygrad Model by name with their shapes, and the values of the tensors that the Model
        keeps.
        """
        shapes: dict[str, Shape] = {}
        kept: dict[str, Reals] = {}
        for binding in model.bindings():
            name, shape = binding["name"], tuple(map(int, binding["shape"]))
            if any(low != high for low, high in binding["shape_bounds"]):
                raise CircuitizeError(
                    f"{name}: expected a fixed shape, found bounds {binding['shape_bounds']}; capture it at one shape"
                )
            if binding["role"] in (PARAMETER, STATE):
                shapes[name] = shape
                kept[name] = np.asarray(model.read_buffer(name), np.float64).reshape(shape)
        return shapes | {
            binding["name"]: tuple(map(int, binding["shape"]))
            for binding in model.bindings()
            if binding["name"] in entry["inputs"]
        }, kept

    def _node(self, model: PolygradModel, function: str, name: str) -> PolygradUOp:
        prototype = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)
        place = ctypes.cast(getattr(self._native, function), prototype)(model._ptr, name.encode())
        node: PolygradUOp = self.module("uop.ops").UOp(model._ctx, place)
        return node

    def _buffer(self, model: PolygradModel, name: str) -> PolygradUOp:
        return self._node(model, "poly_model_get_buffer", name)


PARAMETER, STATE = 0, 4
"""The roles of the tensors that a Model keeps."""
POLYGRAD = Polygrad()
