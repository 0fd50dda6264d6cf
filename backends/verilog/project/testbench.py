"""The test bench that comes with a design: it uses cocotb and pytest, with test frames and the integers that are
expected for them.
"""

from __future__ import annotations

import json

VERILATOR = ["--no-public-flat-rw", "-Wno-fatal", "-O3", "-CFLAGS", "-O2"]
"""The options of Verilator for a bench that needs ports alone: with every wire in reach g++ takes far longer."""

PORTS_ALONE = '`verilator_config\npublic_flat_rw -module "{}" -var "*"\n'
"""The control file that puts the ports of a top module in a bench's reach."""

MAKEFILE = """\
# make: puts the vectors through the design in Icarus Verilog, with random gaps and stalls on every stream.
# Needs iverilog, make, and: pip install "cocotb>=2" pytest numpy
# FRAMES=0 takes every frame, SEED another traffic, SIM=verilator another simulator (5.036 or newer).
PYTHON ?= python3

.PHONY: test clean
test:
\t$(PYTHON) -m pytest -q -p no:cacheprovider test_design.py

clean:
\trm -rf build __pycache__
"""

TEST = '''\
"""Builds the design in a simulator and runs bench.py against it."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner

HERE = Path(__file__).resolve().parent
DESIGN = json.loads((HERE.parent / "design.json").read_text())


def require_verilator():
    """Fails if Verilator is missing or older than cocotb needs; a version that tells no number is taken as it is."""
    if shutil.which("verilator") is None:
        pytest.fail("expected verilator 5.036 or newer, found none; install it or use Icarus", pytrace=False)
    told = subprocess.run(["verilator", "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"Verilator (\\d+)\\.(\\d+)", told)
    if found and (int(found[1]), int(found[2])) < (5, 36):
        pytest.fail(f"expected verilator 5.036 or newer, found {found[1]}.{found[2]}", pytrace=False)


def test_design():
    files = sorted((HERE.parent / "rtl").iterdir())
    build = HERE / "build"
    build.mkdir(exist_ok=True)
    for path in files:  # $readmemh looks where the simulation runs.
        if path.suffix == ".hex":
            shutil.copy(path, build)
    simulator = os.environ.get("SIM", "icarus")
    runner = get_runner(simulator)
    sources, options = [path for path in files if path.suffix == ".v"], []
    if simulator == "verilator":  # bench.py needs ports alone; with every wire in reach g++ takes far longer.
        require_verilator()
        sources.insert(0, build / "ports.vlt")
        sources[0].write_text(@PORTS_ALONE@.format(DESIGN["top"]))
        options = @VERILATOR@
    runner.build(
        sources=sources,
        hdl_toplevel=DESIGN["top"],
        build_args=options,
        build_dir=build,
        always=True,
        timescale=("1ns", "1ns"),
    )
    results = runner.test(hdl_toplevel=DESIGN["top"], test_module="bench", build_dir=build, test_dir=build)
    tests, failures = get_results(results)
    assert tests > 0 and failures == 0
'''.replace("@PORTS_ALONE@", repr(PORTS_ALONE)).replace("@VERILATOR@", json.dumps(VERILATOR))

BENCH = '''\
"""Drives every stream of the design with random gaps and stalls, and compares what comes out with vectors.npz."""

import json
import os
import random
from pathlib import Path

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import Combine, RisingEdge, with_timeout

HERE = Path(__file__).resolve().parent
DESIGN = json.loads((HERE.parent / "design.json").read_text())
VECTORS = np.load(HERE / "vectors.npz")
FRAMES = int(os.environ.get("FRAMES", "8")) or len(VECTORS["undefined"])
SEED = int(os.environ.get("SEED", "1"))
UNDEFINED = VECTORS["undefined"][:FRAMES]


def buses():
    """The streams by the wires that carry them, inputs first: the tensors of one bus are one packet a frame."""
    found = {}
    for stream in DESIGN["streams"]:
        found.setdefault((stream["output"], stream["bus"] or stream["name"]), []).append(stream)
    return [(output, name, streams) for (output, name), streams in sorted(found.items(), key=lambda item: item[0])]


def present(streams, frame):
    """The tensors that a frame has on a bus: all, or those of its mode."""
    mode = VECTORS["inputs/mode"][frame] if any(stream["modes"] for stream in DESIGN["streams"]) else None
    return [s for s in streams if not s["modes"] or s["port"] == "mode" or mode in s["modes"]]


def beats(stream, tensor):
    """The beats of one tensor: elements in row-major order, the earliest in the lowest bits; and its `tkeep`s."""
    bits, lanes = stream["slot_bits"], stream["lanes"]
    elements = [int(value) & ((1 << bits) - 1) for value in tensor.reshape(-1)]
    groups = [elements[at : at + lanes] for at in range(0, len(elements), lanes)]
    words = [sum(value << (bits * lane) for lane, value in enumerate(group)) for group in groups]
    whole = (1 << -(-stream["data_bits"] // 8)) - 1
    if stream["bus"]:
        return [(word, whole) for word in words]
    last = (1 << -(-len(groups[-1]) * bits // 8)) - 1
    return [(word, whole if at < len(words) - 1 else last) for at, word in enumerate(words)]


def packet(streams, tensors):
    """The beats of a frame of a bus, each with the stream that it is of."""
    return [(stream, *beat) for stream, tensor in zip(streams, tensors) for beat in beats(stream, tensor)]


def goes(chance):
    """Whether a stream moves in this cycle: in stretches of full speed, some stalls and many stalls."""
    return chance.random() < chance.pace


def pace(chance):
    chance.pace = chance.choice([0.05, 0.3, 0.8, 1.0])


async def drive(dut, name, streams):
    chance = random.Random(f"{SEED} {name}")
    data, valid = getattr(dut, f"{name}_tdata"), getattr(dut, f"{name}_tvalid")
    ready, last = getattr(dut, f"{name}_tready"), getattr(dut, f"{name}_tlast")
    keep = getattr(dut, f"{name}_tkeep") if streams[0]["keep"] else None
    for frame in range(len(UNDEFINED)):
        pace(chance)
        own = present(streams, frame)
        words = packet(own, [VECTORS[f"inputs/{stream['port']}"][frame] for stream in own])
        for number, (_, word, kept) in enumerate(words):
            while not goes(chance):
                await RisingEdge(dut.clk)
            data.value, last.value, valid.value = word, int(number == len(words) - 1), 1
            if keep is not None:
                keep.value = kept
            await RisingEdge(dut.clk)
            while int(ready.value) == 0:
                await RisingEdge(dut.clk)
            valid.value = 0


def wanted(stream, frame):
    return VECTORS[f"outputs/{stream['port']}"][frame] if stream["port"] else UNDEFINED[frame].astype(int)


async def take(dut, name, streams):
    chance = random.Random(f"{SEED} {name}")
    data, valid = getattr(dut, f"{name}_tdata"), getattr(dut, f"{name}_tvalid")
    ready, last = getattr(dut, f"{name}_tready"), getattr(dut, f"{name}_tlast")
    keep = getattr(dut, f"{name}_tkeep") if streams[0]["keep"] else None
    for frame in range(len(UNDEFINED)):
        pace(chance)
        own = present(streams, frame)
        words = packet(own, [wanted(stream, frame) for stream in own])
        for number, (stream, word, kept) in enumerate(words):
            while True:
                ready.value = int(goes(chance))
                await RisingEdge(dut.clk)
                if int(valid.value) and int(ready.value):
                    break
            where = f"stream {stream['name']}, frame {frame}, beat {number}"
            assert int(last.value) == int(number == len(words) - 1), f"{where}: tlast is {last.value}"
            assert keep is None or int(keep.value) == kept, f"{where}: tkeep is {keep.value}, expected {kept:#b}"
            if not (stream["port"] and UNDEFINED[frame]):
                assert int(data.value) == word, f"{where}: {int(data.value):#x}, expected {word:#x}"
    ready.value = 0


@cocotb.test()
async def frames_equal_the_program(dut):
    running = []
    for output, name, streams in buses():
        getattr(dut, f"{name}_{'tready' if output else 'tvalid'}").value = 0
        running.append((take if output else drive)(dut, name, streams))
    for wire in ("awvalid", "wvalid", "bready", "arvalid", "rready") if DESIGN["registers"] else ():
        getattr(dut, f"s_axil_{wire}").value = 0
    dut.rst.value = 1
    cocotb.start_soon(Clock(dut.clk, 10, unit="ns").start())
    for _ in range(8):
        await RisingEdge(dut.clk)
    dut.rst.value = 0
    report = DESIGN["report"]
    each = 100_000 + 100 * (report.get("latency_cycles", 0) + report.get("interval_cycles", 0))
    await with_timeout(Combine(*(cocotb.start_soon(one) for one in running)), 10 * each * len(UNDEFINED), "ns")
'''
