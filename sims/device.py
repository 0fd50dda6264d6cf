"""Where executors compute: on the processor with numpy, or on a CUDA device with CuPy, which is an optional extra."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from types import ModuleType

import numpy as np

from circuitize.circuits.operation import Values


@dataclass(frozen=True, slots=True)
class Device:
    """A name to report, and the array module whose arrays live there.

    Operations compute in the module of the values they are given, so that to run on a device is to start from values
    that are on it.
    """

    name: str
    module: ModuleType

    def put(self, value: Values) -> Values:
        """The value on this device."""
        placed: Values = self.module.asarray(value)
        return placed

    def take(self, value: Values) -> Values:
        """A value of this device as a numpy array."""
        taken: Values = np.asarray(value) if self.module is np else self.module.asnumpy(value)
        return taken


CPU = Device("cpu", np)


@cache
def cuda() -> Device | None:
    """The first CUDA device by its product name; None without CuPy or without a device that works."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import cupy
    except ImportError:
        return None
    try:
        name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
        if int(cupy.arange(3).sum()) != 3:
            return None
    except (RuntimeError, OSError, ImportError):
        return None
    return Device(f"{name} (CuPy {cupy.__version__})", cupy)
