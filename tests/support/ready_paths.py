"""Which inputs of a synthesized design each output depends on within a clock: a walk over yosys' netlist."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from circuitize.backends.verilog.design import Design

CLOCKED = ("dff", "sdff", "adff", "dffe", "sdffe", "sdffce", "aldff", "mem", "memrd", "memwr", "meminit")
"""Cells whose outputs are registers."""


def depends(design: Design, folder: Path) -> dict[str, set[str]]:
    """By output port, the input ports from which a path without a register leads to it."""
    for name, text in design.files.items():
        (folder / name).write_text(text)
    names = " ".join(sorted(name for name in design.files if name.endswith(".v")))
    script = f"read_verilog {names}; hierarchy -top {design.top}; proc; flatten; memory_dff; opt; write_json net.json"
    subprocess.run(["yosys", "-q", "-p", script], cwd=folder, check=True, capture_output=True)
    module = json.loads((folder / "net.json").read_text())["modules"][design.top]
    ports = module["ports"]
    entering = {bit: name for name, port in ports.items() if port["direction"] == "input" for bit in port["bits"]}
    feeds: dict[int, list[int]] = {}
    for cell in module["cells"].values():
        if cell["type"].removeprefix("$").split("_v")[0] in CLOCKED and not _asynchronous(cell):
            continue
        ways = cell["port_directions"]
        read = [bit for port, bits in cell["connections"].items() if ways[port] == "input" for bit in bits]
        for port, bits in cell["connections"].items():
            if ways[port] == "output":
                for bit in bits:
                    feeds.setdefault(bit, []).extend(read)
    return {
        name: _reached(port["bits"], feeds, entering) for name, port in ports.items() if port["direction"] == "output"
    }


def _asynchronous(cell: dict[str, dict[str, str]]) -> bool:
    """Whether a memory is read without a clock."""
    return "mem" in cell["type"] and "0" in cell["parameters"].get("RD_CLK_ENABLE", "1")


def _reached(bits: list[int], feeds: dict[int, list[int]], entering: dict[int, str]) -> set[str]:
    found, seen, front = set(), set(bits), list(bits)
    while front:
        bit = front.pop()
        if bit in entering:
            found.add(entering[bit])
        more = [one for one in feeds.get(bit, ()) if one not in seen]
        seen.update(more)
        front += more
    return found
