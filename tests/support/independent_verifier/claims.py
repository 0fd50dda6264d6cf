"""Claims on weighted sums of forms, as claims on products and columns."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

import numpy as np

from circuitize.backends.tensor.forms import Fixed, Product, Public, Rows
from circuitize.provers.tensor.config import MOST_CLAIMS
from circuitize.provers.tensor.plan import Plan
from circuitize.provers.tensor.statement import Statement

from .arithmetic import Elements, equality_at, multiply, numbers, one, stack, zero
from .checks import Checks, Clear, Value
from .numbered import Mix, Numbered, Sum, add_weights
from .transcript import Refused, Transcript
from .weights import apply, onto_rows, sum_of

Claim = tuple[int, Mix, Value]
"""A base, weights on it, and the weighted sum that is claimed."""


class Claims(Numbered):
    """What is claimed of one proof's statement, and what is still to be shown of that."""

    def __init__(self, made: Plan, statement: Statement, messages: bytes) -> None:
        super().__init__(one(made.degree))
        self.plan = made
        self.statement = statement
        self.transcript = Transcript(messages, made.degree)
        self.checks: Checks = Clear(self.transcript)
        self.zero = zero(made.degree)
        self.known: dict[tuple[int, int], Elements] = {}
        self.count = 0
        self.products: dict[int, list[Claim]] = {}
        self.openings: list[Claim] = []

    def _public(self, base: Public) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
        return np.asarray(self.statement.publics[base.side, base.name]).reshape(-1)

    def _settle(self, label: str, wanted: Sequence[Sum]) -> list[Value]:
        """Weighted sums of forms: one message holds, sum by sum, what each takes of every base not known here."""
        parts: list[dict[int, Mix]] = []
        constants: list[Elements] = []
        for sum in wanted:
            own: dict[int, Mix] = {}
            constant = self.zero
            for factor, form, weights in sum:
                for (base, path), coefficient in self.plan.forms[form].terms.items():
                    base, number = self._resolved(base, self.behind(weights, path))
                    scaled = factor * numbers(coefficient)
                    if self._evaluate(base, number):
                        constant = constant + multiply(scaled, self.known[base, number])
                    else:
                        add_weights(own.setdefault(base, {}), number, scaled)
            parts.append(own)
            constants.append(constant)
        count = builtins.sum(map(len, parts))
        self.count += count
        if self.count > MOST_CLAIMS[self.plan.degree]:
            raise Refused("the plan needs more claims than the security level allows")
        sent = iter(self.checks.receive(label, count))
        made = []
        for own, constant in zip(parts, constants, strict=True):
            values = [next(sent) for _ in own]
            for (base, mix), value in zip(own.items(), values, strict=True):
                if isinstance(self.plan.bases[base], Product):
                    self.products.setdefault(base, []).append((base, mix, value))
                else:
                    self.openings.append((base, mix, value))
            every = [self.checks.constant(constant), *values]
            made.append(self.checks.sum(every, stack([self.one] * len(every))))
        return made

    def _resolved(self, base: int, number: int) -> tuple[int, int]:
        """Weights on rows of a column are weights on the column: each row's add up at the row that is read."""
        found = self.plan.bases[base]
        if not isinstance(found, Rows):
            return base, number
        key = ("rows", base, number)
        if key not in self.moved:
            index, column = self.plan.bases[found.index], self.plan.bases[found.column]
            assert isinstance(index, Public)
            made = onto_rows(self.weights[number], self._public(index).reshape(index.shape), column.shape[0])
            self.moved[key] = self.number(made)
        return found.column, self.moved[key]

    def _evaluate(self, base: int, number: int) -> bool:
        """Notes the weighted sum of a base whose values are known here."""
        found, weights = self.plan.bases[base], self.weights[number]
        if (base, number) in self.known:
            return True
        if isinstance(found, Public):
            made = apply(weights, numbers(self._public(found)))
        elif isinstance(found, Fixed) and found.values.size == 1:
            made = sum_of(weights) * numbers(int(found.values.reshape(-1)[0]))
        elif isinstance(found, Fixed):
            made = apply(weights, numbers(found.values.reshape(-1)))
        else:
            return False
        self.known[base, number] = made
        return True

    def _places(self, point: Elements, sizes: list[int], offsets: list[int]) -> Elements:
        """For each cube of 2^size leaves at its offset, eq of the point's other coordinates."""
        made: list[Elements] = [None] * len(sizes)
        for size in set(sizes):
            own = [i for i in range(len(sizes)) if sizes[i] == size]
            for i, value in zip(own, equality_at(point[size:], [offsets[i] >> size for i in own]), strict=True):
                made[i] = value
        return stack(made)
