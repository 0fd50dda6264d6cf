"""An estimate of choices between known numbers that counts different bits, and the LUTs and registers that they take.

The score of a tree of a forest is a choice between known numbers: each bit of the score is 0, 1, a test, the opposite
of a test, or a function of a few tests, and most of these functions occur many times. Synthesis merges equal bits, so
the estimate counts equal bits once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...verilog.netlist import Integers, Kind, Netlist, widths
from .pipeline import Pipeline

TOGETHER = 0.78
"""The share of functions that takes a look-up table: tests of one input come together in fewer of them. The share was
measured on trees of seeds 21 and 22 (`tests/support/seeded_networks.py`).
"""

Literal = int
"""Twice the number of a function, and 1 more for its opposite; function 0 is the constant 0, so that literal 1 is 1."""


@dataclass
class _Functions:
    """The functions that bits of choices are: conditions, bits of registers, and choices between two literals."""

    numbers: dict[tuple[int, ...], int] = field(default_factory=dict)
    leaves: list[frozenset[int]] = field(default_factory=lambda: [frozenset()])
    """The conditions and registers that each function depends on."""
    between: list[tuple[Literal, Literal] | None] = field(default_factory=lambda: [None])
    """The literals between which a function chooses, or None for a condition or a register."""

    def leaf(self, *name: int) -> Literal:
        """Return the literal of a condition or of a register's bit."""
        if name not in self.numbers:
            self._add(name, frozenset([len(self.leaves)]), None)
        return 2 * self.numbers[name]

    def choice(self, stage: int, condition: Literal, x: Literal, y: Literal) -> Literal:
        """Return the literal that is x where the condition holds and y elsewhere."""
        if x == y:
            return x
        opposite = y & 1
        x, y = x ^ opposite, y ^ opposite
        if (x, y) == (1, 0):
            return condition ^ opposite
        name = (stage, condition, x, y)
        if name not in self.numbers:
            self._add(name, self.leaves[condition >> 1] | self.leaves[x >> 1] | self.leaves[y >> 1], (x, y))
        return 2 * self.numbers[name] ^ opposite

    def _add(self, name: tuple[int, ...], leaves: frozenset[int], between: tuple[Literal, Literal] | None) -> None:
        self.numbers[name] = len(self.leaves)
        self.leaves.append(leaves)
        self.between.append(between)


class Choices:
    """The choices of a netlist between known numbers, or between the results of such choices.

    The array `nodes` marks the nodes that are choices; `registers` is the number of registers that the different bits
    of all choices take. Finding the choices takes time in proportion to the number of their bits.
    """

    def __init__(self, net: Netlist, pipe: Pipeline) -> None:
        self.nodes: NDArray[np.bool_] = np.zeros(net.count, bool)
        self._functions = _Functions()
        self._roots: set[Literal] = set()
        bits = self._bits(net, pipe)
        read = self._read_elsewhere(net, pipe)
        held: set[tuple[Literal, int]] = set()
        for node, literals in bits.items():
            delay, stage = int(pipe.delay[node]), int(pipe.stage[node])
            functions = {literal for literal in literals if literal > 1}
            held |= {(literal, stage + clock) for literal in functions for clock in range(delay)}
            # Two registers hold a bit and its opposite; logic that reads a bit inverts it at no cost.
            self._roots |= functions if delay else {literal & ~1 for literal in functions} if read[node] else set()
        self.registers = len(held)

    def luts(self, inputs: int) -> float:
        """Return how many look-up tables of so many inputs the different bits take."""
        functions, found, seen = self._functions, 0, set[Literal]()
        waiting = list(self._roots)
        while waiting:
            literal = waiting.pop()
            between = functions.between[literal >> 1]
            if literal in seen or between is None:
                continue
            seen.add(literal)
            found += 1
            if len(functions.leaves[literal >> 1]) > inputs:
                waiting += [each & ~1 for each in between]
        return TOGETHER * found

    def _bits(self, net: Netlist, pipe: Pipeline) -> dict[int, list[Literal]]:
        """Return the literals of the bits of each choice, the lowest bit first, and mark the nodes of choices."""
        made, found = widths(net.low, net.high), dict[int, list[Literal]]()
        known = net.kind == Kind.CONSTANT
        functions = self._functions
        for node in np.flatnonzero(pipe.live & (net.kind == Kind.SELECT)).tolist():
            operands = int(net.a[node]), int(net.b[node])
            if not all(known[operand] or operand in found for operand in operands):
                continue
            self.nodes[node] = True
            width, stage = int(made[node]), int(pipe.stage[node])
            sides = []
            for operand in operands:
                if known[operand]:
                    sides.append([int(net.low[operand]) >> place & 1 for place in range(width)])
                    continue
                literals = found[operand]
                literals = [*literals, *[literals[-1] if net.low[operand] < 0 else 0] * width][:width]
                if pipe.stage[operand] != stage:
                    literals = [x if x < 2 else functions.leaf(stage, x) for x in literals]
                sides.append(literals)
            condition = functions.leaf(stage, -1, int(net.c[node]))
            found[node] = [functions.choice(stage, condition, x, y) for x, y in zip(*sides, strict=True)]
        return found

    def _read_elsewhere(self, net: Netlist, pipe: Pipeline) -> NDArray[np.bool_]:
        """Return for each node whether another node than a choice of its own stage reads it."""
        found = np.zeros(net.count, bool)
        for column, inside in ((net.a, self.nodes), (net.b, self.nodes), (net.c, np.zeros(net.count, bool))):
            source: Integers = np.maximum(column, 0)
            apart = pipe.live & (column >= 0) & ~(inside & (pipe.stage == pipe.stage[source]))
            found[source[apart]] = True
        return found
