"""Small modules that steer data, dividers and square roots, and what the folded scheduler's estimate says of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from small_modules import Module

from circuitize.backends.verilog.design import Stream
from circuitize.backends.verilog.devices import Family
from circuitize.backends.verilog.folded import control, iterative, status, steering, streams, tokens
from circuitize.backends.verilog.folded.cost import Cost
from circuitize.backends.verilog.folded.operators import luts
from circuitize.backends.verilog.signals import Signal
from circuitize.circuits.integers import Divide, SquareRoot
from circuitize.circuits.types import Fixed

WIDTH = 8
"""Bits of the elements of streams."""


def steering_modules(family: Family) -> Iterator[Module]:
    """Counters, tokens, flags, receivers, senders, dividers and square roots, estimated for a family."""

    def made(name: str, part: steering.Part, ports: Sequence[str], lines: Sequence[str]) -> Module:
        cost = Cost(family)
        cost.put(part)
        return Module(name, ports, "\n".join(lines), cost)

    for count in (2, 5, 12, 24, 60, 128, 300):
        bits = (count - 1).bit_length()
        lines = [*control.up("t", count, "go"), "assign y = t;", "assign e = t_end;"]
        ports = ["input wire go", f"output wire [{bits - 1}:0] y", "output wire e"]
        yield made(f"up{count}", steering.counting(count), ports, lines)
    for banks in (1, 2, 3, 4, 8):
        for readers in (1, 2, 3):
            yield made(f"tokens{banks}_{readers}", steering.tokens(banks, readers, None), *_tokens(banks, readers))
    for depth in (1, 2, 4, 8):
        yield made(f"flags{depth}", steering.flags(depth), *_inside(status.flags("m", depth)))
    for beats in (5, 36, 200):
        for high in (127, 100):
            stream = Stream("x", "x", False, Fixed((beats,), 0, -128, high), 1)
            part = steering.receiver(beats, int(high < 127), WIDTH) + steering.Part(0, WIDTH, 0)
            yield made(f"receiver{beats}_{high}", part, *_inside(streams.receiver("m", "", stream)))
        stream = Stream("x", "x", True, Fixed((beats,), 0, -128, 127), 1)
        for waits, late in ((False, False), (True, False), (True, True)):
            text, part = streams.sender("m", "", stream, waits, late), steering.sender(beats, WIDTH, waits, late)
            yield made(f"sender{beats}_{waits + late}", part, *_inside(text))
    for bits, divisor in ((8, 8), (16, 8), (16, 12), (27, 17)):
        x = Signal("x", -(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        size = luts(Divide(), [x, Signal("y", 1, (1 << divisor) - 1)], x, family)
        yield made(
            f"divide{bits}_{divisor}", steering.Part(size, 0, size), *_inside(iterative.divide(bits, divisor)[1])
        )
    for half in (4, 8, 12, 16):
        x = Signal("x", 0, (1 << 2 * half) - 1)
        size = luts(SquareRoot(), [x], x, family)
        yield made(f"root{half}", steering.Part(size, 0, size), *_inside(iterative.root(half)[1]))


def _tokens(banks: int, readers: int) -> tuple[list[str], list[str]]:
    """The ports and the body of the tokens of a channel."""
    ports = ["output wire w_free", "input wire w_start", "input wire w_valid", "input wire w_last"]
    for name in map(tokens.prefix, range(readers)):
        done = "last" if readers == 1 else "done"
        ports += [f"input wire {name}_start", f"output wire {name}_ready", f"input wire {name}_step"]
        ports.append(f"input wire {name}_{done}")
    lines = tokens.queued(banks, readers)
    if banks > 1:
        bits = (banks - 1).bit_length()
        ports += [f"output wire [{bits - 1}:0] {side}_now" for side in "wr"]
        lines += [f"assign {side}_now = {side}_bank;" for side in "wr"]
    return ports, lines


def _inside(text: str) -> tuple[list[str], list[str]]:
    """The ports and the body of a module's text, without the ports that each small module has."""
    ports, _, body = text.partition("module ")[2].partition("(\n")[2].partition("\n);\n")
    named = [port.strip() for port in ports.split(",\n")]
    return [port for port in named if port.split()[-1] not in ("clk", "rst")], [body.rpartition("endmodule")[0]]
