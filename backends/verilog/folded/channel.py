"""Channels as Verilog text: the memories between the writer of a tensor and its readers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from .blocks import Row, rows, wide_memory
from .counter import bits_of, counter, memory, rom_in_block
from .layout import Column, Layout, Rom
from .sequence import Sequence as Numbers
from .tokens import front, prefix, queued

HEAD = "`default_nettype none\n"
TAIL = "endmodule\n`default_nettype wire\n"


class Counters:
    """The counters of one module; equal sequences that step together share one counter. If `apart` is true, a register
    follows each table that is in a block memory.
    """

    def __init__(self, owner: str, files: dict[str, str], apart: bool = False) -> None:
        self.owner, self.files, self.apart = owner, files, apart
        self.lines: list[str] = []
        self._known: dict[tuple[Hashable, str, int], str] = {}

    def number(self, name: str, sequence: Numbers, step: str, bits: int) -> str:
        """Return the signal of a counter that runs through a sequence, by one number in each clock in which `step` is
        1.
        """
        key = (sequence.key, step, bits)
        if key not in self._known:
            lines, self._known[key] = counter(f"{self.owner}_{name}", sequence, step, bits, self.files, self.apart)
            self.lines += lines
        return self._known[key]


WAYS = 2
"""Memories of which one is chosen in the clock in which a block memory gives its word, where two clocks choose."""


@dataclass(frozen=True)
class Channel:
    """A tensor in memories for readers that take turns: `banks` frames of the tensor, laid out as each reader reads
    them.

    `parted` has for each reader the columns that are chosen in two clocks, and `held` says of each reader whether what
    it read may have to stay, as an output waits for others. If `initial` is given, the tensor is state: the channel has
    two banks, of which one is read. If `shows` is true, the last reader reads the other bank, which holds what the
    frame has written. If `own` is true, the last reader is the writer, which reads each element that it wrote in the
    round before until it writes it again, and takes no turns. If `abreast` is true, memories may be placed side by side
    in one wide memory. A frame may be read `ahead` clocks after its writer's start or, if `ahead` is None, when all of
    it is written. `sliced` is that of `rows`.
    """

    name: str
    width: int
    layouts: tuple[Layout, ...]
    banks: int
    comment: str
    parted: tuple[frozenset[int], ...]
    held: tuple[bool, ...]
    initial: NDArray[np.int64] | None = None
    shows: bool = False
    abreast: bool = False
    ahead: int | None = None
    sliced: bool = False
    own: bool = False

    @property
    def lanes(self) -> tuple[int, ...]:
        """Return the numbers of the writer's lanes whose elements the channel keeps."""
        return tuple(sorted({w.lane for copy in self.layouts[0].copies for w in copy.writings}))


def write_channel(channel: Channel, files: dict[str, str]) -> str:
    """Return the Verilog text of the module of a channel."""
    state, width, readers = channel.initial is not None, channel.width, len(channel.layouts) - channel.own
    counters = Counters(channel.name, files, channel.abreast)
    queues = not state or channel.shows
    ports = ["input wire clk", "input wire rst"]
    ports += ["output wire w_free"] if queues else []
    ports += ["input wire w_start"] if not state else []
    ports += ["input wire w_valid"]
    ports += ["input wire w_last"] if queues else []
    ports += [f"input wire [{width - 1}:0] w_data{lane}" for lane in channel.lanes]
    for reader, layout in enumerate(channel.layouts):
        name = prefix(reader)
        if reader < readers:
            ports += [f"input wire {name}_start", f"output wire {name}_ready"]
        ports += [f"input wire {name}_step"]
        if reader < readers:
            ports += [f"input wire {name}_{'last' if readers == 1 else 'done'}"]
        ports += [f"input wire {name}_holds"] if channel.held[reader] else []
        ports += [f"output wire [{width - 1}:0] {name}_data{column}" for column in range(len(layout.columns))]
    ports += (
        ["input wire commit", "input wire [0:0] r_bank", "output wire all_done", "input wire steady"] if state else []
    )
    body = front(readers - channel.shows, channel.shows) if state else queued(channel.banks, readers, channel.ahead)
    names: dict[tuple[int, int, int], str] = {}
    memories: list[str] = []
    for number in range(len(channel.layouts[0].copies)):
        memories += _memories(channel, number, counters, names, files)
    reads = [
        line
        for reader, layout in enumerate(channel.layouts)
        for place, column in enumerate(layout.columns)
        for line in _column(reader, place, column, width, counters, names, channel)
    ]
    head = f"// {channel.comment}\n{HEAD}module {channel.name} (\n  " + ",\n  ".join(ports) + "\n);\n"
    return head + "\n".join([*body, *counters.lines, *memories, *reads]) + "\n" + TAIL


def _memories(
    channel: Channel, number: int, counters: Counters, names: dict[tuple[int, int, int], str], files: dict[str, str]
) -> list[str]:
    """Return the Verilog of the memories of a copy, each of which is read at the address of the reader whose turn it
    is.
    """
    copy, width = channel.layouts[0].copies[number], channel.width
    bits, lines = bits_of(copy.depth - 1), []
    steps = [f"{prefix(reader)}_step" for reader in range(len(channel.layouts))]
    known: dict[tuple[str, ...], str] = {}

    def address(row: Row, which: str, word: str) -> str:
        return (f"{{{word}, {which}}}" if row.low else f"{{{which}, {word}}}") if row.bank else word

    def reads(row: Row) -> str:
        """Return the address at which the memories of a row are read: that of the reader whose turn it is."""
        own, place = [], row.places[0]
        for reader, layout in enumerate(channel.layouts):
            sequence = layout.copies[number].reads[place]
            name = f"c{number}_read{place or ''}" + f"_{prefix(reader)}" * (reader > 0)
            word = counters.number(name, sequence, steps[reader], bits)
            own.append(address(row, "s_bank" if channel.shows and reader == len(steps) - 1 else "r_bank", word))
        if len(own) == 1:
            return own[0]
        if tuple(own) not in known:
            known[tuple(own)] = name = f"c{number}_address{len(known) or ''}"
            others = [f"{step} ? {word}" for step, word in zip(steps[:-1], own[:-1], strict=True)]
            lines.append(f"  wire [{bits + row.bank - 1}:0] {name} = {' : '.join([*others, own[-1]])};")
        return known[tuple(own)]

    writings = {writing.lane: writing for writing in copy.writings}
    several = len({place for place, _ in copy.stored}) > 1
    for row in rows(channel.layouts, number, width, channel.banks, channel.abreast, channel.sliced):
        guards, own = [], [copy.stored[at] for at in row.places]
        for place, lane in own:
            writing, some = writings[lane], ["w_valid"]
            names[number, place, lane] = f"m{number}_{place}_{lane}"
            word = address(row, "w_bank", counters.number(f"c{number}_word{lane}", writing.word, "w_valid", bits))
            if several and not (writing.bank.constant and writing.bank.first == place):
                size = writing.bank.bits
                which = counters.number(f"c{number}_bank{lane}", writing.bank, "w_valid", size)
                some.append(f"({which} == {size}'d{place})")
            if writing.enable is not None:
                some.append(counters.number(f"c{number}_enable{lane}", writing.enable, "w_valid", 1))
            guards.append(" & ".join(some))
        first = names[(number, *own[0])]
        make = wide_memory if row.wide else partial(memory, row.block)
        module, text = make(channel.initial is not None)
        files[f"{module}.v"], whole = text, first + "_row" * (len(own) > 1)
        count = f", .COUNT({len(own)})" if row.wide else ""
        write, at = _beside(guards), reads(row)
        slices = row.slices(width)
        for low, wide in slices:
            name, extra, part = whole, "", ""
            if len(slices) > 1:
                name, part = f"{whole}_from{low}", f"[{low + wide - 1}:{low}]"
            if channel.initial is not None:
                file = f"{channel.name}_{name}.hex"
                files[file] = _contents(channel, number, row, low, wide)
                extra = f', .FILE("{file}")'
            parameters = f".WIDTH({wide}){count}, .WORDS({row.words}), .ADDRESS({bits + row.bank}){extra}"
            data = _beside([f"w_data{lane}{part}" for _, lane in own])
            lines += [
                f"  wire [{wide * len(own) - 1}:0] {name};",
                f"  {module} #({parameters}) {name}_words (",
                f"    .clk(clk), .write({write}), .write_address({word}), .write_data({data}),",
                f"    .read({' | '.join(steps)}), .read_address({at}), .read_data({name}));",
            ]
        if len(slices) > 1:
            parts = _beside([f"{whole}_from{low}" for low, _ in slices])
            lines.append(f"  wire [{width - 1}:0] {whole} = {parts};")
        lines += [
            f"  wire [{width - 1}:0] {names[(number, *pair)]} = {whole}[{width * k + width - 1}:{width * k}];"
            for k, pair in enumerate(own if len(own) > 1 else [])
        ]
    return lines


def _beside(signals: Sequence[str]) -> str:
    """Return the expression of signals side by side, the first of them in the lowest bits."""
    return f"{{{', '.join(reversed(signals))}}}" if len(signals) > 1 else signals[0]


def _contents(channel: Channel, number: int, row: Row, low: int, width: int) -> str:
    """Return the first contents of a row of a state's memories, or of a slice of `width` bits from the bit `low` on:
    what a frame would write into the bank that is read first.
    """
    values = [0] * row.words
    for k, at in enumerate(row.places):
        for word, value in zip(*_started(channel, number, at), strict=True):
            values[word << (row.bank if row.low else 0)] |= ((value >> low) & ((1 << width) - 1)) << (width * k)
    return "".join(f"{value:x}\n" for value in values)


def _started(channel: Channel, number: int, at: int) -> tuple[list[int], list[int]]:
    """Return the words of a memory of a state that hold something at the start, and the values in these words."""
    assert channel.initial is not None
    copy = channel.layouts[0].copies[number]
    place, lane = copy.stored[at]
    (writing,) = [w for w in copy.writings if w.lane == lane]
    elements = channel.initial[:, lane]
    here = (elements[:, 0] >= 0) & (writing.bank.values == place)
    if writing.enable is not None:
        here &= writing.enable.values == 1
    return writing.word.values[here].tolist(), elements[here, 1].tolist()


def _column(
    reader: int,
    place: int,
    column: Column,
    width: int,
    counters: Counters,
    names: Mapping[tuple[int, int, int], str],
    channel: Channel,
) -> list[str]:
    """Return the Verilog of a column that a reader reads: one of the memories that hold its element, or 0.

    In a channel whose memories lie abreast, each bit of the number of the memory leaves half of the memories, so that
    the path from each memory is equally short.
    """
    halves = channel.abreast
    own, first = prefix(reader), f"{prefix(reader)}_" * (reader > 0)
    step = f"{own}_step"
    lines, sources = [], [names[column.copy, bank, lane] for bank, lane in column.sources]
    text = sources[-1] if sources else f"{width}'d0"
    if column.select is not None:
        bits, chosen = column.select.bits, f"{first}selected{place}"
        select = counters.number(f"{first}select{place}", column.select, step, bits)
        lines += [
            f"  reg [{bits - 1}:0] {chosen};",
            f"  always @(posedge clk) if ({step}) {chosen} <= {select};",
        ]
        if place in channel.parted[reader]:
            moves = f"if (~{own}_holds) " * channel.held[reader]
            more, text = _in_two_clocks(f"{first}part{place}", chosen, sources, width, bits, moves)
            lines += more
        elif halves:
            text = _halved(chosen, sources, bits)
        for index, source in reversed(list(enumerate(sources[:-1]))) if not halves else ():
            text = f"({chosen} == {bits}'d{index}) ? {source} : {text}"
    if column.mask is not None and sources:
        inside = f"{first}inside{place}"
        mask = counters.number(f"{first}mask{place}", column.mask, step, 1)
        lines += [
            f"  reg {inside};",
            f"  always @(posedge clk) if ({step}) {inside} <= {mask};",
        ]
        text = f"{inside} ? ({text}) : {width}'d0"
    return [*lines, f"  assign {own}_data{place} = {text};"]


def _in_two_clocks(
    name: str, chosen: str, sources: Sequence[str], width: int, bits: int, moves: str
) -> tuple[list[str], str]:
    """Return the Verilog that chooses a source a clock later, and the expression of what is chosen: in the first clock
    the lowest bits of the number choose one of WAYS, and in the second the other bits. `moves` is the condition, as
    text, on which the registers between the two clocks change.
    """
    low = bits_of(WAYS - 1)
    first = [_halved(chosen, sources[start : start + WAYS], low) for start in range(0, len(sources), WAYS)]
    lines = [f"  reg [{bits - low - 1}:0] {name}_number;"]
    lines += [f"  reg [{width - 1}:0] {name}_{k};" for k in range(len(first))]
    lines += [f"  always @(posedge clk) {moves}begin", f"    {name}_number <= {chosen}[{bits - 1}:{low}];"]
    lines += [*(f"    {name}_{k} <= {text};" for k, text in enumerate(first)), "  end"]
    return lines, _halved(f"{name}_number", [f"{name}_{k}" for k in range(len(first))], bits - low)


def _halved(chosen: str, sources: Sequence[str], bits: int) -> str:
    """Return the expression of the source whose number is in the lowest bits of a register."""
    if len(sources) == 1:
        return sources[0]
    half = 1 << (bits - 1)
    if len(sources) <= half:
        return _halved(chosen, sources, bits - 1)
    low, high = (_halved(chosen, part, bits - 1) for part in (sources[:half], sources[half:]))
    return f"{chosen}[{bits - 1}] ? ({high}) : ({low})"


def write_rom(name: str, comment: str, rom: Rom, widths: tuple[int, ...], files: dict[str, str]) -> str:
    """Return the Verilog text of a module that holds constants in a memory."""
    counters = Counters(name, files)
    depth, total = len(rom.words), sum(widths)
    bits = bits_of(depth - 1)
    read = counters.number("read", rom.read, "r_step", bits)
    files[f"{name}.hex"] = "".join(f"{_word(row, widths):x}\n" for row in rom.words.tolist())
    ports = ["input wire clk", "input wire rst", "input wire r_step"]
    ports += [f"output wire [{width - 1}:0] r_data{place}" for place, width in enumerate(widths)]
    lines = [
        *(['  (* rom_style = "block" *)'] if rom_in_block(depth, total) else []),
        f"  reg [{total - 1}:0] words [0:{depth - 1}];",
        f'  initial $readmemh("{name}.hex", words);',
        f"  reg [{total - 1}:0] word;",
        f"  always @(posedge clk) if (r_step) word <= words[{read}];",
    ]
    at = 0
    for place, width in enumerate(widths):
        lines.append(f"  assign r_data{place} = word[{at + width - 1}:{at}];")
        at += width
    if not counters.lines:
        lines.append("  wire rst_unused = rst;")
    head = f"// {comment}\n{HEAD}module {name} (\n  " + ",\n  ".join(ports) + "\n);\n"
    return head + "\n".join([*counters.lines, *lines]) + "\n" + TAIL


def _word(row: list[int], widths: tuple[int, ...]) -> int:
    made, at = 0, 0
    for value, width in zip(row, widths, strict=True):
        made |= (value & ((1 << width) - 1)) << at
        at += width
    return made
