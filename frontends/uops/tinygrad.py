"""tinygrad 0.14.0, which renames its operations with every release: its graphs, tensors and compiled functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from circuitize.circuits.errors import CircuitizeError

from .graph import Node
from .known import Known
from .objects import Tensor, TinygradUOp
from .system import System

F = TypeVar("F")


class Tinygrad(System[TinygradUOp]):
    """The system tinygrad, whose UOps are Python objects."""

    name = "tinygrad"
    version = "0.14.0"

    def operation(self, uop: TinygradUOp) -> str:
        return str(uop.op.name)

    def sources(self, uop: TinygradUOp) -> Sequence[TinygradUOp]:
        return () if uop.op.name == "BUFFER" else tuple(uop.src)

    def described(self, uop: TinygradUOp, sources: tuple[int, ...]) -> Node:
        name, argument = uop.op.name, None
        if name == "CONST":
            argument = bool(uop.arg) if uop.dtype.name == "bool" else uop.arg
            argument = float(argument) if isinstance(argument, float) else argument
        elif name in ("PERMUTE", "FLIP"):
            argument = tuple(uop.arg)
        elif name == "REDUCE":
            argument = (uop.arg[0].name, int(uop.arg[1]))
        try:
            extents: Sequence[object] = uop.shape
        except (RuntimeError, AttributeError, TypeError, ValueError):
            extents = ()
        shape = tuple(extent for extent in extents if isinstance(extent, int))
        if len(shape) < len(extents):
            raise CircuitizeError(
                f"{name}: expected extents known now, found {tuple(extents)}; give tensors fixed shapes"
            )
        return Node(name, str(uop.dtype.name), shape, sources, argument)

    def elements(self, uop: TinygradUOp) -> Known | None:
        if uop.op.name != "BUFFER" or uop.realized is None:
            return None
        return np.asarray(self.module("tensor").Tensor(uop).numpy()).reshape(-1)

    def saved(self, tensor: Tensor[TinygradUOp]) -> Callable[[], None]:
        uop, gradient = tensor.uop, tensor.grad

        def restore() -> None:
            tensor.uop, tensor.grad = uop, gradient

        return restore

    def unwrapped(self, function: F) -> F:
        jit = self.module("engine.jit")
        if not isinstance(function, jit._TinyJit):
            return function
        if function.fxn is None:
            raise CircuitizeError(
                "function: expected a TinyJit with its function, found one that was unpickled; give the function"
            )
        inside: F = function.fxn
        return inside

    def compiled(self) -> list[type]:
        return [self.module("engine.jit")._TinyJit]

    def state_dict(self, found: object) -> Mapping[str, Tensor[TinygradUOp]]:
        return dict(self.module("nn.state").get_state_dict(found))


TINYGRAD = Tinygrad()
