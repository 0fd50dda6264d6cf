"""A joined table whose random words everybody knows, as that of a public test set, tells nothing of the others.

docs/zero-knowledge.md, "A table that everybody knows": its opened leaves follow from it, and all else that is sent is
uniform by the randomness of other tables and of the proof.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import count

import hidden_simulator
import numpy as np
import pytest
from hidden_simulator import Draw, Learned, simulated
from hidden_view import ONE_VECTOR, View, Viewer, joint, secrets, words_of
from independent_verifier import geometry, opening
from prime_matrices import PRIME, Words, difference, rank, solution
from tensor_rows import EXAMPLES, of_rows

from circuitize._native import tensor_view
from circuitize.backends.tensor.dataset import ROWS as ROWS_SIDE
from circuitize.provers.tensor.plan import Plan

PUBLIC, SECRET, OWN = "0: root", "1: root", "2: "
ROWS = np.array([4, 0, 4])


def planned(degree: int = 2, secret_openings: int = 1) -> Plan:
    """A public dataset, secret weights, and public products of them; the dataset's root is made for one opening."""
    made = of_rows(degree)[1]
    assert made.groups == (("input", "data"), ("input", "parameters"))
    return replace(made, openings=(1, secret_openings))


def viewer(made: Plan, seed: int = 3, challenges: int = 2) -> Viewer:
    """Of weights of a seed, and challenges by which no place is drawn twice.

    Examples are 0 at every other place, so products say nothing of half of the weights.
    """
    data = np.random.default_rng(3).integers(1, 8, (EXAMPLES, 4)) * np.array([0, 1, 0, 1])
    weights = np.where(np.arange(12) % 2, 3, np.random.default_rng(seed).integers(-8, 8, 12))
    values = list(made.values(made.trace({"x": data[ROWS], "w": weights}), {"1": ROWS}))
    values[made.tensors["x"]] = data
    return Viewer(made, values, secrets(made), bytes([challenges] * 32))


def shown(view: View) -> Words:
    """Which rows of the uniform part are of the public table's leaves: the first ones, since its root is the first."""
    leaves = np.flatnonzero(np.array(view.labels) == "whir.leaves")
    found = np.zeros(view.uniform.size, bool)
    found[leaves[: view.drawn[PUBLIC].size]] = True
    return found


def others(view: View) -> list[str]:
    """The randomness that is not known."""
    return [label for label in words_of(view) if label != PUBLIC]


@pytest.mark.parametrize("degree", [2, pytest.param(3, marks=pytest.mark.deep)])
def test_all_but_the_public_leaves_is_uniform_by_the_other_randomness(degree: int) -> None:
    """And by just one choice of it; the public leaves do not depend on it."""
    own = viewer(planned(degree))
    view = own.view()
    public = shown(view)
    assert np.count_nonzero(public) == view.drawn[PUBLIC].size
    found = own.jacobian(others(view))[: public.size]
    assert not found[public].any()
    hidden = found[~public]
    used = np.count_nonzero(hidden.any(axis=0))
    assert rank(hidden) == len(hidden) == used


@pytest.mark.parametrize(
    "label", [SECRET, *(OWN + name for name in ("pads", "carried", "columns", "vector 0", "mask"))]
)
def test_without_any_other_randomness_it_is_not(label: str) -> None:
    """Least of all without the pads of the proof's own table: those of the public one mask no message."""
    own = viewer(planned())
    view = own.view()
    public = shown(view)
    without = replace(own, fixed={label: np.zeros_like(view.drawn[label])})
    rest = [name for name in others(view) if name != label]
    hidden = without.jacobian(rest)[: public.size][~public]
    missing = np.array([name in ("zeros", "product", "operands", "products.factors") for name in view.labels])[~public]
    assert rank(hidden) < len(hidden)
    assert (rank(hidden[missing]) < np.count_nonzero(missing)) == (label == OWN + "pads")


def test_however_often_the_public_root_is_opened() -> None:
    """Two proofs on one public root that is made for one opening: with those of its words that are known, no less."""
    made = planned(secret_openings=2)
    # No place of a table is drawn by both.
    first, second = viewer(made), viewer(made, challenges=7)
    # One proof's own randomness is not another's.
    second.secrets = [*first.secrets[:2], bytes([9] * 32)]
    views = [own.view() for own in (first, second)]
    assert np.array_equal(views[0].drawn[SECRET], views[1].drawn[SECRET])
    assert np.array_equal(views[0].drawn[PUBLIC], views[1].drawn[PUBLIC])
    public = np.concatenate([shown(view) for view in views])
    words = views[0].drawn[PUBLIC].size
    both = joint([(first, "1: "), (second, "1: ")])
    # Blocks stand in the order of labels, the public table's first; those of the second proof's follow the first's.
    own_words = sum(views[0].drawn[label].size for label in others(views[0]))
    known = np.zeros(both.shape[1], bool)
    known[:words] = known[words + own_words : 2 * words + own_words] = True
    hidden = both[:, ~known][~public]
    assert not both[:, ~known][public].any()
    assert rank(hidden) == len(hidden)
    # What is not known of a secret root would not suffice for so many openings.
    shared = joint([(first, "0: "), (second, "0: ")])
    assert rank(shared) < len(shared)


def test_what_one_secret_witness_sends_another_sends_beside_the_public_table() -> None:
    """The whole view, by other randomness of the proof and of the secret table, and the same public one."""
    first, second = viewer(planned()), viewer(planned(), seed=4)
    wanted = first.view()
    assert not all(np.array_equal(x, y) for x, y in zip(first.values, second.values, strict=True))
    before = np.flatnonzero(np.array(wanted.labels) == "whir.fold")[0]
    chosen: dict[str, Words] = {}
    masked = np.arange(wanted.uniform.size) < before
    for rows, labels in ((masked, [OWN + "pads"]), (~masked, [x for x in others(wanted) if x != OWN + "pads"])):
        found = second.view(chosen)
        change = solution(
            replace(second, fixed=chosen).jacobian(labels)[: rows.size][rows],
            difference(wanted.uniform, found.uniform)[rows],
        )
        assert change is not None
        parts = np.split(change, np.cumsum([found.drawn[label].size for label in labels])[:-1])
        for label, part in zip(labels, parts, strict=True):
            chosen[label] = difference(found.drawn[label], difference(np.zeros_like(part), part))
    view = second.view(chosen)
    assert np.array_equal(view.whole, wanted.whole) and PUBLIC not in chosen


def made_up(true: Mapping[int, tuple[str, bytes]]) -> Draw:
    """Random words in place of all messages but those that are true, by their places."""
    random, places = np.random.default_rng(7), count()

    def words(label: str, size: int) -> Words:
        place = next(places)
        if place not in true:
            return random.integers(0, PRIME, size, np.uint64)
        own, content = true[place]
        assert own == label
        return np.frombuffer(content, np.uint64)

    return words


def test_a_simulator_that_holds_the_public_table_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves, salts and paths of the public root are true ones, in two proofs; all else is made up, by no witness."""
    monkeypatch.setattr(opening, "QUERY_BITS", ONE_VECTOR[0])
    monkeypatch.setattr(geometry, "LAST", ONE_VECTOR[1])
    runs: list[Learned] = []

    def learned() -> Learned:
        runs.append(Learned())
        return runs[-1]

    monkeypatch.setattr(hidden_simulator, "Learned", learned)
    for challenges in (2, 3):
        own = viewer(planned(), challenges=challenges)
        sent, _ = tensor_view(own.plan.native, list(own.values), list(own.secrets), own.challenges, own.demand, {})
        first = [label for label, _ in sent].index("whir.leaves")
        true = dict(enumerate(sent[first : first + 3], first))
        publics = {("output", "y"): np.arange(12), (ROWS_SIDE, "1"): ROWS}
        assert simulated(own.plan, publics, own.challenges, partial(made_up, true))
    assert runs[0].roots[0] == runs[1].roots[0] and runs[0].roots[1] != runs[1].roots[1]
