"""JAX primitives that compare, combine truth values and choose."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from circuitize.frontends import functions
from circuitize.frontends.tensor import Tensor

from .equation import FINITE, Equation, Operand, Result, primitive
from .value import Value

MASKED = -64.0
"""The number that replaces minus infinity where a choice is made: e^-64 is less than 2^-92."""
FAR = -(2.0**13)
"""A number of at most this masks in a choice, as minus infinity does."""


@primitive("is_finite", meaning="true: numbers of a circuit are finite")
def _finite(equation: Equation) -> Value:
    equation.assume(FINITE)
    return truth(equation, True)


def truth(equation: Equation, found: bool) -> Value:
    """Return a known truth value as an array of the result's shape."""
    return Value(np.broadcast_to(np.asarray(found), equation.shapes[0]), equation.dtypes[0])


def _decided(equation: Equation, name: str) -> Value | None:
    """Return the result of a comparison that is the same for all elements: of a wire with itself or with infinity, or
    of values whose intervals are disjoint.
    """
    a, b = equation.inputs
    if isinstance(a.content, Tensor) and isinstance(b.content, Tensor) and a.content.wire == b.content.wire:
        return truth(equation, name in ("eq", "le", "ge"))
    for one, other, sign in ((a, b, 1.0), (b, a, -1.0)):
        number = other.uniform()
        if number is not None and math.isinf(number) and one.kind == "float":
            equation.assume(FINITE)
            less = (number > 0) == (sign > 0)
            return truth(equation, name == "ne" or name in (("lt", "le") if less else ("gt", "ge")))
    if a.kind == "float":
        return None
    (p, q), (r, s) = a.interval, b.interval
    always = {"lt": q < r, "le": q <= r, "gt": p > s, "ge": p >= s, "ne": q < r or p > s, "eq": p == q == r == s}
    never = {"lt": p >= s, "le": p > s, "gt": q <= r, "ge": q < r, "ne": p == q == r == s, "eq": q < r or p > s}
    if always[name] or never[name]:
        return truth(equation, always[name])
    return None


COMPARISONS: dict[str, Callable[[Tensor, Operand], Tensor]] = {
    "lt": lambda a, b: a < b,
    "gt": lambda a, b: a > b,
    "le": lambda a, b: a <= b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
}
MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}


def _comparison(name: str) -> None:
    @primitive(
        name,
        meaning="Greater; OneHot for labels against 0, 1, ..., where they are in range" if name == "eq" else "Greater",
    )
    def rule(equation: Equation) -> Result | Value:
        decided = _decided(equation, name)
        if decided is not None:
            return decided
        hot = _indicator(equation) if name == "eq" else None
        if hot is not None:
            return Result(hot, (0, 1))
        if isinstance(equation.inputs[0].content, Tensor):
            found = COMPARISONS[name](equation.tensor(0), equation.operand(1))
        else:
            found = COMPARISONS[MIRRORED[name]](equation.tensor(1), equation.operand(0))
        return Result(found, (0, 1))


for _name in COMPARISONS:
    _comparison(_name)


def _indicator(equation: Equation) -> Tensor | None:
    """Return the one-hot encoding that a comparison means: labels from 0 to n - 1, repeated along an axis, compared
    with 0, 1, ..., n - 1 along that axis.
    """
    for one, other in (equation.inputs, equation.inputs[::-1]):
        if not other.known or one.spread is None or one.kind != "int" or len(other.shape) != len(equation.shapes[0]):
            continue
        source, places = one.spread
        new = [axis for axis in range(len(other.shape)) if axis not in places]
        low, high = source.interval
        if len(new) != 1 or not isinstance(source.content, Tensor) or low < 0 or high >= other.shape[new[0]]:
            continue
        count = other.shape[new[0]]
        line = np.arange(count).reshape([count if axis == new[0] else 1 for axis in range(len(other.shape))])
        if not (other.array() == line).all():
            continue
        hot = functions.one_hot(source.content, count)
        order = [len(places) if axis == new[0] else places.index(axis) for axis in range(len(other.shape))]
        return hot.transpose(*order).broadcast(equation.shapes[0])
    return None


@primitive("not", meaning="1 - x, of truths")
def _not(equation: Equation) -> Result:
    _require_truths(equation)
    return Result(1.0 - equation.tensor(), (0, 1))


@primitive("and", "or", "xor", meaning="Multiply and Add, of truths")
def _logic(equation: Equation) -> Result | Value:
    _require_truths(equation)
    for index in (0, 1):
        number, other = equation.inputs[index].uniform(), equation.inputs[1 - index]
        if number is None or other.shape != equation.shapes[0]:
            continue
        if equation.name == "and":
            return other if number else truth(equation, False)
        if equation.name == "or":
            return truth(equation, True) if number else other
        return Result(1.0 - equation.tensor(1 - index), (0, 1)) if number else other
    a, b = equation.tensor(0), equation.tensor(1)
    both = a * b
    made = {"and": lambda: both, "or": lambda: a + b - both, "xor": lambda: a + b - both * 2.0}[equation.name]()
    return Result(made, (0, 1))


def _require_truths(equation: Equation) -> None:
    if equation.inputs[0].kind != "bool":
        raise equation.fault(f"expected truths, found {equation.inputs[0].dtype}; bits of numbers have no meaning here")


@primitive("select_n", meaning="Select; a case of NaN is left out, minus infinity is -64", moves=True)
def _select(equation: Equation) -> Tensor | Value:
    which, *cases = equation.inputs
    number = which.uniform()
    if number is not None:
        return cases[int(number)]
    real = [index for index, case in enumerate(cases) if not _is_nan(case)]
    if len(real) < len(cases):
        equation.assume(FINITE)
        if len(real) == 1:
            return cases[real[0]]
    made = _case(equation, 1)
    shape = equation.shapes[0]
    condition = equation.tensor(0)
    for index in range(1, len(cases)):
        chosen = condition if which.kind == "bool" else condition > index - 0.5
        made = functions.where(
            chosen.broadcast(shape), _case(equation, index + 1).broadcast(shape), made.broadcast(shape)
        )
    return made


def _is_nan(value: Value) -> bool:
    return value.known and value.kind == "float" and bool(np.isnan(value.array().astype(np.float64)).all())


def _case(equation: Equation, index: int) -> Tensor:
    """Return one of the choices of a Select as a wire, in which a masking number becomes a bound that a circuit can
    hold.
    """
    value = equation.inputs[index]
    if not value.known or value.kind != "float":
        return equation.tensor(index)
    array = value.array().astype(np.float64)
    if (array <= FAR).any():
        equation.assume(f"what is masked by {array.min():g} is {MASKED:g}: scores are within 32 of one another", True)
        array = np.where(array <= FAR, MASKED, array)
    return equation.constant(array)
