"""Synthesis scripts for yosys, without constraints: they report what a design takes on an FPGA, and make a netlist for
routing.
"""

from __future__ import annotations

from importlib.resources import files as resources

from ..design import Design
from ..yosys import FAMILIES, command

MULTIPLIERS = "multipliers.py"
MOVING = (resources(__package__) / MULTIPLIERS).read_text()
"""The script that moves registers into the multipliers of an ECP5, by its name in the folder and as text."""
_NETLIST = {"ecp5": " -json synth/ecp5.json"}
"""What is added to a command, by family."""

_SCRIPT = """\
# Run in the folder above: yosys -s synth/{name}.ys   (or: make -C synth {name})
{reads}
hierarchy -check -top {top}
proc
check -assert
{command}
stat
"""

_MAKEFILE = """\
# make: sizes on both families, with yosys. make ecp5 also writes ecp5.json, for nextpnr-ecp5.
YOSYS ?= yosys
PYTHON ?= python3

.PHONY: all {names}
all: {names}

{names}: %: %.ys
\tcd .. && $(YOSYS) -q -l synth/$@.log -s synth/$< && sed -n '/Printing statistics/,$$p' synth/$@.log
\t$(if $(filter ecp5,$@),$(PYTHON) multipliers.py ecp5.json)
"""


def scripts(design: Design) -> dict[str, str]:
    """Return, by file name, the synthesis scripts, their Makefile, and the script that moves registers into the
    multipliers of an ECP5; they read the folder `rtl/`, and run unchanged in yosys 0.23 and newer.
    """
    reads = "\n".join(f"read_verilog -defer rtl/{name}" for name in design.files if name.endswith(".v"))
    made = {}
    for name in FAMILIES:
        told = f"{command(name, design.scheduler)} -top {design.top}{_NETLIST.get(name, '')}"
        made[f"{name}.ys"] = _SCRIPT.format(name=name, reads=reads, top=design.top, command=told)
    return made | {"Makefile": _MAKEFILE.format(names=" ".join(FAMILIES)), MULTIPLIERS: MOVING}
