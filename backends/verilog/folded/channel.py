"""Channels: the memories between the stage that writes a tensor and one that reads it, as Verilog text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .counter import bits_of, counter, in_block, memory, rom_in_block
from .layout import Column, Copy, Layout, Rom
from .sequence import Sequence

HEAD = "`default_nettype none\n"
TAIL = "endmodule\n`default_nettype wire\n"


class Counters:
    """The counters of one module: equal sequences that step together share one."""

    def __init__(self, owner: str, files: dict[str, str]) -> None:
        self.owner, self.files = owner, files
        self.lines: list[str] = []
        self._known: dict[tuple[bytes, str, int], str] = {}

    def number(self, name: str, sequence: Sequence, step: str, bits: int) -> str:
        """Return the signal of a counter that runs through the sequence, a step each clock in which `step` is 1."""
        key = (sequence.values.tobytes(), step, bits)
        if key not in self._known:
            lines, self._known[key] = counter(f"{self.owner}_{name}", sequence, step, bits, self.files)
            self.lines += lines
        return self._known[key]


@dataclass(frozen=True)
class Channel:
    """A tensor kept for one reader, `banks` frames of it; with `initial` it is state: two banks, one of them read."""

    name: str
    width: int
    layout: Layout
    banks: int
    comment: str
    initial: NDArray[np.int64] | None = None

    @property
    def lanes(self) -> tuple[int, ...]:
        """The writer's lanes that are kept."""
        return tuple(sorted({w.lane for copy in self.layout.copies for w in copy.writings}))

    @property
    def bits(self) -> int:
        """Of memory."""
        return self.width * self.layout.words * self.banks


def write_channel(channel: Channel, files: dict[str, str]) -> str:
    """The module's text."""
    state, width, banks = channel.initial is not None, channel.width, channel.banks
    counters = Counters(channel.name, files)
    bank = bits_of(banks - 1) if banks > 1 else 0
    ports = ["input wire clk", "input wire rst"]
    ports += [] if state else ["input wire w_start", "output wire w_free"]
    ports += ["input wire w_valid"]
    ports += ["input wire w_last"] if not state else []
    ports += [f"input wire [{width - 1}:0] w_data{lane}" for lane in channel.lanes]
    ports += ["input wire r_start", "output wire r_ready", "input wire r_step", "input wire r_last"]
    ports += (
        ["input wire commit", "input wire [0:0] r_bank", "output wire r_done", "input wire steady"] if state else []
    )
    ports += [f"output wire [{width - 1}:0] r_data{column}" for column in range(len(channel.layout.columns))]
    body = _front() if state else _banks(banks, bank)
    names: dict[tuple[int, int, int], str] = {}
    memories: list[str] = []
    for number, copy in enumerate(channel.layout.copies):
        memories += _memories(channel, number, copy, bank, counters, names, files)
    reads = [
        line
        for place, column in enumerate(channel.layout.columns)
        for line in _column(place, column, width, counters, names)
    ]
    head = f"// {channel.comment}\n{HEAD}module {channel.name} (\n  " + ",\n  ".join(ports) + "\n);\n"
    return head + "\n".join([*body, *counters.lines, *memories, *reads]) + "\n" + TAIL


def _banks(banks: int, bank: int) -> list[str]:
    """Tokens: frames that are there, and banks that are taken; and the banks now written and read."""
    bits = bits_of(banks)
    lines = [
        f"  reg [{bits - 1}:0] filled;",
        f"  reg [{bits - 1}:0] taken;",
        f"  assign r_ready = filled != {bits}'d0;",
        f"  assign w_free = taken != {bits}'d{banks};",
        "  wire w_done = w_valid & w_last;",
        "  wire r_done = r_step & r_last;",
        "  always @(posedge clk)",
        "    if (rst) begin",
        f"      filled <= {bits}'d0;",
        f"      taken <= {bits}'d0;",
        "    end else begin",
        f"      if (w_done & ~r_start) filled <= filled + {bits}'d1;",
        f"      if (~w_done & r_start) filled <= filled - {bits}'d1;",
        f"      if (w_start & ~r_done) taken <= taken + {bits}'d1;",
        f"      if (~w_start & r_done) taken <= taken - {bits}'d1;",
        "    end",
    ]
    for side in ("w", "r") if banks > 1 else ():
        name = f"{side}_bank"
        lines += [
            f"  reg [{bank - 1}:0] {name};",
            "  always @(posedge clk)",
            f"    if (rst) {name} <= {bank}'d0;",
            f"    else if ({side}_done) {name} <= ({name} == {bank}'d{banks - 1}) ? {bank}'d0 : {name} + {bank}'d1;",
        ]
    return lines


def _front() -> list[str]:
    """State: the bank that the status names is read while the other is written; a frame that is kept swaps them.

    A frame reads it once, but any number of times where it stays as it is.
    """
    return [
        "  reg fresh;",
        "  reg done;",
        "  wire [0:0] w_bank = ~r_bank;",
        "  assign r_ready = fresh;",
        "  assign r_done = done;",
        "  always @(posedge clk)",
        "    if (rst) begin",
        "      fresh <= 1'b1;",
        "      done <= 1'b0;",
        "    end else begin",
        "      fresh <= commit | steady | (fresh & ~r_start);",
        "      done <= ~commit & ~steady & (done | (r_step & r_last));",
        "    end",
    ]


def _memories(
    channel: Channel,
    number: int,
    copy: Copy,
    bank: int,
    counters: Counters,
    names: dict[tuple[int, int, int], str],
    files: dict[str, str],
) -> list[str]:
    bits, width = bits_of(copy.depth - 1), channel.width
    address, words = bits + bank, channel.banks << bits if channel.banks > 1 else copy.depth
    read = counters.number(f"c{number}_read", copy.read, "r_step", bits)
    read = f"{{r_bank, {read}}}" if bank else read
    writings = {writing.lane: writing for writing in copy.writings}
    several = len({place for place, _ in copy.stored}) > 1
    lines = []
    for place, lane in copy.stored:
        writing, name = writings[lane], f"m{number}_{place}_{lane}"
        names[number, place, lane] = name
        word = counters.number(f"c{number}_word{lane}", writing.word, "w_valid", bits)
        word = f"{{w_bank, {word}}}" if bank else word
        guards = ["w_valid"]
        if several and not (writing.bank.constant and int(writing.bank.values[0]) == place):
            size = writing.bank.bits
            at = counters.number(f"c{number}_bank{lane}", writing.bank, "w_valid", size)
            guards.append(f"({at} == {size}'d{place})")
        if writing.enable is not None:
            guards.append(counters.number(f"c{number}_enable{lane}", writing.enable, "w_valid", 1))
        module, text = memory(in_block(words, width), channel.initial is not None)
        files[f"{module}.v"], extra = text, ""
        if channel.initial is not None:
            file = f"{channel.name}_{name}.hex"
            files[file] = _contents(channel, copy, number, place, lane, words)
            extra = f', .FILE("{file}")'
        lines += [
            f"  wire [{width - 1}:0] {name};",
            f"  {module} #(.WIDTH({width}), .WORDS({words}), .ADDRESS({address}){extra}) {name}_words (",
            f"    .clk(clk), .write({' & '.join(guards)}), .write_address({word}), .write_data(w_data{lane}),",
            f"    .read(r_step), .read_address({read}), .read_data({name}));",
        ]
    return lines


def _contents(channel: Channel, copy: Copy, number: int, place: int, lane: int, words: int) -> str:
    """The first contents of a state's memory: written as a frame would, into the bank that is read first."""
    assert channel.initial is not None
    (writing,) = [w for w in copy.writings if w.lane == lane]
    values = np.zeros(words, np.int64)
    elements = channel.initial[:, lane]
    here = (elements[:, 0] >= 0) & (writing.bank.values == place)
    if writing.enable is not None:
        here &= writing.enable.values == 1
    values[writing.word.values[here]] = elements[here, 1]
    mask = (1 << channel.width) - 1
    return "".join(f"{value & mask:x}\n" for value in values.tolist())


def _column(
    place: int, column: Column, width: int, counters: Counters, names: Mapping[tuple[int, int, int], str]
) -> list[str]:
    """What is read: of one of the writer's lanes, or zero."""
    lines, sources = [], [names.get((column.copy, column.bank, lane), "") for lane in column.lanes]
    text = sources[-1] if sources else f"{width}'d0"
    if column.select is not None:
        bits = column.select.bits
        select = counters.number(f"select{place}", column.select, "r_step", bits)
        lines += [
            f"  reg [{bits - 1}:0] selected{place};",
            f"  always @(posedge clk) if (r_step) selected{place} <= {select};",
        ]
        for index, source in reversed(list(enumerate(sources[:-1]))):
            text = f"(selected{place} == {bits}'d{index}) ? {source} : {text}"
    if column.mask is not None and sources:
        mask = counters.number(f"mask{place}", column.mask, "r_step", 1)
        lines += [
            f"  reg inside{place};",
            f"  always @(posedge clk) if (r_step) inside{place} <= {mask};",
        ]
        text = f"inside{place} ? ({text}) : {width}'d0"
    return [*lines, f"  assign r_data{place} = {text};"]


def write_rom(name: str, comment: str, rom: Rom, widths: tuple[int, ...], files: dict[str, str]) -> str:
    """A memory of constants: the text of its module."""
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
