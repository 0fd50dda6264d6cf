"""Sends frames from files to a design on a board over its serial line, and writes the answers to files.

python3 host.py DEVICE [FRAMES]                     send the frames of ../test/vectors.npz, compare answers

DEVICE is a serial line such as /dev/ttyUSB0, or a board in a simulator that make bench or make netlist-bench has built.
If the frames of the design have modes, these commands read and write files, .npz or .csv, of real values by name:

python3 host.py DEVICE write FILE                   write the memory: weights and other state
python3 host.py DEVICE read FILE                    read the memory into a new file
python3 host.py DEVICE predict INPUTS OUTPUTS       make a prediction for each frame in INPUTS
python3 host.py DEVICE train BATCHES [OUTPUTS]      make a step for each frame in BATCHES; OUTPUTS gets its losses

An array of frames has one axis more than the tensor of a frame; an array with the shape of the tensor, such as a
learning rate, is used in every frame. The first line of a .csv has the names of the columns, such as inputs[3] for
element 3 of inputs, and each line below it is a frame. One call runs several commands with a + between them: train
a.npz + read w.npz.

The script needs numpy, and Linux for a serial line of a million bits a second.
"""

import csv
import json
import os
import select
import struct
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

FOLDER = Path(__file__).resolve().parent.parent
MODES = {"write": 0, "read": 1, "predict": 2, "train": 3}
PATIENCE = 5.0
"""Seconds that the board may be silent before its answer is whole."""

QUIET = 1 << 23
"""The same in a simulator, in clocks: more than a frame may stop for before the board ends it."""

Arrays = dict[str, NDArray[np.number]]


class Stream(TypedDict):
    """The description of a tensor in the packets of a design, as design.json has it."""

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


class Refused(Exception):
    """An error in one line: what was expected, what was found, and the remedy."""


class Frames:
    """The frames of a design as bytes, as design.json describes them, and as integers by port name."""

    def __init__(self, folder: Path) -> None:
        self.streams: list[Stream] = json.loads((folder / "design.json").read_text())["streams"]
        self.modes = sorted({mode for stream in self.streams for mode in stream["modes"]})

    def carried(self, output: bool, mode: int | None) -> list[Stream]:
        """Return the streams of the tensors that a frame of a mode takes or gives, in order."""

        def passes(stream: Stream) -> bool:
            return not stream["modes"] or stream["port"] == "mode" or mode in stream["modes"]

        return [stream for stream in self.streams if stream["output"] is output and passes(stream)]

    def packet(self, frame: Mapping[str, ArrayLike]) -> bytes:
        """Return the bytes of a frame that is sent: its mode, if the design has modes, and its tensors."""
        made = b""
        for stream in self.carried(False, self.mode(frame)):
            kind = f"<{'i' if stream['low'] < 0 else 'u'}{stream['slot_bits'] // 8}"
            own = np.asarray(frame[stream["port"]]).reshape(-1).astype(kind).tobytes()
            made += own + bytes(size(stream) - len(own))
        return made

    def mode(self, frame: Mapping[str, ArrayLike]) -> int | None:
        """Return the mode of a frame, or None if the design has no modes."""
        return int(np.asarray(frame["mode"])) if self.modes else None

    def length(self, mode: int | None) -> int:
        """Return the number of bytes in the board's answer to a frame of a mode."""
        return sum(size(stream) for stream in self.carried(True, mode))

    def results(self, packet: bytes, mode: int | None) -> tuple[Arrays, bool]:
        """Return the output tensors in a packet, by port name, and whether the frame failed."""
        found: Arrays = {}
        failed, at = False, 0
        for stream in self.carried(True, mode):
            own, count = packet[at : at + size(stream)], int(np.prod(stream["shape"], dtype=int))
            kind = f"<{'i' if stream['low'] < 0 else 'u'}{stream['slot_bits'] // 8}"
            values = np.frombuffer(own, kind)[:count].reshape(stream["shape"]).astype(np.int64)
            at += size(stream)
            if stream["port"]:
                found[stream["port"]] = values
            else:
                failed = bool(values)
        return found, failed


def size(stream: Stream) -> int:
    """Return the number of bytes of a tensor in a packet, which has whole words."""
    return int(stream["beats"] * stream["data_bits"] // 8)


class Line:
    """A serial line to the board, for raw bytes of 8 bits without parity at a million bits a second."""

    def __init__(self, device: str) -> None:
        import termios
        import tty

        try:
            self.file = os.open(device, os.O_RDWR | os.O_NOCTTY)
            tty.setraw(self.file)
            settings = termios.tcgetattr(self.file)
            settings[4] = settings[5] = termios.B1000000
            termios.tcsetattr(self.file, termios.TCSAFLUSH, settings)
        except (OSError, termios.error) as error:
            told = error.args[-1]
            raise Refused(f"{device}: expected a serial line, found: {told}; name the board's, /dev/ttyUSB0") from None

    def exchange(self, sent: bytes, length: int) -> bytes:
        """Send a packet, and return the answer, which has `length` bytes."""
        answer = b""
        try:
            while sent:
                sent = sent[os.write(self.file, sent) :]
            while len(answer) < length:
                ready, _, _ = select.select([self.file], [], [], PATIENCE)
                if not ready:
                    told = f"expected {length} bytes of the board, found {len(answer)}"
                    raise Refused(f"{told}; load the bitstream again")
                found = os.read(self.file, length - len(answer))
                if not found:
                    raise OSError("the line is closed")
                answer += found
        except OSError as error:
            told = f"expected {length} bytes of the board, found {len(answer)} and {error.args[-1]}"
            raise Refused(f"{told}; connect the board again") from None
        return answer

    def close(self) -> None:
        """Leave the line to other programs."""
        os.close(self.file)


class Simulated:
    """A board in a simulator, used like a line to a board; `clocks` is the number of clocks that it has run."""

    def __init__(self, program: Path) -> None:
        self.process = subprocess.Popen(
            [str(program.resolve())], cwd=program.parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.clocks = 0

    def exchange(self, sent: bytes, length: int) -> bytes:
        """Send a packet, and return the answer, which has `length` bytes."""
        into, out = self.process.stdin, self.process.stdout
        assert into is not None and out is not None
        try:
            into.write(struct.pack("<III", len(sent), length, QUIET) + sent)
            into.flush()
            count, self.clocks = struct.unpack("<IQ", out.read(12))
        except (OSError, struct.error):
            raise Refused("expected the simulated board to answer, found that it ended; build it again") from None
        answer = out.read(count)
        if count < length:
            raise Refused(f"expected {length} bytes of the simulated board, found {count}; please report this line")
        return answer

    def close(self) -> None:
        """End the simulation of the board."""
        self.process.communicate()


def opened(device: str) -> Line | Simulated:
    """Open the board at a serial device, or the simulator at a path, and return it."""
    if os.path.isfile(device) and os.access(device, os.X_OK):
        return Simulated(Path(device))
    return Line(device)


def loaded(path: Path) -> Arrays:
    """Return the arrays of an .npz, or those of a .csv, which has the elements of a frame in each line."""
    try:
        if path.suffix == ".csv":
            return _columns(path)
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (OSError, ValueError, AttributeError, EOFError, zipfile.BadZipFile) as error:
        told = error.strerror if isinstance(error, OSError) else error
        raise Refused(f"{path}: expected an .npz or a .csv of numbers, found: {told}; check the file") from None


def _columns(path: Path) -> Arrays:
    with path.open(newline="") as text:
        names, *rows = [line for line in csv.reader(text) if line] or [[]]
    if not rows or any(len(row) != len(names) for row in rows):
        raise ValueError("no line of names with lines of as many numbers below it")
    numbers, places = np.array(rows, np.float64), dict[str, dict[int, int]]()
    for at, name in enumerate(names):
        word, _, element = name.strip().rstrip("]").partition("[")
        places.setdefault(word, {})[int(element or 0)] = at
    whole = all(sorted(own) == list(range(len(own))) for own in places.values())
    if not whole or sum(map(len, places.values())) != len(names):
        raise ValueError("an element that is missing, or is there twice")
    return {word: numbers[:, [own[k] for k in range(len(own))]] for word, own in places.items()}


def saved(path: Path, arrays: Arrays) -> None:
    """Write real values as an .npz, or as a .csv with one frame in each line."""
    beside = path.with_name(f".{path.name}.part")
    try:
        with beside.open("wb") as file:
            if path.suffix == ".csv":
                rows = {name: np.asarray(values).reshape(len(values), -1) for name, values in arrays.items()}
                names = [f"{name}[{k}]" for name, row in rows.items() for k in range(row.shape[1])]
                lines = np.concatenate(list(rows.values()), axis=1).tolist()
                text = [",".join(names), *(",".join(map(repr, line)) for line in lines), ""]
                file.write("\n".join(text).encode())
            else:
                np.savez(file, **dict[str, Any](arrays))
        beside.replace(path)
    except OSError as error:
        raise Refused(f"{path}: expected a file that can be written, found: {error.strerror}; name another") from None


def integers(path: Path, streams: Sequence[Stream], arrays: Arrays, one: bool) -> list[Arrays]:
    """Return frames of integers by port name, made of arrays of real values; arrays that have no axis of frames give
    one frame.
    """
    counts, made = {}, {}
    for stream in streams:
        name, shape = stream["port"], tuple(stream["shape"])
        if name not in arrays:
            raise Refused(f"{path}: expected an array {name!r} of {list(shape)}, found {sorted(arrays)}; add it")
        values, numbers = np.asarray(arrays[name]), int(np.prod(shape, dtype=int))
        if path.suffix == ".csv" and values.shape[1] == numbers:
            values = values.reshape(len(values), *shape)
        if values.dtype.kind not in "biuf" or values.shape not in (shape, (*values.shape[:1], *shape)):
            raise Refused(
                f"{path}: expected numbers {name!r} of {list(shape)}{'' if one else ', or frames of them'}, "
                f"found {values.dtype} of {list(values.shape)}; change the file"
            )
        scaled = np.rint(values.astype(np.float64) * 2.0 ** stream["fraction_bits"])
        if not ((scaled >= stream["low"]) & (scaled <= stream["high"])).all():
            step = 2.0 ** -stream["fraction_bits"]
            raise Refused(
                f"{path}: expected {name!r} from {stream['low'] * step} to {stream['high'] * step}, "
                f"found {values.min()} to {values.max()}; bring it into the design's interval"
            )
        made[name] = scaled.astype(np.int64)
        if values.shape != shape:
            counts[name] = len(values)
    if len(set(counts.values())) > 1 or (one and set(counts.values()) - {1}) or 0 in counts.values():
        raise Refused(f"{path}: expected {'one frame' if one else 'as many frames of each'}, found {counts}; even them")
    frames = range(next(iter(counts.values()), 1))
    return [{name: values[n] if name in counts else values for name, values in made.items()} for n in frames]


def run(line: Line | Simulated, frames: Frames, word: str, sent: Sequence[Arrays]) -> Iterator[Arrays]:
    """Send frames of a mode, and yield the real values of each answer; stop at the first frame that fails."""
    mode = MODES[word]
    scales = {s["port"]: 2.0 ** -s["fraction_bits"] for s in frames.carried(True, mode)}
    for number, frame in enumerate(sent):
        packet = frames.packet({**frame, "mode": mode})
        found, failed = frames.results(line.exchange(packet, frames.length(mode)), mode)
        if failed:
            raise Refused(
                f"{word}, frame {number}: expected status 0, found 1: a number that overflows, or bytes that were lost "
                "(lamp 3); the memory is as it was before this frame"
            )
        yield {name: values * scales[name] for name, values in found.items()}


def commanded(line: Line | Simulated, frames: Frames, word: str, paths: Sequence[Path]) -> str:
    """Carry out a command, and return the line to show to the user."""
    if MODES[word] not in frames.modes:
        known = [name for name, mode in MODES.items() if mode in frames.modes]
        told = f"one that has the modes {', '.join(known)}" if known else "one without modes"
        raise Refused(f"{word}: expected a design that can, found {told}; compile with --loadable or --predict")
    streams = [stream for stream in frames.carried(False, MODES[word]) if stream["port"] != "mode"]
    sent: list[Arrays] = [{}]
    if word != "read":
        sent = integers(paths[0], streams, loaded(paths[0]), one=word == "write")
    found = list(run(line, frames, word, sent))
    target = paths[0] if word == "read" else paths[1] if len(paths) > 1 else None
    if target is not None:
        arrays = {name: np.stack([one[name] for one in found]) for name in found[0]}
        if word == "read" and target.suffix != ".csv":
            arrays = {name: values[0] for name, values in arrays.items()}
        saved(target, arrays)
    return f"{word}: {len(sent)} {'frame' if len(sent) == 1 else 'frames'}" + (f", {target}" if target else "")


def compared(line: Line | Simulated, frames: Frames, count: int | None) -> tuple[int, int]:
    """Send the frames of vectors.npz, and return how many were sent and how many answers differ from the program's."""
    with np.load(FOLDER / "test" / "vectors.npz") as archive:
        vectors = dict(archive)
    wrong = 0
    total = len(vectors["undefined"]) if count is None else min(count, len(vectors["undefined"]))
    for n in range(total):
        frame = {name[7:]: values[n] for name, values in vectors.items() if name.startswith("inputs/")}
        mode = frames.mode(frame)
        found, failed = frames.results(line.exchange(frames.packet(frame), frames.length(mode)), mode)
        same = all((values == vectors[f"outputs/{port}"][n]).all() for port, values in found.items())
        wrong += failed != bool(vectors["undefined"][n]) or not (failed or same)
    return total, wrong


NEEDED = {"write": (1, 1), "read": (1, 1), "predict": (2, 2), "train": (1, 2)}
"""How many files a command takes."""


def split(arguments: Sequence[str]) -> list[list[str]] | None:
    """Return the commands between plus signs, or None if one of them is no command."""
    commands: list[list[str]] = [[]]
    for argument in arguments:
        if argument == "+":
            commands.append([])
        else:
            commands[-1].append(argument)
    known = [c and c[0] in NEEDED and NEEDED[c[0]][0] <= len(c) - 1 <= NEEDED[c[0]][1] for c in commands]
    return commands if all(known) else None


def main(arguments: Sequence[str]) -> int:
    """Run the command line; return the exit status."""
    device, *rest = arguments or [""]
    counted = not rest or (len(rest) == 1 and rest[0].isdigit())
    commands = [] if counted else split(rest)
    if not device or commands is None:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        frames, line = Frames(FOLDER), opened(device)
        try:
            for word, *paths in commands:
                print(commanded(line, frames, word, [Path(path) for path in paths]), flush=True)
            total, wrong = compared(line, frames, int(rest[0]) if rest else None) if counted else (0, 0)
        finally:
            line.close()
    except Refused as refused:
        print(f"host.py: {refused}", file=sys.stderr)
        return 2
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"host.py: {where}{error.strerror or error}; use the folder that compile wrote", file=sys.stderr)
        return 2
    if isinstance(line, Simulated):
        print(f"{line.clocks:,} clocks")
    if counted:
        print(f"{total} frames, {wrong} of them not as the program has them")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
