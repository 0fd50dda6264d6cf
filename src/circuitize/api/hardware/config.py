"""The configuration of each layer of a network for a chip: the formats of its tensors, and how often a multiplier is
used in each frame.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from circuitize.circuits.errors import CircuitizeError, excerpt
from circuitize.frontends.notation import Stated, stated

TOP = ("Model", "LayerName", "ClockPeriod")
KEYS = ("Precision", "ReuseFactor", "Trace")
RESULT, AUTO, DEFAULT = "result", "auto", "default"
ACCUMULATOR = "accum"


@dataclass(frozen=True)
class Layer:
    """The settings of a layer: the formats of its tensors by name, among them `result`, and the reuse of its
    multipliers, which is None if the reuse of the whole model applies.
    """

    formats: Mapping[str, Stated | None] = field(default_factory=dict)
    reuse: int | None = None


@dataclass(frozen=True)
class Config:
    """The settings for all layers of a network, the settings for single layers, and the clock in MHz if one is
    stated.
    """

    everywhere: Stated | None
    reuse: int
    layers: Mapping[str, Layer]
    mhz: float | None

    def format(self, layer: str, tensor: str) -> Stated | None:
        """Return the format of a layer's tensor, or None if calibration chooses it."""
        formats = self.layers.get(layer, Layer()).formats
        return formats[tensor] if tensor in formats else formats.get(DEFAULT, self.everywhere)

    @property
    def wraps(self) -> bool:
        """Return whether some format of the configuration has the overflow mode "wrap", which promises that nothing
        wraps.
        """
        said = [self.everywhere, *(format for layer in self.layers.values() for format in layer.formats.values())]
        return any(format is not None and format.overflow == "wrap" for format in said)

    def reuse_of(self, *layers: str) -> int:
        """Return how often a multiplier that several layers share is used in each frame: the greatest number stated for
        one of these layers, or else the number stated for the whole model.
        """
        said = [found for name in layers if (found := self.layers.get(name, Layer()).reuse)]
        return max(said, default=self.reuse)


def config_of(given: Mapping[str, object] | None, layers: Mapping[str, Collection[str]]) -> Config:
    """Return the configuration that a dictionary in the form of hls4ml gives, checked against the names of the layers
    and of their tensors.

    Raise CircuitizeError for an unknown key, layer or tensor, for a text that is not a format, and for a format of an
    accumulator, since accumulators are exact.
    """
    whole = _mapping({} if given is None else given, "config", TOP)
    model = _mapping(whole.get("Model", {}), "Model", (*KEYS, "Strategy"))
    named = _mapping(whole.get("LayerName", {}), "LayerName", tuple(layers))
    everywhere = _formats(model.get("Precision", AUTO), "Model", ())
    return Config(
        everywhere.get(DEFAULT),
        _reuse(model, "Model", 1),
        {name: _layer(name, entry, layers[name]) for name, entry in named.items()},
        _mhz(whole),
    )


def _layer(name: str, given: object, tensors: Collection[str]) -> Layer:
    where = f"LayerName {name}"
    found = _mapping(given, where, KEYS)
    reuse = _reuse(found, where, 0) or None
    return Layer(_formats(found.get("Precision", {}), where, tensors), reuse)


def _formats(given: object, where: str, tensors: Collection[str]) -> dict[str, Stated | None]:
    """Return formats by the names of tensors; a single format for all tensors has the name `default`."""
    if not isinstance(given, Mapping):
        given = {DEFAULT: given}
    known = (*tensors, DEFAULT, *((ACCUMULATOR,) if tensors else ("maximum",)))
    made: dict[str, Stated | None] = {}
    for tensor, entry in _mapping(given, f"{where}, Precision", known).items():
        text = f"{where}, Precision of {tensor}"
        if tensor == ACCUMULATOR and entry != AUTO:
            raise CircuitizeError(
                f"{text}: expected none, sums keep all their bits, found {excerpt(entry)}; leave it out"
            )
        made[tensor] = None if entry == AUTO else stated(entry, text)
    return made


def _mapping(given: object, where: str, known: Collection[str]) -> Mapping[str, object]:
    if not isinstance(given, Mapping):
        raise CircuitizeError(f"{where}: expected a dictionary, found {excerpt(given)}; write {{...}}")
    for key in given:
        if key not in known:
            raise CircuitizeError(f"{where}: expected keys among {list(known)}, found {excerpt(key)}; correct it")
    return given


def _reuse(given: Mapping[str, object], where: str, default: int) -> int:
    found = given.get("ReuseFactor", default)
    if not isinstance(found, int) or isinstance(found, bool) or found < (1 if "ReuseFactor" in given else 0):
        raise CircuitizeError(
            f"{where}: expected a ReuseFactor of a whole number, at least 1, found {excerpt(found)}; write 4"
        )
    return found


def _mhz(given: Mapping[str, object]) -> float | None:
    """Return the clock frequency in MHz for a clock period in nanoseconds."""
    if "ClockPeriod" not in given:
        return None
    found = given["ClockPeriod"]
    if not isinstance(found, (int, float)) or isinstance(found, bool) or not 0 < found < math.inf:
        raise CircuitizeError(f"config: expected a ClockPeriod in nanoseconds, found {excerpt(found)}; write 5")
    return 1000.0 / found
