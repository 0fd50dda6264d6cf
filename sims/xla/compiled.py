"""An arrow compiled for a device of XLA: it is run like any executor, and its checks are evaluated after the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import jax
import numpy as np

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.operation import Values

from ..device import CPU
from ..executor import Executor
from .device import Xla
from .traced import Traced, defined


class Compiled:
    """An executor that runs an arrow on a device of XLA, for which the arrow is compiled at the first run.

    A compiled arrow returns integers as wide as their formats, int32 or int64, and accepts integers of that width;
    `device.take` gives int64.
    """

    def __init__(self, arrow: Arrow, device: Xla, names: Sequence[str] = ()) -> None:
        """The argument `names` lists the names of the inputs, for messages."""
        self.arrow = arrow
        self.device = device
        self.names = names
        self.traced = Traced(arrow, device.kind)
        self.handed = [device.put(value) for value in self.traced.handed.values()]
        self._outputs = jax.jit(partial(self._function, keep=False))
        self._wires = jax.jit(partial(self._function, keep=True))

    def outputs(self, inputs: Sequence[Values]) -> list[Values]:
        """Return the values of an arrow's outputs, computed on the device from inputs on the device. Raise the errors
        that the same arrow raises when it is run on numpy arrays.
        """
        return self._checked(self._outputs, inputs)

    def wires(self, inputs: Sequence[Values]) -> list[Values]:
        """Return the value of every wire of an arrow, computed on the device from inputs on the device."""
        return self._checked(self._wires, inputs)

    def undefined(self, inputs: Sequence[Values]) -> CircuitizeError:
        """Return the error that numpy raises for inputs on which a compiled arrow has no value."""
        try:
            Executor(self.arrow, CPU, self.names).outputs([self.device.take(value) for value in inputs])
        except CircuitizeError as error:
            return error
        return CircuitizeError(f"expected a value as numpy has one, found none by {self.device.name}; report this")

    def _checked(self, run: Callable[..., tuple[list[Values], Values]], inputs: Sequence[Values]) -> list[Values]:
        with jax.enable_x64(True):
            made, has_value = run(self.handed, list(inputs))
        if not np.asarray(has_value):
            raise self.undefined(inputs)
        return made

    def _function(
        self, handed: list[jax.Array], inputs: list[jax.Array], keep: bool
    ) -> tuple[list[jax.Array | None], jax.Array]:
        wires, flags = self.traced.wires(handed, inputs, keep)
        chosen = range(self.arrow.wire_count) if keep else self.arrow.outputs.tolist()
        return [wires[wire] for wire in chosen], defined(flags.values())
