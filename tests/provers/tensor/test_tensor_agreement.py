"""No test asks one verifier of tensor proofs alone; where the two differ, the harness fails."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cli_programs import STEP, run
from independent_verifier.transcript import Refused, Transcript
from independent_verifier.verifier import Verifier
from tensor_attack import INPUTS, SUM
from tensor_proofs import proved, refusals, unjudged

from circuitize.provers.tensor import security
from circuitize.provers.tensor.plan import plan

TESTS = Path(__file__).resolve().parents[2]
ALONE = ("circuitize.provers.tensor", "independent_verifier")
HARNESS = TESTS / "support" / "tensor_proofs.py"
APART = {"independent_verifier", "node_modules"}
VERDICTS = {
    ("circuitize.provers.tensor", "verifier"),
    ("independent_verifier", "refusal"),
    ("independent_verifier", "verifier"),
    ("independent_verifier.verifier", "refusal"),
    ("circuitize.provers.tensor.verifier", "refusal"),
    ("circuitize.provers.tensor.verifier", "verify"),
    ("circuitize._native", "tensor_verify"),
}
WORDS = {*ALONE, "tensor_verify"}
"""What a file that could ask one verifier contains: a module's name, or that of the native function."""


def single_verdicts(tree: ast.AST) -> Iterator[str]:
    """Names in a file by which one verifier could be asked."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from (name.name for name in node.names if (node.module, name.name) in VERDICTS)
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.startswith(ALONE))
        if isinstance(node, ast.Attribute) and node.attr == "tensor_verify":
            yield node.attr


def test_only_the_harness_asks_a_verifier() -> None:
    files = [path for path in sorted(TESTS.rglob("*.py")) if path != HARNESS and not APART & {*path.parts}]
    assert len(files) > 300
    texts = {path.name: path.read_text() for path in files}
    asking = {name: text for name, text in texts.items() if any(word in text for word in WORDS)}
    found = {name: names for name, text in asking.items() if (names := [*single_verdicts(ast.parse(text))])}
    assert not found
    assert len([*single_verdicts(ast.parse(HARNESS.read_text()))]) == 2


def test_verifiers_that_differ_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that lets bytes follow the messages; one that refuses what is valid."""
    made = plan(SUM)
    found = proved(SUM, {name: np.array(value) for name, value in INPUTS.items()}, made)
    longer = replace(found.proof, messages=found.proof.messages + bytes(8))
    assert all(refusals(SUM, found.statement, longer, made))
    with monkeypatch.context() as weak:
        weak.setattr(Transcript, "finish", lambda _: None)
        longer = replace(found.proof, messages=found.proof.messages + bytes(16))
        with pytest.raises(AssertionError, match="the verifiers differ"):
            refusals(SUM, found.statement, longer, made)


def test_neither_judges_by_a_plan_with_too_few_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    made = plan(SUM)
    found = proved(SUM, {name: np.array(value) for name, value in INPUTS.items()}, made)
    monkeypatch.setattr(security, "UNION_BITS", 110.0)
    for reason in unjudged(SUM, found.statement, found.proof, made):
        assert reason.startswith("expected 100 bits of soundness per round and 110.0 together")


def test_the_command_line_is_judged_by_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prove = ("prove", STEP, "--prover", "tensor", "--not-zero-knowledge", "-o", tmp_path / "proof")
    assert run(*prove).status == 0
    assert run("verify", tmp_path / "proof", "--program", STEP).status == 0
    again = (*prove[:-1], tmp_path / "again")
    assert run(*again).status == 0

    def strict(verifier: Verifier, context: bytes) -> None:
        raise Refused("nothing holds")

    monkeypatch.setattr(Verifier, "check", strict)
    outcome = run("verify", tmp_path / "again", "--program", STEP)
    assert outcome.status not in (0, 1) and "the verifiers differ" in outcome.err
