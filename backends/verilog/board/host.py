"""What the host runs: a script that sends frames down the serial line and compares what comes back."""

from __future__ import annotations

README = """\
`make bitstream` makes {top}.bit, for {mhz} MHz; `make load` loads it by USB. Then, with Linux and numpy,

    python3 host.py /dev/ttyUSB0

sends the frames of ../test/vectors.npz and compares what comes back with the integers of the program. Lamps: 4 says
that the clock runs; 0 to 2 flicker with bytes in, words in, bytes out; 3 says that bytes were lost.
"""

HOST = '''\
"""Sends frames to the board by its serial line, one at a time, and compares what comes back with vectors.npz.

python3 host.py DEVICE [FRAMES]        needs numpy, and Linux for a line of a million bits a second
"""

import json
import os
import select
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
DESIGN = json.loads((HERE.parent / "design.json").read_text())
INPUTS = [stream for stream in DESIGN["streams"] if not stream["output"]]
OUTPUTS = [stream for stream in DESIGN["streams"] if stream["output"]]


def size(stream):
    """Bytes of a tensor: whole words."""
    return stream["beats"] * stream["data_bits"] // 8


def packet(frame):
    """The bytes of a frame: its input tensors, integers by port name, in order."""
    made = b""
    for stream in INPUTS:
        own = np.asarray(frame[stream["port"]]).reshape(-1).astype(f"<i{stream['slot_bits'] // 8}").tobytes()
        made += own + bytes(size(stream) - len(own))
    return made


def results(packet):
    """The output tensors in a packet, by port name, and whether the frame failed."""
    found, failed, at = {}, False, 0
    for stream in OUTPUTS:
        own, count = packet[at : at + size(stream)], int(np.prod(stream["shape"], dtype=int))
        kind = f"<{'i' if stream['low'] < 0 else 'u'}{stream['slot_bits'] // 8}"
        values = np.frombuffer(own, kind)[:count].reshape(stream["shape"]).astype(np.int64)
        at += size(stream)
        if stream["port"]:
            found[stream["port"]] = values
        else:
            failed = bool(values)
    return found, failed


LENGTH = sum(size(stream) for stream in OUTPUTS)
"""Bytes that a frame gives."""


def opened(device):
    """The serial line: raw bytes, 8 bits, no parity, a million bits a second."""
    import termios
    import tty

    line = os.open(device, os.O_RDWR | os.O_NOCTTY)
    tty.setraw(line)
    settings = termios.tcgetattr(line)
    settings[4] = settings[5] = termios.B1000000
    termios.tcsetattr(line, termios.TCSAFLUSH, settings)
    return line


def exchange(line, frame, patience=5.0):
    """Send a frame, and return what `results` makes of the answer."""
    os.write(line, packet(frame))
    answer = b""
    while len(answer) < LENGTH:
        ready, _, _ = select.select([line], [], [], patience)
        if not ready:
            sys.exit(f"expected {LENGTH} bytes from the board, found {len(answer)}; load the bitstream, try again")
        answer += os.read(line, LENGTH - len(answer))
    return results(answer)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    vectors = np.load(HERE.parent / "test" / "vectors.npz")
    count = int(sys.argv[2]) if len(sys.argv) > 2 else len(vectors["undefined"])
    line, wrong = opened(sys.argv[1]), 0
    for n in range(count):
        found, failed = exchange(line, {stream["port"]: vectors["inputs/" + stream["port"]][n] for stream in INPUTS})
        same = all((values == vectors[f"outputs/{port}"][n]).all() for port, values in found.items())
        wrong += failed != bool(vectors["undefined"][n]) or not (failed or same)
    print(f"{count} frames, {wrong} of them not as the program has them")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
'''
