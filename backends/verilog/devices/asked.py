"""The FPGA family and the device for which a design is estimated: the cells that the design takes, and whether the
device holds it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.reading import Json

from .catalogue import Device, device
from .family import COUNTED, SEVEN, Family, family_named
from .holding import Holding, holding

OPTIONS = ("family", "device")


@dataclass(frozen=True)
class Asked:
    """The FPGA family for which a design is estimated, by default the Xilinx 7 series, and a device of this family if
    one is chosen.
    """

    family: Family = SEVEN
    device: Device | None = None

    @staticmethod
    def of(options: Mapping[str, Any]) -> Asked:
        """Return the FPGA family and the device that the options `family` and `device` choose.

        Raise CircuitizeError for an unknown name, and for a device of another family.
        """
        family, name = options.get("family"), options.get("device")
        if name is None:
            return Asked(SEVEN if family is None else family_named(family))
        found = device(name)
        if family is not None and family_named(family) != found.family:
            raise CircuitizeError(
                f"--family: expected {found.family.name}, the family of {found.name}, found {family!r}; leave it out"
            )
        return Asked(found.family, found)

    def cells(self, sizes: Json) -> dict[str, int]:
        """Return the sizes of a design by the names of cells; memory blocks have the name that the family uses."""
        taken = sizes["families"][self.family.name]
        return {self.family.block if name == "blocks" else name: taken[name] for name in COUNTED}

    def holding(self, sizes: Json) -> Holding | None:
        """Return how much of the chosen device a design of the given sizes takes, or None if no device is chosen."""
        return None if self.device is None else holding(self.device, sizes["families"][self.family.name])

    def answered(self, sizes: Json) -> Json:
        """Return the sizes of a design; if a device is chosen, the entry `device` says whether it holds the design."""
        found = self.holding(sizes)
        return sizes if found is None else {**sizes, "device": found.as_json()}
