"""Forgeries that a verifier without one of its checks accepts, and that both verifiers refuse."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from independent_verifier import geometry, opening
from independent_verifier.arithmetic import PRIME, Elements, dot, multiply, numbers
from independent_verifier.numbered import Mix
from independent_verifier.transcript import Transcript
from independent_verifier.verifier import Verifier
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
    publics_of,
    small_plan,
)
from tensor_cheat import Cheat
from tensor_forgery import forged_trace
from tensor_proofs import example_inputs, planned, refusals
from tensor_words import Sending, divide

from circuitize.backends.tensor.forms import Column
from circuitize.circuits import integers
from circuitize.circuits.types import Fixed
from circuitize.provers.tensor.plan import plan
from circuitize.provers.tensor.statement import Statement

pytestmark = at_every_degree


def test_the_cheat_proves_what_is_true(degree: int) -> None:
    for program, inputs in ((SUM, INPUTS), (PRODUCT, INPUTS)):
        found, _ = attack(program, small_plan(program, degree), inputs)
        assert found.passes() and refusals(found.program, found.statement, found.proof, found.made) == (None, None)


def test_it_proves_a_training_step(degree: int) -> None:
    """A second prover, of other code, whose proofs the verifiers accept."""
    program, _ = planned("iris.py:step")
    made = plan(program, degree=degree)
    found, _ = attack(program, made, example_inputs(program))
    assert refusals(program, found.statement, found.proof, made) == (None, None)


def test_without_tags_a_value_is_looked_up_in_another_table(degree: int) -> None:
    narrow = Fixed((4,), 0, 0, 3)
    program = built([SMALL, narrow], (integers.Add(), (0, 1)))

    class Untagged(Cheat):
        tags = False

        def counts(self, looked_up: list[Any]) -> None:
            """All keys are counted in the wide table."""
            wide = next(t for t, table in enumerate(self.plan.tables) if table.size == 16)
            for t, table in enumerate(self.plan.tables):
                keys = [int(key) for own, _ in looked_up for key in own] if t == wide else []
                ((base, _),) = self.plan.forms[table.column].terms
                self.values[base] = numbers([keys.count(key) for key in range(table.size)])

    class Untold(Verifier):
        def _pairing(self, beta: Elements) -> tuple[Elements, Elements]:
            return self.zero, super()._pairing(beta)[1]

    inputs = {"in0": np.array([1, 2, 3, 4]), "in1": np.array([9, 0, 3, 1])}
    found, _ = attack(program, small_plan(program, degree), inputs, Untagged)
    assert found.passes(Untold) and found.is_refused()


def test_without_their_values_entries_of_a_function_have_any(degree: int) -> None:
    program = built([Fixed((4,), 0, 0, 12)], (integers.Lookup(0, np.arange(13) ** 2, 0), (0,)))
    made = small_plan(program, degree)

    class Unpaired(Cheat):
        pairs = False

    class Untold(Verifier):
        def _pairing(self, beta: Elements) -> tuple[Elements, Elements]:
            return super()._pairing(beta)[0], self.zero

    inputs = {"in0": np.array([1, 2, 3, 4])}
    trace = forged_trace(made, inputs, made.arrow.outputs.tolist()[0], lambda x: x + 1)
    cheat = Unpaired(made, made.values(trace))
    messages, roots = cheat.prove(publics_of(made, trace))
    publics = publics_of(made, trace)
    found = Forgery(program, made, Statement(publics, dict(zip(made.groups, roots, strict=True))), messages)
    assert found.passes(Untold) and found.is_refused()


def test_rows_that_pad_a_table_are_no_entries(degree: int) -> None:
    """A table of 13 has 3 rows more in its commitment; counts in them are not weighed, unless the plan says 16."""
    program = built([Fixed((4,), 0, 0, 12)], (integers.Scale(2, 0), (0,)))
    made = small_plan(program, degree)
    assert [table.size for table in made.tables] == [13]
    inputs = {"in0": np.array([1, 2, 3, 14])}

    class Padding(Cheat):
        def entries(self, number: int) -> Any:
            _, counts, values = super().entries(number)
            counts[14] = numbers(1)
            return numbers(range(16)), counts, values

        def committed(self, commitment: int, table: Any) -> Any:
            made = table.copy()
            if commitment == len(self.plan.commitments) - 1:
                ((base, _),) = self.plan.forms[self.plan.tables[0].column].terms
                made[self.plan.bases[base].offset + 14] = numbers(1)  # type: ignore[union-attr]
            return made

    found, _ = attack(program, made, inputs, Padding)
    assert found.is_refused()
    wider = replace(
        made,
        tables=(replace(made.tables[0], size=16),),
        bases=tuple(replace(b, shape=(16,)) if isinstance(b, Column) and b.shape == (13,) else b for b in made.bases),
        forms=tuple(replace(f, shape=(16,)) if f.shape == (13,) else f for f in made.forms),
    )
    found, _ = attack(program, wider, inputs)
    assert found.passes()


def test_leaves_belong_to_the_root(degree: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else anything is opened for the root of something else."""

    class Foreign(Cheat):
        def roots(self, honest: list[bytes]) -> list[bytes]:
            return [b"\7" * 32, *honest[1:]]

    found, _ = attack(SUM, small_plan(SUM, degree), INPUTS, Foreign)
    assert found.is_refused()

    class Anything(bytes):
        def __ne__(self, other: object) -> bool:
            return False

    monkeypatch.setattr("independent_verifier.verifier.published", lambda *_: Anything())
    assert found.passes()


class Agreeing(FalseSum):
    """Sends a false folded polynomial that agrees with the true one in as many places as its degree lets it."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.agreeing: list[set[int]] = []

    def guessed(self, honest: Elements, weights: Elements, claim: Elements) -> Elements:
        first = self.sources[0]
        count, depth = 1 << first.block.bits, first.geometry.domain - opening.FOLD
        leaves = 1 << depth
        zeros = np.random.default_rng(0).permutation(leaves)[: count - 1]
        vanishing = [1]
        for place in zeros:
            z = pow(opening.root_of_unity(depth), opening.reversed_bits(int(place), depth), PRIME)
            shifted = [0, *vanishing]
            scaled = [-z * c for c in vanishing] + [0]
            vanishing = [(x + y) % PRIME for x, y in zip(shifted, scaled, strict=True)]
        step = honest * numbers(0)
        step[first.block.offset : first.block.offset + count] = self.lifted(numbers(vanishing))
        missing = divide(claim - dot(honest, weights), dot(step, weights))
        self.agreeing.append(set(zeros.tolist()) if missing.any() else set(range(leaves)))
        return honest + multiply(step, missing)


def test_enough_places_are_asked(degree: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one query a false polynomial passes in half of all cases: it agrees with the fold in 15 places of 32."""
    made = small_plan(SUM, degree)
    verdicts: set[bool] = set()
    errors = iter(range(1, 23))
    while verdicts != {True, False}:
        false = INPUTS["in0"] + INPUTS["in1"] + np.array([0, next(errors), 0, 0])
        found, _ = attack(SUM, made, INPUTS, Agreeing, output=false)
        assert found.is_refused()
        with monkeypatch.context() as weak:
            weak.setattr(geometry, "queries_at", lambda _: 1)
            found, cheat = attack(SUM, made, INPUTS, Agreeing, output=false)
            assert isinstance(cheat, Agreeing)
            assert len(cheat.agreeing) == 1
            assert found.passes() == (cheat.queried[0][0] in cheat.agreeing[0])
            verdicts.add(found.passes())
        assert found.is_refused()


class Closed(Verifier):
    """Opens no claim."""

    def _opening(self, *_: object) -> None:
        self.transcript.at = len(self.transcript.messages)


def test_a_claim_is_opened(degree: int) -> None:
    """Else the roots of inputs say nothing."""
    found, _ = attack(SUM, small_plan(SUM, degree), INPUTS, FalseSum, output=INPUTS["in0"] + INPUTS["in1"] + 1)
    assert found.passes(Closed) and found.is_refused()


def test_an_equation_holds_in_each_coordinate(degree: int) -> None:
    """Of claims that would all be opened; what is missing from the sum is in one coordinate."""
    for coordinate in range(degree):

        class Nearly(FalseSum):
            def missing(self, mix: Mix, honest: Elements, coordinate: int = coordinate) -> Elements:
                made = super().missing(mix, honest).copy()
                made[coordinate] = made[coordinate] + numbers(1)
                return made

        found, _ = attack(SUM, small_plan(SUM, degree), INPUTS, Nearly)
        assert not found.passes(Closed) and found.is_refused()


def test_nothing_follows_the_messages(degree: int) -> None:
    """Else a proof has as many encodings as one likes."""

    class Lenient(Verifier):
        def check(self, context: bytes) -> None:
            self.transcript.finish = lambda: None  # type: ignore[method-assign]
            super().check(context)

    found, _ = attack(SUM, small_plan(SUM, degree), INPUTS)
    longer = Forgery(SUM, found.made, found.statement, found.proof.messages + b"\0" * 8)
    assert longer.passes(Lenient) and longer.is_refused()


def test_numbers_have_one_encoding(degree: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else 0 may be written as p."""

    class Longer(Cheat):
        def settled(self, label: str, asked: list[tuple[int, Mix]], honest: Elements) -> Elements:
            return honest

    zero = {"in0": np.zeros(4, np.int64), "in1": np.zeros(4, np.int64)}

    def send_numbers(self: Any, label: str, values: Any) -> None:
        flat = np.asarray(values).reshape(-1)
        if label == "product":
            flat = np.array([int(x) or PRIME for x in flat], object)
        self.send(label, flat.astype("<u8").tobytes())

    monkeypatch.setattr(Sending, "send_numbers", send_numbers)
    found, _ = attack(PRODUCT, small_plan(PRODUCT, degree), zero)
    assert refusals(found.program, found.statement, found.proof, found.made)[0] == "a word of product is not below p"

    def reduced(self: Any, label: str, count: int) -> Any:
        return numbers(np.frombuffer(self.bytes(label, 8 * count), "<u8").astype(object))

    monkeypatch.setattr(Transcript, "numbers", reduced)
    assert found.passes()
