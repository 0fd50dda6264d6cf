"""A reader of da4ml's binary of combinational logic, as da4ml's interpreter reads it: DAIS, version 1, numbers of 32
bits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import FormatError
from circuitize.circuits.reading import Json

from .da4ml import from_json
from .logic import Logic

START = b"\x01\x00\x00\x00"
"""The version with which a file begins."""
FIELDS, CODE = 6, 8
"""How many numbers stand at the beginning of a DAIS binary (versions, inputs, outputs, instructions, tables), and how
many an instruction has.
"""
LOOKUP = 8

Words = NDArray[np.int32]


def from_binary(data: bytes, where: str) -> Logic:
    """Return the combinational logic of a DAIS binary, the same as that of the JSON, except that an instruction's
    interval is everything that its bits hold.

    Raise FormatError if a DAIS binary does not have the length that it states.
    """
    words = np.frombuffer(data[: len(data) // 4 * 4], "<i4").astype(np.int32)
    _, _, inputs, outputs, count, tables = words[:FIELDS].tolist() if len(words) >= FIELDS else [0, 0, -1, -1, -1, -1]
    lists = FIELDS + inputs + 3 * outputs
    code = lists + CODE * count
    sizes = words[code : code + tables].astype(np.int64) if min(inputs, outputs, count, tables) >= 0 else np.zeros(0)
    if min(inputs, outputs, count, tables) < 0 or (sizes < 0).any():
        raise FormatError(f"{where}: expected counts of at least 0, found others; save the logic again")
    if len(data) != 4 * (code + tables + int(sizes.sum())) or len(sizes) != tables:
        raise FormatError(
            f"{where}: expected {4 * (code + tables + int(sizes.sum()))} bytes, found {len(data)}; save the logic again"
        )
    ends = np.cumsum([code + tables, *sizes.tolist()])
    contents = [words[start:stop] for start, stop in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]
    shifts, places, after, negative = (
        part.tolist() for part in np.split(words[FIELDS:lists], np.cumsum([inputs, outputs, outputs]))
    )
    instructions = words[lists:code].reshape(-1, CODE)
    records, padded = _records(instructions, contents, where)
    return from_json([[inputs, outputs], shifts, places, after, negative, records, -1, -1, padded], where)


def _records(code: Words, contents: list[Words], where: str) -> tuple[list[list[object]], list[Json]]:
    """Return the instructions of a DAIS binary in the form of the JSON, and for each look-up a table that begins at its
    argument's least number.
    """
    packed = code[:, 3:5].astype(np.int64)
    data = (packed[:, 1] << 32) | (packed[:, 0] & 0xFFFFFFFF)
    intervals = _intervals(code[:, 5:].astype(np.float64))
    records: list[list[object]] = []
    padded: list[Json] = []
    for number, (opcode, first, second) in enumerate(code[:, :3].tolist()):
        payload = int(data[number])
        if opcode == LOOKUP:
            table, left = payload & 0xFFFFFFFF, payload >> 32
            if not (0 <= table < len(contents) and 0 <= left < 1 << 16 and 0 <= first < number):
                raise FormatError(
                    f"{where}: instruction {number}: expected a table and an argument that there are, found table "
                    f"{table}; save the logic again"
                )
            low, high, step = intervals[number].tolist()
            spec = {"out_qint": {"min": low, "max": high, "step": step}}
            payload = len(padded)
            padded.append({"spec": spec, "table": np.pad(contents[table], (left, 0)).tolist()})
        records.append([first, second, opcode, payload, intervals[number].tolist()])
    return records, padded


def _intervals(bits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the minimum, maximum and step of everything that the sign, integer and fraction bits [n, 3] hold; 0 where
    there are no bits.
    """
    signed, integer, fraction = bits.T
    with np.errstate(over="ignore"):
        step, top = 2.0**-fraction, 2.0**integer
    found = np.stack([np.where(signed > 0, -top, 0.0), top - step, step], axis=1)
    found[signed + integer + fraction <= 0] = 0.0, 0.0, 1.0
    return found
