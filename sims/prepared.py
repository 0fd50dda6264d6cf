"""Arrows prepared for a device: for numpy and similar modules they run operation by operation, for XLA they are
compiled as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.operation import Values

from .device import CPU, Device
from .executor import Executor
from .xla.device import Xla


class Prepared(Protocol):
    """An object that runs an arrow on a device many times."""

    def outputs(self, inputs: Sequence[Values]) -> list[Values]:
        """Return the values of an arrow's outputs, computed on the device from inputs on the device. Raise the errors
        of an arrow's operations, with the place of the failing edge.
        """

    def wires(self, inputs: Sequence[Values]) -> list[Values]:
        """Return the value of every wire of an arrow, computed on the device from inputs on the device."""


def prepared(arrow: Arrow, device: Device = CPU, names: Sequence[str] = ()) -> Prepared:
    """Return an object that runs an arrow on a device; `names` are the names of the inputs, for messages."""
    if isinstance(device, Xla):
        from .xla.compiled import Compiled

        return Compiled(arrow, device, names)
    return Executor(arrow, device, names)
