"""FPGA devices by name, with the number of look-up tables, registers, multipliers and memory blocks of each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches

from circuitize.circuits.errors import CircuitizeError, excerpt

from .family import ECP5, SEVEN, ULTRASCALE, Family

SOURCES = {
    "ecp5": "Lattice FPGA-DS-02012, table 1.1; totals that nextpnr-ecp5 0.11.1 prints",
    "xc7": "Xilinx DS180 and DS190, tables of devices",
    "xcup": "Xilinx DS890, table of Virtex UltraScale+",
}
"""The documents from which the numbers of devices are taken, by family."""


@dataclass(frozen=True)
class Device:
    """One FPGA device of a family, with its resources. The `blocks` of a device are counted in the unit that its family
    names.
    """

    name: str
    family: Family
    lut: int
    ff: int
    dsp: int
    blocks: int


DEVICES = {
    device.name: device
    for device in (
        # The data sheet sells half of the LFE5U-25F's tables and 32 of its 56 blocks; nextpnr knows one die for both.
        Device("LFE5U-12F", ECP5, 12_000, 12_000, 28, 32),
        Device("LFE5U-25F", ECP5, 24_288, 24_288, 28, 56),
        Device("LFE5U-45F", ECP5, 43_848, 43_848, 72, 108),
        Device("LFE5U-85F", ECP5, 83_640, 83_640, 156, 208),
        Device("XC7A35T", SEVEN, 20_800, 41_600, 90, 100),
        Device("XC7A100T", SEVEN, 63_400, 126_800, 240, 270),
        Device("XC7Z010", SEVEN, 17_600, 35_200, 80, 120),
        Device("XC7Z020", SEVEN, 53_200, 106_400, 220, 280),
        Device("XCVU9P", ULTRASCALE, 1_182_240, 2_364_480, 6_840, 4_320),
    )
}


def device(name: str) -> Device:
    """Return the device with the given name, or with a name that begins the given part number, in upper or lower case.

    The last letter in the name of an LFE5U or Artix device may be left out. Raise CircuitizeError, with the nearest
    names, if no device has the given name.
    """
    given = _plain(name)
    for plain, found in _spellings().items():
        if given == plain or given.startswith(_plain(found.name)):
            return found
    near = get_close_matches(given, _spellings(), 3, 0.6)
    names = list(dict.fromkeys(_spellings()[plain].name for plain in near)) or ["LFE5U-85F", "XC7A35T"]
    raise CircuitizeError(
        f"--device: expected a device such as {' or '.join(names)}, found {excerpt(name)}; name one of "
        f"{devices_by_family()}"
    )


def devices_by_family() -> str:
    """Return a text with the names of all devices, grouped under the titles of their families."""
    titles: dict[str, list[str]] = {}
    for found in DEVICES.values():
        titles.setdefault(found.family.title, []).append(found.name)
    return ", or of ".join(f"{title} {', '.join(names)}" for title, names in titles.items())


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _spellings() -> dict[str, Device]:
    """Return the devices by their names in lower case, both with and without the last letter; a complete name takes
    precedence.
    """
    whole = {_plain(name): found for name, found in DEVICES.items()}
    return whole | {plain.rstrip("ft"): found for plain, found in whole.items()}
