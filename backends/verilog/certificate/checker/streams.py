"""The streams of a folded design: elements in the beats of a frame, as symbols that come in and as words that leave."""

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
    """A stream: `count` elements of `bits` bits, `lanes` of them a beat, each in a slot of `pitch` bits."""

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
        """The number of bits of a beat, in whole bytes."""
        return -(-self.pitch * self.lanes // 8) * 8

    @property
    def beats(self) -> int:
        """The number of beats of a frame."""
        return -(-self.count // self.lanes)


def require_name(name: object) -> None:
    """Raise Refused unless a stream has a name of Verilog."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        raise Refused(f"expected a stream with a name of Verilog, found {name!r}")


def stream(name: str, port: Json, lanes: int, slots: str) -> Stream:
    """The stream of a port of the statement."""
    require_name(name)
    if slots not in ("bytes", "packed") or type(lanes) is not int or lanes < 1:
        raise Refused(f"{name}: expected elements in bytes or packed, and lanes, found {slots} and {lanes}")
    bits = element_bits(port["low"], port["high"])
    pitch = bits if slots == "packed" else max(8, 1 << (bits - 1).bit_length())
    count = math.prod(port["shape"])
    return Stream(name, count, bits, port["low"] < 0, lanes, pitch, port["low"], port["high"])


def require_ports(circuit: FoldedCircuit, inputs: Sequence[Stream], outputs: Sequence[Stream]) -> None:
    """Raise Refused unless the ports of the top module are those of its streams, with their widths and directions."""
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
    """A beat of an input: its data, whether it is the last one of its frame, which bytes are kept; and the function of
    bits that is 1 where its slots are wrong.
    """

    data: Word
    last: int
    keep: Word
    wrong: int


def entering(words: Words, made: Stream, elements: Sequence[Form]) -> Iterator[Beat]:
    """The beats of a frame in which every bit beside the elements, and every bit of tkeep, is a symbol of its own."""
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
    """The words in the slots of a frame's beats, in order. Raise Refused for another number of beats, for a tlast out
    of place, for a tkeep that is not 1 for the bytes that hold elements and 0 for all others, and for bits past the
    elements that are not 0.
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
    """Raise Refused unless a slot holds an element of the output: its bits, and its sign or zeros above them."""
    low, high = words.symbols.interval(wanted)
    if low < made.low or high > made.high:
        raise Refused(f"element {place} of {made.name}: [{low}, {high}] is not within its format")
    found = words.number(word, made.pitch, made.signed)
    if found is None or not words.symbols.same(found, wanted):
        why = f" ({words.refusal})" if found is None and words.refusal else ""
        raise Refused(f"element {place} of {made.name} is not shown to be what the program says{why}")


def identity(word: Word, bits: int) -> int | None:
    """What tells an unknown element in a slot from any other: its object."""
    if isinstance(word, Mixed) and word.parts[0][1] == bits:
        return id(word.parts[0][0])
    return None if isinstance(word, Mixed | int) else id(word)
