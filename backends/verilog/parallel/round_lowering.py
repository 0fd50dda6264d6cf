"""The lowering of the program of a round, in which logic decides only what differs from round to round.

A design clears its totals before each frame, so that the first round adds to zero without a choice. What depends on a
total is read in the last round alone, so that it may be anything before: every round makes it as the last one does, and
its checks count in the last round.
"""

from __future__ import annotations

import numpy as np

from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.integers import Add, Check, Select
from circuitize.circuits.micro_batches import LAST, LATER, Rounds
from circuitize.circuits.operation import Edge

from ...verilog.netlist import Integers, Kind, Netlist
from .elements import Elements, narrow, plain
from .matrices import Optimiser
from .operations import Lowering, any_of


class RoundLowering(Lowering):
    """The lowering of the program of a round, whose arrow is given as it is lowered; the node `last` is 1 in the last
    round.
    """

    def __init__(self, net: Netlist, arrow: Arrow, adders: bool, optimise: Optimiser, rounds: Rounds) -> None:
        super().__init__(net, arrow, adders, optimise)
        self.rounds = rounds
        self.last = 0
        kept = [port.name in rounds.kept for port in rounds.program.outputs]
        self.totals = set(arrow.outputs[np.array(kept, bool)].tolist())
        self.late: set[int] = set()
        """The wires that may be anything before the last round."""
        self.guarded = False
        self.sums: dict[int, Edge] = {}
        """The edges of additions, by target."""

    def told(self, number: int) -> Elements:
        """Return what says which round it is, given the number of its input: each round is a later one, which adds to
        what is there.
        """
        made = np.zeros(2, np.int64)
        made[LATER] = self.net.constant(1)
        made[LAST] = self.last = int(self.net.append(Kind.INPUT, 0, 1, n=number))
        return Elements.of(made)

    def require(self, x: Integers, least: int, greatest: int) -> Integers:
        """Return the nodes of a Check, of which one node says whether it fails: for all elements, and in the last round
        alone if what is checked may be anything before.
        """
        before, self.failures = self.failures, []
        made = super().require(x, least, greatest)
        failed = any_of(self.net, self.failures)
        if failed and self.guarded:
            failed = int(self.net.append(Kind.AND, 0, 1, failed, self.last))
        self.failures = [*before, np.array([failed], np.int64)]
        return made

    def output(self, wire: int, x: Integers, least: int, greatest: int) -> Integers:
        self.guarded = wire in self.late
        return super().output(wire, x, least, greatest)

    def edge(self, edge: Edge, sources: list[Elements]) -> Elements:
        """Return the tensor that an edge of the arrow computes."""
        (target,), operation = edge.targets, edge.operation
        if isinstance(operation, Add):
            self.sums[target] = edge
        chosen = isinstance(operation, Select) and bool((sources[0].node == self.last).all())
        self.guarded = not self.late.isdisjoint(edge.sources)
        if chosen or self.guarded:
            self.late.add(target)
        if chosen:
            return sources[1]
        if isinstance(operation, Check) and target in self.totals and self._holds(operation, edge):
            return Elements.of(narrow(self.net, plain(self.net, sources[0]), operation.low, operation.high))
        return super().edge(edge, sources)

    def _holds(self, check: Check, edge: Edge) -> bool:
        """Return whether the Check of a total cannot fail: all rounds together add no more than it allows."""
        added = self.sums.get(edge.sources[0])
        if added is None:
            return False
        made = self.arrow.format(added.sources[1])
        least, most = self.rounds.count * made.low, self.rounds.count * made.high
        return check.low <= min(least, 0) and max(most, 0) <= check.high


def own_registers(net: Netlist, nodes: Integers) -> Integers:
    """Return nodes that are equal to those given and may have registers of their own, which inputs have not."""
    given = net.kind[nodes] == Kind.INPUT
    made = nodes.copy()
    low, high = net.low[nodes[given]], net.high[nodes[given]]
    made[given] = net.append(Kind.NARROW, low, high, nodes[given])
    return made
