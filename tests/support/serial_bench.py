"""Runs in the simulator: frames by the serial line of a board, as the host's script packs them, one after another."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, with_timeout

FOLDER = Path.cwd().parent
CLOCKS = int(Path("clocks").read_text()) if Path("clocks").exists() else 0
"""Of a bit."""


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
            await ClockCycles(dut.clk, CLOCKS)


async def receive(dut: Any, count: int) -> bytes:
    taken = bytearray()
    while len(taken) < count:
        await FallingEdge(dut.line_out)
        await ClockCycles(dut.clk, CLOCKS // 2)
        bits = []
        for _ in range(9):
            await ClockCycles(dut.clk, CLOCKS)
            bits.append(int(dut.line_out.value))
        assert bits[8] == 1, "a stop bit"
        taken.append(sum(bit << place for place, bit in enumerate(bits[:8])))
    return bytes(taken)


@cocotb.test()
async def frames_come_back(dut: Any) -> None:
    script, vectors = host(), np.load(FOLDER / "test" / "vectors.npz")
    dut.line_in.value, dut.rst.value = 1, 1
    Clock(dut.clk, 10, unit="ns").start()
    await ClockCycles(dut.clk, 8)
    dut.rst.value = 0
    for n, undefined in enumerate(vectors["undefined"][:6]):
        packet = script.packet({s["port"]: vectors["inputs/" + s["port"]][n] for s in script.INPUTS})
        cut = n == 2
        answer: Any = cocotb.start_soon(receive(dut, script.LENGTH))
        # A frame that ends before its end fails, once the line has been quiet; the next one is right again.
        await send(dut, packet[: len(packet) // 2] if cut else packet)
        found, failed = script.results(await with_timeout(answer, 2, "ms"))
        assert failed == bool(undefined or cut), f"frame {n}: {failed}"
        for port, values in found.items() if not failed else ():
            np.testing.assert_array_equal(values, vectors[f"outputs/{port}"][n], err_msg=f"frame {n}, {port}")
