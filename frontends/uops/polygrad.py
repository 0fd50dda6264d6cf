"""polygrad 0.7.1: its graphs, read through the C functions that its package exports, tensors and compiled functions."""

from __future__ import annotations

import copy
import ctypes
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.types import Shape

from .graph import Node
from .known import Known
from .system import System

_ARGUMENT = re.compile(
    r"UOp\((?P<name>\w+)(?:, (?P<dtype>[^,()]+))?(?:, (?P<argument>.*?))?(?:, src=\d+)?\)", re.DOTALL
)


class Polygrad(System):
    name = "polygrad"
    version = "0.7.1"

    @cached_property
    def _native(self) -> Any:
        return self.module("_ffi")._lib

    @cached_property
    def _described(self) -> Any:
        """The C function that writes one node as a text, which the caller frees."""
        function = self._native.poly_uop_str
        prototype = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
        return prototype(ctypes.cast(function, ctypes.c_void_p).value)

    @cached_property
    def _free(self) -> Any:
        free = ctypes.CDLL(None).free
        free.argtypes = [ctypes.c_void_p]
        return free

    def operation(self, uop: Any) -> str:
        return str(uop.op_name)

    def sources(self, uop: Any) -> Sequence[Any]:
        return () if uop.op_name == "BUFFER" else tuple(uop.src)

    def described(self, uop: Any, sources: tuple[int, ...]) -> Node:
        name, shape = uop.op_name, self._shape(uop)
        return Node(name, str(uop.dtype.name), shape, sources, self._argument(uop, name))

    def _argument(self, uop: Any, name: str) -> Any:
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

    def _shape(self, uop: Any) -> Shape:
        if uop.op_name in ("STACK", "SINK", "CONST") and uop.dtype.name in ("void", "weakint"):
            return (len(uop.src),) if uop.op_name == "STACK" else ()
        shape = self.module("tensor")._shape_from_uop(uop.ctx, uop.raw)
        if not all(isinstance(extent, int) for extent in shape):
            raise CircuitizeError(f"{uop.op_name}: expected extents known now, found others; give tensors fixed shapes")
        return tuple(shape)

    def elements(self, uop: Any) -> Known | None:
        if uop.op_name != "BUFFER" or uop.realized is None:
            return None
        tensor = self.tensor
        handle = tensor._core_create_with_roots_for(uop.ctx, uop, uop, 0, uop.device)
        return np.asarray(tensor(_ctx=uop.ctx, _tensor=handle, _device=uop.device).numpy()).reshape(-1)

    def saved(self, tensor: Any) -> Any:
        return copy.copy(tensor), tensor._grad

    def restore(self, tensor: Any, saved: Any) -> None:
        before, gradient = saved
        if not self.same(tensor.uop, before.uop):
            tensor.replace(before)
        tensor._grad = gradient

    def unwrapped(self, function: Any) -> Any:
        jit = self.module("jit")
        if isinstance(function, jit.CompiledCallable):
            function = function._jit
        return function.fxn if isinstance(function, jit.TinyJit) else function

    def state_dict(self, found: object) -> Mapping[str, Any]:
        return dict(self.module("nn.state").get_state_dict(found))


POLYGRAD = Polygrad()
