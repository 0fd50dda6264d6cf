"""The streams of a folded design, which carry elements in the beats of a frame: input beats consist of symbols, and
output beats of the words that leave the design.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .bits import After, Bits
from .edges import Json
from .folded_circuit import FoldedCircuit
from .forms import Form
from .refusal import Refused
from .statement import element_bits
from .word import Mixed, Word
from .words import Words

STATUS = "status"


@dataclass(frozen=True)
class Stream:
    """A stream of a folded design: a frame has `count` elements of `bits` bits; a beat has `lanes` slots of `pitch`
    bits, one for each element.
    """

    name: str
    count: int
    bits: int
    signed: bool
    lanes: int
    pitch: int
    low: int
    high: int

    @property
    def width(self) -> int:
        """Return the number of bits of a beat's data, rounded up to whole bytes."""
        return -(-self.pitch * self.lanes // 8) * 8

    @property
    def beats(self) -> int:
        """Return the number of beats that a frame takes on the stream."""
        return -(-self.count // self.lanes)


def require_name(name: object) -> None:
    """Raise Refused if the name of a stream is no name in Verilog."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        raise Refused(f"expected a stream with a name of Verilog, found {name!r}")


def stream(name: str, port: Json, lanes: int, slots: str) -> Stream:
    """Return the stream that carries the elements of a port of the statement."""
    require_name(name)
    if slots not in ("bytes", "packed") or type(lanes) is not int or lanes < 1:
        raise Refused(f"{name}: expected elements in bytes or packed, and lanes, found {slots} and {lanes}")
    bits = element_bits(port["low"], port["high"])
    pitch = bits if slots == "packed" else max(8, 1 << (bits - 1).bit_length())
    count = math.prod(port["shape"])
    return Stream(name, count, bits, port["low"] < 0, lanes, pitch, port["low"], port["high"])


def require_ports(circuit: FoldedCircuit, inputs: Sequence[Stream], outputs: Sequence[Stream]) -> None:
    """Raise Refused unless the ports of the top module are clk, rst and the wires of the design's streams, with the
    widths and directions that the streams require.
    """
    top = circuit.placed[""]
    module = circuit.modules[top]
    if module.parameters:
        raise Refused(f"{top}: expected no parameters, which its user could give otherwise")
    wanted = {("clk", "input", 1), ("rst", "input", 1)}
    for made, beat, ready in [(s, "input", "output") for s in inputs] + [(s, "output", "input") for s in outputs]:
        wanted |= {(f"{made.name}_{wire}", beat, 1) for wire in ("tvalid", "tlast")}
        wanted |= {(f"{made.name}_tdata", beat, made.width), (f"{made.name}_tkeep", beat, made.width // 8)}
        wanted.add((f"{made.name}_tready", ready, 1))
    found = {(port.name, port.direction, circuit.nets[port.name].width) for port in module.ports}
    names = [made.name for made in (*inputs, *outputs)]
    if wanted != found or len(set(names)) != len(names):
        raise Refused(f"{top}: expected the ports of its streams, found others: {min(wanted ^ found, default='')}")


@dataclass(frozen=True)
class Beat:
    """A beat of an input stream: its data, whether the beat is the last one of its frame, which bytes are kept, and the
    function of bits that is 1 where the slots of the beat are wrong.
    """

    data: Word
    last: int
    keep: Word
    wrong: int


def entering(words: Words, made: Stream, elements: Sequence[Form]) -> Iterator[Beat]:
    """Yield the beats of a frame on an input stream. Every bit of tkeep, and every bit of the data that belongs to no
    element, is a separate symbol.
    """
    symbols = words.symbols
    bits = symbols.bits
    for number in range(made.beats):
        here = elements[number * made.lanes : (number + 1) * made.lanes]
        wrong = 0
        parts: list[tuple[Form, int, After]] = []
        keep = [symbols.free(0, 1, "keep", made.name, number, byte) for byte in range(made.width // 8)]
        for lane, form in enumerate(here):
            rest = [symbols.free(0, 1, "rest", made.name, number, lane, k) for k in range(made.pitch - made.bits)]
            parts += [(form, made.bits, After()), *((bit, 1, After()) for bit in rest)]
            start = lane * made.pitch
            kept = 1
            for byte in reversed(keep[start // 8 : (start + made.pitch - 1) // 8 + 1]):
                kept = bits.both(symbols.decided(byte), kept)
            wrong = bits.either(wrong, bits.invert(kept))
            sign = symbols.floor(form, made.bits - 1)
            same = symbols.decided(symbols.unsigned(sign, 1)) if made.signed and rest else 0
            for bit in rest:
                wrong = bits.either(wrong, bits.choose(symbols.decided(bit), bits.invert(same), same))
        filled = sum(width for _, width, _ in parts)
        parts += [(symbols.free(0, 1, "spare", made.name, number, k), 1, After()) for k in range(made.width - filled)]
        yield Beat(
            Bits(tuple(parts)), int(number == made.beats - 1), Bits(tuple((bit, 1, After()) for bit in keep)), wrong
        )


def leaving(words: Words, made: Stream, beats: Sequence[tuple[Word, Word, Word]]) -> Iterator[Word]:
    """Return the words in the slots of a frame's beats, in the order of the elements.

    Raise Refused for another number of beats, for a tlast out of place, for a tkeep that is not 1 for the bytes that
    hold elements and 0 for all others, and for bits past the elements that are not 0.
    """
    if len(beats) != made.beats:
        raise Refused(f"{made.name}: expected {made.beats} beats in a frame, found {len(beats)}")
    for number, (data, last, keep) in enumerate(beats):
        if last is not int(number == made.beats - 1) and last != int(number == made.beats - 1):
            raise Refused(f"{made.name}: tlast of beat {number} is not shown to be right")
        here = min(made.lanes, made.count - number * made.lanes)
        used = made.pitch * here
        if keep != (1 << -(-used // 8)) - 1:
            raise Refused(
                f"{made.name}: tkeep of beat {number} is not shown to be 1 for the bytes of its elements alone"
            )
        for lane in range(here):
            yield words.slice(data, lane * made.pitch, made.pitch, made.width)
        if made.width > used and words.slice(data, used, made.width - used, made.width) != 0:
            raise Refused(f"{made.name}: bits past the elements of beat {number} are not shown to be 0")


def require_element(words: Words, made: Stream, place: int, word: Word, wanted: Form) -> None:
    """Raise Refused unless a slot holds the wanted element of an output, extended by its sign or by zeros to the width
    of the slot.
    """
    low, high = words.symbols.interval(wanted)
    if low < made.low or high > made.high:
        raise Refused(f"element {place} of {made.name}: [{low}, {high}] is not within its format")
    found = words.number(word, made.pitch, made.signed)
    if found is None or not words.symbols.same(found, wanted):
        why = f" ({words.refusal})" if found is None and words.refusal else ""
        raise Refused(f"element {place} of {made.name} is not shown to be what the program says{why}")


def identity(word: Word, bits: int) -> int | None:
    """Return a number that identifies the unknown element in a slot: the identity of the element's object, which copies
    of the element share. Return None if the slot of a beat does not hold exactly one unknown element.
    """
    if isinstance(word, Mixed) and word.parts[0][1] == bits:
        return id(word.parts[0][0])
    return None if isinstance(word, Mixed | int) else id(word)
