"""Whether a device holds a design: which share of each resource the design takes, and which is the scarcest."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from circuitize.circuits.reading import Json

from .catalogue import Device
from .family import COUNTED

WORDS = {"lut": "look-up tables", "ff": "registers", "dsp": "multipliers", "blocks": "memory blocks"}


@dataclass(frozen=True)
class Holding:
    """A device, and for each of its resources the share that a design takes, where 1 is the whole resource."""

    device: Device
    shares: Mapping[str, float]

    @property
    def limit(self) -> str:
        """Return the resource of which a design takes the greatest share."""
        return max(self.shares, key=lambda name: self.shares[name])

    @property
    def holds(self) -> bool:
        """Return whether the device has enough of every resource for the design."""
        return self.shares[self.limit] <= 1

    @property
    def text(self) -> str:
        """Return in one line whether a device holds the design: yes or no, and how much of the scarcest resource."""
        word = "yes" if self.holds else "no"
        return f"{self.device.name}: {word}, {percent(self.shares[self.limit])} of its {WORDS[self.limit]}"

    def as_json(self) -> Json:
        """Return as JSON whether a device holds the design, as `--json` prints it."""
        return {
            "name": self.device.name,
            "family": self.device.family.name,
            "holds": self.holds,
            "limit": self.limit,
            "shares": {name: round(share, 4) for name, share in self.shares.items()},
            "text": self.text,
        }


def holding(device: Device, taken: Mapping[str, int]) -> Holding:
    """Return the shares of a device's resources that a design takes, given how much it needs of each resource of the
    device's family.
    """
    return Holding(device, {name: taken[name] / getattr(device, name) for name in COUNTED})


def percent(share: float) -> str:
    """Return a share in percent: at least 101 % if the device does not hold the design, and with one decimal below 9.95
    %.
    """
    if share > 1:
        return f"{math.ceil(100 * share):,} %"
    return f"{100 * share:.1f} %" if share < 0.0995 else f"{math.floor(100 * share)} %"
