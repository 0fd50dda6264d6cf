"""Leaves of each width hide what is in them, as often as their root may be opened, and no more often."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hidden_programs import PROGRAMS
from hidden_view import View, Viewer, joint, secrets, values_of, words_of
from independent_verifier import geometry, opening
from prime_matrices import rank
from r1cs_programs import single
from small_programs import draw
from tensor_proofs import committed_inputs

from circuitize.circuits import integers
from circuitize.circuits.types import Fixed
from circuitize.provers.tensor.plan import Plan, plan


def tables(made: Plan, bits: float, monkeypatch: pytest.MonkeyPatch) -> Sequence[geometry.Geometry]:
    """The sizes of a plan's tables where queries have so many bits, by the independent verifier."""
    assert made.openings is not None
    monkeypatch.setattr(opening, "QUERY_BITS", bits)
    sizes = zip(made.layout.tables, (*made.openings, 1), strict=True)
    return [geometry.table(own.end, openings) for own, openings in sizes]


@pytest.mark.parametrize(
    ("count", "openings", "bits", "width"),
    [
        (4, 1, 1.3, 2),
        pytest.param(17, 1, 1.3, 4, marks=pytest.mark.deep),
        pytest.param(33, 2, 1.3, 8, marks=pytest.mark.deep),
        (65, 1, 1.0, 16),
    ],
)
def test_leaves_of_each_width_hide(
    count: int, openings: int, bits: float, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of the root of so many numbers."""
    total = integers.Sum(integers.View.broadcast((count,), (0,)))
    private = committed_inputs(single(total, Fixed((count,), 0, 0, 1)))
    made = plan(private, openings=openings)
    values = values_of(made, draw(private, np.random.default_rng(1)))
    viewer = Viewer(made, values, secrets(made), demand=(bits, 1 << 10))
    view = viewer.view()
    asked = tables(made, bits, monkeypatch)[0].queries
    assert view.drawn["0: root"].size == width * openings * asked
    found = viewer.jacobian(words_of(view))
    assert rank(found[: view.uniform.size]) == rank(found) == view.uniform.size


@pytest.mark.parametrize(
    ("bits", "width", "degree"),
    [
        pytest.param(1.3, 8, 3, marks=pytest.mark.deep),
        pytest.param(5.2, 4, 2, marks=pytest.mark.deep),
        (11.8, 2, 2),
    ],
)
def test_own_columns_of_narrow_leaves_hide(
    bits: float, width: int, degree: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside these leaves lie carried pads. With any random word of the last query known the view is not uniform."""
    private = committed_inputs(PROGRAMS["Constant"])
    made = plan(private, openings=1, degree=degree)
    values = values_of(made, draw(private, np.random.default_rng(1)))
    count = tables(made, bits, monkeypatch)[-1].queries
    for seed in range(1000):
        viewer = Viewer(made, values, secrets(made), bytes([seed % 256, seed // 256] * 16), (bits, 1 << 10))
        view = viewer.view()
        if len(view.salts[1]) == count:
            break
    assert view.drawn["1: columns"].size == width * count
    labels = words_of(view)
    found = viewer.jacobian(labels)
    size = view.uniform.size
    assert rank(found[:size]) == rank(found) == size
    end = sum(view.drawn[label].size for label in labels[: labels.index("1: columns") + 1])
    for place in range(end - width, end):
        assert rank(np.delete(found[:size], place, axis=1)) == size - 1


@pytest.mark.parametrize(
    ("last", "openings", "packed"),
    [
        (1 << 10, 40, True),
        (1 << 5, 4, False),
        pytest.param(1 << 5, 40, True, marks=pytest.mark.deep),
        pytest.param(1 << 10, 4, False, marks=pytest.mark.deep),
    ],
)
def test_blocks_in_others_and_of_tables_half_full_hide(
    last: int, openings: int, packed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A block lies among the zeros of the root's; or the root fills half of its table, and its block is smaller."""
    total = integers.Sum(integers.View.broadcast((2,), (0,)))
    private = committed_inputs(single(total, Fixed((2,), 0, 0, 1)))
    made = plan(private, openings=openings, degree=2)
    root, own = tables(made, 1.3, monkeypatch)
    monkeypatch.setattr(geometry, "LAST", last)
    first, *others = geometry.vectors([root, own], True)
    block, inner = first.folds
    assert (block.offset < inner.offset < block.offset + (1 << block.bits)) == packed
    assert (block.bits < root.bits - root.fold) == (not packed) and len(others) == (last < 1 << 6)
    values = values_of(made, draw(private, np.random.default_rng(1)))
    viewer = Viewer(made, values, secrets(made), demand=(1.3, last))
    view = viewer.view()
    found = viewer.jacobian(words_of(view))
    assert rank(found[: view.uniform.size]) == rank(found) == view.uniform.size


def leaves_in_common(views: Sequence[View], place: int) -> int:
    """How many leaves of the tree at this place both views open: their salts tell."""
    sets = [{tuple(salt) for salt in view.salts[place].tolist()} for view in views]
    return len(sets[0] & sets[1])


@pytest.mark.deep
@pytest.mark.parametrize(("budget", "uniform"), [(2, True), (1, False)])
def test_a_root_is_opened_as_often_as_it_was_made_for(budget: int, uniform: bool) -> None:
    """Two proofs that open one root, each with challenges of its own: together they are uniform for a budget of 2."""
    private = committed_inputs(PROGRAMS["step"])
    made = plan(private, openings=budget, degree=2)
    values = values_of(made, draw(private, np.random.default_rng(1)))
    shared, *own = secrets(made)
    first = Viewer(made, values, [shared, *own], bytes([1] * 32))
    second = Viewer(made, values, [shared, *[bytes([9] * 32)] * len(own)], bytes([2] * 32))
    views = first.view(), second.view()
    assert leaves_in_common(views, 0) == 0
    size = sum(view.uniform.size for view in views)
    found = rank(joint([(first, "0: "), (second, "0: ")]))
    assert (found == size) == uniform


@pytest.mark.parametrize(("budget", "uniform"), [(3, True), pytest.param(2, False, marks=pytest.mark.deep)])
def test_a_root_of_narrow_leaves_is_opened_as_often_as_it_was_made_for(budget: int, uniform: bool) -> None:
    """Three proofs that open one root whose leaves hold four symbols, or two."""
    private = committed_inputs(PROGRAMS["step"])
    made = plan(private, openings=budget, degree=2)
    values = values_of(made, draw(private, np.random.default_rng(1)))
    shared, *own = secrets(made)
    viewers: list[Viewer] = []
    for seed in range(100):
        other = Viewer(made, values, [shared, *[bytes([9 + seed] * 32)] * len(own)], bytes([seed] * 32))
        if not any(leaves_in_common((one.view(), other.view()), 0) for one in viewers):
            viewers.append(other)
        if len(viewers) == 3:
            break
    size = sum(viewer.view().uniform.size for viewer in viewers)
    found = rank(joint([(viewer, "0: ") for viewer in viewers]))
    assert (found == size) == uniform


@pytest.mark.parametrize(("budget", "lacking"), [(2, 0), pytest.param(1, 2 * 3, marks=pytest.mark.deep)])
def test_proofs_of_both_degrees_share_a_budget(budget: int, lacking: int) -> None:
    """With one opening more than the budget, a symbol of each leaf that it opens follows from the others."""
    private = committed_inputs(PROGRAMS["Constant"])
    inputs = draw(private, np.random.default_rng(1))
    for seed in range(0, 256, 2):
        viewers = []
        for degree in (2, 3):
            made = plan(private, openings=budget, degree=degree)
            own = [secrets(made)[0], bytes([9 + degree] * 32)]
            viewers.append(Viewer(made, values_of(made, inputs), own, bytes([seed + degree % 2] * 32)))
        views = [viewer.view() for viewer in viewers]
        if [len(view.salts[0]) for view in views] == [3, 3] and not leaves_in_common(views, 0):
            break
    assert np.array_equal(views[0].drawn["0: root"], views[1].drawn["0: root"])
    found = rank(joint([(viewer, "0: ") for viewer in viewers]))
    assert found == sum(view.uniform.size for view in views) - lacking
