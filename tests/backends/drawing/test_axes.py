"""An axis that goes around a box is one that the operation repeats over: nothing depends on what lies elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import arrays_cases
import integers_cases
import numpy as np
from every_case import every_case
from numpy.typing import NDArray

from circuitize.backends.axes import ELEMENTWISE
from circuitize.backends.drawing.axes import Form, parameters, strands
from circuitize.circuits import arrays, integers
from circuitize.circuits.builder import generator
from circuitize.circuits.errors import Undefined
from circuitize.circuits.hypergraph import evaluate
from circuitize.circuits.operation import Operation
from circuitize.circuits.types import Type

Values = NDArray[Any]
REALS, INTEGERS = arrays_cases.cases(), integers_cases.cases()
TRIES = 4


def repeats(operation: Operation, types: Sequence[Type], draw: Any) -> int:
    """Check each axis around the box; how many there are. Values elsewhere along it are exchanged for others."""
    arrow = generator(operation, *types)
    drawn = strands(operation, [type.shape for type in arrow.source], [type.shape for type in arrow.target])
    shapes = [type.shape for type in (*arrow.source, *arrow.target)]
    labels = [*drawn.sources, *drawn.targets]
    assert [len(each) for each in labels] == [len(shape) for shape in shapes]
    assert all(len(set(each)) == len(each) for each in labels)
    around = [label for label in drawn.around if all(label in each for each in labels)]
    extents = {label: {s[e.index(label)] for s, e in zip(shapes, labels, strict=True)} for label in around}
    assert all(len(found) == 1 for found in extents.values()), "one axis has one extent"
    if drawn.form is not Form.CUP:
        assert list(drawn.around) == around
    for label in around:
        for place in range(min(2, *extents[label])):
            first, second = draw(), draw()
            mixed = [
                np.moveaxis(other.copy(), each.index(label), 0)
                for other, each in zip(second, drawn.sources, strict=True)
            ]
            for values, one, each in zip(mixed, first, drawn.sources, strict=True):
                values[place] = np.moveaxis(one, each.index(label), 0)[place]
            back = [np.moveaxis(v, 0, each.index(label)) for v, each in zip(mixed, drawn.sources, strict=True)]
            try:
                expected, found = evaluate(arrow, first), evaluate(arrow, back)
            except Undefined:
                continue
            for one, other, each in zip(expected, found, drawn.targets, strict=True):
                at = each.index(label)
                np.testing.assert_allclose(one.take(place, at), other.take(place, at), rtol=1e-12, atol=1e-12)
    return len(around)


@every_case(sorted({type(case.operation).__name__ for case in REALS}))
def test_real_operations_repeat_over_what_goes_around(kind: str) -> None:
    random = np.random.default_rng(1)
    for case in REALS:
        if type(case.operation).__name__ != kind:
            continue

        def draw(sources: Any = case.sources) -> list[Values]:
            return [source.real(source.awkward(random)) for source in sources]

        shape = max((source.shape for source in case.sources), key=len, default=())
        count = repeats(case.operation, [source.array for source in case.sources], draw)
        if isinstance(case.operation, ELEMENTWISE):
            assert count == len(shape)


@every_case(sorted({type(case.operation).__name__ for case in INTEGERS}))
def test_integer_operations_repeat_over_what_goes_around(kind: str) -> None:
    random = np.random.default_rng(1)
    for case in [case for case in INTEGERS if type(case.operation).__name__ == kind][:40]:
        repeats(case.operation, case.sources, lambda case=case: case.draw(random))


def test_enough_goes_around() -> None:
    """So that the tests above are about something."""
    forms = {"real.sum": 1, "real.softmax": 1, "real.broadcast": 1, "real.reshape": 0, "real.concatenate": 1}
    most = dict.fromkeys(forms, 0)
    for case in REALS:
        if case.operation.name in forms:
            arrow = generator(case.operation, *(source.array for source in case.sources))
            drawn = strands(case.operation, [t.shape for t in arrow.source], [t.shape for t in arrow.target])
            most[case.operation.name] = max(most[case.operation.name], len(drawn.around))
    assert all(most[name] >= least for name, least in forms.items()), most


def test_parameters_are_numbers_but_no_axes() -> None:
    assert parameters(arrays.Clip(-1.0, 1.5)) == "-1 1.5"
    assert parameters(integers.Shift(3)) == "3"
    shown = (arrays.Max(1), arrays.Concatenate(1), arrays.Sum((0,)), arrays.Reshape((2, 3)), arrays.Einsum("ij,jk->ik"))
    assert [parameters(operation) for operation in shown] == [""] * 5
