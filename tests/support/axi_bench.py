"""Runs in the simulator: cocotbext-axi sends frames to designs and takes what they give, with pauses, faults, resets.

`job.json` lists the designs, each with its buses, frames as bytes in hex, and what must come out. A frame may be too
short or too long, which its status must tell; `resets` are cycles after which the design is reset, and begins again
with the first frame whose status was not taken.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout
from cocotb.utils import get_sim_time
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource

JOB: Any = json.loads(Path("job.json").read_text()) if Path("job.json").exists() else {}


def pauses(seed: str) -> Iterator[bool]:
    """Stretches of full speed, of some and of many pauses."""
    draw = random.Random(seed)
    while True:
        pace = draw.choice([0.0, 0.2, 0.7, 0.95])
        for _ in range(draw.randrange(1, 60)):
            yield draw.random() < pace


class Once:
    """A wide signal whose value is read once in each moment: a sink asks for all of a beat anew for each of its bytes,
    which takes time with the square of its width.
    """

    def __init__(self, signal: Any) -> None:
        self.signal, self.read_at, self.known = signal, -1, 0

    @property
    def value(self) -> int:
        now = int(get_sim_time("step"))
        if now != self.read_at:
            self.read_at, self.known = now, int(self.signal.value)
        return self.known


class Bench:
    """One design: its sources and sinks, and what came out of each sink since the frame that `done` counts to."""

    def __init__(self, dut: Any, job: Any) -> None:
        self.job, self.name, self.clk = job, job["name"], dut.clk
        self.rst = getattr(dut, f"{self.name}_rst")
        self.sources: dict[str, Any] = {}
        self.sinks: dict[str, Any] = {}
        for bus in job["buses"]:
            kind, kept = (AxiStreamSink, self.sinks) if bus["output"] else (AxiStreamSource, self.sources)
            wires = AxiStreamBus.from_prefix(dut, f"{self.name}_{bus['name']}")
            kept[bus["name"]] = made = kind(wires, dut.clk, self.rst)
            assert made.byte_lanes * 8 == made.width and made.byte_size == 8, "TDATA is in whole bytes"
            made.log.setLevel("ERROR")
            if bus["output"]:
                made.bus.tdata, made.bus.tkeep = Once(made.bus.tdata), Once(made.bus.tkeep)
            made.set_pause_generator(pauses(f"{self.name} {bus['name']}"))
        self.registers: Any = None
        if job["registers"]:
            self.registers = AxiLiteMaster(AxiLiteBus.from_prefix(dut, f"{self.name}_s_axil"), dut.clk, self.rst)

    async def frames(self, first: int, count: int) -> None:
        """Send frames, and compare what comes out; returns when all have left."""
        for name, source in self.sources.items():
            for frame in self.job["frames"][first : first + count]:
                source.send_nowait(AxiStreamFrame(bytes.fromhex(frame["in"][name])))
        for frame in self.job["frames"][first : first + count]:
            for name, sink in self.sinks.items():
                found, wanted = await sink.recv(), frame["out"][name]
                mask = bytes.fromhex(frame["sure"][name])
                assert len(found.tdata) == len(mask), f"{self.name} {name}: {len(found.tdata)} of {len(mask)} bytes"
                sure = bytes(x & m for x, m in zip(found.tdata, mask, strict=True))
                assert sure.hex() == wanted, f"{self.name} {name}, frame {frame['number']}: {sure.hex()} for {wanted}"

    async def run(self) -> None:
        draw, at = random.Random(self.name), 0
        for cycles in self.job["resets"]:
            await self.abort(at, cycles)
            at = self.kept(at)
            for source in self.sources.values():
                source.clear()
            for sink in self.sinks.values():
                sink.clear()
            self.rst.value = 0
            await ClockCycles(self.clk, draw.randrange(1, 4))
        await with_timeout(self.frames(at, len(self.job["frames"]) - at), self.job["patience"], "ns")
        if self.registers is not None:
            await self.read_registers(self.job["frames"][at:])

    async def abort(self, first: int, cycles: int) -> None:
        """Let frames run for some cycles, then reset, in the midst of whatever there is."""
        for name, source in self.sources.items():
            for frame in self.job["frames"][first:]:
                source.send_nowait(AxiStreamFrame(bytes.fromhex(frame["in"][name])))
        await ClockCycles(self.clk, cycles)
        self.rst.value = 1
        await ClockCycles(self.clk, 2)

    def kept(self, first: int) -> int:
        """The first frame whose status was not taken."""
        return first + int(self.sinks[self.job["status"]].count())

    async def read_registers(self, frames: list[Any]) -> None:
        """What the registers tell of the frames since the last reset, and that they can be cleared."""
        words = [int(await self.registers.read_dword(4 * at)) for at in range(8)]
        told = self.job["registers"]
        failed = sum(frame["failed"] for frame in frames)
        assert words[0] == int(told["digest"], 16), words
        assert (words[2] & 1, words[3], words[4]) == (0, len(frames), failed), words
        assert words[5] >= len(frames) and words[6] == 0 and (words[7] >= 1) == bool(frames), words
        await self.registers.write_dword(4, 3)
        cleared = [int(await self.registers.read_dword(4 * at)) for at in range(1, 6)]
        assert cleared == [1, 0, 0, 0, 0], cleared


@cocotb.test()
async def frames_equal_the_program(dut: Any) -> None:
    benches = [Bench(dut, job) for job in JOB["designs"]]
    for bench in benches:
        bench.rst.value = 1
    Clock(dut.clk, 10, unit="ns").start()
    for _ in range(4):
        await RisingEdge(dut.clk)
    for bench in benches:
        bench.rst.value = 0
    running: list[Any] = [bench.run() for bench in benches]
    for task in [cocotb.start_soon(one) for one in running]:
        await task
