"""The notebook that sends frames to a design by PYNQ, in the format of Jupyter, version 4.5."""

from __future__ import annotations

import json
from collections.abc import Sequence

_TITLE = """\
# {top} on PYNQ

{untried}
The notebook lies in the folder `vivado` of the design, beside `{top}.bit`, `{top}.hwh` and `frames.py`."""

_LOAD = """\
from pathlib import Path

import numpy as np
from frames import Frames
from pynq import Overlay, allocate

folder = Path("..").resolve()
frames = Frames(folder)
overlay = Overlay(str(folder / "vivado" / "{top}.bit"))
dma, registers = overlay.dma, overlay.accelerator
found = registers.read(frames.registers["identification"])
assert found == int(frames.digest[:8], 16), "expected the bitstream of this design, found another; make it again"
"""

_SEND_TITLE = "A frame is one packet by the DMA to the design, and one packet back. Outputs are integers."

_SEND = """\
def run(frame):
    words, mode = frames.packed(frame), frames.mode(frame)
    sent = allocate(words.shape, words.dtype)
    received = allocate((frames.count(mode),), frames.word)
    try:
        sent[:] = words
        dma.recvchannel.transfer(received)
        dma.sendchannel.transfer(sent)
        dma.sendchannel.wait()
        dma.recvchannel.wait()
        return frames.unpacked(np.array(received), mode)
    finally:
        sent.freebuffer()
        received.freebuffer()
"""

_COMPARE_TITLE = """\
The design's own test frames, each compared with the integers that the program gives. A design with state gives them in
order, from the state that a new overlay has."""

_COMPARE = """\
different = []
for number, (frame, wanted, fails) in enumerate(frames.vectors()):
    outputs, failed = run(frame)
    same = all(np.array_equal(outputs[name], wanted[name]) for name in wanted)
    if failed != fails or not (failed or same):
        different.append(number)
print(number + 1, "frames, different:", different)
"""

_REALS_TITLE = "A frame of real values, here those of a test frame: write arrays of yours in their place."

_REALS = """\
frame = next(frame for frame, wanted, _ in frames.vectors() if wanted)
inputs = frames.reals(frame, output=False)
outputs, failed = run(frames.integers(inputs, frames.mode(frame)))
print("failed:", failed)
print(frames.reals(outputs))
"""

_REGISTERS_TITLE = "The registers of the design count frames and clocks."

_REGISTERS = """\
for name in ("frames", "failed", "cycles", "last_cycles"):
    print(name, registers.read(frames.registers[name]))
"""


def notebook(top: str, untried: str) -> str:
    """Return the text of the notebook of a design with the given top module, without results."""
    cells = [
        ("markdown", _TITLE.format(top=top, untried=untried)),
        ("code", _LOAD.format(top=top)),
        ("markdown", _SEND_TITLE),
        ("code", _SEND),
        ("markdown", _COMPARE_TITLE),
        ("code", _COMPARE),
        ("markdown", _REALS_TITLE),
        ("code", _REALS),
        ("markdown", _REGISTERS_TITLE),
        ("code", _REGISTERS),
    ]
    return jupyter(cells)


def jupyter(cells: Sequence[tuple[str, str]]) -> str:
    """Return the text of a notebook without results, in the format of Jupyter, version 4.5; a cell is its kind,
    `markdown` or `code`, and its text. Cells without text are left out.
    """
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {
        "cells": [_cell(f"cell-{n}", kind, text.strip("\n")) for n, (kind, text) in enumerate(cells) if text.strip()],
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _cell(name: str, kind: str, text: str) -> dict[str, object]:
    common: dict[str, object] = {
        "cell_type": kind,
        "id": name,
        "metadata": {},
        "source": text.splitlines(keepends=True),
    }
    return common if kind == "markdown" else {**common, "execution_count": None, "outputs": []}
