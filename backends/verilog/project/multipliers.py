"""Moves registers behind multipliers into the multipliers, in a netlist that yosys wrote for an ECP5.

python3 multipliers.py NETLIST.json

A multiplier of an ECP5 has a register for its product, which yosys leaves empty: it puts the product into registers
elsewhere on the die. The product of a multiplier then takes its wires in the same clock as the multiplication. Here the
register moves where each used bit of a product goes to one register alone, and where all these registers have one
clock, are never held or reset, and begin with 0.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TypedDict

MULTIPLIER, REGISTER = "MULT18X18D", "TRELLIS_FF"
TAKEN = {"REG_OUTPUT_CLK": "CLK0", "REG_OUTPUT_CE": "CE0", "REG_OUTPUT_RST": "RST0", "GSR": "DISABLED"}
"""The settings of a multiplier whose product is in its register."""

Bit = int | str


class Cell(TypedDict):
    """A cell of a netlist: its kind, its settings, and the nets or constants at its pins."""

    type: str
    parameters: dict[str, str]
    port_directions: dict[str, str]
    connections: dict[str, list[Bit]]


class Port(TypedDict):
    """A port of a module, with its nets."""

    bits: list[Bit]


class Module(TypedDict, total=False):
    """A module of a netlist: its ports and cells by name."""

    ports: dict[str, Port]
    cells: dict[str, Cell]


def moved(module: Module) -> int:
    """Move registers of a module into multipliers, and return how many moved. The time taken is linear in the number of
    connections.
    """
    cells = module.get("cells", {})
    readers: dict[Bit, list[tuple[str, str]]] = {}
    for name, cell in cells.items():
        for pin, bits in cell["connections"].items():
            if cell["port_directions"][pin] != "output":
                for bit in bits:
                    readers.setdefault(bit, []).append((name, pin))
    for name, port in module.get("ports", {}).items():
        for bit in port["bits"]:
            readers.setdefault(bit, []).append(("", name))
    count = 0
    for cell in [cell for cell in cells.values() if cell["type"] == MULTIPLIER]:
        count += _taken(cell, cells, readers)
    return count


def _taken(cell: Cell, cells: dict[str, Cell], readers: dict[Bit, list[tuple[str, str]]]) -> int:
    """Move the registers behind a multiplier into it if all of them can move, and return how many moved."""
    behind: dict[str, str] = {}
    for pin, bits in cell["connections"].items():
        if cell["port_directions"][pin] != "output":
            continue
        for bit in bits:
            users = readers.get(bit, [])
            if not users:
                continue
            name, into = users[0]
            if len(users) > 1 or not _is_product(pin) or not _is_plain(cells.get(name), into):
                return 0
            behind[pin] = name
    clocks = {tuple(cells[name]["connections"]["CLK"]) for name in behind.values()}
    registered = any(value != "NONE" for key, value in cell["parameters"].items() if key.endswith("_CLK"))
    if len(clocks) != 1 or registered or max(Counter(behind.values()).values()) > 1:
        return 0
    for pin, name in behind.items():
        cell["connections"][pin] = cells.pop(name)["connections"]["Q"]
    cell["connections"] |= {"CLK0": list(*clocks), "CE0": ["1"], "RST0": ["0"]}
    cell["port_directions"] |= dict.fromkeys(("CLK0", "CE0", "RST0"), "input")
    cell["parameters"] |= TAKEN
    return len(behind)


def _is_product(pin: str) -> bool:
    """Return whether a pin is a bit of the product, and not one that leads to a neighbouring multiplier."""
    return pin[0] == "P" and pin[1:].isdigit()


def _is_plain(cell: Cell | None, pin: str) -> bool:
    """Return whether a pin is the data of a register that takes them at each rising edge of its clock, and begins with
    0.

    All its settings must be given, since yosys and nextpnr have different defaults. Where a design has a global reset,
    yosys leaves out the same reset of a register, and `GSR` alone says that it is reset.
    """
    if cell is None or cell["type"] != REGISTER or pin != "DI":
        return False
    wanted = {"CEMUX": "1", "CLKMUX": "CLK", "REGSET": "RESET", "GSR": "DISABLED"}
    free = cell["connections"].get("LSR", ["0"]) in (["0"], [])
    return free and all(cell["parameters"].get(name, "").strip() == value for name, value in wanted.items())


def main() -> int:
    """Rewrite the netlist that is named, and say how many registers moved."""
    if len(sys.argv) != 2:
        print(f"multipliers.py: expected one netlist, found {len(sys.argv) - 1}", file=sys.stderr)
        return 2
    path = Path(sys.argv[1])
    try:
        netlist = json.loads(path.read_text())
        count = sum(moved(module) for module in netlist["modules"].values())
        made = path.with_name(f"{path.name}.moved")
        made.write_text(json.dumps(netlist, indent=1))
        made.replace(path)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        print(f"multipliers.py: {path}: expected a netlist that yosys wrote, found {error!r}", file=sys.stderr)
        return 2
    print(f"{path}: {count} registers moved into multipliers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
