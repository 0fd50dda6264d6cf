"""What the prover sends, as a function of its randomness, for fixed challenges and few queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from prime_matrices import PRIME, Words, difference

from circuitize._native import tensor_view
from circuitize.provers.tensor.plan import Plan

Integers = NDArray[np.int64]

ONE_VECTOR = (1.3, 1 << 10)
"""Bits of queries: two of each table. The tables' folds are the last vector."""
MORE_VECTORS = (1.3, 1 << 5)
"""Larger tables' folds are folded again."""

HASHES = {"columns", "whir.root", "whir.nodes", "whir.salts"}
"""Messages that are hashes or salts; all others are field elements."""


@dataclass(frozen=True)
class View:
    """Field elements that were sent: those that the protocol's claim calls uniform, and those that follow from them.

    `labels` are of the uniform ones. `salts` are those of the opened leaves, and `nodes` the hashes beside their paths,
    tree by tree. `drawn` is the randomness that the prover asked for, by label.
    """

    uniform: Words
    implied: Words
    labels: Sequence[str]
    salts: Sequence[Words]
    nodes: Sequence[Words]
    drawn: Mapping[str, Words]

    @property
    def whole(self) -> Words:
        return np.concatenate([self.uniform, self.implied])


@dataclass
class Viewer:
    """A witness, what its tables' randomness comes from, and the seed of all challenges."""

    plan: Plan
    values: Sequence[Integers]
    secrets: Sequence[bytes]
    challenges: bytes = bytes(32)
    demand: tuple[float, int] = ONE_VECTOR
    fixed: Mapping[str, Words] = field(default_factory=dict)
    """What is in place of the randomness of some labels."""

    def view(self, replaced: Mapping[str, Words] | None = None) -> View:
        """The view with these words, too, in place of the randomness of some labels."""
        values, secrets = list(self.values), list(self.secrets)
        found = tensor_view(
            self.plan.native, values, secrets, self.challenges, self.demand, {**self.fixed, **(replaced or {})}
        )
        sent, drawn = [[(label, np.frombuffer(content, np.uint64)) for label, content in part] for part in found]
        end = [label for label, _ in sent].index("whir.last")
        uniform: list[tuple[str, Words]] = []
        implied: list[Words] = []
        for place, (label, words) in enumerate(sent):
            if label in HASHES:
                continue
            if place == end + 1:
                # Each leaf of the last tree: of the last vector, and of its mask, which the first and u imply.
                assert label == "whir.leaves"
                own, mask = np.split(words.reshape(-1, 2 * self.plan.degree), 2, axis=1)
                uniform.append((label, own.reshape(-1)))
                implied.append(mask.reshape(-1))
            elif label == "whir.mask" or place > end:
                implied.append(words)
            else:
                uniform.append((label, words))
        return View(
            np.concatenate([words for _, words in uniform]),
            np.concatenate(implied),
            [label for label, words in uniform for _ in words],
            [words.reshape(-1, 2) for label, words in sent if label == "whir.salts"],
            [words.reshape(-1, 4) for label, words in sent if label == "whir.nodes"],
            dict(sorted(drawn)),
        )

    def jacobian(self, labels: Sequence[str]) -> Words:
        """How the whole view changes with each word of these labels: a column each, found by adding 1 to it.

        The view is affine in each word by itself.
        """
        first = self.view()
        columns = []
        for label in labels:
            for place in range(first.drawn[label].size):
                words = first.drawn[label].copy()
                words[place] = (words[place] + np.uint64(1)) % PRIME
                columns.append(difference(self.view({label: words}).whole, first.whole))
        return np.column_stack(columns)


def joint(parts: Sequence[tuple[Viewer, str]]) -> Words:
    """The Jacobian of several views together, uniform rows alone: of viewers whose tables of the given names are one.

    A change of that table's random words is one of all views.
    """
    viewed = [(viewer, viewer.view(), name) for viewer, name in parts]
    rows = sum(view.uniform.size for _, view, _ in viewed)
    blocks: dict[object, Words] = {}
    start = 0
    for number, (viewer, view, name) in enumerate(viewed):
        size = view.uniform.size
        for label in words_of(view):
            own = viewer.jacobian([label])[:size]
            key = label.removeprefix(name) if label.startswith(name) else (number, label)
            block = blocks.setdefault(key, np.zeros((rows, own.shape[1]), np.uint64))
            block[start : start + size] = own
        start += size
    return np.column_stack(list(blocks.values()))


def words_of(view: View) -> list[str]:
    """The labels of random words; the others are of salts."""
    return [label for label in view.drawn if not is_salt(label)]


def is_salt(label: str) -> bool:
    return label.partition(": ")[2].startswith("salts")


def secrets(made: Plan, first: int = 0) -> list[bytes]:
    return [bytes([first + number] * 32) for number in range(len(made.commitments))]


def values_of(made: Plan, inputs: Mapping[str, Integers]) -> list[Integers]:
    return list(made.values(made.trace(inputs)))
