"""The devices for which XLA compiles: the processor, and the first CUDA device, if JAX, an optional extra, finds
one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.operation import Values

from ..device import CPU, Device

NAMES = ("numpy", "xla", "cuda")
"""The names of devices on which a program runs: numpy, or compiled by XLA for the processor, or for an NVIDIA GPU."""

REMEDY = "pip install 'circuitize[xla]', or 'circuitize[cuda]' for an NVIDIA GPU"


@dataclass(frozen=True, slots=True)
class Xla(Device):
    """A device of JAX, on which executors compile arrows by XLA. The field `kind` of a device is cpu or gpu."""

    kind: str
    place: object
    """The device, of the class that JAX has for devices."""

    def put(self, value: Values) -> Values:
        import jax

        with jax.enable_x64(True):
            placed: Values = jax.device_put(np.asarray(value), self.place)
        return placed

    def take(self, value: Values) -> Values:
        """Return integers as int64, however wide they are on the device."""
        taken: Values = np.asarray(value)
        return taken.astype(np.int64, copy=False) if taken.dtype.kind == "i" else taken


@cache
def processor() -> Xla:
    """Return the processor of this machine as a device of JAX. Raise CircuitizeError if JAX is not installed."""
    found = _first("cpu")
    if found is None:
        raise CircuitizeError(f"expected JAX, which calls XLA, found none that works; {REMEDY}")
    return found


@cache
def gpu() -> Xla | None:
    """Return the first CUDA device by its product name; None without JAX for CUDA, or without a device that works."""
    return _first("cuda")


def devices() -> list[Xla]:
    """Return all devices of the machine, one of each kind, the processor first; an empty list without JAX."""
    return [found for found in (_first("cpu"), gpu()) if found is not None]


def named(name: str) -> Device:
    """Return the device that a word names: numpy, xla or cuda. Raise CircuitizeError for an unknown word, and if the
    machine has no device of the kind that the word names.
    """
    if name not in NAMES:
        raise CircuitizeError(f"expected a device among {', '.join(NAMES)}, found {name!r}; choose one")
    if name == "numpy":
        return CPU
    there = processor()
    if name == "xla":
        return there
    found = gpu()
    if found is None:
        raise CircuitizeError(
            "expected a CUDA GPU that JAX finds, found none; where there is one with its driver: pip install "
            "'circuitize[cuda]'; or choose the device xla"
        )
    return found


@cache
def _first(platform: str) -> Xla | None:
    try:
        import jax
        import jax.numpy
    except ImportError:
        return None
    if not hasattr(jax, "enable_x64"):
        return None
    try:
        place = jax.devices(platform)[0]
        with jax.enable_x64(True):
            if int(jax.device_put(np.arange(3) << 40, place).sum()) != 3 << 40:
                return None
    except (RuntimeError, OSError):
        return None
    shown = "the CPU" if platform == "cpu" else place.device_kind
    return Xla(f"XLA on {shown} (JAX {jax.__version__})", jax.numpy, "cpu" if platform == "cpu" else "gpu", place)
