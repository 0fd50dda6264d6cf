"""Where executors compute: on the processor with numpy, or wherever the arrays of a similar module are."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import numpy as np

from circuitize.circuits.operation import Values


@dataclass(frozen=True, slots=True)
class Device:
    """A name to report, and the array module whose arrays live there.

    Operations compute in the module of the values they are given, so that a program runs on a device if it starts from
    values that are on it.
    """

    name: str
    module: ModuleType

    def put(self, value: Values) -> Values:
        """The value, put on this device."""
        placed: Values = self.module.asarray(value)
        return placed

    def take(self, value: Values) -> Values:
        """A value of this device as a numpy array."""
        taken: Values = np.asarray(value) if self.module is np else self.module.asnumpy(value)
        return taken


CPU = Device("cpu", np)
