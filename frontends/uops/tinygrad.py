"""tinygrad 0.14.0, which renames its operations with every release: its graphs, tensors and compiled functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from circuitize.circuits.errors import CircuitizeError

from .graph import Node
from .known import Known
from .system import System


class Tinygrad(System):
    """The system tinygrad, whose UOps are Python objects."""

    name = "tinygrad"
    version = "0.14.0"

    def operation(self, uop: Any) -> str:
        return str(uop.op.name)

    def sources(self, uop: Any) -> Sequence[Any]:
        return () if uop.op.name == "BUFFER" else tuple(uop.src)

    def described(self, uop: Any, sources: tuple[int, ...]) -> Node:
        name, argument = uop.op.name, None
        if name == "CONST":
            argument = bool(uop.arg) if uop.dtype.name == "bool" else uop.arg
            argument = float(argument) if isinstance(argument, float) else argument
        elif name in ("PERMUTE", "FLIP"):
            argument = tuple(uop.arg)
        elif name == "REDUCE":
            argument = (uop.arg[0].name, int(uop.arg[1]))
        try:
            shape = tuple(uop.shape)
        except (RuntimeError, AttributeError, TypeError, ValueError):
            shape = ()
        if not all(isinstance(extent, int) for extent in shape):
            raise CircuitizeError(f"{name}: expected extents known now, found {shape}; give tensors fixed shapes")
        return Node(name, str(uop.dtype.name), shape, sources, argument)

    def elements(self, uop: Any) -> Known | None:
        if uop.op.name != "BUFFER" or uop.realized is None:
            return None
        return np.asarray(self.tensor(uop).numpy()).reshape(-1)

    def saved(self, tensor: Any) -> Any:
        return tensor.uop, tensor.grad

    def restore(self, tensor: Any, saved: Any) -> None:
        tensor.uop, tensor.grad = saved

    def unwrapped(self, function: Any) -> Any:
        jit = self.module("engine.jit")
        if not isinstance(function, jit._TinyJit):
            return function
        if function.fxn is None:
            raise CircuitizeError(
                "function: expected a TinyJit with its function, found one that was unpickled; give the function"
            )
        return function.fxn

    def compiled(self) -> list[type]:
        return [self.module("engine.jit")._TinyJit]

    def state_dict(self, found: object) -> Mapping[str, Any]:
        return dict(self.module("nn.state").get_state_dict(found))


TINYGRAD = Tinygrad()
