"""Weights under roots of their own: what a prover tries who has other weights, other roots, or other format proofs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
from frozen_networks import (
    GROUPS,
    UNREAD,
    frozen_network,
    groups_of_at_most,
    inputs_of,
    with_unread_out_of_format,
)
from tensor_forgery import answer, forged_trace, forgery
from tensor_proofs import Integers, entering, refusals

import circuitize as cz
from circuitize.api.exact import Exact, exact
from circuitize.backends.tensor import frozen
from circuitize.backends.tensor.groups import INPUT, format_program, frozen_groups
from circuitize.circuits.integers import Contract
from circuitize.circuits.phases import Phases
from circuitize.circuits.port import Role
from circuitize.frontends.formats import labels
from circuitize.frontends.transformer import gpt2
from circuitize.provers.tensor.plan import OPENINGS, Plan, plan
from circuitize.provers.tensor.prover import Proved, commit, prove_values

VOCABULARY, LENGTH = 11, 3
TOKENS = (3.0, 1.0, 4.0)


@pytest.fixture(scope="module")
def limit() -> Iterator[None]:
    with groups_of_at_most(1 << 10):
        yield


@pytest.fixture(scope="module")
def tied(limit: None) -> Exact:
    return frozen_network(VOCABULARY, TOKENS)


@pytest.fixture(scope="module")
def made(tied: Exact) -> Plan:
    return plan(tied.integer, assumed=GROUPS, openings=OPENINGS)


@pytest.fixture(scope="module")
def plain(tied: Exact) -> Plan:
    """For forgeries: a prover in zero knowledge releases no false proof."""
    return plan(tied.integer, assumed=GROUPS)


@pytest.fixture(scope="module")
def weights(tied: Exact, tmp_path_factory: pytest.TempPathFactory) -> cz.Weights:
    return cz.commit_weights(tied, tmp_path_factory.mktemp("frozen") / "weights")


def proved(program: Exact, made: Plan, inputs: Mapping[str, Integers]) -> Proved:
    trace = made.trace(inputs)
    return prove_values(program.integer, made, trace, made.values(trace))


def test_roots_are_shown_once_and_opened_by_every_proof(tied: Exact, made: Plan, weights: cz.Weights) -> None:
    """Both verifiers; two programs of one list of frozen ports have the same roots, and one file counts for both."""
    assert frozen_groups(tied.integer) == GROUPS == tuple(weights.roots)
    before = weights.left()
    proof = weights.proving(tied).prove()
    assert {name: left - 1 for name, left in before.items() if left} == weights.left()
    stated = {name: int.from_bytes(root, "big") for name, root in weights.roots.items()}
    assert {name: proof.statement.roots[INPUT, name] for name in GROUPS} == stated
    verdict = cz.verifier(tied, weights=cz.accept_weights(tied, weights.folder)).check(proof)
    assert verdict.valid, verdict.reason
    assert "security_bits" in verdict.as_json() and proof.security_bits is not None
    errors = sum(2.0**-bits for bits in (proof.security_bits, *weights.security_bits.values()))
    assert verdict.security_bits == pytest.approx(-math.log2(errors), abs=0.15)
    without = cz.verifier(tied).check(proof)
    assert without.reason is not None and "--weights WEIGHTS" in without.reason
    longer = gpt2(VOCABULARY, context=4, width=8, blocks=1, heads=2, length=LENGTH + 1).freeze(apart=True)
    text = {"inputs": np.array([[3.0, 1.0, 4.0, 1.0]])}
    other = exact(cz.predict(longer, 1, labels(VOCABULARY), [{**longer.initial(0), **text}]), Phases())
    again = weights.proving(other).prove()
    assert all(again.statement.roots[INPUT, name] == root for name, root in stated.items())
    assert cz.verifier(other, weights=cz.accept_weights(other, weights.folder)).check(again).valid


def test_tokens_may_be_public(tied: Exact, weights: cz.Weights) -> None:
    """The same roots; the verdict says the tokens, and a proof of the other kind is refused for these roots."""
    told = exact(tied.given.with_visibility(inputs="public"), Phases())
    circuit = weights.proving(told)
    verdict = cz.verifier(told, weights=weights).check(circuit.prove())
    assert verdict.valid and verdict.publics["inputs"].tolist() == [[3.0, 1.0, 4.0]]
    with pytest.raises(cz.CircuitizeError, match="scheme"):
        circuit.prove(not_zero_knowledge=True)


def test_both_verifiers_accept_a_proof_that_assumes_formats_of_the_roots_that_they_know(
    tied: Exact, made: Plan
) -> None:
    found = proved(tied, made, inputs_of(tied))
    known = entering(found.statement)
    known.pop("data")
    assert refusals(tied.integer, found.statement, found.proof, made, trusted=known) == (None, None)
    wrong = [
        {},
        {GROUPS[0]: known[GROUPS[0]]},
        dict(zip(GROUPS, reversed([known[name] for name in GROUPS]), strict=True)),
    ]
    for trusted in wrong:
        said = refusals(tied.integer, found.statement, found.proof, made, trusted=trusted)
        assert all("assumes" in str(one) for one in said)
    whole = plan(tied.integer, openings=OPENINGS)
    assert all(refusals(tied.integer, found.statement, found.proof, whole))
    assert made.looked_up < whole.looked_up and made.digest != whole.digest


def test_roots_that_are_exchanged_are_refused(tied: Exact, made: Plan) -> None:
    """Equal sizes, and a verifier that knows each of them as the other group's: an opening tells."""
    assert made.commitments[0] == made.commitments[1] and made.lists[0] != made.lists[1]
    found = proved(tied, made, inputs_of(tied))
    first, second = ((INPUT, name) for name in GROUPS)
    roots = {**found.statement.roots, first: found.statement.roots[second], second: found.statement.roots[first]}
    swapped = replace(found.statement, roots=roots)
    assert all(refusals(tied.integer, swapped, found.proof, made, trusted=entering(swapped)))


def test_weights_out_of_their_format_have_no_proof_of_their_format(tied: Exact, plain: Plan) -> None:
    """Who lets verifiers believe the root without its proof of format is cheated: so that proof is needed."""
    inputs = with_unread_out_of_format(tied)
    group = next(
        key[1] for key, ports in zip(plain.groups, plain.lists, strict=True) if UNREAD in {p.name for p in ports}
    )
    assert answer(tied.integer, plain, plain.trace(inputs)) is None
    formats = format_program(tied.integer, {group})
    shown = plan(formats)
    assert answer(formats, shown, shown.trace({name: inputs[name] for name in shown.inputs}))


def test_a_table_that_is_read_twice_is_one_table(tied: Exact, plain: Plan) -> None:
    """Logits by another table than that of the tokens: true of two tables, refused of one that is read twice."""
    two = frozen_network(VOCABULARY, TOKENS, tied=False)
    own = plan(two.integer, assumed=frozen_groups(two.integer))
    inputs = inputs_of(two)
    assert not np.array_equal(inputs["head"], inputs["tokens"])
    assert answer(two.integer, own, own.trace(inputs)) is None
    inputs = inputs_of(tied)
    products = [row for row in plain.arrow.rows if isinstance(plain.arrow.operations[row[0]], Contract)]
    honest, wire = plain.trace(inputs), products[-1][2][0]
    hidden = next(honest[source] for source in products[-1][1] if honest[source].size == 8)
    other = np.roll(inputs["tokens"], 1, axis=0)

    def changed(values: Integers) -> Integers:
        wrong = hidden.reshape(1, 8) @ other.reshape(VOCABULARY, 8).T
        assert wrong.shape[0] * wrong.shape[1] == values.size and not np.array_equal(
            wrong.reshape(-1), values.reshape(-1)
        )
        return wrong.reshape(values.shape)

    assert answer(tied.integer, plain, honest) is None
    assert answer(tied.integer, plain, forged_trace(plain, inputs, wire, changed))


def test_a_root_of_other_weights_is_refused(tied: Exact, made: Plan, weights: cz.Weights, tmp_path: Path) -> None:
    """In format too, by a proof of its own: a verifier that accepted one root takes no other."""
    other = {name: np.array(values) for name, values in tied.integer.examples[0].items()}
    other[UNREAD][LENGTH] += 1.0
    foreign = cz.commit_weights(tied, tmp_path / "other", {name: other[name] for name in other if name != "inputs"})
    found = foreign.proving(tied).prove(other)
    assert cz.verifier(tied, weights=foreign).check(found).valid
    reason = cz.verifier(tied, weights=weights).check(found).reason
    assert reason is not None and "assumes" in reason
    with pytest.raises(cz.CircuitizeError, match="other values"):
        weights.proving(tied).prove(other)


def test_a_proof_of_other_formats_is_none_of_these(tied: Exact, weights: cz.Weights, tmp_path: Path) -> None:
    """A program whose weights may be larger; its proof in the place of the one that is asked for; groups exchanged."""
    wider = [
        replace(port, format=replace(port.format, high=2 * port.format.high + 1)) if port.role is Role.FROZEN else port
        for port in format_program(tied.integer, GROUPS).inputs
    ]
    arrow = cz.permute([port.format for port in wider], [])
    loose = replace(format_program(tied.integer, GROUPS), arrow=arrow, inputs=tuple(wider))
    folder = cz.commit_weights(loose, tmp_path / "loose").folder
    for name in GROUPS:
        mixed = copytree(weights.folder, tmp_path / name)
        for file in ("proof.tensor", "statement.json"):
            (mixed / name / file).write_bytes((folder / name / file).read_bytes())
        with pytest.raises(cz.CircuitizeError, match=f"{name}.*in format"):
            cz.accept_weights(tied, mixed)
    swapped = copytree(weights.folder, tmp_path / "swapped")
    (swapped / GROUPS[0]).rename(swapped / "x")
    (swapped / GROUPS[1]).rename(swapped / GROUPS[0])
    (swapped / "x").rename(swapped / GROUPS[1])
    with pytest.raises(cz.CircuitizeError, match="in format"):
        cz.accept_weights(tied, swapped)


def test_a_proof_of_formats_of_another_root_is_stale(tied: Exact, weights: cz.Weights, tmp_path: Path) -> None:
    """Its statement rewritten to the root that is to be believed, or the other way round: refused."""
    again = cz.commit_weights(tied, tmp_path / "again")
    for file in ("proof.tensor", "statement.json"):
        mixed = copytree(weights.folder, tmp_path / file)
        (mixed / GROUPS[0] / file).write_bytes((again.folder / GROUPS[0] / file).read_bytes())
        with pytest.raises(cz.CircuitizeError, match="in format"):
            cz.accept_weights(tied, mixed)


def test_a_root_is_opened_no_more_often_than_it_was_made_for(tied: Exact, tmp_path: Path) -> None:
    made = cz.commit_weights(tied, tmp_path / "weights")
    most = plan(tied.integer, openings=OPENINGS).openings or ()
    assert most[0] == most[1] == frozen.openings(1 << made_bits(tied)) or min(most[:2]) >= OPENINGS
    left = made.left()[GROUPS[0]]
    assert left == most[0] - 1
    circuit = made.proving(tied)
    for _ in range(left or 0):
        circuit.prove()
    assert made.left()[GROUPS[0]] == 0
    with pytest.raises(cz.CircuitizeError, match="as often as"):
        made.proving(tied)
    with pytest.raises(cz.CircuitizeError, match="as often as"):
        circuit.prove()


def made_bits(tied: Exact) -> int:
    return max(plan(tied.integer).commitments[:2])


@pytest.mark.parametrize("elements", [16, 1000, 16000, 49152, 49153, 1 << 20, (1 << 26) - (1 << 20), 1 << 26])
def test_a_budget_is_what_a_table_has_room_for(elements: int) -> None:
    """So many openings, with the queries that the table then has, do not make it larger; their words lie in it."""
    most = frozen.openings(elements)
    assert most >= OPENINGS
    size = 1 << (elements + OPENINGS * frozen.OPENING - 1).bit_length()
    assert elements + most * frozen.OPENING <= size < elements + (most + 1) * frozen.OPENING or most == 1 << 16


def test_commitments_are_of_the_weights_behind_the_root(tied: Exact, made: Plan, weights: cz.Weights) -> None:
    """A file of secrets that is of other roots is refused before anything is proved with it."""
    trace = made.trace(inputs_of(tied))
    assert commit(made, trace, (INPUT, GROUPS[0]), bytes(32)).root != weights.roots[GROUPS[0]]
    forged = replace(weights, roots={**weights.roots, GROUPS[0]: bytes(32)})
    with pytest.raises(cz.CircuitizeError, match="expected the secret of the root"):
        forged.proving(tied).prove()


def test_forgery_of_frozen_columns_is_refused(tied: Exact, plain: Plan) -> None:
    """Another weight in the columns than in the run: an equation of the program tells."""
    trace = plain.trace(inputs_of(tied))
    values = list(plain.values(trace))
    place = next(n for n, base in enumerate(plain.bases) if getattr(base, "name", "") == "input tokens")
    values[place] = np.array(values[place])
    values[place].reshape(-1)[3 * 8] += 1
    found = forgery(tied.integer, plain, trace, values)
    assert all(refusals(tied.integer, found.statement, found.proof, plain, trusted=entering(found.statement)))
