"""What a notebook uses of PYNQ, with a design in Icarus in the place of a board: an overlay, its DMA, its registers.

Each frame is a simulation of its own, so that the design is one without state.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.verilog.design import Design
from circuitize.backends.verilog.project import read_project
from circuitize.circuits.encode import program_digest
from circuitize.sims.rtl.beats import CYCLE_DIGITS
from circuitize.sims.rtl.simulate import Simulation

Words = NDArray[Any]


def lines(words: Words) -> bytes:
    """Return the beats of a packet as the bench of the simulation reads them."""
    digits = words.dtype.itemsize * 2
    return b"".join(b"%d%0*x\n" % (n == len(words) - 1, digits, word) for n, word in enumerate(words.tolist()))


def exchanged(simulation: Simulation, packets: list[Words], modes: Words | None = None) -> list[Words]:
    """Return the packets that leave a design on its bus for the packets that enter."""
    into, out = sorted(simulation.design.buses, key=lambda bus: bus.output)
    simulation.run_beats({into.name: b"".join(map(lines, packets))}, len(packets), modes=modes)
    found: list[list[int]] = [[]]
    for line in simulation.text(out).split():
        found[-1].append(int(line[CYCLE_DIGITS + 1 :], 16))
        if line[CYCLE_DIGITS : CYCLE_DIGITS + 1] == b"1":
            found.append([])
    assert found.pop() == [], "the last word has tlast"
    return [np.array(words, packets[0].dtype) for words in found]


class Buffer(np.ndarray[Any, Any]):
    """Memory that a DMA reaches."""

    def freebuffer(self) -> None:
        self.fill(0)


class Dma:
    """A DMA whose answer to a packet is that of the simulated design, with `flipped` bits of its first word."""

    def __init__(self, design: Design, flipped: int) -> None:
        self.simulation, self.flipped = Simulation(design), flipped
        self.sent: Words | None = None
        self.into: Words | None = None
        self.sendchannel = SimpleNamespace(transfer=self._send, wait=lambda: None)
        self.recvchannel = SimpleNamespace(transfer=self._receive, wait=self._answer)

    def _send(self, buffer: Words) -> None:
        self.sent = np.array(buffer)

    def _receive(self, buffer: Words) -> None:
        assert self.sent is None, "a DMA that receives late may lose words"
        self.into = buffer

    def _answer(self) -> None:
        assert self.sent is not None and self.into is not None
        (words,) = exchanged(self.simulation, [self.sent])
        words[0] ^= self.flipped
        self.into[:] = words
        self.sent = self.into = None


def pynq(flipped: int = 0) -> ModuleType:
    """Return a module in the place of `pynq`."""

    def overlay(bitstream: str) -> SimpleNamespace:
        project = read_project(Path(bitstream).parent.parent)
        digest = int(program_digest(project.program)[:8], 16)
        read = {0: digest}.get
        return SimpleNamespace(
            dma=Dma(project.design, flipped), accelerator=SimpleNamespace(read=lambda at: read(at, 0))
        )

    def allocate(shape: tuple[int, ...], dtype: Any) -> Buffer:
        return np.zeros(shape, dtype).view(Buffer)

    made = ModuleType("pynq")
    made.__dict__.update(Overlay=overlay, allocate=allocate)
    return made
