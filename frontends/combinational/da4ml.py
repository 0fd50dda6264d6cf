"""A reader of da4ml's CombLogic and Pipeline: their JSON, and the binary of da4ml's interpreter (DAIS version 1).

da4ml (here version 0.6) is described in Sun et al., "da4ml: Distributed Arithmetic for Real-time Neural Networks on
FPGAs", arXiv 2507.04535.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from circuitize.circuits.errors import FormatError
from circuitize.circuits.reading import Json

from .instructions import Instructions
from .logic import Kind, Logic, Table
from .writing import ONE, Interval, Notes, Terms, bits

WORD = 1 << 32
FIELDS = 6
"""The numbers at the beginning of a DAIS binary: the format's version, the user's version, and the numbers of inputs,
outputs, instructions and tables.
"""


def from_json(data: list[Any], where: str) -> Logic:
    """Return the combinational logic that parsed JSON of da4ml describes: one CombLogic, or the stages of a Pipeline
    one after the other.
    """
    stages = data[0] if _is_pipeline(data) else [data]
    notes, entering = Notes(where), None
    inputs, tables = int(stages[0][0][0]), list[Table]()
    leaving: list[Terms] = []
    for stage in stages:
        if entering is not None and len(entering) != int(stage[0][0]):
            raise FormatError(
                f"{where}: expected a stage of {len(entering)} inputs, as many as the last one has outputs, found "
                f"{stage[0][0]}; save the pipeline again"
            )
        leaving = _stage(notes, stage, entering, len(tables))
        tables += [table_of(table) for table in (stage[8] if len(stage) > 8 and stage[8] else ())]
        entering = leaving
    return notes.logic(inputs, leaving, tables)


def _is_pipeline(data: list[Any]) -> bool:
    return len(data) == 1 and bool(data[0]) and isinstance(data[0][0], list) and len(data[0][0]) > 2


def _stage(notes: Notes, stage: Sequence[Any], entering: Sequence[Terms] | None, tables: int) -> list[Terms]:
    """Note the instructions of a CombLogic, whose inputs are the network's if none are given; return the terms of its
    outputs.
    """
    (_, _), shifts, places, after, negative, records, *_ = stage
    stage_notes = Instructions(notes, tables)
    for number, record in enumerate(records):
        with stage_notes.reading(number):
            first, second, code, data, interval = record[:5]
            ends = _ends(interval)
            if code != -1:
                _instruction(stage_notes, int(code), int(first), int(second), int(data), ends)
            elif entering is not None:
                stage_notes.linear(ends, *((at, by * 2.0 ** int(shifts[first])) for at, by in entering[first]))
            else:
                stage_notes.input(ends, int(first), int(shifts[first]))
    return [
        stage_notes.leaving(number, int(at), int(by), bool(turn))
        for number, (at, by, turn) in enumerate(zip(places, after, negative, strict=True))
    ]


def _instruction(notes: Instructions, code: int, first: int, second: int, data: int, ends: Interval) -> None:
    sign = -1.0 if code < 0 else 1.0
    if code in (0, 1):
        notes.linear(ends, (notes.at(first), 1.0), (notes.at(second), (-1.0) ** code * 2.0**data))
    elif code in (2, -2):
        notes.rounded(Kind.RELU, ends, first, sign)
    elif code in (3, -3):
        notes.rounded(Kind.QUANTIZE, ends, first, sign)
    elif code == 4:
        notes.linear(ends, (notes.at(first), 1.0), (ONE, data * ends[2]))
    elif code == 5:
        notes.linear(ends, (ONE, data * ends[2]))
    elif code in (6, -6):
        notes.select(Kind.SELECT, ends, data % WORD, first, second, sign * 2.0 ** _signed(data >> 32))
    elif code == 7:
        notes.product(ends, first, second)
    elif code == 8:
        notes.look_up(ends, first, data % WORD)
    elif code in (9, -9):
        notes.unary(ends, first, sign, data)
    elif code == 10:
        turns = [-1.0 if data >> bit & 1 else 1.0 for bit in (32, 33)]
        notes.binary(ends, (first, turns[0]), (second, turns[1] * 2.0 ** _signed(data)), data >> 56 & 255)
    else:
        raise ValueError(f"opcode {code}")


def _ends(interval: Sequence[float]) -> Interval:
    low, high, step = interval
    return float(low), float(high), float(step)


def table_of(given: Json) -> Table:
    """Return a table from the form in which both da4ml and alkaid write it: whole numbers, and the interval of the
    numbers that they stand for.
    """
    spec = given["spec"]["out_qint"]
    signed, integer, fraction = bits((spec["min"], spec["max"], spec["step"]))
    total = max(signed + integer + fraction, 0)
    entries = np.asarray(given["table"], np.int64)
    least = -(1 << total - 1) if signed else 0
    return Table(((entries - least) & ((1 << total) - 1)) + least, fraction)


def _signed(data: int) -> int:
    """Return the low 32 bits of a word as a signed number."""
    return (data + WORD // 2) % WORD - WORD // 2
