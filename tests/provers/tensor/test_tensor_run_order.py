"""What a run may consist of: the order of its examples, its scalars, its name, its commitments, its rows."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from independent_verifier.verifier import Verifier
from independent_verifier.weights import Dense
from tensor_proofs import entering, planned, refusals, refused
from tensor_rows import of_rows, proved_on_rows
from tensor_runs import SEED, honest, run_of

from circuitize.backends.tensor.forms import Column
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import permute
from circuitize.circuits.port import Port, Role, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.provers.tensor.plan import Plan, plan
from circuitize.provers.tensor.prover import commit, prove_values
from circuitize.provers.tensor.runs.order import DOMAIN, draws, permutation, rows
from circuitize.provers.tensor.runs.requirements import require_joined
from circuitize.provers.tensor.runs.setting import Run


def slow_permutation(seed: bytes, epoch: int, size: int) -> list[int]:
    """As the documentation says it, one word at a time."""
    head = b"circuitize batches 1" + len(seed).to_bytes(8, "little") + seed + epoch.to_bytes(8, "little")
    stream = hashlib.shake_256(head).digest(16 * size)
    words = iter(int.from_bytes(stream[k : k + 8], "little") for k in range(0, len(stream), 8))
    order = list(range(size))
    for i in range(size - 1, 0, -1):
        word = next(word for word in words if word < 2**64 // (i + 1) * (i + 1))
        order[i], order[word % (i + 1)] = order[word % (i + 1)], order[i]
    return order


def test_the_order_of_examples() -> None:
    assert DOMAIN == b"circuitize batches 1"
    for seed, epoch, size in ((SEED, 0, 97), (SEED, 1, 97), (b"\0", 0, 1), (b"\0\0", 3, 64)):
        assert permutation(seed, epoch, size).tolist() == slow_permutation(seed, epoch, size)
    assert permutation(bytes(32), 0, 8).tolist() == slow_permutation(bytes(32), 0, 8)
    taken = np.concatenate([rows(SEED, 50, 8, step) for step in range(1, 7)])
    assert len(set(taken.tolist())) == 48, "an epoch takes no example twice"
    assert rows(SEED, 50, 8, 7).tolist() == permutation(SEED, 1, 50)[:8].tolist()


def test_words_that_would_favour_small_numbers_are_passed_over() -> None:
    """2^64 = 1 modulo 3, so that 2^64 - 1 would make 0 more likely than 1 and 2."""
    words = np.array([2**64 - 1, 2**64 - 1, 5, 2**64 - 1, 9], np.uint64)
    assert draws(words, 3).tolist() == [2, 1]
    assert draws(np.array([2**64 - 2, 4], np.uint64), 3).tolist() == [2, 0]
    with pytest.raises(CircuitizeError, match="seed"):
        draws(np.array([2**64 - 1, 5], np.uint64), 3)


def test_scalars_are_rounded_once_to_their_formats() -> None:
    run = run_of(scalars=lambda step: {"learning_rate": Fraction(1, 3) / step})
    assert int(run.scalars_of(1)["learning_rate"][0]) == round(Fraction(1 << 16, 3))
    assert int(run.scalars_of(2)["learning_rate"][0]) == round(Fraction(1 << 16, 6))
    assert "step 1" in refused(lambda: run_of(scalars=lambda step: {"learning_rate": Fraction(2)}).scalars_of(1))
    assert "learning_rate" in refused(lambda: run_of(scalars=lambda step: {}).scalars_of(1))


def test_what_no_run_consists_of() -> None:
    program, _ = planned("iris.py:step")
    weight, inputs = program.inputs[0], next(p for p in program.inputs if p.name == "inputs")

    def with_input(index: int, **changed: Any) -> Run:
        ports = tuple(replace(p, **changed) if k == index else p for k, p in enumerate(program.inputs))
        return replace(run_of(), program=replace(program, inputs=ports))

    assert "found public" in refused(lambda: with_input(0, visibility=Visibility.PUBLIC))
    assert weight.name in refused(lambda: with_input(0, role=Role.OPTIMIZER))
    assert "one committed dataset" in refused(
        lambda: with_input(program.inputs.index(inputs), visibility=Visibility.PUBLIC)
    )
    assert "to be public" in refused(lambda: with_input(len(program.inputs) - 1, visibility=Visibility.COMMITTED))
    prediction, _ = planned("iris.py:predict")
    assert "leave a step" in refused(lambda: replace(run_of(), program=prediction))
    for changed in ({"steps": 0}, {"per_proof": 7}, {"size": 7}, {"seed": b""}):
        assert "expected" in refused(lambda changed=changed: replace(run_of(), **changed))


def test_a_group_of_other_ports_joins_nothing() -> None:
    """Equal lists of ports lie at equal places; were a plan to give others after a step than before it, none joins."""
    run = run_of(steps=1)
    require_joined(run)
    made = run.chunk(1).plan
    before, after = ((side, "parameters") for side in ("input", "output"))
    assert made.ports_of(before) == made.ports_of(after) and places(made, before) == places(made, after)
    first, *rest = made.ports_of(after)
    for other in (replace(first, name="another"), replace(first, fraction_bits=1), replace(first, high=first.high + 1)):
        lists = tuple((other, *rest) if key == after else own for key, own in zip(made.groups, made.lists, strict=True))
        run.__dict__["_chunks"] = {1: replace(run.chunk(1), plan=replace(made, lists=lists))}
        assert "the same ports of parameters throughout" in refused(lambda: require_joined(run))


def places(made: Plan, key: tuple[str, str]) -> list[tuple[tuple[int, ...], int]]:
    """Shapes and offsets of a group's columns."""
    number = made.groups.index(key)
    found = [base for base in made.bases if isinstance(base, Column) and base.commitment == number]
    assert len(found) == 4
    return sorted((base.shape, base.offset) for base in found)


def test_the_name_of_a_run_covers_all_that_it_is_of() -> None:
    run, roots = run_of(), honest().roots
    others = (
        run_of(seed=b"x"),
        run_of(steps=12),
        run_of(first=2),
        run_of(per_proof=2),
        replace(run, size=run.size - 1),
        replace(run, program=planned("digits.py:step")[0]),
    )
    names = {run.identity(roots)} | {other.identity(roots) for other in others}
    names |= {run.identity({**roots, name: bytes(32)}) for name in roots}
    assert len(names) == 1 + len(others) + len(roots)
    contexts = {run.context(bytes(32), 1), run.context(bytes(32), 2), run_of(seed=b"x").context(bytes(32), 1)}
    assert len(contexts) == 3


def test_a_commitment_by_itself_is_the_one_that_a_proof_makes() -> None:
    """Parameters in blocks, since padding 100 x 100 whole would be waste; and data, which stay whole."""
    ports = (
        Port("w", Visibility.COMMITTED, Fixed((100, 100), 0, -8, 7), Role.PARAMETER),
        Port("b", Visibility.COMMITTED, Fixed((5,), 0, -8, 7), Role.PARAMETER),
        Port("x", Visibility.COMMITTED, Fixed((100, 100), 0, 0, 1)),
    )
    program = IntegerProgram(permute([port.format for port in ports if port.format], []), ports, ())
    made = plan(program)
    draw = np.random.default_rng(0)
    trace = made.trace({port.name: draw.integers(0, 2, port.format.shape) for port in ports if port.format})
    found = prove_values(program, made, trace, made.values(trace))
    assert refusals(program, found.statement, found.proof, made) == (None, None)
    for key, secret in found.secrets.items():
        assert commit(made, trace, key, secret).root == found.statement.roots[key]


def test_rows_under_every_kind_of_weights() -> None:
    """A batch that is flattened has weights per element, not per axis; rows may come twice, and are public values."""
    program, found = of_rows()
    proved = proved_on_rows(program, found, [4, 1, 4])
    known = entering(proved.statement)
    assert refusals(program, proved.statement, proved.proof, found, trusted=known) == (None, None)
    assert proved.statement.publics["rows", "1"].tolist() == [4, 1, 4]
    checked = Verifier(found, proved.statement, proved.proof.messages)
    checked.check(b"")
    assert any(isinstance(weights, Dense) and len(weights.weights) == 20 for weights in checked.weights)
    for other in ([4, 1, 3], [1, 4, 4], [4, 1, 5], [4, 1, -1]):
        publics = {**proved.statement.publics, ("rows", "1"): np.array(other, np.int64)}
        changed = replace(proved.statement, publics=publics)
        assert all(refusals(program, changed, proved.proof, found, trusted=known))
    missing = {key: value for key, value in proved.statement.publics.items() if key[0] != "rows"}
    assert all(refusals(program, replace(proved.statement, publics=missing), proved.proof, found, trusted=known))
    for wrong in ([0, 1, 5], [0, 1, -1]):
        with pytest.raises(ValueError, match="rows below 5"):
            proved_on_rows(program, found, [0, 1, 2], wrong)
