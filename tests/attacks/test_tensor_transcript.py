"""Forgeries that a verifier that does not absorb one message accepts, and that both verifiers refuse.

A cheating prover that knows of it finds a challenge before it sends what the challenge should follow from, and makes a
proof of something false.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from independent_verifier.arithmetic import Elements, multiply, numbers
from independent_verifier.numbered import Mix
from independent_verifier.weights import dense
from tensor_attack import (
    INPUTS,
    PRODUCT,
    SMALL,
    SUM,
    FalseSum,
    Forgery,
    at_every_degree,
    attack,
    built,
    small_plan,
)
from tensor_cheat import Cheat
from tensor_forgery import signed
from tensor_words import combination, divide

from circuitize.backends.tensor.forms import Product
from circuitize.circuits import integers
from circuitize.circuits.integers import View
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.provers.tensor.plan import Plan

pytestmark = at_every_degree


def vanishing(weights: Elements, limit: int) -> list[int]:
    """Small integers, not all 0, whose sum with these weights is 0: one a coordinate is solved for, others drawn."""
    random = np.random.default_rng(0)
    degree = weights.shape[-1]
    for _ in range(100):
        drawn = random.integers(1, limit, (200, len(weights) - degree))
        solved = combination(weights[:degree], -(numbers(drawn) @ weights[degree:]))
        for found, others in zip(solved.tolist(), drawn.tolist(), strict=True):
            if max(abs(signed(x)) for x in found) < limit:
                return [*map(signed, found), *others]
    raise AssertionError("expected a vanishing sum")


def zero_weights(cheat: Cheat, made: Plan) -> Elements:
    """The weights at the point where equations are tested: those of the last claims before products are reduced."""
    return dense(next(w for w in reversed(cheat.weights) if len(dense(w)) == made.forms[made.zeros[0]].shape[0]))


WIDE = Fixed((4,), 0, -(1 << 60), 1 << 60)


def test_public_values_are_absorbed(degree: int) -> None:
    """Else outputs are chosen after the point where they are tested."""
    program = built([WIDE, WIDE], (integers.Add(), (0, 1)))
    zero = {"in0": np.zeros(4, np.int64), "in1": np.zeros(4, np.int64)}
    deaf = frozenset({"public"})
    found, cheat = attack(program, small_plan(program, degree), zero, deaf=deaf)
    false = np.array(vanishing(zero_weights(cheat, found.made), 1 << 60), np.int64)
    found.statement = replace(found.statement, publics={("output", "out0"): false})
    assert found.passes(deaf=deaf) and found.is_refused()


def test_what_a_proof_is_for_is_absorbed(degree: int) -> None:
    """Else a proof of one step is one of another."""
    deaf = frozenset({"context"})
    found, _ = attack(SUM, small_plan(SUM, degree), INPUTS, deaf=deaf)
    assert found.passes(deaf=deaf, context=b"step 1") and found.passes(deaf=deaf, context=b"step 2")
    assert found.is_refused() and found.is_refused(b"step 2")
    found, _ = attack(SUM, small_plan(SUM, degree), INPUTS)
    assert not found.is_refused() and found.is_refused(b"step 2")


def test_the_program_is_absorbed_first(degree: int) -> None:
    """Else its constants are chosen after the point where its equations are tested."""
    deaf = frozenset({"statement"})

    def program(amounts: Any) -> IntegerProgram:
        constant = integers.Constant.of(np.array(amounts, np.int64))
        return built([WIDE, WIDE], (integers.Add(), (0, 1)), (constant, ()), (integers.Add(), (2, 3)))

    zero = {"in0": np.zeros(4, np.int64), "in1": np.zeros(4, np.int64)}
    own = program([1, 0, 0, 0])
    found, cheat = attack(own, small_plan(own, degree), zero, deaf=deaf)
    false = vanishing(zero_weights(cheat, found.made), 1 << 60)
    other = program([1 + false[0], *false[1:]])
    moved = Forgery(other, small_plan(other, degree), found.statement, found.proof.messages)
    assert moved.passes(deaf=deaf) and moved.is_refused()


def test_roots_are_absorbed(degree: int) -> None:
    """Else what is committed to is chosen after everything that is claimed of it."""
    deaf = frozenset({"root"})
    program = built([SMALL], (integers.Scale(2, 0), (0,)))

    class Late(Cheat):
        def opened(self, commitment: int, table: Any, weights: Elements) -> Any:
            if commitment:
                return table
            made, first = table.copy(), slice(self.degree)
            made[self.degree] = made[self.degree] + numbers(1)
            made[first] = made[first] + combination(weights[first], -weights[self.degree])
            return made

    found, _ = attack(program, small_plan(program, degree), {"in0": INPUTS["in0"]}, Late, deaf)
    assert found.passes(deaf=deaf) and found.is_refused()


class FalseProduct(Cheat):
    """Takes the false output for the product."""

    def prove(self, publics: Any) -> Any:
        for base, found in enumerate(self.plan.bases):
            if isinstance(found, Product):
                false = self.values[base].copy()
                false[1] = false[1] + numbers(1)
                self.true = base, self.values[base]
                self.values[base] = false
        return super().prove(publics)

    def product(self, base: int, mix: Mix, value: Elements) -> None:
        self.values[self.true[0]] = self.true[1]
        super().product(base, mix, value)


def cancelling(gamma: Elements | None, base: type[Cheat], label: str) -> type[Cheat]:
    """Errors e and f of two claims that follow each other, e + f being what is missing and e + gamma f being 0."""

    class Cancelling(base):  # type: ignore[misc, valid-type]
        def settled(self, sent: str, asked: list[tuple[int, Mix]], honest: Elements) -> Elements:
            if sent != label or gamma is None:
                return honest
            made = honest.copy()
            error = self.error(asked, honest)
            made[1] = made[1] - divide(error, gamma - self.one)
            made[0] = made[0] + divide(multiply(error, gamma), gamma - self.one)
            return made

        def error(self, asked: list[tuple[int, Mix]], honest: Elements) -> Elements:
            if label == "zeros":
                return FalseSum.missing(self, asked[0][1], honest)
            return divide(self.left, multiply(self.factor, honest[2])) - honest[0] - honest[1]

    return Cancelling


SUM_TIMES = built([SMALL] * 3, (integers.Add(), (0, 1)), (integers.Multiply(), (3, 2)))
TALL, OUTER = Fixed((2,), 0, 0, 15), integers.Contract("i,j->ij")
RESHAPED = built([TALL, Fixed((3,), 0, 0, 15)], (OUTER, (0, 1)), (integers.Reindex(View.reshape((2, 3), (3, 2))), (2,)))


@pytest.mark.parametrize(
    ("label", "program", "kind"),
    [
        ("product", PRODUCT, FalseProduct),
        ("dense", RESHAPED, FalseProduct),
        ("zeros", SUM, None),
        ("operands", SUM_TIMES, FalseProduct),
        ("whir.fold", SUM, FalseSum),
        ("whir.last", SUM, FalseSum),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_claims_and_sumchecks_are_absorbed(
    degree: int, label: str, program: IntegerProgram, kind: type[Cheat] | None
) -> None:
    """Else sums that are false, of products or of openings, are brought back to true ones.

    The root of a vector, whose proofs are long, is in test_plain_openings.py.
    """
    deaf = frozenset({label})
    random = np.random.default_rng(3)
    inputs = {
        p.name: random.integers(0, p.format.high, p.format.shape, endpoint=True) for p in program.inputs if p.format
    }
    made = small_plan(program, degree)
    false = made.trace(inputs)[-1].copy()
    false[(0,) * (false.ndim - 1) + (1,)] += 1
    gamma = None
    if label in ("zeros", "operands"):
        _, first = attack(program, made, inputs, cancelling(None, kind or Cheat, label), deaf, false)
        gamma = first.gammas[0]
    chosen = cancelling(gamma, kind or Cheat, label) if gamma is not None else kind
    assert chosen is not None
    found, _ = attack(program, made, inputs, chosen, deaf, false)
    assert found.passes(deaf=deaf) and found.is_refused()
