"""Forgeries of sums of fractions that a verifier that does not absorb one message accepts, and both refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
from independent_verifier.arithmetic import (
    Elements,
    Field,
    multiply,
    numbers,
)
from independent_verifier.numbered import Mix
from tensor_attack import OUTSIDE, SUM, at_every_degree, attack, small_plan
from tensor_cheat import Cheat
from tensor_words import combination, divide

pytestmark = at_every_degree


class LateCounts(Cheat):
    """Counts how often numbers are looked up after it knows where sums of fractions are tested."""

    def lookups(self, looked_up: list[Any]) -> None:
        state = self.channel.state
        alpha, beta = self.channel.challenge("lookups.alpha"), self.channel.challenge("lookups.beta")
        self.channel.state = state
        ((base, _),) = self.plan.forms[self.plan.tables[0].column].terms
        start = alpha - self.tag(beta, 0)

        def fraction(key: Any) -> Elements:
            return divide(self.one, start - self.one * key)

        wanted = sum((fraction(key) for keys, _ in looked_up for key in keys), self.zero)
        counts = Field.zeros(self.plan.tables[0].size)
        entries = self.stacked(fraction(key) for key in numbers(range(self.degree)))
        counts[: self.degree] = combination(entries, wanted)
        self.values[base] = counts
        self.tables[-1] = self.table(len(self.tables) - 1)
        self.trees[-1] = type(self.trees[-1])(self.tables[-1], self.plan.commitments[-1] + 1, b"\7\1")
        super().lookups(looked_up)


def test_counts_come_before_the_challenge(degree: int) -> None:
    """Else as many of them as the degree make up for a value outside of its table."""
    deaf = frozenset({"columns"})
    found, _ = attack(SUM, small_plan(SUM, degree), OUTSIDE, LateCounts, deaf)
    assert found.passes(deaf=deaf) and found.is_refused()


def test_the_root_of_the_sum_of_fractions_is_absorbed(degree: int) -> None:
    """Else the denominator makes up for a numerator that is not 0."""
    deaf = frozenset({"fractions.root"})

    class Chosen(Cheat):
        def root(self, numerator: Elements, denominator: Elements) -> Elements:
            return denominator + divide(numerator, self.channel.peek("fractions.combine"))

    found, _ = attack(SUM, small_plan(SUM, degree), OUTSIDE, Chosen, deaf)
    assert found.passes(deaf=deaf) and found.is_refused()


def test_fractions_of_a_layer_are_absorbed(degree: int) -> None:
    """Else they are moved along the line whose point is known."""
    deaf = frozenset({"fractions.ends"})

    class Chosen(Cheat):
        def ends(self, level: int, claim: Elements, mix: Elements, weight: Elements, honest: Elements) -> Elements:
            r = self.channel.peek("fractions.line")
            n0, n1, d0, d1 = honest
            missing = divide(claim, weight) - held_by(honest, mix)
            step = divide(missing, multiply(r, d1) - multiply(self.one - r, d0))
            return np.stack([n0 + multiply(r, step), n1 - multiply(self.one - r, step), d0, d1])

    found, _ = attack(SUM, small_plan(SUM, degree), OUTSIDE, Chosen, deaf)
    assert found.passes(deaf=deaf) and found.is_refused()


def held_by(ends: Elements, mix: Elements) -> Elements:
    n0, n1, d0, d1 = ends
    return multiply(n0, d1) + multiply(n1, d0) + multiply(mix, multiply(d0, d1))


def test_rounds_of_a_layers_sumcheck_are_absorbed(degree: int) -> None:
    deaf = frozenset({"fractions.sum"})

    class Wrong(Cheat):
        def ends(self, level: int, claim: Elements, mix: Elements, weight: Elements, honest: Elements) -> Elements:
            if level:
                return honest
            made = honest.copy()
            made[0] = made[0] + divide(claim - held_by(honest, mix), honest[3])
            return made

    found, _ = attack(SUM, small_plan(SUM, degree), OUTSIDE, Wrong, deaf)
    assert found.passes(deaf=deaf) and found.is_refused()


def test_looked_up_values_are_absorbed(degree: int) -> None:
    """Else errors of two claims in one commitment cancel, and a value is looked up that is not the committed one."""
    deaf = frozenset({"lookups.values"})

    def kind(gamma: Elements | None) -> type[Cheat]:
        class Swapped(Cheat):
            def lookups(self, looked_up: list[Any]) -> None:
                super().lookups([within(pair) for pair in looked_up])

            def counts(self, looked_up: list[Any]) -> None:
                super().counts([within(pair) for pair in looked_up])

            def settled(self, label: str, asked: list[tuple[int, Mix]], honest: Elements) -> Elements:
                if label != "lookups.values" or gamma is None:
                    return honest
                (place, mix), *_ = (
                    (i, mix) for i, (base, mix) in enumerate(asked) if self.plan.bases[base].shape == (4,)
                )
                error = self.applied(mix, numbers([15, 2, 3, 4])) - honest[place]
                step = divide(multiply(error, gamma), gamma - self.one)
                made = honest.copy()
                made[place], made[place + 1] = made[place] + step, made[place + 1] - divide(step, gamma)
                return made

        return Swapped

    _, first = attack(SUM, small_plan(SUM, degree), OUTSIDE, kind(None), deaf)
    found, _ = attack(SUM, small_plan(SUM, degree), OUTSIDE, kind(first.gammas[0]), deaf)
    assert found.passes(deaf=deaf) and found.is_refused()


def within(looked_up: tuple[Any, Any]) -> tuple[Any, Any]:
    """What is looked up in place of 16: 15, which is an entry."""
    keys, values = looked_up
    return numbers([min(int(key), 15) for key in keys]), values
