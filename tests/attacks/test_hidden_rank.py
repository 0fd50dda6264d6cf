"""Proofs in zero knowledge hide: for fixed challenges, what is sent is uniform by the randomness that is drawn.

The rank of the prover's own map from randomness to messages, over the field, is the number of coordinates that
docs/zero-knowledge.md calls uniform; the other coordinates add nothing to it, and are the same for two witnesses.
Without any of the randomness it is less.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from hidden_programs import LARGE, OPERATIONS, PROGRAMS, TWO
from hidden_view import MORE_VECTORS, Viewer, is_salt, joint, secrets, values_of, words_of
from prime_matrices import PRIME, Words, difference, rank, solution
from prime_matrices import product as times
from r1cs_programs import single
from small_programs import draw
from tensor_proofs import committed_inputs
from tensor_rows import EXAMPLES, of_rows

from circuitize.backends.tensor.forms import Integers, Public
from circuitize.circuits import integers
from circuitize.circuits.errors import Undefined
from circuitize.circuits.integers import operation_classes
from circuitize.circuits.port import Visibility
from circuitize.circuits.types import Fixed
from circuitize.provers.tensor.plan import plan

OFTEN = ("step", "Lookup")
UNIFORM = {("step", 3), ("Lookup", 2)}
OF_OPENING = {"whir.fold", "whir.leaves", "whir.carried", "whir.last"}


def test_programs_are_of_every_operation() -> None:
    shipped = {own for own in operation_classes() if own.__module__.startswith("circuitize.")}
    assert {type(operation) for operation, _ in OPERATIONS} == shipped


@cache
def viewed(name: str, degree: int) -> Viewer:
    """The prover of a program whose inputs are committed, for one opening."""
    private = committed_inputs(PROGRAMS[name])
    made = plan(private, openings=1, degree=degree)
    random = np.random.default_rng(1)
    while True:
        try:
            return Viewer(made, values_of(made, draw(private, random)), secrets(made))
        except Undefined:
            continue


def assert_uniform(viewer: Viewer) -> None:
    """The Jacobian of the uniform part is square and has an inverse, but for words that change nothing.

    So each view of the uniform part is made by just one choice of random words; and where any word of any label were a
    constant, zero or another, some views could not be.
    """
    view = viewer.view()
    labels = words_of(view)
    size = view.uniform.size
    found = viewer.jacobian(labels)[:size]
    used = np.add.reduce(found != 0, axis=0) > 0
    assert rank(found) == size
    assert np.count_nonzero(used) == size
    start = 0
    for label in labels:
        width = view.drawn[label].size
        # The third pad of each triple follows from the others.
        unused = viewer.plan.degree * viewer.plan.native.layout()[2][1] if label.endswith(": pads") else 0
        assert width - np.count_nonzero(used[start : start + width]) == unused, label
        start += width


@pytest.mark.parametrize(
    ("name", "degree"),
    [
        pytest.param(name, degree, marks=[] if (name, degree) in UNIFORM else [pytest.mark.deep])
        for name, degree in product(PROGRAMS, (2, 3))
    ],
)
def test_what_is_sent_is_uniform_and_each_random_word_is_needed(name: str, degree: int) -> None:
    assert_uniform(viewed(name, degree))


def test_what_follows_from_the_uniform_part_adds_nothing_to_its_rank() -> None:
    """A root that may be opened once more has random words that the view does not tell: nor do s, g(x) and the sums."""
    private = committed_inputs(PROGRAMS["step"])
    made = plan(private, openings=2)
    viewer = Viewer(made, values_of(made, draw(private, np.random.default_rng(1))), secrets(made))
    view = viewer.view()
    found = viewer.jacobian(words_of(view))
    size = view.uniform.size
    assert np.count_nonzero(np.add.reduce(found != 0, axis=0)) > size
    assert rank(found[:size]) == rank(found) == size


@pytest.mark.deep
@pytest.mark.parametrize("degree", [2, 3])
def test_with_zeros_in_place_of_any_randomness_the_view_is_not_uniform(degree: int) -> None:
    """The labels are those that the prover asks for."""
    viewer = viewed("step", degree)
    view = viewer.view()
    for label in words_of(view):
        without = replace(viewer, fixed={label: np.zeros_like(view.drawn[label])})
        others = [own for own in words_of(view) if own != label]
        assert rank(without.jacobian(others)[: view.uniform.size]) < view.uniform.size, label


def test_the_jacobian_is_that_of_the_map() -> None:
    """All of one label's words at once, changed by any numbers: the view is affine in them, but for pads of triples."""
    viewer = viewed("step", 2)
    view, random = viewer.view(), np.random.default_rng(2)
    for label in words_of(view):
        if label.endswith("pads"):
            continue
        change = random.integers(0, PRIME, view.drawn[label].size, np.uint64)
        found = viewer.view({label: difference(view.drawn[label], change)}).whole
        expected = view.whole
        for column, by in zip(viewer.jacobian([label]).T, change, strict=True):
            expected = difference(expected, times(column, by))
        assert np.array_equal(found, expected), label


def outcomes(name: str) -> tuple[Viewer, Viewer]:
    """Provers of one program, with private inputs that differ and public outputs that do not."""
    private = committed_inputs(PROGRAMS[name])
    made = plan(private, openings=1)
    random = np.random.default_rng(3)
    seen: dict[bytes, tuple[str, list[Integers]]] = {}
    while True:
        inputs = draw(private, random)
        values = values_of(made, inputs)
        said = b"".join(
            value.tobytes() for base, value in zip(made.bases, values, strict=True) if isinstance(base, Public)
        )
        key = str(inputs)
        other = seen.setdefault(said, (key, values))
        if other[0] != key:
            return Viewer(made, other[1], secrets(made)), Viewer(made, values, secrets(made, 7))


@pytest.mark.parametrize("name", OFTEN)
def test_what_one_witness_sends_another_sends_for_other_randomness(name: str) -> None:
    """The whole view, what follows from the uniform part of it too: it says nothing of which witness made it."""
    first, second = outcomes(name)
    wanted = first.view()
    masked = np.array([label not in OF_OPENING for label in wanted.labels])
    chosen: dict[str, Words] = {}
    # First the reductions' messages, each by its pad, of triples too; then all else is affine.
    for rows, labels in ((masked, ["1: pads"]), (~masked, [x for x in words_of(wanted) if x != "1: pads"])):
        found = second.view(chosen)
        lacking = difference(wanted.uniform, found.uniform)[rows]
        assert lacking.any()
        change = solution(first.jacobian(labels)[: rows.size][rows], lacking)
        assert change is not None
        parts = np.split(change, np.cumsum([found.drawn[label].size for label in labels])[:-1])
        for label, part in zip(labels, parts, strict=True):
            chosen[label] = difference(found.drawn[label], difference(np.zeros_like(part), part))
    assert np.array_equal(second.view(chosen).whole, wanted.whole)
    assert not np.array_equal(first.values, second.values)


def test_a_root_between_two_programs_is_uniform_in_both() -> None:
    """The output of one proof is the input of the next: two openings of a root in two plans."""
    first = committed_inputs(single(integers.Scale(1, 0), Fixed((), 0, 0, 1)))
    (port,) = first.outputs
    assert port.format is not None
    first = replace(first, outputs=(replace(port, visibility=Visibility.COMMITTED),))
    second = committed_inputs(single(integers.Scale(2, 0), port.format))
    made = [plan(one, openings=2) for one in (first, second)]
    trace = made[0].trace(draw(first, np.random.default_rng(1)))
    values = [made[0].values(trace), values_of(made[1], {"in0": trace[first.arrow.outputs[0]]})]
    (out,) = (number for number, (side, _) in enumerate(made[0].groups) if side == "output")
    own = [secrets(made[0]), secrets(made[1], 20)]
    own[0][out] = own[1][0]
    viewers = [Viewer(made[i], values[i], own[i], bytes([i] * 32)) for i in range(2)]
    views = [viewer.view() for viewer in viewers]
    assert np.array_equal(views[0].drawn[f"{out}: root"], views[1].drawn["0: root"])
    assert rank(joint([(viewers[0], f"{out}: "), (viewers[1], "0: ")])) == sum(view.uniform.size for view in views)


@pytest.mark.parametrize("degree", [2, pytest.param(3, marks=pytest.mark.deep)])
def test_rows_of_a_dataset_are_hidden(degree: int) -> None:
    _, made = of_rows(degree)
    made = replace(made, openings=(1,) * len(made.groups))
    draws, rows = np.random.default_rng(3), np.array([4, 0, 4])
    data, weights = draws.integers(0, 8, (EXAMPLES, 4)), draws.integers(-8, 8, 12)
    values = list(made.values(made.trace({"x": data[rows], "w": weights}), {"1": rows}))
    values[made.tensors["x"]] = data
    assert_uniform(Viewer(made, values, secrets(made), bytes([3] * 32)))


def test_each_vector_of_an_opening_hides() -> None:
    """Of larger tables: vectors are folded again, each with random words and carried pads of its own."""
    private = committed_inputs(LARGE)
    made = plan(private, openings=1)
    values = values_of(made, draw(private, np.random.default_rng(1)))
    viewer = Viewer(made, values, secrets(made), demand=MORE_VECTORS)
    labels = words_of(viewer.view())
    assert {"1: vector 0", "1: vector 1", "1: carried 0"} <= set(labels)
    assert_uniform(viewer)


def test_each_tree_has_salts_of_its_own() -> None:
    """Leaves that are equal have hashes that differ; and each key of salts changes those of one tree, and no number."""
    private = committed_inputs(single(integers.Add(), TWO, TWO))
    made = plan(private, openings=1)
    zeros = values_of(made, {port.name: np.zeros(2, np.int64) for port in private.inputs})
    viewer = Viewer(made, zeros, secrets(made))
    words = viewer.view().drawn["0: root"]
    view = viewer.view({"0: root": np.zeros_like(words)})
    salts = [tuple(salt) for tree in view.salts for salt in tree.tolist()]
    assert len(set(salts)) == len(salts)
    assert len({node.tobytes() for node in view.nodes[0]}) == len(view.nodes[0])
    labels = [label for label in view.drawn if is_salt(label)]
    assert len(labels) == len(view.salts)
    for place, label in enumerate(labels):
        other = viewer.view({"0: root": np.zeros_like(words), label: np.arange(4, dtype=np.uint64)})
        assert np.array_equal(other.whole, view.whole)
        same = [np.array_equal(x, y) for x, y in zip(other.salts, view.salts, strict=True)]
        assert same == [number != place for number in range(len(labels))], label


def test_words_in_place_of_nothing_are_refused() -> None:
    viewer = viewed("step", 2)
    for label, words in (("1: pads", np.zeros(1, np.uint64)), ("1: other", np.zeros(4, np.uint64))):
        with pytest.raises(RuntimeError, match=f"nothing asks for {words.size} words of {label}"):
            viewer.view({label: words})
