"""Tensor proofs in zero knowledge, judged by both verifiers: honest ones, and what both refuse for one reason."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from independent_verifier.geometry import vectors
from independent_verifier.masked import Masked
from independent_verifier.verifier import Verifier
from operations.integer import Case
from tensor_cases import SMALL, inputs_of, program_of
from tensor_forgery import at_first, forged_trace, forgery
from tensor_proofs import example_inputs, planned, proved, refusals
from tensor_rows import of_rows, proved_on_rows
from tensor_victims import HIDDEN_LABELS, PROGRAMS, drawn
from tiers import TIER, count

from circuitize.backends.tensor.errors import Unprovable
from circuitize.circuits.errors import Undefined
from circuitize.circuits.program import IntegerProgram
from circuitize.provers.tensor.config import DEGREES
from circuitize.provers.tensor.plan import Plan, plan
from circuitize.provers.tensor.prover import Proved, prove

OWN = ("step", "dense", "long")
"""Proofs of these programs have every kind of message between them."""

QUERIED = {"whir.leaves", "whir.carried", "whir.salts", "whir.nodes"}
"""How long these messages are depends on places that are drawn twice, and paths that share nodes."""

HASHED = QUERIED | {"columns", "whir.root"}
"""What is in trees, or is one's root."""

OPENINGS = 2
MOST = {"long": 16}
"""How often the roots of a program's groups are opened, where that is not OPENINGS."""


@lru_cache
def hidden(name: str, degree: int = 2) -> tuple[IntegerProgram, Plan]:
    return PROGRAMS[name], plan(PROGRAMS[name], degree=degree, openings=MOST.get(name, OPENINGS))


@lru_cache
def found(name: str) -> Proved:
    program, made = hidden(name)
    return prove(program, drawn(program), made=made)


class Heard:
    """A hook that keeps all messages by label, and changes none."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, list[int]]] = []

    def __call__(self, label: str, words: list[int]) -> list[int]:
        self.sent.append((label, words))
        return words

    def lengths(self, queried: bool) -> list[tuple[str, int]]:
        return [(label, len(words)) for label, words in self.sent if (label in QUERIED) == queried]

    def words(self, label: str) -> list[list[int]]:
        return [words for own, words in self.sent if own == label]


OPERATIONS = sorted({case.operation.name for case in SMALL})
TRIED = [
    (name, degree)
    for i, name in enumerate(OPERATIONS[:: count(3, deep=1)])
    for degree in (DEGREES if TIER == "deep" else (DEGREES[i % len(DEGREES)],))
]
"""Each operation at both degrees; or a third of them, at one and the next one at the other."""


def cases_of(name: str) -> list[Case]:
    return [case for case in SMALL if case.operation.name == name]


@pytest.mark.parametrize(("name", "degree"), TRIED)
def test_each_operation(name: str, degree: int) -> None:
    """Its first case that can be proved, of values that it is defined on."""
    for case in cases_of(name):
        program, random = program_of(case), np.random.default_rng(3)
        try:
            made = plan(program, degree=degree, openings=1)
        except Unprovable:
            continue
        for _ in range(3):
            try:
                proved(program, inputs_of(case, program, random), made)
            except Undefined:
                continue
            return
    raise AssertionError(f"no case of {name} has a proof")


@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("name", OWN)
def test_what_a_plan_sends_is_what_is_counted(name: str, degree: int) -> None:
    """Sizes of tables and vectors, numbers, products and equations: the prover's and those that are received."""
    program, made = hidden(name, degree)
    honest = prove(program, drawn(program), made=made)
    checked = Verifier(made, honest.statement, honest.proof.messages)
    checked.check(b"")
    assert isinstance(checked.checks, Masked)
    sizes = [checked.tables, [vector.geometry for vector in vectors(checked.tables, hides=True)]]
    own = [[(one.end, one.random, one.fold, one.bits, one.rate, one.queries) for one in kind] for kind in sizes]
    tables, folded, counts = made.native.layout()
    assert (own, checked.checks.counts) == ([tables, folded], counts)
    assert len(folded) > 1 or name != "long"


def test_rows_of_a_dataset() -> None:
    program, made = of_rows(openings=OPENINGS)
    honest = proved_on_rows(program, made, [4, 1, 4], context=b"step 1")
    known = {name: root for (_, name), root in honest.statement.roots.items()}
    asked = program, honest.statement, honest.proof, made
    assert refusals(*asked, b"step 1", known) == (None, None)
    assert all(refusals(*asked, b"step 2", known))
    false = proved_on_rows(program, made, [4, 1, 4], [4, 1, 3], b"step 1", Heard())
    assert all(refusals(program, false.statement, false.proof, made, b"step 1", known))


def test_one_proof_is_the_next_ones_input() -> None:
    """Two proofs of a training step open one root."""
    program, _ = planned("iris.py:step")
    made = plan(program, openings=OPENINGS)
    inputs = example_inputs(program)
    first = proved(program, inputs, made)
    after = {**inputs, **{port.name: first.outputs[port.name] for port in program.inputs if port.held}}
    salts = {("input", "parameters"): first.secrets["output", "parameters"]}
    second = proved(program, after, made, salts=salts)
    root = first.statement.roots["output", "parameters"]
    assert second.statement.roots["input", "parameters"] == root
    for openings in (None, OPENINGS + 1):
        other = prove(program, after, not_zero_knowledge=True, made=plan(program, openings=openings), salts=salts)
        assert other.statement.roots["input", "parameters"] != root


def test_a_step_with_a_hidden_layer() -> None:
    program, _ = planned("digits.py:step")
    proved(program, example_inputs(program), plan(program, openings=1))


def changed(name: str, wanted: str, place: int) -> Proved:
    """A proof with one more in the first word of the message of this label and place among its like."""
    program, made = hidden(name)
    seen = 0

    def hook(label: str, words: list[int]) -> list[int]:
        nonlocal seen
        if label == wanted and words:
            seen += 1
            if seen == place + 1:
                return [words[0] + 1, *words[1:]]
        return words

    made_up = prove(program, drawn(program), made=made, hook=hook)
    assert seen > place
    return made_up


def one_reason(program: IntegerProgram, made: Plan, statement: Any, proof: Any, context: bytes = b"") -> str:
    """What both verifiers refuse a proof with."""
    native, other = refusals(program, statement, proof, made, context)
    assert native == other
    assert native is not None
    return native


@pytest.mark.parametrize("label", sorted(HIDDEN_LABELS))
def test_a_changed_message_is_refused(label: str) -> None:
    """Where the prover goes on with what it sent, so that later challenges are those of the changed message."""
    name = "dense" if label.startswith("dense") else "step"
    reason = "a commitment does not open to the claimed values"
    if label in HASHED:
        reason = "an opened leaf does not belong to its commitment"
    if label == "whir.last":
        reason = "the last vector of an opening is not the one that was committed to"
    assert one_reason(*hidden(name), *told(changed(name, label, 0))) == reason


@pytest.mark.parametrize(("label", "place"), [("whir.root", 1), ("whir.fold", 4), ("whir.fold", 8), ("whir.leaves", 1)])
def test_a_changed_message_of_a_later_vector_is_refused(label: str, place: int) -> None:
    one_reason(*hidden("long"), *told(changed("long", label, place)))


def test_a_forged_run_is_refused() -> None:
    """One more in a wire, and all that follows from it as it would be: of every wire that is not an input."""
    program, made = hidden("step")
    inputs = drawn(program)
    for wire in range(len(made.arrow.inputs), len(made.trace(inputs))):
        trace = forged_trace(made, inputs, wire, at_first(1))
        forged = forgery(program, made, trace, made.values(trace), Heard())
        one_reason(program, made, *told(forged))


def told(made_up: Proved) -> tuple[Any, Any]:
    return made_up.statement, made_up.proof


def test_other_bytes_contexts_and_roots_are_refused() -> None:
    (program, made), (statement, proof) = hidden("step"), told(found("step"))
    assert refusals(program, statement, proof, made) == (None, None)
    for messages in (proof.messages[:-8], proof.messages[: len(proof.messages) // 2], proof.messages + bytes(8)):
        said = one_reason(program, made, statement, replace(proof, messages=messages))
        assert "the proof ends inside" in said or said == "the proof has 8 bytes too many"
    one_reason(program, made, statement, proof, b"step 1")
    for key, root in statement.roots.items():
        roots = {**statement.roots, key: bytes([root[0] ^ 1]) + root[1:]}
        one_reason(program, made, replace(statement, roots=roots), proof)


def test_every_word_is_below_p() -> None:
    (program, made), hook = hidden("step"), Heard()
    honest = prove(program, drawn(program), made=made, hook=hook)
    starts, at = {}, 0
    for label, words in hook.sent:
        if words:
            starts[label] = at
        at += 8 * len(words)
    digests = {"columns", "whir.root", "whir.salts", "whir.nodes"}
    assert starts.keys() == HIDDEN_LABELS - {"dense", "dense.value"}
    for label in starts.keys() - digests:
        messages = bytearray(honest.proof.messages)
        messages[starts[label] : starts[label] + 8] = b"\xff" * 8
        said = one_reason(program, made, honest.statement, replace(honest.proof, messages=bytes(messages)))
        assert said == f"a word of {label} is not below p"


def heard(name: str, seed: int = 1, **more: Any) -> Heard:
    program, made = hidden(name)
    hook = Heard()
    prove(program, drawn(program, seed), made=made, hook=hook, **more)
    return hook


def test_a_proof_of_one_kind_is_none_of_the_other() -> None:
    program, made = hidden("step")
    plain = plan(program)
    clear = prove(program, drawn(program), not_zero_knowledge=True, made=plain)
    own = found("step")
    assert one_reason(program, plain, *told(own)) == (
        "the proof is zero-knowledge, expected one that is not zero-knowledge"
    )
    assert one_reason(program, made, *told(clear)) == (
        "the proof is not zero-knowledge, expected one that is zero-knowledge"
    )
    for by, of_other in ((plain, own), (made, clear)):
        one_reason(program, by, of_other.statement, replace(of_other.proof, zero_knowledge=by.hidden))
    one_reason(program, plan(program, openings=OPENINGS + 1), *told(own))


@pytest.mark.parametrize("name", OWN)
def test_lengths_do_not_depend_on_the_witness(name: str) -> None:
    """But for places that are drawn twice, and shared paths: there they follow from how many leaves are opened."""
    _, made = hidden(name)
    tables, folded, _ = made.native.layout()
    one, other = heard(name, 1), heard(name, 2)
    assert one.lengths(queried=False) == other.lengths(queried=False)
    for hook in (one, other):
        salts = [len(words) // 2 for words in hook.words("whir.salts")]
        queries = [geometry[-1] for geometry in (*tables, *folded)]
        assert all(0.7 * most < count <= most for count, most in zip(salts, queries, strict=True))
        widths = [1 << table[2] for table in tables] + [16 * made.degree] * (len(folded) - 1) + [2 * made.degree]
        leaves = [len(words) for words in hook.words("whir.leaves")]
        assert leaves == [count * width for count, width in zip(salts, widths, strict=True)]
        carried = [len(words) for words in hook.words("whir.carried")]
        assert carried == [made.degree * count for count in salts[len(tables) - 1 : -1]]


def test_equal_secrets_give_equal_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others give other words throughout: no opened symbol, salt, mask or number that is sent is in both proofs."""
    program, made = hidden("step")

    def hushed(secret: int) -> tuple[bytes, Heard]:
        monkeypatch.setattr("secrets.token_bytes", lambda count: bytes([secret]) * count)
        hook = Heard()
        return prove(program, drawn(program), made=made, hook=hook).proof.messages, hook

    (one, heard), (again, _), (other, elsewhere) = hushed(1), hushed(1), hushed(2)
    assert one == again and one != other
    for label in HIDDEN_LABELS - {"dense", "dense.value"}:
        mine, theirs = ({word for words in hook.words(label) for word in words} for hook in (heard, elsewhere))
        assert mine and not mine & theirs, label


def test_one_secret_hides_other_values_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    """A secret that is used twice, for other values, does not give a word of one proof in the other."""
    program, made = hidden("step")
    monkeypatch.setattr("secrets.token_bytes", lambda count: b"\1" * count)
    hooks = [Heard(), Heard()]
    for hook, seed in zip(hooks, (1, 2), strict=True):
        prove(program, drawn(program, seed), made=made, hook=hook)
    for label in ("lookups.values", "products.factors", "whir.leaves", "whir.carried", "whir.salts", "whir.last"):
        mine, theirs = ({word for words in hook.words(label) for word in words} for hook in hooks)
        assert mine and not mine & theirs, label
