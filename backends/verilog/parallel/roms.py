"""The modules of tables."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...verilog.netlist import Netlist
from ...verilog.signals import declared

Rom = tuple[int, int, int, bool, int]
"""A table as a module has it: its number, the argument of its first entry, the bits of the argument and whether it has
a sign, and the bits of an entry.
"""


def rom_files(net: Netlist, roms: Mapping[Rom, str]) -> dict[str, str]:
    """Return, by file name, the modules and the contents of tables, given the names of their modules."""
    files = {}
    for (table, first, bits, signed, entry), name in roms.items():
        entries = net.tables[table]
        address = np.arange(1 << bits)
        index = np.where(signed & (address >> (bits - 1) == 1), address - (1 << bits), address) - first
        words = entries[np.clip(index, 0, len(entries) - 1)] & ((1 << entry) - 1)
        digits = -(-entry // 4)
        files[f"{name}.hex"] = "\n".join(f"{word:0{digits}x}" for word in words.tolist()) + "\n"
        files[f"{name}.v"] = "\n".join(
            [
                f"// Table {table}: {len(entries)} entries for arguments from {first}, by the argument's bits.",
                f"module {name} (",
                f"    input wire {declared(bits, False)} index,",
                f"    output wire {declared(entry, False)} entry",
                ");",
                f"    reg {declared(entry, False)} entries [0:{(1 << bits) - 1}];",
                f'    initial $readmemh("{name}.hex", entries);',
                "    assign entry = entries[index];",
                "endmodule",
                "",
            ]
        )
    return files
