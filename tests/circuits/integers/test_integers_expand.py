"""Expanding whole programs: what is kept, what is left, provenance, and refusal where a definition could overflow."""

from __future__ import annotations

import numpy as np
import pytest
from operations.integer import draw, fixed

from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import OverflowRisk, Undefined
from circuitize.circuits.hypergraph import Arrow, evaluate
from circuitize.circuits.integers import Expansion, expand
from circuitize.circuits.operation import Operation, Provenance
from circuitize.circuits.types import Fixed
from circuitize.circuits.validate import validate


def program() -> Arrow:
    """A layer, the index of its greatest output, and a look at a table there."""
    builder = Builder()
    x, w, table = builder.inputs([fixed((3, 4), -9, 9, 2), fixed((4, 5), -9, 9, 2), fixed((5,), -99, 99, 1)])
    builder.provenance = Provenance("layer", "model.py", 3)
    z = builder.add(integers.ReLU(), builder.add(integers.Contract("bi,ij->bj"), x, w))
    builder.provenance = Provenance("choice", "model.py", 4)
    best = builder.add(integers.ArgMax(1), z)
    builder.provenance = Provenance("loss", "model.py", 5)
    loss = builder.add(integers.Gather(0), table, best)
    clamped = builder.add(integers.Clamp(-50, 50), loss)
    return builder.build([clamped, best, x])


def kinds(arrow: Arrow) -> set[type]:
    return {type(operation) for operation in arrow.operations if isinstance(operation, Expansion)}


def test_expanding_changes_neither_types_nor_values() -> None:
    arrow = program()
    core = expand(arrow)
    validate(core)
    assert not kinds(core)
    assert (core.source, core.target) == (arrow.source, arrow.target)
    random = np.random.default_rng(6)
    for _ in range(20):
        values = [draw(source, random) for source in arrow.source if isinstance(source, Fixed)]
        for found, expected in zip(evaluate(core, values), evaluate(arrow, values), strict=True):
            np.testing.assert_array_equal(found, expected)


def test_kept_classes_stay_and_appear_in_definitions() -> None:
    keep: frozenset[type[Operation]] = frozenset({integers.Contract, integers.Maximum})
    kept = expand(program(), keep)
    validate(kept)
    assert kinds(kept) == keep
    assert expand(kept, keep) is kept


def test_provenance_is_kept() -> None:
    arrow = program()
    core = expand(arrow)
    parts = [edge.provenance.part for edge in core.edges()]
    assert set(parts) == {"layer", "choice", "loss"}
    assert [part for i, part in enumerate(parts) if i == 0 or parts[i - 1] != part] == ["layer", "choice", "loss"]


def test_definitions_are_undefined_where_the_operation_is() -> None:
    core = expand(integers.Gather(0).definition(fixed((3,), 5, 9), fixed((2,), -1, 3)))
    for at in ([-1, 0], [0, 3]):
        with pytest.raises(Undefined, match=r"\[0, 2\]"):
            evaluate(core, [np.array([5, 6, 7]), np.array(at)])


def test_a_definition_that_could_overflow_is_refused_with_its_place() -> None:
    high = (1 << 62) - 1
    builder = Builder()
    builder.provenance = Provenance("layer 3", "model.py", 12)
    x, y = builder.inputs([fixed((2,), -high, high)] * 2)
    arrow = builder.build([builder.add(integers.Maximum(), x, y)])
    with pytest.raises(OverflowRisk, match=r"2\^62.*definition of integer\.maximum.*layer 3 \(model\.py:12\)") as error:
        expand(arrow)
    assert "\n" not in str(error.value)
    assert expand(arrow, {integers.Maximum}) is arrow
