"""What real operations refuse: one clear line that says expected, found and the remedy."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from arrays_cases import cases, language
from every_case import every_case
from operations.real import Case

from circuitize.circuits import arrays
from circuitize.circuits.builder import generator
from circuitize.circuits.errors import TypingError
from circuitize.circuits.operation import Operation
from circuitize.circuits.types import Array, Shape

Make = Callable[[], Operation]

REFUSED: list[tuple[Make, list[Shape], str]] = [
    (arrays.Add, [(2,), (3,)], r"sources of one shape, found \[2\], \[3\]; broadcast"),
    (arrays.Subtract, [(2,), (2, 1)], "sources of one shape"),
    (arrays.Multiply, [(1,), (3,)], "sources of one shape"),
    (arrays.Greater, [(1,), ()], "sources of one shape"),
    (arrays.Select, [(2,), (2,), (3,)], "sources of one shape"),
    (arrays.Negate, [(2,), (2,)], "expected 1 source, found 2"),
    (arrays.ReLU, [], "expected 1 source, found 0"),
    (arrays.Exp, [(1,), (1,)], "expected 1 source, found 2"),
    (arrays.Reciprocal, [], "expected 1 source, found 0"),
    (lambda: arrays.Scale(float("nan")), [(2,)], "finite factor, found nan"),
    (lambda: arrays.Scale(float("inf")), [(2,)], "finite factor, found inf"),
    (lambda: arrays.Clip(1.0, 1.0), [(2,)], "finite bounds in order, found 1.0 and 1.0"),
    (lambda: arrays.Clip(0.0, float("inf")), [(2,)], "finite bounds in order, found 0.0 and inf"),
    (lambda: arrays.Reshape((2, 2)), [(3,)], r"shape of 3 elements, as \[3\] has, found \[2, 2\] of 4"),
    (lambda: arrays.Transpose((0, 0)), [(2, 3)], r"each axis of \[2, 3\] once, found axes \[0, 0\]"),
    (lambda: arrays.Transpose((0,)), [(2, 3)], "each axis"),
    (lambda: arrays.Broadcast((2, 3), (2,)), [(2,)], "axes from 0 to 1, found 2"),
    (lambda: arrays.Broadcast((2, 3), (0, 0)), [(3,)], "distinct axes"),
    (lambda: arrays.Broadcast((2, 3), (0,)), [(2,)], r"source of shape \[3\] to broadcast to \[2, 3\]"),
    (lambda: arrays.Sum((1,)), [(3,)], "axes from 0 to 0, found 1"),
    (lambda: arrays.Sum((-1,)), [(3,)], "count axes of this array from 0"),
    (lambda: arrays.Sum((0,)), [()], "expected an array with axes, found a scalar"),
    (lambda: arrays.Slice((0,), (4,)), [(3,)], "0 <= start < stop <= 3 at axis 0, found 0 and 4"),
    (lambda: arrays.Slice((1,), (1,)), [(3,)], "start < stop"),
    (lambda: arrays.Slice((0,), (1, 1)), [(3, 3)], "one of starts per axis"),
    (lambda: arrays.Slice((0, 0), (1,)), [(3, 3)], "one of stops per axis"),
    (lambda: arrays.Pad((-1,), (0,)), [(3,)], "before >= 0, found"),
    (lambda: arrays.Pad((0,), (0, 0)), [(3,)], "one of after per axis"),
    (lambda: arrays.Concatenate(0), [], "at least 1 source"),
    (lambda: arrays.Concatenate(0), [(2, 3), (2, 4)], "equal but for axis 0"),
    (lambda: arrays.Concatenate(2), [(2, 3), (2, 3)], "axes from 0 to 1, found 2"),
    (lambda: arrays.Max(1), [(3,)], "axes from 0 to 0, found 1"),
    (lambda: arrays.ArgMaxOneHot(3), [(3,)], "axes from 0 to 0, found 3"),
    (lambda: arrays.Einsum("ij,jk"), [(2, 2), (2, 2)], "equation like 'bi,ij->bj', found 'ij,jk'"),
    (lambda: arrays.Einsum("ii,ij->j"), [(2, 2), (2, 2)], "distinct letters"),
    (lambda: arrays.Einsum("i,j->ijk"), [(2,), (2,)], "'k' in an operand"),
    (lambda: arrays.Einsum("ij,k->ik"), [(2, 2), (2,)], "'j' of .* found it in one operand; use Sum first"),
    (lambda: arrays.Einsum("ij,jk->ik"), [(2, 3), (2, 3)], "one extent for 'j' of .* found 3 and 2"),
    (lambda: arrays.Einsum("ij,jk->ik"), [(2, 3), (3,)], r"2 axes for 'jk' of .* found shape \[3\]"),
    (lambda: arrays.Constant.splat(0.0, (2, 0)), [], "at least one element, found 0 at axis 1"),
    (lambda: arrays.matmul(1, 2), [(2,), (2, 2)], "ranks of at least 2"),
    (lambda: arrays.matmul(2, 3), [(2, 2), (2, 2, 2)], "equal unless the second is 2"),
    (arrays.Maximum, [(2,), (3,)], "sources of one shape"),
    (arrays.Divide, [(2,), (3,)], "sources of one shape"),
    (arrays.Log, [(1,), (1,)], "expected 1 source, found 2"),
    (lambda: arrays.Window((0,), (4,), (1,)), [(3,)], "window of at most 3 along axis 0, found 4; pad"),
    (lambda: arrays.Window((1,), (2,), (1,)), [(3,)], "axes from 0 to 0, found 1"),
    (lambda: arrays.Window((0,), (2,), ()), [(3,)], r"size and a step of at least 1 per axis of \[0\]"),
    (lambda: arrays.Window((0,), (2,), (0,)), [(3,)], r"found sizes \[2\], steps \[0\]"),
    (lambda: arrays.Window((0, 0), (2, 2), (1, 1)), [(3,)], "distinct axes"),
    (lambda: arrays.OverlapAdd((4,), (0,), (2,), (1,)), [(2, 2)], r"windows of shape \[3, 2\], found \[2, 2\]"),
    (lambda: arrays.Gather(1), [(3,), (2,)], "axes from 0 to 0, found 1"),
    (lambda: arrays.ScatterAdd(0, 4), [(3,), (2,)], r"axes \[2\] of the indices from axis 0 on, found shape \[3\]"),
    (lambda: arrays.ScatterAdd(1, 4), [(3,), (3,)], "from axis 1 on"),
    (lambda: arrays.LogSoftmax(1), [(3,)], "axes from 0 to 0, found 1"),
    (arrays.CrossEntropy, [(3,), (3,)], "axes from 0 to 0, found 1"),
    (arrays.CrossEntropy, [(3, 2), (3,)], "sources of one shape"),
    (arrays.BinaryCrossEntropy, [(3, 2), (3,)], "sources of one shape"),
    (arrays.Square, [(1,), (1,)], "expected 1 source, found 2"),
    (lambda: arrays.Mean((1,)), [(3,)], "axes from 0 to 0, found 1"),
    (lambda: arrays.Mean((0, 0)), [(3,)], "distinct axes"),
    (lambda: arrays.Softmax(1), [(3,)], "axes from 0 to 0, found 1"),
]


@every_case(REFUSED)
def test_refused(make: Make, shapes: list[Shape], message: str) -> None:
    with pytest.raises(TypingError, match=message) as caught:
        generator(make(), *map(Array, shapes))
    assert "\n" not in str(caught.value)
    assert ";" in str(caught.value) or "at least one element" in str(caught.value), "a remedy follows a semicolon"


@every_case(cases())
def test_other_numbers_of_sources_are_refused(case: Case) -> None:
    sources = [source.array for source in case.sources]
    if not isinstance(case.operation, arrays.Concatenate):
        with pytest.raises(TypingError, match=r"expected .* source"):
            generator(case.operation, *sources, Array((1,)))


@every_case(case for case in cases() if case.sources)
def test_integer_wires_are_refused(case: Case) -> None:
    sources = [source.fixed for source in case.sources]
    with pytest.raises(TypingError, match=r"real array as source 0, found fixed.*; keep to one language"):
        generator(case.operation, *sources)


def test_errors_name_the_operation_and_its_sources() -> None:
    with pytest.raises(TypingError, match=r"in real.add on \(real\[2\], real\[3\]\), unnamed part"):
        generator(arrays.Add(), Array((2,)), Array((3,)))


def test_names_are_distinct_and_belong_to_the_language() -> None:
    kinds = language()
    assert len({kind.name for kind in kinds}) == len(kinds) >= 15
    assert all(kind.name.startswith("real.") for kind in kinds)
    assert all(kind.__doc__ for kind in kinds)


def test_matmul_batches() -> None:
    assert arrays.matmul(2, 2) == arrays.Einsum("ij,jk->ik")
    assert arrays.matmul(4, 4) == arrays.Einsum("abij,abjk->abik")
    assert arrays.matmul(3, 2) == arrays.Einsum("aij,jk->aik")
