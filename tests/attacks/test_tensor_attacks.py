"""Altered messages, statements and files against both verifiers of tensor proofs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from r1cs_programs import single
from tensor_forgery import forgery
from tensor_proofs import both, committed_inputs, example_inputs, planned, proved, refusals
from tiers import TIER

from circuitize.backends.tensor.forms import PRIME
from circuitize.circuits import integers
from circuitize.circuits.errors import FormatError
from circuitize.circuits.types import Fixed
from circuitize.provers.tensor.plan import plan
from circuitize.provers.tensor.proof import HEADER_BYTES, Proof
from circuitize.provers.tensor.prover import Proved, prove

Integers = NDArray[np.int64]

STEP = "iris.py:step"


@pytest.fixture(scope="module")
def honest() -> Proved:
    program, made = planned(STEP)
    return proved(program, example_inputs(program), made)


class Tamper:
    """Adds one to a word of one message, the nth of its label."""

    def __init__(self, label: str, nth: int, place: int) -> None:
        self.label, self.left, self.place = label, nth, place
        self.changed = False

    def __call__(self, label: str, words: list[int]) -> list[int]:
        if label == self.label:
            self.left -= 1
            if self.left == -1 and words:
                words[self.place] = (words[self.place] + 1) % PRIME
                self.changed = True
        return words


# Messages: whatever the prover sends otherwise, it is absorbed, and the proof fails.


def test_every_message_matters(honest: Proved) -> None:
    """A word of the first, the middle and the last message of every kind, as the prover sends it."""
    program, made = planned(STEP)
    inputs = example_inputs(program)
    trace = made.trace(inputs)
    values = made.values(trace)
    seen: Counter[str] = Counter()
    proved(program, inputs, made, hook=lambda label, words: (seen.update([label]), words)[1])
    assert len(seen) >= 10
    tampered: set[str] = set()
    for label, count in seen.items():
        chosen = {(0, 0), (count // 2, 0), (count - 1, -1)}
        if TIER == "deep":
            chosen |= {(nth, place) for nth, _ in chosen for place in (0, -1)}
        for nth, place in chosen:
            tamper = Tamper(label, nth, place)
            found = forgery(program, made, trace, values, hook=tamper)
            reason = both(program, found.statement, found.proof, made)
            assert (reason is not None) == tamper.changed, (label, nth, place)
            tampered.add(label) if tamper.changed else None
    assert tampered == set(seen)


def test_a_denominator_of_zero_is_refused() -> None:
    program, made = planned(STEP)
    trace = made.trace(example_inputs(program))

    def zero(label: str, words: list[int]) -> list[int]:
        return [0] * len(words) if label == "fractions.root" else words

    found = forgery(program, made, trace, made.values(trace), hook=zero)
    native, other = refusals(program, found.statement, found.proof, made)
    assert native == other == "the denominator of the sum of fractions is zero"


def test_a_number_has_one_encoding() -> None:
    """0 written as p is the same number, in every check and in what is hashed, and is refused."""
    program = committed_inputs(single(integers.Multiply(), Fixed((4,), 0, 0, 15), Fixed((4,), 0, 0, 15)))
    made = plan(program)
    inputs = {"in0": np.zeros(4, np.int64), "in1": np.zeros(4, np.int64)}

    def longer(label: str, words: list[int]) -> list[int]:
        return [word or PRIME for word in words] if label == "product" else words

    trace = made.trace(inputs)
    found = forgery(program, made, trace, made.values(trace), hook=longer)
    assert refusals(program, found.statement, found.proof, made)[0] == "a word of product is not below p"
    proved(program, inputs, made)


# Statements and files.


def test_every_part_of_the_statement_is_bound(honest: Proved) -> None:
    program, made = planned(STEP)
    stated = honest.statement
    for key, values in stated.publics.items():
        for amount in (1, -1):
            changed = np.asarray(values + amount, np.int64)
            assert refusals(program, replace(stated, publics={**stated.publics, key: changed}), honest.proof, made)[0]
    for key, root in stated.roots.items():
        flipped = bytes([root[0] ^ 1]) + root[1:]
        assert refusals(program, replace(stated, roots={**stated.roots, key: flipped}), honest.proof, made)[0]
    keys = list(stated.roots)
    swapped = {**stated.roots, keys[0]: stated.roots[keys[2]], keys[2]: stated.roots[keys[0]]}
    assert refusals(program, replace(stated, roots=swapped), honest.proof, made)[0]
    assert refusals(program, replace(stated, roots=dict(list(stated.roots.items())[1:])), honest.proof, made)[0]


def test_a_proof_is_of_one_program(honest: Proved) -> None:
    """Another program of the same shape, another plan of the same program: the digest is absorbed first."""
    program, made = planned(STEP)
    other, _ = planned("digits.py:step")
    assert refusals(other, honest.statement, honest.proof, plan(other))[0]
    weaker = plan(program, made.limb_bits + 1)
    found = prove(program, example_inputs(program), not_zero_knowledge=True, made=weaker)
    assert refusals(program, found.statement, found.proof, made)[0]
    renamed = replace(made, program="0" * 64)
    assert renamed.digest != made.digest
    assert refusals(program, honest.statement, replace(honest.proof, digest=renamed.program), renamed)[0]


def test_files_of_other_lengths_versions_and_kinds(honest: Proved) -> None:
    content = honest.proof.encode()
    for damaged in (
        b"",
        content[:-1],
        content + b"\0",
        content[:10],
        content[:16] + (1).to_bytes(4, "little") + content[20:],
        content[:16] + (3).to_bytes(4, "little") + content[20:],
        content[:20] + (1).to_bytes(4, "little") + content[24:],
        content[: HEADER_BYTES - 8] + (1 << 63).to_bytes(8, "little") + content[HEADER_BYTES:],
        b"x" + content[1:],
    ):
        with pytest.raises(FormatError, match="expected"):
            Proof.decode(damaged)


def test_messages_of_other_lengths(honest: Proved) -> None:
    program, made = planned(STEP)
    messages = honest.proof.messages
    for other in (b"", messages[:-8], messages[:-1], messages + b"\0" * 8, messages + messages, messages[8:]):
        assert refusals(program, honest.statement, replace(honest.proof, messages=other), made)[0]
