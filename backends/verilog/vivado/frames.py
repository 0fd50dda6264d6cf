"""Frames of a design on one bus: tensors become the words that a DMA sends, and received words become tensors.

The module needs the folder of the design, Python 3.8 or newer, and numpy 1.20 or newer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Stream(TypedDict):
    """The description of a tensor on the bus, as design.json has it."""

    port: str
    output: bool
    modes: list[int]
    shape: list[int]
    low: int
    high: int
    fraction_bits: int
    slot_bits: int
    data_bits: int
    beats: int


class Frames:
    """The frames of a design, as its design.json describes them. A frame is a dictionary of integer arrays by the name
    of a port; in a design with modes it also has an integer `mode`.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        described = json.loads((self.folder / "design.json").read_text())
        self.streams: list[Stream] = described["streams"]
        self.registers: dict[str, int] = described["registers"]
        self.digest: str = described["digest"]
        self.modes = sorted({mode for stream in self.streams for mode in stream["modes"]})
        self.word = np.dtype(f"<u{self.streams[0]['data_bits'] // 8}")

    def mode(self, frame: Mapping[str, ArrayLike]) -> int | None:
        """Return the mode of a frame, or None if the design has no modes."""
        return int(np.asarray(frame["mode"])) if self.modes else None

    def carried(self, output: bool, mode: int | None) -> list[Stream]:
        """Return the streams that carry a tensor in a frame of a mode, in the order of the bus: those of the outputs if
        `output` is true, and otherwise those of the inputs.
        """
        return [
            stream
            for stream in self.streams
            if stream["output"] is output
            and (not stream["modes"] or stream["port"] == "mode" or mode in stream["modes"])
        ]

    def packed(self, frame: Mapping[str, ArrayLike]) -> NDArray[np.unsignedinteger]:
        """Return the words of the packet that holds the inputs of a frame.

        Raise ValueError for an input that is missing, has another shape or lies outside its interval.
        """
        parts = []
        for stream in self.carried(False, self.mode(frame)):
            values = _checked(stream, frame)
            own = values.reshape(-1).astype(_kind(stream)).tobytes()
            parts.append(own + bytes(_size(stream) - len(own)))
        return np.frombuffer(b"".join(parts), self.word)

    def count(self, mode: int | None = None) -> int:
        """Return the number of words in the packet of outputs of a frame of a mode."""
        return sum(stream["beats"] for stream in self.carried(True, mode))

    def unpacked(
        self, words: NDArray[np.unsignedinteger], mode: int | None = None
    ) -> tuple[dict[str, NDArray[np.int64]], bool]:
        """Return the output tensors in a received packet by the name of a port, and whether the frame failed.

        Outputs of a frame that failed mean nothing. Raise ValueError for a packet of another length.
        """
        if len(words) != self.count(mode):
            raise ValueError(f"expected {self.count(mode)} words of outputs, found {len(words)}; reset the design")
        packet, at, failed = np.asarray(words, self.word).tobytes(), 0, False
        found = {}
        for stream in self.carried(True, mode):
            count = int(np.prod(stream["shape"], dtype=int))
            values = np.frombuffer(packet, _kind(stream), count, at).reshape(stream["shape"]).astype(np.int64)
            at += _size(stream)
            if stream["port"]:
                found[stream["port"]] = values
            else:
                failed = bool(values)
        return found, failed

    def integers(self, reals: Mapping[str, ArrayLike], mode: int | None = None) -> dict[str, NDArray[np.int64]]:
        """Return the frame of a mode whose inputs are the given real values, each rounded to the nearest number of its
        input's format.

        Raise ValueError for an input that is missing, has another shape or lies outside its interval.
        """
        frame = {} if mode is None else {"mode": np.array(mode)}
        for stream in self.carried(False, mode):
            name = stream["port"]
            if name in reals and name not in frame:
                frame[name] = np.rint(np.asarray(reals[name], np.float64) * 2.0 ** stream["fraction_bits"])
            frame[name] = _checked(stream, frame, real=True).astype(np.int64)
        return frame

    def reals(self, values: Mapping[str, ArrayLike], output: bool = True) -> dict[str, NDArray[np.float64]]:
        """Return the real values of integer outputs, or of integer inputs if `output` is false."""
        bits = {stream["port"]: stream["fraction_bits"] for stream in self.streams if stream["output"] is output}
        return {name: np.asarray(own) * 2.0 ** -bits[name] for name, own in values.items() if name != "mode"}

    def vectors(self) -> Iterator[tuple[dict[str, NDArray[np.generic]], dict[str, NDArray[np.generic]], bool]]:
        """Yield the design's own test frames in order: the frame, the outputs that the program gives for it, and
        whether the frame must fail.
        """
        with np.load(self.folder / "test" / "vectors.npz") as archive:
            arrays = dict(archive)
        for number, fails in enumerate(arrays["undefined"]):
            frame, wanted = (
                {name[len(kind) :]: own[number] for name, own in arrays.items() if name.startswith(kind)}
                for kind in ("inputs/", "outputs/")
            )
            given = {stream["port"] for stream in self.carried(True, self.mode(frame))}
            yield frame, {name: own for name, own in wanted.items() if name in given}, bool(fails)


def _checked(stream: Stream, frame: Mapping[str, ArrayLike], real: bool = False) -> NDArray[np.number]:
    """Return the array of an input, or raise ValueError if the input does not take it. If `real` is true, the error
    names the interval in real values.
    """
    name, shape, low, high = stream["port"], tuple(stream["shape"]), stream["low"], stream["high"]
    if name not in frame:
        raise ValueError(f"expected an input {name!r} of shape {list(shape)}, found {sorted(frame)}; add it")
    values = np.asarray(frame[name])
    if values.shape != shape:
        raise ValueError(f"expected {name!r} of shape {list(shape)}, found {list(values.shape)}; reshape it")
    if values.dtype.kind not in "biuf" or not ((values >= low) & (values <= high) & (values == np.rint(values))).all():
        step = 2.0 ** -stream["fraction_bits"]
        kind, ends = ("real values", (low * step, high * step)) if real else ("integers", (low, high))
        remedy = "bring them into the interval" + ", or make integers of real values by Frames.integers" * (not real)
        raise ValueError(f"expected {kind} {name!r} from {ends[0]} to {ends[1]}, found others; {remedy}")
    return values


def _kind(stream: Stream) -> str:
    """Return the type of a tensor's elements in memory, as numpy names it."""
    return f"<{'i' if stream['low'] < 0 else 'u'}{stream['slot_bits'] // 8}"


def _size(stream: Stream) -> int:
    """Return the bytes of a tensor, which are those of whole words."""
    return int(stream["beats"] * stream["data_bits"] // 8)
