"""Mutated proofs and files, each judged by both verifiers: some of what `tests/support/tensor_mutations.py` tries."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from independent_verifier.transcript import Transcript
from tensor_mutations import MESSAGES, REFUSED, Mutant, check, judge, peak
from tensor_proofs import refusals
from tensor_victims import HIDDEN_LABELS, LABELS, Victim, hidden_victims, victims
from tiers import count


@pytest.fixture(scope="module")
def given() -> list[Victim]:
    return [*victims(), *hidden_victims()]


def test_the_victims_are_valid_and_have_every_kind_of_message(given: list[Victim]) -> None:
    for victim in given:
        for found in (victim.found, victim.other):
            known = {name: root for (_, name), root in found.statement.roots.items() if name in victim.trusted}
            judged = refusals(victim.program, found.statement, found.proof, victim.made, victim.context, known)
            assert judged == (None, None), victim.name
        covered = sorted((span.start, span.stop) for spans in victim.spans.values() for span in spans)
        assert [0, *(stop for _, stop in covered)] == [
            *(start for start, _ in covered),
            len(victim.found.proof.messages),
        ]
    for kind, labels in ((False, LABELS), (True, HIDDEN_LABELS)):
        assert {label for victim in given if victim.made.hidden == kind for label in victim.spans} == labels


@pytest.mark.slow
def test_mutated_proofs_are_rejected(given: list[Victim], capfd: pytest.CaptureFixture[str]) -> None:
    """By both verifiers, at every kind of message; none makes one of them panic, all take no memory."""
    before = peak()
    mutants = count(120, deep=50_000)
    tally = check(given, np.random.default_rng(11), mutants)
    assert not tally.wrong
    assert {key[3] for key in tally.ends} <= set(REFUSED) and tally.ends.total() == mutants
    own = {"header", "statement", "context"}
    assert tally.by(0).keys() == {kind.__name__ for kind in MESSAGES} | own | {"exchange"}
    assert tally.by(1).keys() == HIDDEN_LABELS | own | {"end"}
    assert all(ended.total() >= mutants // 100 for label, ended in tally.by(1).items() if label != "context")
    assert tally.by(2).keys() == {victim.name for victim in given}
    assert peak() - before < 64 << 20
    assert "panicked" not in capfd.readouterr().err


def test_what_both_accept_and_what_one_accepts_is_found(given: list[Victim], monkeypatch: pytest.MonkeyPatch) -> None:
    """A valid proof in place of a mutated one; a longer one, where one verifier lets bytes follow the messages."""
    victim = given[0]
    found = victim.found
    valid = Mutant("none", "none", victim, found.statement, found.proof.encode(), victim.context)
    longer = replace(found.proof, messages=found.proof.messages + bytes(8))
    mutant = replace(valid, content=longer.encode())
    assert (judge(valid)[0], judge(mutant)[0]) == ("accepted", "same reason")
    monkeypatch.setattr(Transcript, "finish", lambda _: None)
    assert judge(mutant)[0] == "disagreed"
