"""Runs in the simulator: frames by the serial line of a board, as the host's script packs them, one after another."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, Timer, with_timeout

FOLDER = Path.cwd().parent
CLOCKS = int(Path("clocks").read_text()) if Path("clocks").exists() else 0
"""Of a bit."""

PERIOD = 10
"""Nanoseconds of a clock."""

FRAMES = int(Path("frames").read_text()) if Path("frames").exists() else 0
BROKEN: list[list[str]] = [["cut"], ["short", "unknown"], ["long", "cut"], ["unknown", "short"]]
"""What is broken before a frame."""


def host() -> Any:
    specification = importlib.util.spec_from_file_location("host", FOLDER / "board" / "host.py")
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


async def send(dut: Any, sent: bytes) -> None:
    for byte in sent:
        for bit in [0, *(byte >> place & 1 for place in range(8)), 1]:
            dut.line_in.value = bit
            await Timer(CLOCKS * PERIOD, unit="ns")


async def receive(dut: Any, count: int) -> bytes:
    taken = bytearray()
    while len(taken) < count:
        await FallingEdge(dut.line_out)
        await Timer(CLOCKS * PERIOD // 2, unit="ns")
        bits = []
        for _ in range(9):
            await Timer(CLOCKS * PERIOD, unit="ns")
            bits.append(int(dut.line_out.value))
        assert bits[8] == 1, "a stop bit"
        taken.append(sum(bit << place for place, bit in enumerate(bits[:8])))
    return bytes(taken)


async def exchange(dut: Any, sent: bytes, length: int) -> bytes:
    """Send these bytes, and return so many that come meanwhile or after them."""
    answer: Any = cocotb.start_soon(receive(dut, length))
    await send(dut, sent)
    taken: bytes = await with_timeout(answer, 2 + length // 500, "ms")
    return taken


async def broken(dut: Any, frames: Any, packet: bytes, mode: int | None, kind: str) -> None:
    """Send a packet that is not whole, or of no mode that there is: the answer says that it failed."""
    if kind == "long":
        _, failed = frames.results(await exchange(dut, packet, frames.length(mode)), mode)
        assert not failed, "the packet before the byte too many"
        packet, mode = b"\xff", None
    elif kind == "unknown":
        packet, mode = bytes([packet[0] + 4]) + packet[1:], None
    elif kind == "short":
        packet = packet[: len(packet) // 2]
    else:
        packet = packet[:-1]
        if len(list(frames.carried(False, mode))) == 1:  # It was the mode's own word.
            mode = None
    _, failed = frames.results(await exchange(dut, packet, frames.length(mode)), mode)
    assert failed, f"a packet that is {kind}"


@cocotb.test()
async def frames_come_back(dut: Any) -> None:
    """Each frame is that of the program, whatever is broken before it."""
    frames, vectors = host().Frames(FOLDER), np.load(FOLDER / "test" / "vectors.npz")
    dut.line_in.value, dut.rst.value = 1, 1
    Clock(dut.clk, PERIOD, unit="ns").start()
    await ClockCycles(dut.clk, 8)
    await FallingEdge(dut.clk)  # The line changes between the edges that the design sees.
    dut.rst.value = 0
    for n, undefined in enumerate(vectors["undefined"][:FRAMES]):
        frame = {name[7:]: vectors[name][n] for name in vectors.files if name.startswith("inputs/")}
        mode, packet = frames.mode(frame), frames.packet(frame)
        for kind in BROKEN[n % len(BROKEN)]:
            # A step or a write of which a whole one goes before would be kept.
            made = {"long": mode in (1, 2), "unknown": mode is not None, "short": len(packet) > 8}
            if made.get(kind, len(packet) > 1):
                await broken(dut, frames, packet, mode, kind)
        found, failed = frames.results(await exchange(dut, packet, frames.length(mode)), mode)
        assert failed == bool(undefined), f"frame {n}: {failed}"
        for port, values in found.items() if not failed else ():
            np.testing.assert_array_equal(values, vectors[f"outputs/{port}"][n], err_msg=f"frame {n}, {port}")
