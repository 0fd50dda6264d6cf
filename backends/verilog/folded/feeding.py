"""The two factors of each term that a stage multiplies on shared lanes, and how they are made of what the stage
reads.
"""

from __future__ import annotations

from dataclasses import dataclass

from circuitize.circuits.integers import Multiply

from ..signals import Signal, signed_width
from .channel import HEAD, TAIL
from .datapath import Datapath
from .graph import Operand, Stage
from .lane_text import any_term_check, enter, literal_operand, port_of, signal_of
from .size import FACTORS

NARROW = 18
"""Bits of the widest factors that one multiplier of every family takes."""
LIGHTEST = 64
"""LUTs that a lane of a stage may take before its factors; with more of them its lanes are its own."""


@dataclass(frozen=True)
class Feed:
    """The source of one factor of a stage's terms: an operand, a number, or a few operations on operands.

    `operands` are the operands that are read for the factor, and `cycle` is the clock in which the factor is ready.
    """

    name: str
    operands: tuple[Operand, ...]
    path: Datapath
    value: Signal
    plain: bool
    cycle: int

    @property
    def bits(self) -> int:
        """Return the number of bits of the factor in its own format, which may be unsigned."""
        return self.value.width

    @property
    def signed_bits(self) -> int:
        """Return the number of bits of the factor as a signed number."""
        return signed_width(self.value.low, self.value.high)

    @property
    def number(self) -> int | None:
        """Return the factor if it is always the same number, else None."""
        return self.value.low if self.plain and not self.operands else None


def plain(feeds: tuple[Feed, Feed]) -> bool:
    """Return whether both factors are operands or numbers as they are: the register behind the memory of such a factor
    is the factor's own.
    """
    return all(feed.plain for feed in feeds)


def factors(stage: Stage) -> tuple[str, str]:
    """Return the names of the two factors of a stage's terms; a term that is no product is multiplied by 1, whose name
    is empty.
    """
    for node in stage.nodes:
        if node.name == stage.term and node.in_reduction and isinstance(node.operation, Multiply):
            return node.sources[0], node.sources[1]
    return stage.term, ""


def feeding(stage: Stage) -> tuple[Feed, Feed] | None:
    """Return the sources of the two factors of a stage's terms, or None if the stage needs its own lanes.

    A stage needs its own lanes if it searches for a greatest term, checks terms, has factors of more than FACTORS bits,
    or makes its factors with more than LIGHTEST LUTs, or with tables, multipliers or dividers.
    """
    if stage.reduction != "sum" or any_term_check(stage):
        return None
    x, y = (_feed(stage, name) for name in factors(stage))
    if any(feed.path.dsp or feed.path.rom_bits or feed.path.files for feed in (x, y)):
        return None
    wide = max(x.signed_bits, y.signed_bits) > FACTORS[0] or min(x.signed_bits, y.signed_bits) > FACTORS[1]
    return None if wide or x.path.lut + y.path.lut > LIGHTEST else (x, y)


def _feed(stage: Stage, name: str) -> Feed:
    path = Datapath("feed")
    if not name:
        return Feed(name, (), path, Signal("one", 1, 1), True, 0)
    needed = {name}
    for node in reversed(stage.nodes):
        if node.in_reduction and node.name in needed:
            needed.update(node.sources)
    operands = [operand for operand in stage.operands if operand.in_reduction and operand.name in needed]
    enter(path, operands)
    made = [node for node in stage.nodes if node.in_reduction and node.name in needed]
    for node in made:
        path.node(node)
    value, _, cycle = path.finish(name, False)
    read = tuple(operand for operand in operands if literal_operand(operand) is None)
    return Feed(name, read, path, value, not made, cycle)


def feed_text(module: str, stage: Stage, feed: Feed, cycle: int) -> str:
    """Return the Verilog module that makes a factor, which is ready at `cycle`."""
    again = _feed(stage, feed.name)
    path = again.path
    value = path.at(again.value, cycle)
    ports = ["input wire clk", *(port_of(signal_of(operand, operand.name)) for operand in feed.operands)]
    ports.append(f"output wire [{value.width - 1}:0] factor")
    lines = [*path.lines, f"  assign factor = {path.bits(value, value.width)};"]
    if not any("posedge clk" in line for line in lines):
        lines.append("  wire clk_unused = clk;")
    comment = f"// What a term of {stage.name} multiplies: {stage.provenance}."
    return f"{comment}\n{HEAD}module {module} (\n  " + ",\n  ".join(ports) + "\n);\n" + "\n".join(lines) + "\n" + TAIL
