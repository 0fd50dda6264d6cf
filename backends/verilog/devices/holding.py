"""Whether a device holds a design: what share of each resource is taken, and which is the scarcest."""

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
    """A device, and by resource the share of it that a design takes, where 1 is all that there is."""

    device: Device
    shares: Mapping[str, float]

    @property
    def limit(self) -> str:
        """Return the resource of which the greatest share is taken."""
        return max(self.shares, key=lambda name: self.shares[name])

    @property
    def holds(self) -> bool:
        """Return whether there is enough of every resource."""
        return self.shares[self.limit] <= 1

    @property
    def text(self) -> str:
        """Return the answer as a line: yes or no, and how much of the scarcest resource."""
        word = "yes" if self.holds else "no"
        return f"{self.device.name}: {word}, {percent(self.shares[self.limit])} of its {WORDS[self.limit]}"

    def as_json(self) -> Json:
        """Return the answer as `--json` prints it."""
        return {
            "name": self.device.name,
            "family": self.device.family.name,
            "holds": self.holds,
            "limit": self.limit,
            "shares": {name: round(share, 4) for name, share in self.shares.items()},
            "text": self.text,
        }


def holding(device: Device, taken: Mapping[str, int]) -> Holding:
    """Return what of a device a design takes that needs so much of each resource of the device's family."""
    return Holding(device, {name: taken[name] / getattr(device, name) for name in COUNTED})


def percent(share: float) -> str:
    """Return a share in percent: of what is not held never less than 101 %, and one digit more below 10 %."""
    if share > 1:
        return f"{math.ceil(100 * share):,} %"
    return f"{100 * share:.1f} %" if share < 0.0995 else f"{math.floor(100 * share)} %"
