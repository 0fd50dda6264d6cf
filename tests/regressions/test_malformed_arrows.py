"""What makes arrows refuses what is no type, place, wire or arrow; the product of no arrows is the empty identity."""

# mypy: disable-error-code="arg-type, list-item, operator"
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from every_case import every_case

from circuitize.circuits import arrays
from circuitize.circuits.builder import Builder, generator
from circuitize.circuits.errors import TypingError
from circuitize.circuits.hypergraph import compose, evaluate, identity, permute, tensor
from circuitize.circuits.types import Array, Fixed
from circuitize.circuits.validate import validate

A = Array((2,))


def begun() -> Builder:
    """A builder with one wire, 0."""
    builder = Builder()
    builder.input(A)
    return builder


REFUSED: dict[str, tuple[Callable[..., Any], str]] = {
    "compose nothing": (lambda: compose(), r"at least one arrow, found none.*write identity\(\*types\)"),
    "compose a list": (lambda: compose([identity(A)]), r"argument 0, found list; write compose\(\*arrows\)"),
    "compose a number": (lambda: identity(A) >> 3, "argument 1, found int"),
    "tensor a word": (lambda: identity(A) @ "x", "argument 1, found str"),
    "permute past the end": (lambda: permute([A], [3]), "whole numbers below 1, found 3 at place 0"),
    "permute below 0": (lambda: permute([A, A], [0, -1]), "whole numbers below 2, found -1 at place 1"),
    "permute nothing": (lambda: permute([], [0]), "no wires, found 0 at place 0"),
    "permute a fraction": (lambda: permute([A], [0.5]), r"list of whole numbers below 1, found \[0.5\]"),
    "permute a truth": (lambda: permute([A, A], [True]), "list of whole numbers"),
    "permute one number": (lambda: permute([A], 0), "list of whole numbers"),
    "permute rows": (lambda: permute([A], [[0]]), "list of whole numbers"),
    "permute one type": (lambda: permute(A, [0]), r"list of types, found .*write \[type\]"),
    "identity of a shape": (lambda: identity((2, 3)), r"type 0: .*found \(2, 3\); write Array\(\(2, 3\)\)"),
    "identity of a list": (lambda: identity([A]), r"type 0: .*Array or Fixed"),
    "a list for a shape": (lambda: Array([2, 3]), r"found \[2, 3\]; write \(2, 3\)"),
    "a number for a shape": (lambda: Array(3), r"found 3; write \(3,\)"),
    "a fraction of an axis": (lambda: Array((2.0,)), "found 2.0 at axis 0"),
    "fractions of an interval": (lambda: Fixed((2,), 4, 0.0, 1.0), "whole number for low, found 0.0"),
    "an operation's class": (lambda: generator(arrays.Negate, A), r"class Negate; write Negate\(...\)"),
    "an operation's name": (lambda: generator("real.negate", A), "an operation, found 'real.negate'"),
    "a list in an operation": (lambda: generator(arrays.Reshape([2]), A), r"tuples in an operation.*write \(2, 3\)"),
    "input of a shape": (lambda: Builder().input((2, 3)), r"write Array\(\(2, 3\)\)"),
    "a wire from the end": (lambda: begun().add(arrays.Negate(), -1), r"below 1, found \[-1\]"),
    "a wire to come": (lambda: begun().add(arrays.Negate(), 1), r"below 1, found \[1\]"),
    "an output from the end": (lambda: begun().build([-1]), "below 1, found -1"),
    "an output to come": (lambda: begun().build([1]), "below 1, found 1"),
    "splice on too few": (lambda: begun().splice(identity(A, A), [0]), "expected 2 wires.*found 1"),
    "splice on another type": (lambda: begun().splice(identity(Array((3,))), [0]), r"real\[3\].*real\[2\]"),
    "run on too few": (lambda: evaluate(identity(A, A), [np.zeros(2)]), "expected 2 values.*found 1"),
}


@every_case(REFUSED)
def test_refused_in_one_line(name: str) -> None:
    make, words = REFUSED[name]
    with pytest.raises(TypingError, match=words) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_the_product_of_no_arrows_is_the_empty_identity() -> None:
    nothing = tensor()
    validate(nothing)
    assert nothing.source == nothing.target == () and nothing.edge_count == 0
    assert tensor(nothing, identity(A)).source == (A,)
    assert compose(nothing, identity()).target == ()


def test_choices_repeat_and_leave_out() -> None:
    for choice in ([1, 1, 0], range(1, 2), np.array([0, 1, 1]), [], ()):
        made = permute([A, Array(())], choice)
        validate(made)
        assert made.target == tuple((A, Array(()))[place] for place in choice)
