"""FPGAs: families with the capacities of their cells, devices by name, and the share of a device that a design
takes.
"""

from .asked import Asked
from .catalogue import DEVICES, Device, device, devices_by_family
from .family import FAMILIES, Family, family_named
from .holding import Holding, holding

__all__ = [
    "DEVICES",
    "FAMILIES",
    "Asked",
    "Device",
    "Family",
    "Holding",
    "device",
    "devices_by_family",
    "family_named",
    "holding",
]
