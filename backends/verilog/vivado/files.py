"""The files of the folder `vivado`: the scripts, what they know of a design, a Makefile and a page."""

from __future__ import annotations

from importlib.resources import files as resources

from ..design import CLOCK, Design
from ..shell.registers import BUS, PORTS
from .notebook import notebook
from .parts import Vivado

UNTRIED = """\
The files of this folder are written from the public documentation of Xilinx: UG835 (Tcl commands), UG1118 (packaging),
UG994 (block designs), PG021 (DMA). They are linted. They have never run in Vivado or on a board.
"""

_SETTINGS = """\
# What the scripts of this folder know of the design: its part, its clock, its bus and the ports of its interfaces.
set top {top}
set part {part}
set processor {processor}
set mhz {mhz}
set bus_bits {bits}
set input_ports {{{inputs}}}
set output_ports {{{outputs}}}
set register_ports {{{registers}}}
"""

_CLOCK = """\
# The clock of the design alone, out of context: {mhz} MHz. In a block design the clock comes from the processor.
create_clock -name {clock} -period {period:.3f} [get_ports {clock}]
"""

_MAKEFILE = """\
# Of Vivado, in which these files have never run (see README.md):
{targets}
missing = $(error expected vivado among the commands, found none; source settings64.sh of your Vivado first)
VIVADO ?= $(or $(shell command -v vivado),$(call missing))
RUN = mkdir -p build && cd build && $(VIVADO) -mode batch -notrace -nojournal -source
SOURCES := settings.tcl $(wildcard ../rtl/*)

.PHONY: {names} clean
ip: build/ip/component.xml
build/ip/component.xml: package_ip.tcl $(SOURCES)
\t$(RUN) ../package_ip.tcl -log package_ip.log

synth: build/synth/{top}.dcp
build/synth/{top}.dcp: synth.tcl clock.xdc $(SOURCES)
\t$(RUN) ../synth.tcl -log synth.log
{more}
clean:
\trm -rf build{made}
"""

_BITSTREAM = """
# BOARD_PART=... names a board whose files Vivado has, for the settings of its memory.
export BOARD_PART
bitstream: {top}.bit
{top}.bit: block_design.tcl build/ip/component.xml
\t$(RUN) ../block_design.tcl -log block_design.log
"""

_README = """\
# {top} for {part}, in Vivado

{untried}
{commands}"""

_IP = """\
`make ip` packages the design as a block for IP integrator, in build/ip. `make synth` synthesizes the design alone, for
{mhz} MHz; its reports are in build/synth.
"""

_SYSTEM = """\
`make bitstream` puts the block beside the processor and a DMA, and makes `{top}.bit` and `{top}.hwh`. The target fails
where a path is too slow for {mhz} MHz. `make bitstream BOARD_PART=...` names a board whose files Vivado has. Without a
board the processor has Vivado's own settings, the boot of PYNQ makes those of the board, and the DMA may reach less
memory than the board has.

On a board with PYNQ, copy the folder of the design with both files in `vivado`, and open `vivado/run.ipynb`: the
notebook sends the frames of test/vectors.npz and compares what comes back with the integers of the program.
`frames.py` packs and unpacks frames, and is all that a program of yours needs beside `pynq`.
"""

_NO_PROCESSOR = """\
The part has no processor, so that there is no block design: connect `s_axis` and `m_axis` to a DMA or to logic of
yours, and `s_axil` to a master of registers.
"""


def vivado_files(design: Design, vivado: Vivado) -> dict[str, str]:
    """Return the files of the folder `vivado` by name. A part without a processor has no block design and no notebook.

    The design has one bus in and one out, and registers.
    """
    top, system = design.top, bool(vivado.processor)
    into, out = sorted(design.buses, key=lambda bus: bus.output)
    known = {"top": top, "part": vivado.part, "mhz": vivado.mhz}
    ports = {
        "inputs": " ".join(f"{into.name}_{wire}" for wire in into.wires),
        "outputs": " ".join(f"{out.name}_{wire}" for wire in out.wires),
        "registers": " ".join(f"{BUS}_{wire}" for wire in PORTS),
    }
    targets = {"ip": "the block, in build/ip", "synth": "the design alone, with reports in build/synth"}
    targets |= {"bitstream": f"{top}.bit and {top}.hwh"} if system else {}
    made = {
        "settings.tcl": _SETTINGS.format(**known, **ports, processor=vivado.processor or '""', bits=into.data_bits),
        "clock.xdc": _CLOCK.format(clock=CLOCK, mhz=vivado.mhz, period=1000 / vivado.mhz),
        "package_ip.tcl": script("package_ip.tcl"),
        "synth.tcl": script("synth.tcl"),
        "Makefile": _MAKEFILE.format(
            top=top,
            targets="\n".join(f"#   make {name:<9}  {what}" for name, what in targets.items()),
            names=" ".join(targets),
            more=_BITSTREAM.format(top=top) if system else "",
            made=f" {top}.bit {top}.hwh" if system else "",
        ),
        "README.md": _README.format(
            **known,
            untried=UNTRIED,
            commands="\n".join([_IP.format(**known), (_SYSTEM if system else _NO_PROCESSOR).format(**known)]),
        ),
    }
    if system:
        made["block_design.tcl"] = script("block_design.tcl")
        made["frames.py"] = (resources(__package__) / "frames.py").read_text()
        made["run.ipynb"] = notebook(top, UNTRIED)
    return made


def script(name: str) -> str:
    """Return the text of one of the scripts, which is the same for all designs."""
    return (resources(f"{__package__}.scripts") / name).read_text()
