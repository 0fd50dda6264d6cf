"""What the steps of a cheating prover of tensor proofs share: values, forms, claims on them, and sumchecks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from independent_verifier.arithmetic import (
    Elements,
    Field,
    Numbers,
    interpolated,
    lift,
    line,
    multiply,
    numbers,
    one,
    total,
    zero,
)
from independent_verifier.claims import Claim
from independent_verifier.numbered import Mix, Numbered, Sum, add_weights
from independent_verifier.weights import apply, dense
from numpy.typing import NDArray
from tensor_words import Sending, adapted, padded

from circuitize.backends.tensor.forms import Column, Fixed, Product, padded_bits
from circuitize.provers.tensor.plan import Plan

Integers = NDArray[Any]


class Claims(Numbered):
    """Values of all bases, taken to be those of a plan; what is claimed of them. `labels` are not absorbed."""

    def __init__(
        self, made: Plan, values: Sequence[Integers], labels: frozenset[str] = frozenset(), digest: bytes | None = None
    ) -> None:
        super().__init__(one(made.degree))
        self.plan, self.digest = made, digest or made.digest
        self.degree, self.zero = made.degree, zero(made.degree)
        self.channel = Sending(b"", made.degree)
        self.channel.labels = labels
        self.values: list[Numbers] = [numbers(np.asarray(v).reshape(-1)) for v in values]
        self.products: dict[int, list[Claim]] = {}
        self.openings: list[Claim] = []
        self.gammas: list[Elements] = []
        self.queried: list[list[int]] = []

    def settled(self, label: str, asked: list[tuple[int, Mix]], honest: Elements) -> Elements:
        """The weighted sums that are sent."""
        return honest

    def table(self, commitment: int) -> Numbers:
        made = Field.zeros(1 << self.plan.commitments[commitment])
        for base, values in zip(self.plan.bases, self.values, strict=True):
            if isinstance(base, Column) and base.commitment == commitment:
                own = padded_bits(base.shape)
                made[base.offset : base.offset + (1 << own)] = padded(values, base.shape)
        return made

    def form(self, form: int) -> Numbers:
        found = self.plan.forms[form]
        made = Field.zeros(found.shape)
        for (base, path), coefficient in found.terms.items():
            array = np.asarray(self.values[base], object).reshape(self.plan.bases[base].shape)
            if isinstance(self.plan.bases[base], Fixed):
                array = np.broadcast_to(array, self.plan.bases[base].shape)
            for view, sums in reversed(path):
                array = np.asarray(view.scatter(array) if sums else view.gather(array), object)
            made = made + numbers(array) * numbers(coefficient)
        return made.reshape(-1)

    def lifted(self, values: Numbers) -> Elements:
        return lift(values, self.degree)

    def stacked(self, elements: Iterable[Elements]) -> Elements:
        """Elements, or none, as one array."""
        return np.stack([self.zero, *elements])[1:]

    def settle(self, label: str, wanted: list[Sum]) -> list[tuple[int, Mix]]:
        asked: list[tuple[int, Mix]] = []
        for sum in wanted:
            own: dict[int, Mix] = {}
            for factor, form, weights in sum:
                for (base, path), coefficient in self.plan.forms[form].terms.items():
                    if isinstance(self.plan.bases[base], Column | Product):
                        number = self.behind(weights, path)
                        add_weights(own.setdefault(base, {}), number, factor * numbers(coefficient))
            asked += own.items()
        sent = self.settled(label, asked, self.stacked(self.applied(mix, self.values[base]) for base, mix in asked))
        self.channel.send_numbers(label, sent)
        for (base, mix), value in zip(asked, sent, strict=True):
            if isinstance(self.plan.bases[base], Product):
                self.products.setdefault(base, []).append((base, mix, value))
            else:
                self.openings.append((base, mix, value))
        return asked

    def applied(self, mix: Mix, values: Numbers) -> Elements:
        return total(
            np.stack([multiply(factor, apply(self.weights[number], values)) for number, factor in mix.items()])
        )

    def dense(self, mix: Mix) -> Elements:
        """Weights of every element."""
        return total(np.stack([multiply(factor[None], dense(self.weights[number])) for number, factor in mix.items()]))

    def sumcheck(
        self, label: str, degree: int, claim: Elements, tables: Elements, f: Callable[[Elements], Elements]
    ) -> tuple[Elements, Elements, Elements]:
        """The claim that is left, the point, and the tables there. `tables` has one table after the other first."""
        drawn = []
        while tables.shape[1] > 1:
            low, high = tables[:, ::2], tables[:, 1::2]
            at = [low, *(low + (high - low) * numbers(t) for t in range(2, degree + 1))]
            message = np.stack([total(f(values)) for values in at])
            if label in self.channel.labels:
                r = self.channel.peek(label)
                message = adapted(message, claim, r, total(f(line(low, high, r))))
            self.channel.send_numbers(label, message)
            r = self.channel.challenge(label)
            claim = interpolated(message[None], claim, r[None])
            tables = line(low, high, r)
            drawn.append(r)
        return claim, self.stacked(drawn), tables[:, 0]
