"""The check whether a device holds a design: the share of each resource that the design takes, and the scarcest
resource.
"""

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
    """The share of each resource of a device that a design takes, where 1 is the whole resource."""

    device: Device
    shares: Mapping[str, float]

    @property
    def limit(self) -> str:
        """Return the name of the resource of which the design takes the greatest share."""
        return max(self.shares, key=lambda name: self.shares[name])

    @property
    def holds(self) -> bool:
        """Return whether the device has enough of every resource for the design."""
        return self.shares[self.limit] <= 1

    @property
    def text(self) -> str:
        """Return one line that says whether the device holds the design, and how much of the scarcest resource the
        design takes.
        """
        word = "yes" if self.holds else "no"
        return f"{self.device.name}: {word}, {percent(self.shares[self.limit])} of its {WORDS[self.limit]}"

    def as_json(self) -> Json:
        """Return whether the device holds the design, as the object that `--json` prints."""
        return {
            "name": self.device.name,
            "family": self.device.family.name,
            "holds": self.holds,
            "limit": self.limit,
            "shares": {name: round(share, 4) for name, share in self.shares.items()},
            "text": self.text,
        }


def holding(device: Device, taken: Mapping[str, int]) -> Holding:
    """Return the shares of a device's resources that a design takes, given the amounts that it takes in the device's
    family.
    """
    return Holding(device, {name: taken[name] / getattr(device, name) for name in COUNTED})


def percent(share: float) -> str:
    """Return a share as a text in percent: at least 101 % if the share is more than the whole, and with one decimal
    below 9.95 %.
    """
    if share > 1:
        return f"{math.ceil(100 * share):,} %"
    return f"{100 * share:.1f} %" if share < 0.0995 else f"{math.floor(100 * share)} %"
