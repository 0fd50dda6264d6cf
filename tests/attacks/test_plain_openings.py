"""Forgeries of the opening of several roots at once, where nothing is hidden: both verifiers refuse each.

The tables have different sizes and rates; a cheating prover knows the protocol, and deviates in one place.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from independent_verifier import geometry
from independent_verifier.arithmetic import Elements, Numbers, dot, multiply, numbers, total
from independent_verifier.geometry import Block, Geometry
from independent_verifier.numbered import Mix
from independent_verifier.opening import queries_at, reversed_bits, root_of_unity
from independent_verifier.weights import apply
from r1cs_programs import program as program_of
from tensor_attack import Forgery, at_every_degree, attack, built, small_plan
from tensor_cheat import Cheat
from tensor_proofs import committed_inputs, entering, refusals
from tensor_words import Sending, Tree, divide

from circuitize.backends.tensor.forms import PRIME, Column, Public
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import View
from circuitize.circuits.port import Role, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.provers.tensor.plan import Plan
from circuitize.provers.tensor.prover import prove_values

SMALL = Fixed((4,), 0, 0, 15)
OPENED = "an opened leaf does not belong to its commitment"
VALUES = "a commitment does not open to the claimed values"


def by_roles(program: IntegerProgram, *roles: Role) -> IntegerProgram:
    """The same program, each of whose inputs has another role, and so a root of its own."""
    inputs = zip(program.inputs, roles, strict=True)
    return replace(program, inputs=tuple(replace(port, role=role) for port, role in inputs))


def sum_of(long: Fixed) -> IntegerProgram:
    """The sum of data, of state, and of the first of many parameters; its tables have two sizes or three."""
    first = integers.Reindex(View.slice(long.shape, (0,), (4,)))
    rows = ((first, (2,)), (integers.Add(), (0, 1)), (integers.Add(), (3, 4)))
    return by_roles(built([SMALL, SMALL, long], *rows), Role.DATA, Role.STATE, Role.PARAMETER)


SUM = sum_of(Fixed((1100,), 0, 0, 15))
ROOTS = ("data", "parameters", "state")


@cache
def made(degree: int, program: IntegerProgram = SUM) -> Plan:
    found = small_plan(program, degree, *ROOTS)
    assert {name for _, name in found.groups} == set(ROOTS)
    return found


def inputs_of(program: IntegerProgram = SUM) -> dict[str, Any]:
    random = np.random.default_rng(5)
    formats = {port.name: port.format for port in program.inputs if port.format is not None}
    return {name: random.integers(0, own.high, own.shape, endpoint=True) for name, own in formats.items()}


def wrong(program: IntegerProgram = SUM) -> Any:
    """An output that is not the program's."""
    plan = made(2, program)
    return plan.trace(inputs_of(program))[plan.arrow.outputs.tolist()[0]] + np.array([0, 1, 0, 0])


def said(found: Forgery, **more: Any) -> str | None:
    """What both verifiers say, who know of all roots that what is behind them is in format."""
    statement = replace(found.statement, **more)
    return refusals(found.program, statement, found.proof, found.made, trusted=entering(statement))[0]


def false(degree: int, kind: type[Cheat]) -> str | None:
    """What is said of a proof of an output that is one too large."""
    return said(attack(SUM, made(degree), inputs_of(), kind, output=wrong())[0])


@at_every_degree
def test_the_tables_have_two_rates_and_three_blocks_of_one_size(degree: int) -> None:
    sizes = made(degree).layout
    assert sorted((own.bits, own.rate) for own in sizes.tables) == [(8, 1), (8, 1), (8, 1), (11, 2)]
    (vector,) = geometry.vectors([Geometry(*own) for own in sizes.tables], hides=False)
    assert sorted(block.offset for block in vector.folds) == [0, 128, 144, 160] and vector.last
    assert said(attack(SUM, made(degree), inputs_of())[0]) is None


# A false sum, and a vector that makes up for it in the block of one table.


class FalseSum(Cheat):
    """Claims of one table what makes the false output true."""

    of = 0

    def settled(self, label: str, asked: list[tuple[int, Mix]], honest: Elements) -> Elements:
        if label != "zeros":
            return honest
        tables = [column.commitment for base, _ in asked if isinstance(column := self.plan.bases[base], Column)]
        (weights,) = {number for base, mix in asked for number in mix if self.plan.bases[base].shape == (4,)}
        (output,) = (number for number, base in enumerate(self.plan.bases) if isinstance(base, Public))
        found = honest.copy()
        place = tables.index(self.of)
        found[place] = found[place] + apply(self.weights[weights], self.values[output]) - total(honest)
        return found


def compensating(table: int, most: bool) -> type[FalseSum]:
    """One element of a block is moved; or so many that the block's polynomial keeps as many values as it can."""

    class Compensating(FalseSum):
        def guessed(self, honest: Elements, weights: Elements, claim: Elements) -> Elements:
            source = self.sources[table]
            own = slice(source.block.offset, source.block.offset + (1 << source.block.bits))
            step = honest * numbers(0)
            step[own] = self.lifted(vanishing(source.geometry, 1 << source.block.bits) if most else unit(own))
            return honest + multiply(step, divide(claim - dot(honest, weights), dot(step, weights)))

    return Compensating


def unit(own: slice) -> Numbers:
    return numbers([1] + [0] * (own.stop - own.start - 1))


@cache
def vanishing(table: Geometry, count: int) -> Numbers:
    """A polynomial of so many coefficients that is zero at the first places of a table's leaves, one fewer."""
    made, depth = [1], table.domain - 4
    for place in range(count - 1):
        z = pow(root_of_unity(depth), reversed_bits(place, depth), PRIME)
        made = [(x - z * y) % PRIME for x, y in zip([0, *made], [*made, 0], strict=True)]
    return numbers(made)


@pytest.mark.parametrize("most", [False, True], ids=["one", "most"])
@pytest.mark.parametrize("table", [0, 2])
def test_each_block_is_the_fold_of_its_own_table(table: int, most: bool) -> None:
    assert false(2 + most, compensating(table, most)) == VALUES


@at_every_degree
def test_a_false_claim_is_not_opened_by_honest_tables(degree: int) -> None:
    assert false(degree, FalseSum) == VALUES


@pytest.mark.parametrize("others", [(0, 1), (2, 1)])
def test_errors_on_two_roots_do_not_cancel(others: tuple[int, int]) -> None:
    """Claims on two tables, one too large and one too small by the same: the equation of the program holds."""

    class Cancelling(Cheat):
        def settled(self, label: str, asked: list[tuple[int, Mix]], honest: Elements) -> Elements:
            made = honest.copy()
            if label == "zeros":
                for place, sign in zip(others, (1, -1), strict=True):
                    made[place] = made[place] + self.one * numbers(sign)
            return made

    assert said(attack(SUM, made(2), inputs_of(), Cancelling)[0]) == VALUES


@pytest.mark.parametrize("table", [1, 2])
def test_tables_are_not_exchanged_for_others_after_the_claims(table: int) -> None:
    """Another table is opened, of which the false claim holds."""

    class Late(FalseSum):
        of = table

        def opened(self, commitment: int, honest: Numbers, weights: Elements) -> Numbers:
            found = honest.copy()
            if commitment == table:
                found[1] = found[1] + numbers(1)
            return found

    assert false(2, Late) == OPENED


# Another layout than the verifier's.


@pytest.mark.parametrize("turn", [(2, 1, 0, 3), (0, 1, 2, 3)], ids=["of one size", "of two sizes"])
def test_blocks_stand_in_one_order(turn: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """A prover who lays the folds of tables out in another order, and goes on with that vector."""
    found = geometry.vectors

    def turned(tables: Any, hides: bool) -> Any:
        (vector,) = found(tables, hides)
        sizes = [vector.folds[i].bits for i in turn]
        offsets = np.cumsum([0, *(1 << bits for bits in sizes)]).tolist()
        blocks = {i: Block(offset, bits, 1 << bits) for i, offset, bits in zip(turn, offsets, sizes, strict=False)}
        made = tuple(blocks[i] for i in range(len(tables)))
        assert made != vector.folds
        return [replace(vector, folds=made)]

    with monkeypatch.context() as own:
        own.setattr("tensor_cheat_openings.vectors", turned)
        forgery, _ = attack(SUM, made(2), inputs_of())
    assert said(forgery) is not None


@pytest.mark.parametrize(("table", "rate"), [(0, 2), (2, 1), (2, 3)])
def test_each_table_has_the_rate_of_its_size(table: int, rate: int) -> None:
    """A word at another rate, as roots of small tables had before version 4: its tree has another depth."""

    class Rated(Cheat):
        def sizes(self) -> list[Geometry]:
            sizes = super().sizes()
            assert sizes[table].rate != rate
            sizes[table] = replace(sizes[table], rate=rate, queries=queries_at(rate))
            return sizes

    assert said(attack(SUM, made(2), inputs_of(), Rated)[0]) is not None


@pytest.mark.parametrize("table", [1, 2])
def test_a_table_has_no_more_elements_than_its_size(table: int) -> None:
    """A word of a polynomial of twice the degree, on the right domain: coefficients that no claim is about."""

    class Longer(Cheat):
        def roots(self, honest: list[bytes]) -> list[bytes]:
            size, own = self.sizes()[table], self.tables[table]
            self.trees[table] = Tree(np.concatenate([own, own]).view(type(own)), size.domain, bytes([7, table]))
            return self.published()

    assert said(attack(SUM, made(2), inputs_of(), Longer)[0]) == VALUES


# Other places, answers, encodings.


@pytest.mark.parametrize("first", [True, False])
def test_places_are_those_that_are_drawn(first: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first places in place of random ones; one place fewer."""
    draw = Sending.positions

    def drawn(self: Sending, label: str, count: int, bits: int) -> list[int]:
        places = draw(self, label, count, bits)
        return list(range(len(places))) if first else places[1:]

    with monkeypatch.context() as own:
        own.setattr(Sending, "positions", drawn)
        found, _ = attack(SUM, made(2), inputs_of())
    assert said(found) is not None


def test_one_table_does_not_answer_for_another() -> None:
    """The leaves, salts and nodes of a table of the same size, whose values are the same, too."""

    class Exchanged(Cheat):
        def answers(self, size: int) -> Any:
            alike = [i for i, own in enumerate(self.sources) if own.geometry.bits == 8]
            first, second = (self.sources[i] for i in alike[:2])
            first.tree, second.tree = second.tree, first.tree
            return super().answers(size)

    equal = {**inputs_of(), "in1": inputs_of()["in0"]}
    assert said(attack(SUM, made(2), equal)[0]) is None
    assert said(attack(SUM, made(2), equal, Exchanged)[0]) == OPENED


@pytest.mark.parametrize("label", ["whir.last", "whir.leaves", "whir.fold"])
def test_numbers_of_an_opening_have_one_encoding(label: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Zeros that are written, absorbed, and hashed into leaves, as p."""
    zero = {name: np.zeros_like(value) for name, value in inputs_of().items()}

    def send_numbers(self: Sending, own: str, values: Any) -> None:
        flat = np.asarray(values).reshape(-1)
        self.send(own, np.array([int(x) or PRIME * (own == label) for x in flat], object).astype("<u8").tobytes())

    with monkeypatch.context() as own:
        own.setattr(Sending, "send_numbers", send_numbers)
        found, _ = attack(SUM, made(2), zero)
    assert said(found) == f"a word of {label} is not below p"


# Roots in the statement.


def test_roots_do_not_stand_for_each_other() -> None:
    """Two roots exchanged after the proof, or the proof's own root in a group's place."""
    found, cheat = attack(SUM, made(2), inputs_of())
    roots = dict(found.statement.roots)
    for one in roots:
        others = [value for key, value in roots.items() if key != one] + [cheat.published()[-1], cheat.trees[0].top]
        for other in others:
            assert said(found, roots={**roots, one: other}) is not None


def fixed_points() -> IntegerProgram:
    """A state's maximum with [0, 1, 2, 3]; before and after it has one list of ports."""
    builder = Builder()
    (x,) = builder.inputs([SMALL])
    least = builder.add(integers.Constant.of(np.arange(4)))
    made = committed_inputs(program_of(builder.build([builder.add(integers.Maximum(), x, least)])))
    before, after = (
        tuple(replace(port, name="held", role=Role.STATE, visibility=Visibility.COMMITTED) for port in ports)
        for ports in (made.inputs, made.outputs)
    )
    return replace(made, inputs=before, outputs=after)


@at_every_degree
def test_a_root_that_stands_twice_is_of_one_tensor(degree: int) -> None:
    """Of a state that stays, honestly; of one that does not, the first root given for the second."""
    program = fixed_points()
    plan = small_plan(program, degree)
    assert plan.lists[0] == plan.lists[1]

    class Once(Cheat):
        def roots(self, honest: list[bytes]) -> list[bytes]:
            self.trees[1], self.tables[1] = self.trees[0], self.tables[0]
            return self.published()

    for values, reason in (([3, 3, 3, 3], None), ([1, 0, 2, 7], VALUES)):
        found, _ = attack(program, plan, {"held": np.array(values)}, Once)
        assert len(set(found.statement.roots.values())) == 1
        assert said(found) == reason


# A vector that is committed to.


LONG = sum_of(Fixed((1 << 16,), 0, 0, 3))


@pytest.mark.deep
@pytest.mark.parametrize("degree", [2, 3])
def test_the_root_of_a_vector_is_absorbed(degree: int) -> None:
    """Else it is made for the places that are asked, of a vector with the false sum."""
    deaf = frozenset({"whir.root"})
    plan = made(degree, LONG)
    found, _ = attack(LONG, plan, inputs_of(LONG), FalseSum, deaf, output=wrong(LONG))
    assert found.passes(deaf=deaf) and said(found) is not None


def test_every_message_of_a_long_opening_matters() -> None:
    """By the prover of this package, who goes on with a changed word: each message of each table, and of the vector."""
    plan, labels = made(2, LONG), Counter[str]()
    vectors = plan.layout.vectors
    assert [own.queries for own in vectors] == [157, 0]
    trace = plan.trace(inputs_of(LONG))
    values = plan.values(trace)

    def changed(label: str = "", number: int = -1) -> str | None:
        labels.clear()
        done = label == ""

        def hook(own: str, words: list[int]) -> list[int]:
            nonlocal done
            if (own, labels[own]) == (label, number) and words:
                words[0], done = (words[0] + 1) % PRIME, True
            labels[own] += 1
            return words

        found = prove_values(LONG, plan, trace, values, hook=hook)
        trusted = entering(found.statement)
        reason = refusals(LONG, found.statement, found.proof, plan, trusted=trusted)[0]
        assert (reason is not None) == (done and label != ""), (label, number)
        return reason

    assert changed() is None
    counts = {label: count for label, count in labels.items() if label.startswith("whir")}
    assert counts["whir.leaves"] == 5 and counts["whir.salts"] == 4 and counts["whir.root"] == 1
    belonging = {"whir.root", "whir.leaves", "whir.salts", "whir.nodes"}
    for label, count in counts.items():
        for number in range(count) if label in belonging else {0, count - 1}:
            assert changed(label, number) in (OPENED if label in belonging else VALUES, None), (label, number)
