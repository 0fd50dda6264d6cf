"""The sizes of the parts of a folded design that steer data: counters, tokens, flags, receivers and senders.

Each size was measured on the module alone (`benchmarks/verilog_devices.py steering`): a register takes a LUT before it,
unless it is cleared or only follows another register; comparisons with known numbers share the LUTs of what they
decide. In an ECP5 a counter of more than four bits is a carry chain.
"""

from __future__ import annotations

from dataclasses import dataclass

from .counter import bits_of
from .operators import carries
from .sequence import Sequence


@dataclass(frozen=True)
class Part:
    """The LUTs of six inputs and the registers of a part, and its LUTs in a family with LUTs of four inputs."""

    lut: float
    ff: float
    narrow: float

    def __add__(self, other: Part) -> Part:
        """Return the size of two parts together."""
        return Part(self.lut + other.lut, self.ff + other.ff, self.narrow + other.narrow)


NONE = Part(0, 0, 0)
RUNS = Part(4, 1, 4)
"""What says that a stage runs, that it may start, and that a pass opens and closes."""
FAILS = Part(2, 2, 2)
"""What says that a check failed in a frame."""


def counting(count: int) -> Part:
    """Return the size of a counter from 0 to count - 1, with the signal that is 1 at the last number."""
    if count == 1:
        return NONE
    bits = bits_of(count - 1)
    if bits == 1:
        return Part(1, 1, 1)
    chain = bits + 1 if bits <= 4 else carries(bits) + bits + 2
    return Part(bits + 2 + (bits > 6), bits, chain)


def running(sequence: Sequence) -> Part:
    """Return the size of the counters that run through a sequence, without its table and the register behind it.

    A sequence of several loops has a counter for each loop, and a sum of the present number and of one of the steps
    between numbers.
    """
    if sequence.constant:
        return NONE
    if sequence.loops is None:
        return counting(sequence.steps)
    bits, loops = sequence.bits, sequence.moving
    if len(loops) == 1 and loops[0][1] == 1 and sequence.first == 0:
        return counting(loops[0][0])
    own = sum((counting(count) for count, _ in loops), NONE)
    steps = len(loops) if len(loops) > 1 else 0
    return own + Part(bits * (1.4 if steps else 1), bits, carries(bits) + 0.75 * bits * steps)


def tokens(banks: int, readers: int, ahead: int | None) -> Part:
    """Return the size of the tokens of a channel: two counters of frames, those of the banks, whose turn it is to read,
    and the clocks that the readers wait where they may read `ahead` clocks after the writer's start.
    """
    frames, bank = bits_of(banks), bits_of(banks - 1) if banks > 1 else 0
    made = Part(4 * frames + 2 * bank - (banks == 1), 2 * (frames + bank), 4 * frames + 2 * bank + 2 * (banks > 1))
    if readers > 1:
        made += Part(2 * readers, 1 + bits_of(readers - 1), 4 * readers - 4)
    if ahead is not None:
        bits = bits_of(ahead - 2)
        made += Part(bits + 3, bits + 1, 2 * bits + 2)
    return made


def fronts(readers: int, shows: bool) -> Part:
    """Return the size of the tokens of a state, of which one bank is read while the other is written."""
    made = Part(3, 2, 4) if readers == 1 and not shows else Part(7 + readers, 1 + bits_of(readers), 7 + readers)
    return made + Part(6, 4, 8) if shows else made


def flags(depth: int) -> Part:
    """Return the size of a queue of flags: two counters, the flags, and the choice of the oldest."""
    bits = bits_of(depth)
    return Part(4 * bits - 1 + depth // 4, 2 * bits + depth, 4 * bits + depth - (depth == 1))


def receiver(beats: int, compared: int, width: int) -> Part:
    """Return the size of a receiver without its registers of data: it compares so many ends of elements with known
    numbers.
    """
    ends = Part(compared * width / 4, 0, compared * (carries(width) + 2))
    if beats == 1:
        return ends + Part(5, 3, 5)
    return ends + counting(beats) + Part(11, 6, 12)


def sender(beats: int, bits: int, waits: bool, late: bool = False) -> Part:
    """Return the size of a sender of beats of so many bits; one that waits sends them from a register. One that takes
    words a clock `late` has two registers more, beside those of the words that it takes earlier.
    """
    made = counting(beats) + Part(7 if beats > 1 else 6, 3, 6)
    return made + Part(1, 2 + bits + 2 * late, 1) if waits else made


def draining(clocks: int) -> Part:
    """Return the size of the counter of the clocks in which the results of a pass leave."""
    if clocks == 1:
        return NONE
    bits = bits_of(clocks - 1)
    return Part(3 if bits == 1 else 5, bits + 2, 3 + 1.5 * bits)


def delays(*clocks: int) -> Part:
    """Return the size of signals of one bit that are delayed by so many clocks; a reset clears the registers."""
    return Part(0, sum(clocks), 0)
