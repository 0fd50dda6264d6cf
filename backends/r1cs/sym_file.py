"""Symbol files (.sym), which contain the name of every wire for tools that print failing constraints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import FormatError
from circuitize.circuits.files import write_whole

from .system import ConstraintSystem, WireBlock

CHUNK = 1 << 16
"""The number of lines of a .sym file that are written at a time."""

MOST_LINE = 1 << 10
"""The most bytes of a line of a .sym file that is read."""

EXPECTED_LINE, SPARE = 128, 1 << 12
"""The most bytes of a .sym file's line on average, and how many lines are allowed beside two for each wire."""

Characters = tuple[NDArray[np.uint8], NDArray[np.bool_]]
"""Texts as rows of characters of one width, right-aligned, and which of the characters count."""


def write_sym(path: Path, system: ConstraintSystem, layer: Callable[[int], str]) -> None:
    """Write a .sym file with a line `label,wire,component,main.LAYER.ROLE[i][j]` for each wire except the constant; the
    file appears complete or not at all.

    The function `layer(edge)` names the operation that owns a wire, where edge -1 stands for the arrow's own inputs and
    outputs; commas and line breaks in the name become spaces. In the .sym file, labels equal wire numbers, since no
    wire is eliminated, and components are edges counted from 1, or 0 for inputs and outputs. A wire outside every block
    has the name `main.wire[i]`.
    """
    write_whole(path, _lines(system, layer))


def read_names(path: Path, labels: NDArray[np.uint64]) -> dict[int, str]:
    """Return the name of each wire that a .sym file names; `labels` are the labels of the wires in the file of the
    system.

    Raise FormatError for malformed lines of a .sym file, and, before reading it, for a file that is far too long for
    the number of wires; the limit allows for wires that a compiler has left out but still names.
    """
    size, most = path.stat().st_size, EXPECTED_LINE * (SPARE + 2 * len(labels))
    if size > most:
        raise FormatError(
            f"{path}: expected names of {len(labels)} wires in {most:,} bytes, found {size:,}; write it again, or "
            "audit without it"
        )
    names: dict[int, str] = {}
    with path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(MOST_LINE), b""), 1):
            text = line.decode(errors="replace").rstrip("\r\n")
            try:
                label, wire, _, name = text.split(",", 3)
                place, known = int(wire), int(label)
            except ValueError:
                raise FormatError(
                    f"{path}: expected label,wire,component,name in line {number}, found {text[:40]!r}; write it "
                    "again, or audit without it"
                ) from None
            if 0 <= place < len(labels) and int(labels[place]) == known:
                names[place] = name
    return names


def _lines(system: ConstraintSystem, layer: Callable[[int], str]) -> Iterator[bytes]:
    wire = 1
    for block in sorted(system.wire_blocks, key=lambda block: block.first):
        if block.first > wire:
            yield from _block_lines(WireBlock(0, block.first, -1, "wire", (block.first,)), "main.wire", wire)
        yield from _block_lines(block, f"main.{layer(block.edge)}.{block.role}", 0)
        wire = block.first + block.count
    if wire < system.wires:
        yield from _block_lines(WireBlock(0, system.wires, -1, "wire", (system.wires,)), "main.wire", wire)


def _block_lines(block: WireBlock, name: str, begin: int) -> Iterator[bytes]:
    """Yield the lines of a .sym file for the elements of a block from element `begin` on."""
    name = "".join(" " if character in ",\r\n" else character for character in name)
    for at in range(begin, block.count, CHUNK):
        elements = np.arange(at, min(at + CHUNK, block.count), dtype=np.int64)
        wires = _decimal(block.first + elements)
        pieces = [wires, _text(","), wires, _text(f",{block.edge + 1},{name}")]
        for index in np.unravel_index(elements, block.shape) if block.shape else ():
            pieces += [_text("["), _decimal(index), _text("]")]
        pieces.append(_text("\n"))
        characters = [np.broadcast_to(text, (len(elements), text.shape[1])) for text, _ in pieces]
        counting = [np.broadcast_to(kept, (len(elements), kept.shape[1])) for _, kept in pieces]
        yield np.concatenate(characters, axis=1)[np.concatenate(counting, axis=1)].tobytes()


def _text(text: str) -> Characters:
    characters = np.frombuffer(text.encode(), dtype=np.uint8)[None]
    return characters, np.ones(characters.shape, dtype=np.bool_)


def _decimal(numbers: NDArray[np.int64]) -> Characters:
    """Return non-negative numbers as texts of decimal digits."""
    powers = 10 ** np.arange(len(str(int(numbers.max()))) - 1, -1, -1, dtype=np.int64)
    leading = numbers[:, None] // powers
    return (leading % 10 + ord("0")).astype(np.uint8), (leading > 0) | (powers == 1)
