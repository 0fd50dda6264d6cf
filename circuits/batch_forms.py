"""What a round of a few examples has of each wire of an arrow: a block of an axis, or the whole wire."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from .hypergraph import Arrow
from .integers import ArgMax, ArgMaxOneHot, Check, Constant, Contract, IntegerOperation, Reindex, Sum
from .integers.blocks import block
from .operation import Edge

Form = int | None
"""The axis of which a round has one block, or None if it has the whole wire."""


class Forms:
    """The forms that each wire of an arrow may have in one of `count` rounds, each with the forms of the sources of the
    wire's edge; `cut` has the inputs, by number, of which a round has one block of the first axis.

    A sum over an axis of which rounds have blocks is whole: in each round it is the sum over the rounds so far. The
    wires in `summed`, as whole wires, depend on such sums and are right in the last round alone, so that no block, of
    which each round has another, may depend on them. The time is linear in the number of edges.
    """

    def __init__(self, arrow: Arrow, cut: Collection[int], count: int) -> None:
        self.arrow, self.count = arrow, count
        self.of: list[dict[Form, tuple[Form, ...]]] = [{} for _ in range(arrow.wire_count)]
        self.summed: set[int] = set()
        for number, wire in enumerate(arrow.inputs.tolist()):
            self.of[wire] = {0 if number in cut else None: ()}
        for index, sources, (target,), _ in arrow.rows:
            operation = arrow.operations[index]
            assert isinstance(operation, IntegerOperation)
            self.of[target] = self._found(operation, sources, target)
            if self.adds_up(target) or not self.summed.isdisjoint(sources):
                self.summed.add(target)

    def adds_up(self, wire: int) -> bool:
        """Return whether a whole wire is the sum over all rounds of what its edge makes of blocks."""
        return any(form is not None for form in self.of[wire].get(None, ()))

    def _found(self, operation: IntegerOperation, sources: Sequence[int], target: int) -> dict[Form, tuple[Form, ...]]:
        known = [self.of[wire] for wire in sources]
        shape = self.arrow.format(target).shape
        axes = [axis for axis, extent in enumerate(shape) if extent > 1 and extent % self.count == 0]
        found: dict[Form, tuple[Form, ...]] = {}

        summed = [wire in self.summed for wire in sources]

        def offer(form: Form, *wanted: Form) -> None:
            blocks = any(one is not None for one in (form, *wanted))
            early = blocks and any(want is None and late for want, late in zip(wanted, summed, strict=True))
            if form not in found and not early and all(want in own for want, own in zip(wanted, known, strict=True)):
                found[form] = wanted

        offer(None, *[None] * len(sources))
        if isinstance(operation, Constant):
            for axis in axes:
                if _repeats(operation, axis, self.count):
                    offer(axis)
        elif isinstance(operation, Reindex):
            for axis in axes:
                if (made := block(operation.view, axis, self.count)) is not None:
                    offer(axis, made[1])
        elif isinstance(operation, Sum):
            for own in known[0]:
                if own is not None and (made := block(operation.view, own, self.count)) is not None:
                    offer(made[1], own)
        elif isinstance(operation, Contract):
            x, y, made_of = operation.letters
            for letter in dict.fromkeys(x + y):
                wanted = [own.index(letter) if letter in own else None for own in (x, y)]
                offer(made_of.index(letter) if letter in made_of else None, *wanted)
        elif isinstance(operation, ArgMax | ArgMaxOneHot):
            for own in known[0]:
                if own is not None and own != operation.axis:
                    offer(own - (isinstance(operation, ArgMax) and own > operation.axis), own)
        else:
            assert operation.pointwise, operation
            for axis in axes:
                offer(axis, *[axis] * len(sources))
        return found

    def needed(self) -> list[set[Form]]:
        """Return the forms of each wire that a round needs for the outputs and for every Check; outputs are whole where
        they can be, else blocks of the first axis.
        """
        found: list[set[Form]] = [set() for _ in range(self.arrow.wire_count)]
        for wire in self.arrow.outputs.tolist():
            found[wire].add(None if None in self.of[wire] else 0)
        for index, sources, (target,), _ in reversed(self.arrow.rows):
            if isinstance(self.arrow.operations[index], Check) and not found[target]:
                found[target].add(next(iter(self.of[target])))
            for form in found[target]:
                for wire, want in zip(sources, self.of[target][form], strict=True):
                    found[wire].add(want)
        return found

    def lacking(self) -> Edge | None:
        """Return the first edge whose target has no form, if an output or a Check depends on one without."""
        outputs = self.arrow.outputs.tolist()
        checks = [
            target for index, _, (target,), _ in self.arrow.rows if isinstance(self.arrow.operations[index], Check)
        ]
        if all(self.of[wire] for wire in (*outputs, *checks)):
            return None
        return next(self.arrow.edge(n) for n, (_, _, (target,), _) in enumerate(self.arrow.rows) if not self.of[target])

    def across(self, states: Collection[int]) -> int | None:
        """Return the first output, by number, that is neither whole nor in blocks of the first axis, or that is one of
        the `states` and not whole; None if there is none.
        """
        for number, wire in enumerate(self.arrow.outputs.tolist()):
            if None not in self.of[wire] and (number in states or 0 not in self.of[wire]):
                return number
        return None


def _repeats(constant: Constant, axis: int, count: int) -> bool:
    """Return whether all blocks of an axis of a constant are equal."""
    if not constant.amounts.ndim:
        return True
    first, *others = np.split(constant.amounts, count, axis)
    return all(np.array_equal(first, other) for other in others)
