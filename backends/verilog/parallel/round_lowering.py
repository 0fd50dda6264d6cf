"""The lowering of the program of a round, in which logic decides only what differs from round to round.

A design clears its totals before each frame, so that the first round adds to zero without a choice. What depends on a
total is read in the last round alone, so that it may be anything before: every round makes it as the last one does, and
its checks count in the last round.
"""

from __future__ import annotations

import numpy as np

from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.integers import Add, Check, Reindex, Select
from circuitize.circuits.micro_batches import LAST, LATER, Rounds
from circuitize.circuits.operation import Edge
from circuitize.circuits.port import Port
from circuitize.circuits.types import Fixed

from ...verilog.netlist import Integers, Kind, Netlist
from .elements import Elements, constants, narrow, plain, where
from .matrices import Optimiser
from .operations import Lowering, any_of


class RoundLowering(Lowering):
    """The lowering of the program of a round, whose arrow is given as it is lowered; the node `last` is 1 in the last
    round.
    """

    def __init__(self, net: Netlist, arrow: Arrow, adders: bool, optimise: Optimiser, rounds: Rounds) -> None:
        super().__init__(net, arrow, adders, optimise)
        self.rounds = rounds
        self.last = -1
        kept = [port.name in rounds.kept for port in rounds.program.outputs]
        self.totals = set(arrow.outputs[np.array(kept, bool)].tolist())
        self.before: dict[str, Integers] = {}
        """The nodes of the totals of the rounds before, by the name of the total."""
        self.telling: set[int] = set()
        """The wires that say which round it is."""
        self.late: set[int] = set()
        """The wires that may be anything before the last round."""
        self.guarded = False
        self.sums: dict[int, Edge] = {}
        """The edges of additions, by target."""

    def told(self, number: int) -> Elements:
        """Return what says which round it is, given the number of its input: each round is a later one, which adds to
        what is there.
        """
        self.telling.add(int(self.arrow.inputs[number]))
        made = np.zeros(2, np.int64)
        made[LATER] = self.net.constant(1)
        made[LAST] = self.last = int(self.net.append(Kind.INPUT, 0, 1, n=number))
        return Elements.of(made)

    def total(self, port: Port[Fixed], number: int) -> Elements:
        """Return what the rounds before have added up, given the port and the number of its input."""
        format, places = port.format, np.arange(port.format.size)
        self.before[port.name] = self.net.append(Kind.INPUT, format.low, format.high, n=number, m=places)
        return Elements.of(self.before[port.name].reshape(format.shape))

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
        """Return the nodes of a Check of what a wire brings out of the arrow."""
        self.guarded = wire in self.late
        return super().output(wire, x, least, greatest)

    def edge(self, edge: Edge, sources: list[Elements]) -> Elements:
        """Return the tensor that an edge of the arrow computes."""
        (target,), operation = edge.targets, edge.operation
        telling = edge.sources and edge.sources[0] in self.telling
        if isinstance(operation, Reindex) and telling:
            self.telling.add(target)
        chosen = isinstance(operation, Select) and telling and bool((sources[0].node == self.last).all())
        self.guarded = not self.late.isdisjoint(edge.sources)
        if chosen or self.guarded:
            self.late.add(target)
        if chosen:
            return sources[1]
        if isinstance(operation, Check) and target in self.totals and self._holds(operation, edge):
            return Elements.of(narrow(self.net, plain(self.net, sources[0]), operation.low, operation.high))
        made = super().edge(edge, sources)
        if isinstance(operation, Add):
            self.sums[target] = edge
            # A total to which nothing is added is 0.
            empty = np.isin(made.node, np.concatenate([np.zeros(0, np.int64), *self.before.values()]))
            return where(empty, constants(self.net, np.zeros(made.shape, np.int64)), made)
        return made

    def _holds(self, check: Check, edge: Edge) -> bool:
        """Return whether the Check of a total cannot fail: all rounds together add no more than it allows."""
        added = self.sums.get(edge.sources[0])
        if added is None:
            return False
        made = self.arrow.format(added.sources[1])
        least, most = self.rounds.count * made.low, self.rounds.count * made.high
        return check.low <= min(least, 0) and max(most, 0) <= check.high
