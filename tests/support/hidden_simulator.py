"""A simulator of proofs in zero knowledge: all messages from chosen challenges and random words, without a witness.

It is the independent verifier, run on a channel that makes up each message when it is read. Uniform numbers are drawn;
the others are what the verifier's own equations leave them to be. Two runs are made: the first finds the tops of trees,
and what the last vector's weights and their sum are; the second is an ordinary verifier's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from independent_verifier import joint
from independent_verifier.arithmetic import Elements, Field, dot, evaluated, multiply, numbers, one, total, words, zero
from independent_verifier.opening import reversed_bits, root_of_unity, roots_to
from independent_verifier.transcript import Transcript
from independent_verifier.verifier import Verifier
from numpy.typing import NDArray
from prime_matrices import PRIME

from circuitize.provers.tensor.plan import Plan
from circuitize.provers.tensor.statement import Statement

Words = NDArray[np.uint64]
Draw = Callable[[str, int], Words]
"""So many random words for the message of a label."""
Sent = tuple[str, bytes]

DERIVED = frozenset({"columns", "whir.root", "whir.mask"})
"""Messages that the verifier's equations leave no choice of; so are foldings after the last vector."""


def random_words() -> Draw:
    """Words of a seed, the same ones each time that it begins."""
    random = np.random.default_rng(7)
    return lambda label, count: random.integers(0, PRIME, count, np.uint64)


def words_sent(sent: Sequence[Sent]) -> Callable[[], Draw]:
    """The uniform part of an honest prover's messages, and nothing of the others."""

    def begin() -> Draw:
        messages, places = iter(sent), iter(range(len(sent)))
        implied = [label for label, _ in sent].index("whir.last")

        def words(label: str, count: int) -> Words:
            (own, content), place = next(messages), next(places)
            assert own == label
            found = np.frombuffer(content, np.uint64)
            derived = label in DERIVED or (label == "whir.fold" and place > implied)
            return np.zeros_like(found) if derived else found

        return words

    return begin


def elements(drawn: Words, degree: int) -> Elements:
    return numbers(drawn).reshape(-1, degree)


def words_of(found: Elements) -> Words:
    return words(found).reshape(-1)


@dataclass
class Learned:
    """What the first run finds: roots in the order in which their trees are opened, the end's sum, and its weights."""

    roots: list[bytes] = field(default_factory=list)
    passed: list[Any] = field(default_factory=list)
    weight_at: Callable[[int, Elements], Elements] | None = None
    target: Elements = None
    mu: Elements = None
    last: Elements = None
    weights: Elements = None


class Simulated(Transcript):
    """Challenges of a seed alone, and messages that are made up."""

    def __init__(self, degree: int, challenges: bytes, draw: Draw, learned: Learned, groups: int) -> None:
        super().__init__(b"", degree)
        self.state, self.draw, self.learned = challenges, draw, learned
        self.sent: list[Sent] = []
        self.roots = iter(learned.roots[groups:])
        self.tables: tuple[Elements, Elements] | None = None
        self.shown: Elements = None

    def absorb(self, label: str, content: bytes) -> None:
        pass

    def challenge(self, label: str) -> Elements:
        found = super().challenge(label)
        if label == "whir.mask":
            self.learned.mu = found
        elif label == "whir.fold" and self.tables is not None:
            x, y = self.tables
            self.tables = _bound(x, found), _bound(y, found)
        return found

    def positions(self, label: str, count: int, bits: int) -> list[int]:
        self.places, self.depth = super().positions(label, count, bits), bits
        return self.places

    def bytes(self, label: str, length: int) -> bytes:
        drawn = self.draw(label, length // 8)
        assert drawn.size == length // 8, label
        found = drawn.tobytes()
        if label in ("columns", "whir.root"):
            found = next(self.roots, bytes(32))
        elif label == "whir.mask" and self.learned.weights is not None:
            learned = self.learned
            sums = dot(learned.last, learned.weights[: len(learned.last)])
            found = words_of(sums - multiply(learned.mu, learned.target)).tobytes()
        elif label == "whir.last":
            self.shown = self.learned.last = elements(drawn, self.degree)
        elif label == "whir.leaves" and self.shown is not None:
            found = self.last_leaves(elements(drawn, 2 * self.degree)).tobytes()
        elif label == "whir.fold" and self.shown is not None and self.learned.weights is not None:
            found = self._round().tobytes()
        self.sent.append((label, found))
        return found

    def last_leaves(self, drawn: Elements) -> Words:
        own = drawn[:, : self.degree]
        indices = [reversed_bits(place, self.depth) for place in self.places]
        z = roots_to(root_of_unity(self.depth), indices)
        mask = evaluated(self.shown, z) - multiply(own, self.learned.mu[None])
        return words_of(np.concatenate([own, mask], axis=1))

    def _round(self) -> Words:
        if self.tables is None:
            values = Field.zeros(self.learned.weights.shape)
            values[: len(self.shown)] = self.shown
            self.tables = values, self.learned.weights
        x, y = self.tables
        at_two = [table[1::2] + table[1::2] - table[::2] for table in (x, y)]
        return words_of(np.stack([dot(x[::2], y[::2]), dot(*at_two)]))


def _bound(table: Elements, r: Elements) -> Elements:
    return table[::2] + multiply(table[1::2] - table[::2], r[None])


def simulated(
    made: Plan,
    publics: Mapping[Any, Any],
    challenges: bytes,
    draw: Callable[[], Draw],
    kind: Callable[..., Simulated] = Simulated,
) -> list[Sent]:
    """The messages of one proof, accepted by the verifier with these challenges; raises Refused where they are not.

    `draw` begins to draw anew, the same words each time.
    """
    learned = Learned()
    with pytest.MonkeyPatch.context() as patch:
        _learn(patch, learned)
        _run(kind, made, Statement(publics, dict.fromkeys(made.groups, bytes(32))), challenges, draw(), learned)
    learned.weights = _weights(learned, made.degree)
    roots = dict(zip(made.groups, learned.roots, strict=False))
    return _run(kind, made, Statement(publics, roots), challenges, draw(), learned)


def _run(
    kind: Callable[..., Simulated], made: Plan, statement: Statement, challenges: bytes, draw: Draw, learned: Learned
) -> list[Sent]:
    checked = Verifier(made, statement, b"")
    transcript = checked.transcript = kind(made.degree, challenges, draw, learned, len(made.groups))
    checked.check(b"")
    return transcript.sent


def _learn(patch: pytest.MonkeyPatch, learned: Learned) -> None:
    """Every root and every end is taken; what the roots should be is noted, and what the end is about."""
    ask, folded, shown, check = joint.ask, joint.Folded, joint.shown, joint.check_joint

    def noted_ask(transcript: Transcript, oracle: Any) -> Any:
        def root_of(top: bytes) -> bytes:
            learned.roots.append(oracle.root_of(top))
            return bytes(oracle.root)

        return ask(transcript, replace(oracle, root_of=root_of))

    def noted_folded(*parts: Any) -> Any:
        learned.passed.append(folded(*parts))
        return learned.passed[-1]

    def noted_shown(transcript: Transcript, oracle: Any, target: Elements) -> Any:
        learned.target = target
        return shown(transcript, oracle, target)

    def noted_check(transcript: Transcript, tables: Any, target: Elements, weight_at: Any, hides: bool) -> None:
        learned.weight_at = joint.over_four(tables, weight_at)
        check(transcript, tables, target, weight_at, hides)

    patch.setattr(joint, "ask", noted_ask)
    patch.setattr(joint, "Folded", noted_folded)
    patch.setattr(joint, "shown", noted_shown)
    patch.setattr(joint, "same", lambda *_: True)
    patch.setattr("independent_verifier.verifier.check_joint", noted_check)


def _weights(learned: Learned, degree: int) -> Elements:
    """The weights on each element of the last vector: their extension, as the verifier computes it, at its corner."""
    geometry = learned.passed[-1].vector.geometry
    made = Field.zeros((1 << geometry.bits, degree))
    for place in range(geometry.end):
        corner = Field.zeros((geometry.bits, degree))
        corner[:, 0] = numbers([place >> bit & 1 for bit in range(geometry.bits)])
        made[place] = _weight(learned, corner)
    return made


def _weight(learned: Learned, at: Elements) -> Elements:
    weight, factor = zero(at.shape[-1]), one(at.shape[-1])
    assert learned.weight_at is not None
    for folded in reversed(learned.passed):
        weight = weight + multiply(factor, folded.weight(at))
        blocks = folded.vector.folds
        parts = [(joint.within(block, at), np.concatenate([folded.point, at[: block.bits]])) for block in blocks]
        if folded is not learned.passed[0]:
            ((own, at),) = parts
            factor = multiply(factor, own)
    found = ((part, learned.weight_at(number, before)) for number, (part, before) in enumerate(parts) if part.any())
    ends = [multiply(part, weight) for part, weight in found]
    return weight + multiply(factor, total(np.stack([zero(at.shape[-1]), *ends])))
