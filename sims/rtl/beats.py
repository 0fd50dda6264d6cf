"""Tensors as the beats of a stream: integers are written as the hexadecimal text that a test bench reads, and read from
it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.verilog.design import Bus, Stream
from circuitize.circuits.errors import CircuitizeError

Integers = NDArray[np.int64]

CYCLE_DIGITS = 10
"""The digits for the cycle in each line that the bench writes, before one digit for `tlast` and the data."""

_DIGITS = np.frombuffer(b"0123456789abcdef", np.uint8)
_NIBBLES = np.full(256, 255, np.uint8)
_NIBBLES[_DIGITS] = np.arange(16)
_CHUNK = 1 << 19


def data_digits(stream: Stream | Bus) -> int:
    """Return the number of hexadecimal digits of one beat."""
    return -(-stream.data_bits // 4)


def written(stream: Stream, frames: Integers) -> bytes:
    """Return one line of hexadecimal digits for each beat, `tlast` first, of tensors `frames[frame, ...]` in the
    stream's format.
    """
    flat = frames.reshape(len(frames), stream.format.size)
    step = max(1, _CHUNK // max(1, flat.shape[1]))
    return b"".join(_lines(stream, flat[at : at + step]) for at in range(0, len(flat), step))


def line_length(stream: Stream | Bus) -> int:
    """Return the number of bytes of a line that `written` writes, including the line's end."""
    return data_digits(stream) + 2


def packets(bus: Bus, frames: Mapping[str, Integers], numbers: Integers, last: NDArray[np.bool_]) -> bytes:
    """Return the lines of beats for a bus' tensors `frames[port][frame, ...]`, frame after frame.

    For each beat of a bus, `numbers` is the number of its stream, and `last` says whether the beat has `tlast`, if the
    bus has several streams.
    """
    texts = [written(stream, frames[stream.port]) for stream in bus.streams]
    if len(texts) == 1:
        return texts[0]
    lines = np.empty((len(numbers), line_length(bus)), np.uint8)
    for number, text in enumerate(texts):
        lines[numbers == number] = np.frombuffer(text, np.uint8).reshape(-1, line_length(bus))
    lines[:, 0] = ord("0") + last
    return lines.tobytes()


def parted(bus: Bus, text: bytes, numbers: Integers, last: NDArray[np.bool_]) -> dict[Stream, bytes]:
    """Return the output of a bus by stream, each stream with its own `tlast`; the arguments `numbers` and `last` are
    those of `packets`.

    Raise CircuitizeError if beats are too few or too many, or if `tlast` is not exactly on the last beat of each frame.
    """
    if len(bus.streams) == 1:
        return {bus.streams[0]: text}
    width, expected = CYCLE_DIGITS + line_length(bus), len(numbers)
    rows = np.frombuffer(text[: len(text) // width * width], np.uint8).reshape(-1, width).copy()
    if len(rows) != expected or len(text) % width:
        raise CircuitizeError(
            f"bus {bus.name}: expected {expected} beats in {int(last.sum())} frames, found {len(rows)}; "
            "the design loses or makes up beats"
        )
    wrong = (rows[:, CYCLE_DIGITS] == ord("1")) != last
    if wrong.any():
        at = int(np.argmax(wrong))
        raise CircuitizeError(
            f"bus {bus.name}, frame {int(last[:at].sum())}: expected tlast on the last beat of each frame, and there "
            f"alone, found {int(not last[at])} on a beat of {bus.streams[numbers[at]].name}"
        )
    made = {}
    for number, stream in enumerate(bus.streams):
        own = rows[numbers == number]
        own[:, CYCLE_DIGITS] = ord("0")
        own[stream.beats - 1 :: stream.beats, CYCLE_DIGITS] = ord("1")
        made[stream] = own.tobytes()
    return made


def _lines(stream: Stream, flat: Integers) -> bytes:
    lanes, digits, rows = stream.lanes, data_digits(stream), len(flat) * stream.beats
    padded = np.zeros((len(flat), stream.beats * lanes), "<i8")
    padded[:, : flat.shape[1]] = flat
    bits = np.unpackbits(padded.reshape(rows, lanes, 1).view(np.uint8), axis=-1, bitorder="little")
    data = np.zeros((rows, digits * 4), np.uint8)
    data[:, : stream.pitch * lanes] = bits[:, :, : stream.pitch].reshape(rows, -1)
    text = np.full((rows, line_length(stream)), ord("\n"), np.uint8)
    text[:, 0] = ord("0") + (np.arange(1, rows + 1) % stream.beats == 0)
    text[:, 1:-1] = _DIGITS[_nibbles(data)[:, ::-1]]
    return text.tobytes()


def _nibbles(bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the hexadecimal digits of bits, both with the least significant first."""
    each = bits.reshape(len(bits), -1, 4)
    weights = np.array([1, 2, 4, 8], np.uint8)
    packed: NDArray[np.uint8] = (each * weights).sum(axis=2, dtype=np.uint8)
    return packed


class Taken:
    """The output of a design's stream: `values[frame, element]`, `unknown[frame]`, and the `cycles[frame]` of the last
    beats.

    A frame of a simulation is `unknown` if the simulator could not tell some of its bits. Raise CircuitizeError if
    beats are too few or too many, or if `tlast` is not exactly on the last beat of each frame.
    """

    def __init__(self, stream: Stream, text: bytes, frames: int) -> None:
        self.stream = stream
        digits = data_digits(stream)
        width = CYCLE_DIGITS + 1 + digits + 1
        rows, expected = len(text) // width, frames * stream.beats
        if rows != expected or len(text) % width:
            raise CircuitizeError(
                f"stream {stream.name}: expected {expected} beats in {frames} frames, found {rows}; "
                "the design loses or makes up beats"
            )
        lines = np.frombuffer(text, np.uint8).reshape(rows, width)
        nibbles = _NIBBLES[lines[:, : width - 1]]
        last = nibbles[:, CYCLE_DIGITS] == 1
        due = np.arange(1, rows + 1) % stream.beats == 0
        if (last != due).any():
            at = int(np.argmax(last != due))
            raise CircuitizeError(
                f"stream {stream.name}, frame {at // stream.beats}, beat {at % stream.beats}: expected tlast "
                f"{int(due[at])}, found {int(last[at])}; the frame has {stream.beats} beats"
            )
        weights = 16 ** np.arange(CYCLE_DIGITS, dtype=np.int64)[::-1]
        self.cycles: Integers = (nibbles[due, :CYCLE_DIGITS].astype(np.int64) * weights).sum(axis=1)
        data = nibbles[:, CYCLE_DIGITS + 1 :]
        self.unknown = (data == 255).reshape(frames, stream.beats * digits).any(axis=1)
        step = max(1, _CHUNK // max(1, stream.lanes))
        parts = [_elements(stream, data[at : at + step]) for at in range(0, max(1, rows), step)]
        every = np.concatenate(parts).reshape(frames, stream.beats * stream.lanes)
        size = int(np.prod(stream.format.shape, dtype=np.int64))
        self.values: Integers = every[:, :size]
        self.padded = ~self.unknown & every[:, size:].any(axis=1)
        """The frames in which the lanes past the tensor's end are not zero."""

    def spread(self, at: Integers, frames: int) -> None:
        """Spread the arrays of a stream, which have entries for the frames numbered `at`, over `frames` frames, with 0
        for all other frames.
        """
        for name in ("cycles", "unknown", "values", "padded"):
            found = getattr(self, name)
            every = np.zeros((frames, *found.shape[1:]), found.dtype)
            every[at] = found
            setattr(self, name, every)


def _elements(stream: Stream, data: NDArray[np.uint8]) -> Integers:
    """Return the integers of beats given digit by digit, [beats, lanes], where unknown digits count as zero."""
    rows, bits = len(data), stream.pitch
    known = np.where(data == 255, 0, data)[:, ::-1]
    each = (known[:, :, None] >> np.arange(4, dtype=np.uint8)) & 1
    lanes = np.zeros((rows, stream.lanes, 64), np.uint8)
    lanes[:, :, :bits] = each.reshape(rows, -1)[:, : bits * stream.lanes].reshape(rows, stream.lanes, bits)
    if stream.format.low < 0:
        lanes[:, :, bits:] = lanes[:, :, bits - 1 : bits]
    packed = np.packbits(lanes, axis=-1, bitorder="little").view("<i8")
    return packed.reshape(rows, stream.lanes).astype(np.int64)
