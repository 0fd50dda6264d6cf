"""A reader of alkaid's CombLogic: the JSON of its intermediate language (ALIR), versions 2 to 4.

alkaid 0.8.2 writes version 4; alkaid is the successor of da4ml, by the same author.
"""

from __future__ import annotations

from collections.abc import Sequence

from circuitize.circuits.errors import FormatError
from circuitize.circuits.reading import Json

from .da4ml import table_of
from .instructions import Instructions
from .logic import Kind, Logic
from .writing import ONE, Interval, Notes

MODELS = ("ALIRModel", "DAISModel")
VERSIONS = (2, 3, 4)


def from_json(data: Json, where: str) -> Logic:
    """Return the combinational logic that parsed JSON of alkaid describes. Raise FormatError for combinational logic of
    an unknown version.
    """
    version = data.get("spec_version")
    if version not in VERSIONS:
        raise FormatError(
            f"{where}: expected version 2, 3 or 4 of ALIR, found {version!r}; save the logic with alkaid 0.8"
        )
    (inputs, outputs), shifts, places, after, negative, records, *rest = data["model"]
    notes = Notes(where)
    made = Instructions(notes, 0)
    for number, record in enumerate(records):
        with made.reading(number):
            operands, code, payload, (low, high, step) = (
                _unpacked(record[:4], record[4]) if version == 2 else record[:4]
            )
            ends = float(low), float(high), float(step)
            _instruction(made, int(code), [int(at) for at in operands], [int(n) for n in payload], ends, shifts)
    leaving = [
        made.leaving(number, int(at), int(by), bool(turn))
        for number, (at, by, turn) in enumerate(zip(places, after, negative, strict=True))
    ]
    if len(leaving) != outputs:
        raise FormatError(f"{where}: expected {outputs} outputs, found {len(leaving)}; save the logic again")
    tables = [table_of(table) for table in (rest[2] if len(rest) > 2 and rest[2] else ())]
    return notes.logic(int(inputs), leaving, tables)


def _instruction(
    made: Instructions,
    code: int,
    operands: Sequence[int],
    payload: Sequence[int],
    ends: Interval,
    shifts: Sequence[int],
) -> None:
    if code == -2:
        made.linear(ends, (made.at(operands[0]), -1.0))
    elif code == -1:
        made.input(ends, payload[0], int(shifts[payload[0]]))
    elif code in (0, 1):
        sign = -1.0 if code else 1.0
        made.linear(ends, (made.at(operands[0]), 1.0), (made.at(operands[1]), sign * 2.0 ** payload[0]))
    elif code == 11:
        signs = [1.0 if plus else -1.0 for plus in payload[: 2 * len(operands) : 2]]
        powers = [2.0**shift for shift in payload[1 : 2 * len(operands) : 2]]
        factors = [sign * power for sign, power in zip(signs, powers, strict=True)]
        made.linear(ends, *zip(map(made.at, operands), factors, strict=True))
    elif code in (2, 3):
        shift = payload[0] if code == 3 and payload else 0
        made.rounded(Kind.RELU if code == 2 else Kind.QUANTIZE, ends, operands[0], 2.0**shift)
    elif code == 4:
        made.linear(ends, (made.at(operands[0]), 1.0), (ONE, payload[0] * 2.0 ** -payload[1]))
    elif code == 5:
        made.linear(ends, (ONE, payload[0] * ends[2]))
    elif code == 6:
        chosen, other, key = operands
        made.select(Kind.WRAPPED_SELECT, ends, key, chosen, other, 2.0 ** payload[0])
    elif code == 7:
        made.product(ends, *operands)
    elif code == 8:
        made.look_up(ends, operands[0], payload[0])
    elif code == 9:
        made.unary(ends, operands[0], 1.0, payload[0])
    elif code == 10:
        made.binary(ends, (operands[0], 1.0), (operands[1], 2.0 ** payload[0]), payload[1])
    else:
        raise ValueError(f"opcode {code}")


def _unpacked(numbers: Sequence[int], ends: Sequence[float]) -> tuple[list[int], int, list[int], Sequence[float]]:
    """Return an instruction of combinational logic of version 2, whose numbers share a word, in the form of later
    versions.
    """
    first, second, code, word = map(int, numbers)
    low, high = _signed(word), _signed(word >> 32)
    operands, payload = {
        -2: ([first], []),
        -1: ([], [first]),
        0: ([first, second], [word]),
        1: ([first, second], [word]),
        2: ([first], []),
        3: ([first], []),
        4: ([first], [low, high]),
        5: ([], [word]),
        6: ([first, second, low], [high]),
        7: ([first, second], []),
        8: ([first], [word]),
        9: ([first], [word]),
        10: ([first, second], [low, word >> 56 & 255]),
    }[code]
    return operands, code, payload, ends


def _signed(word: int) -> int:
    """Return the low 32 bits of a word as a signed number."""
    return (word + (1 << 31)) % (1 << 32) - (1 << 31)
