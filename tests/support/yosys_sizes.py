"""Sizes of Verilog by yosys: look-up tables, registers, multipliers and memory blocks, by family."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from circuitize.backends.verilog.yosys import command

FLAGS = {"xc7": ("-noiopad -flatten", "-noiopad"), "ecp5": ("", "-noflatten")}
"""By family: the flags for a flat netlist, and for modules that are kept as they are."""

AS_MEMORY = {"RAM32X1D": 2, "RAM64X1D": 2, "RAM64X1S": 1, "SRL16E": 1, "SRLC32E": 1}
AS_MEMORY |= dict.fromkeys(("RAM32M", "RAM64M", "RAM128X1D", "RAM256X1S", "TRELLIS_DPR16X4"), 4)
"""Look-up tables that a cell of memory takes."""


def synthesized(
    files: Mapping[str, str], top: str, family: str, yosys: str, flat: bool = True, scheduler: str = "folded"
) -> dict[str, dict[str, int]]:
    """Sizes of each module that yosys keeps, those inside it not counted; of the top alone where all is flattened."""
    sources = " ".join(name for name in files if name.endswith(".v"))
    script = f"read_verilog -defer {sources}; hierarchy -check -top {top}; "
    script += f"{command(family, scheduler)} {FLAGS[family][not flat]} -top {top}; tee -q -o stat.txt stat"
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            (Path(folder) / name).write_text(text)
        subprocess.run([yosys, "-q", "-p", script], cwd=folder, capture_output=True, text=True, check=True)
        told = (Path(folder) / "stat.txt").read_text().partition("=== design hierarchy")[0]
    found: dict[str, dict[str, int]] = {}
    for part in re.split(r"^=== ", told, flags=re.MULTILINE)[1:]:
        name, _, lines = part.partition(" ===")
        pairs = re.findall(r"^\s+(\d+)\s+([A-Z]\w+)\s*$|^\s+([A-Z]\w+)\s+(\d+)\s*$", lines, re.MULTILINE)
        found[name] = sizes(Counter({cell or other: int(count or number) for count, cell, other, number in pairs}))
    return found


def sizes(cells: Counter[str]) -> dict[str, int]:
    """Sizes of a netlist; a carry cell of an ECP5 is two look-up tables."""
    lut = sum(count for cell, count in cells.items() if re.fullmatch(r"LUT[1-6]|INV", cell))
    memory = sum(count * AS_MEMORY[cell] for cell, count in cells.items() if cell in AS_MEMORY)
    return {
        "lut": lut + memory + 2 * cells["CCU2C"],
        "ff": cells["TRELLIS_FF"] + sum(count for cell, count in cells.items() if cell.startswith("FD")),
        "dsp": cells["DSP48E1"] + cells["MULT18X18D"],
        "blocks": cells["DP16KD"] + cells["RAMB18E1"] + 2 * cells["RAMB36E1"],
    }


def version(yosys: str) -> str:
    """What yosys calls itself: `0.70`."""
    told = subprocess.run([yosys, "-V"], capture_output=True, text=True, check=True).stdout
    return told.split()[1]
