"""Small modules, one for each kind of operator and width, and what the folded scheduler's estimate says of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from circuitize.backends.verilog.devices import Family
from circuitize.backends.verilog.folded.cost import Cost
from circuitize.backends.verilog.folded.counter import counter, in_block, memory
from circuitize.backends.verilog.folded.operators import luts
from circuitize.backends.verilog.folded.sequence import Sequence as Numbers
from circuitize.backends.verilog.signals import Signal
from circuitize.circuits.integers import Add, Clamp, Maximum, ReLU, Select, Subtract
from circuitize.circuits.operation import Operation

CHAIN = 40
"""Look-up tables, one behind the other, that stand beside each module: yosys maps what is shallower for size."""


@dataclass
class Module:
    """A module's ports and body, the files it reads, and its estimate, without the registers of its inputs."""

    name: str
    ports: Sequence[str]
    body: str
    cost: Cost
    files: dict[str, str] = field(default_factory=dict)

    @property
    def every_port(self) -> list[str]:
        """Its ports with those that all modules have."""
        return ["input wire clk", "input wire rst", f"input wire [{2 * CHAIN}:0] chain", "output reg last", *self.ports]

    @property
    def text(self) -> str:
        """The module, with a chain of logic that is deeper than it beside it."""
        steps = [f"  wire [{CHAIN}:0] carried;", f"  assign carried[0] = chain[{2 * CHAIN}];"]
        for step in range(CHAIN):
            x, y, carry = f"chain[{2 * step}]", f"chain[{2 * step + 1}]", f"carried[{step}]"
            majority = f"({x} & {y}) | ({carry} & ({x} ^ {y}))"
            steps.append(
                f"  assign carried[{step + 1}] = {majority if step % 3 else f'({x} & {carry}) ^ ({y} | {carry})'};"
            )
        steps.append(f"  always @(posedge clk) last <= carried[{CHAIN}];")
        return (
            f"module {self.name} ({', '.join(self.every_port)});\n" + "\n".join(steps) + f"\n{self.body}\nendmodule\n"
        )


ALONE = "alone"
"""The module that is nothing but the chain."""

SHAPES = (
    *((64, 64), (128, 32), (128, 40), (256, 16), (256, 72), (300, 20), (512, 8), (512, 18), (512, 36), (600, 37)),
    *((1024, 9), (1024, 18), (1024, 20), (1500, 12), (2048, 8), (2048, 16), (2500, 10), (4096, 4), (4096, 9)),
    *((5000, 8), (8192, 2), (8192, 12), (16384, 1), (20000, 3)),
)
"""Words and bits of memories in blocks."""


def block_memories(family: Family) -> Iterator[Module]:
    """Memories in blocks, estimated for a family, and the chain alone."""
    yield Module(ALONE, (), "", Cost(family))
    for words, bits in SHAPES:
        yield _memory(family, words, bits)


def small_modules(family: Family) -> Iterator[Module]:
    """All others, estimated for a family, and the chain alone."""
    yield Module(ALONE, (), "", Cost(family))
    yield from _operations(family)
    for ways in (2, 3, 4, 6, 8, 12, 16, 24, 32):
        yield _drained(family, ways, 20)
    for words in (2, 16, 24, 32, 48, 64, 96, 128, 192, 256):
        yield _memory(family, words, 8)
    for words in (16, 24, 32, 48, 64, 80, 100):
        yield _constants(family, words, 8)
    for loops in (
        ((32, 1),),
        ((60, 1),),
        ((128, 1),),
        ((16, 8), (8, 1)),
        ((10, 12), (12, 1)),
        ((8, 32), (8, 4), (4, 1)),
    ):
        yield _counter(family, loops)


def _operations(family: Family) -> Iterator[Module]:
    def made(operation: Operation, name: str, expression: str, widths: Sequence[int], low: int, high: int) -> Module:
        sources = [Signal(f"x{k}", -(1 << (bits - 1)), (1 << (bits - 1)) - 1) for k, bits in enumerate(widths)]
        if name.startswith("select"):
            sources[0] = Signal("x0", 0, 1)
        target = Signal("y", low, high)
        cost = Cost(family)
        size = luts(operation, sources, target, family)
        cost.add(size, target.width, size)
        ports = [*(f"input wire {s.declared} {s.name}_in" for s in sources), f"output reg {target.declared} y"]
        body = [f"  reg {s.declared} {s.name}; always @(posedge clk) {s.name} <= {s.name}_in;" for s in sources]
        return Module(name, ports, "\n".join([*body, f"  always @(posedge clk) y <= {expression};"]), cost)

    for bits in (4, 8, 12, 16, 24):
        most = (1 << (bits - 1)) - 1
        yield made(Add(), f"add{bits}", "x0 + x1", (bits, bits), -2 * most - 2, 2 * most)
        yield made(Subtract(), f"subtract{bits}", "x0 - x1", (bits, bits), -2 * most - 1, 2 * most + 1)
        yield made(ReLU(), f"relu{bits}", f"{{{bits - 1}{{~x0[{bits - 1}]}}}} & x0[{bits - 2}:0]", (bits,), 0, most)
        yield made(Maximum(), f"maximum{bits}", "x0 > x1 ? x0 : x1", (bits, bits), -most - 1, most)
        yield made(Select(), f"select{bits}", "x0 ? x1 : x2", (1, bits, bits), -most - 1, most)
    for bits, kept in ((8, 4), (12, 8), (16, 8), (20, 8), (24, 16)):
        high, half = (1 << kept) - 1, (1 << (kept - 1)) - 1
        slices = f"x0[{kept - 1}:0]"
        above = f"x0 > {bits}'sd{high} ? {kept}'d{high} : {slices}"
        yield made(Clamp(0, high), f"clamp{bits}_{kept}", f"x0 < {bits}'sd0 ? {kept}'d0 : {above}", (bits,), 0, high)
        above = f"x0 > {bits}'sd{half} ? {kept}'sd{half} : $signed({slices})"
        below = f"x0 < -{bits}'sd{half + 1} ? -{kept}'sd{half + 1} : {above}"
        yield made(Clamp(-half - 1, half), f"clamp_signed{bits}_{kept}", below, (bits,), -half - 1, half)


def _drained(family: Family, ways: int, bits: int) -> Module:
    size = (ways - 1).bit_length()
    ports = [f"input wire [{size - 1}:0] d_in", f"output reg [{bits - 1}:0] y"]
    ports += [f"input wire [{bits - 1}:0] held{k}_in" for k in range(ways)]
    body = [f"  reg [{size - 1}:0] d; always @(posedge clk) d <= d_in;"]
    body += [f"  reg [{bits - 1}:0] held{k}; always @(posedge clk) held{k} <= held{k}_in;" for k in range(ways)]
    cases = [f"    {size}'d{k}: y <= held{k};" for k in range(ways - 1)]
    body += ["  always @(posedge clk) case (d)", *cases, f"    default: y <= held{ways - 1};", "  endcase"]
    cost = Cost(family)
    cost.drained(bits, ways)
    return Module(f"drained{ways}", ports, "\n".join(body), cost)


def _memory(family: Family, words: int, bits: int) -> Module:
    address = (words - 1).bit_length()
    _, text = memory(in_block(words, bits), False)
    body = text.partition("`default_nettype none")[2].partition("`default_nettype wire")[0]
    values = {"WIDTH": bits, "WORDS": words, "ADDRESS": address}
    inside = body[body.index(");") + 2 : body.index("endmodule")]
    for word, value in values.items():
        inside = inside.replace(word, str(value))
    ports = ["input wire write", f"input wire [{address - 1}:0] write_address", f"input wire [{bits - 1}:0] write_data"]
    ports += ["input wire read", f"input wire [{address - 1}:0] read_address", f"output reg [{bits - 1}:0] read_data"]
    cost = Cost(family)
    cost.memory(words, bits, in_block(words, bits))
    return Module(f"memory{words}_{bits}", ports, inside, cost)


def _constants(family: Family, words: int, bits: int) -> Module:
    name, address = f"constants{words}", (words - 1).bit_length()
    drawn = np.random.default_rng(words).integers(0, 1 << bits, words)
    ports = ["input wire read", f"input wire [{address - 1}:0] at", f"output reg [{bits - 1}:0] y"]
    body = f"""  reg [{bits - 1}:0] words [0:{words - 1}];
  initial $readmemh("{name}.hex", words);
  always @(posedge clk) if (read) y <= words[at];"""
    cost = Cost(family)
    cost.constants(drawn[:, None], [bits])
    return Module(name, ports, body, cost, {f"{name}.hex": "".join(f"{word:x}\n" for word in drawn.tolist())})


def _counter(family: Family, loops: Sequence[tuple[int, int]]) -> Module:
    values = np.zeros(1, np.int64)
    for count, stride in loops:
        values = (np.arange(count)[:, None] * stride + values[None]).reshape(-1)
    sequence, files = Numbers.of(values), dict[str, str]()
    name = "counter" + "_".join(str(count) for count, _ in loops)
    lines, now = counter("at", sequence, "step", sequence.bits, files)
    ports = ["input wire step", f"output wire [{sequence.bits - 1}:0] y"]
    cost = Cost(family)
    cost.sequence(sequence)
    return Module(name, ports, "\n".join([*lines, f"  assign y = {now};"]), cost, files)
