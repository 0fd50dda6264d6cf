"""The devices on which executors compute: the processor with numpy, or the device on which a module like numpy keeps
its arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import numpy as np

from circuitize.circuits.operation import Values


@dataclass(frozen=True, slots=True)
class Device:
    """A device for executors: a name to report, and the array module whose arrays are on the device.

    Operations compute in the module of the values that they are given, so a program runs on a device if it starts from
    values on that device.
    """

    name: str
    module: ModuleType

    def put(self, value: Values) -> Values:
        """Move a value to the device; return it."""
        placed: Values = self.module.asarray(value)
        return placed

    def take(self, value: Values) -> Values:
        """Return a value on the device as a numpy array."""
        taken: Values = np.asarray(value) if self.module is np else self.module.asnumpy(value)
        return taken


CPU = Device("cpu", np)
