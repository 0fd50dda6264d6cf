"""The rules by which each integer operation becomes forms, columns and lookups of a tensor system; the values of the
columns are unique where the program is defined.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from circuitize.circuits.integers.arithmetic import Add, IsNegative, Multiply, ReLU, Scale, Shift, Subtract
from circuitize.circuits.integers.check import Check
from circuitize.circuits.integers.constant import Constant
from circuitize.circuits.integers.contraction import Contract
from circuitize.circuits.integers.division import Divide, SquareRoot
from circuitize.circuits.integers.lookup import Lookup
from circuitize.circuits.integers.selection import Maximum, Select
from circuitize.circuits.integers.view import View
from circuitize.circuits.integers.wiring import Concatenate, Reindex, Sum
from circuitize.circuits.operation import Operation
from circuitize.circuits.types import LIMIT, Fixed

from .draft import Draft
from .errors import Unprovable
from .forms import Form, Recipe, Trace


@dataclass(frozen=True)
class Site:
    """An edge that is being lowered to forms: its place, the wires and types of its sources, the wire and type of its
    target, and the Check that is fused into it.

    The field `strict` says whether the sign of the negated target is needed.
    """

    name: str
    wires: tuple[int, ...]
    types: tuple[Fixed, ...]
    target_wire: int
    target: Fixed
    checked: tuple[int, int] | None = None
    strict: bool = False

    def source(self, index: int) -> Recipe:
        """Return the recipe of a source of the edge: its value in the trace of a run."""
        wire = self.wires[index]
        return lambda trace: trace[wire]

    @property
    def value(self) -> Recipe:
        """Return the recipe of the edge's target: its honest value in the trace of a run."""
        return lambda trace: trace[self.target_wire]


Rule = Callable[[Draft, Operation, Site, tuple[Form, ...]], Form]


def _constant(draft: Draft, operation: Operation, site: Site, forms: tuple[Form, ...]) -> Form:
    assert isinstance(operation, Constant)
    return draft.constant(np.ascontiguousarray(operation.amounts, np.int64), site.target.shape)


def _reindex(draft: Draft, operation: Operation, site: Site, forms: tuple[Form, ...]) -> Form:
    assert isinstance(operation, Reindex)
    return draft.along(forms[0], operation.view, sums=False)


def _sum(draft: Draft, operation: Operation, site: Site, forms: tuple[Form, ...]) -> Form:
    assert isinstance(operation, Sum)
    return draft.along(forms[0], operation.view, sums=True)


def _add(draft: Draft, operation: Operation, site: Site, forms: tuple[Form, ...]) -> Form:
    return forms[0] + forms[1]


def _subtract(draft: Draft, operation: Operation, site: Site, forms: tuple[Form, ...]) -> Form:
    return forms[0] - forms[1]


def _scale(draft: Draft, operation: Operation, site: Site, forms: tuple[Form, ...]) -> Form:
    assert isinstance(operation, Scale)
    return forms[0].times(operation.factor)


def _concatenate(draft: Draft, operation: Operation, site: Site, forms: tuple[Form, ...]) -> Form:
    assert isinstance(operation, Concatenate)
    axis, start, shape = operation.axis, 0, site.target.shape
    made = Form(shape, {})
    for form in forms:
        before = tuple(start if i == axis else 0 for i in range(len(shape)))
        start += form.shape[axis]
        after = tuple(shape[axis] - start if i == axis else 0 for i in range(len(shape)))
        made = made + draft.along(form, View.pad(form.shape, before, after), sums=False)
    return made


def _multiply(draft: Draft, operation: Operation, site: Site, forms: tuple[Form, ...]) -> Form:
    return draft.times(forms[0], forms[1], site.value)


def _contract(draft: Draft, operation: Operation, site: Site, forms: tuple[Form, ...]) -> Form:
    assert isinstance(operation, Contract)
    return draft.product(operation.letters, forms[0], forms[1], site.target.shape, site.value)


def _check(draft: Draft, operation: Operation, site: Site, forms: tuple[Form, ...]) -> Form:
    """Check by lookups that a form is in an interval, unless the types imply it already. The source of a Check is below
    2^62 in magnitude, so that it is in the interval as an integer if it is modulo p.
    """
    assert isinstance(operation, Check)
    x = site.types[0]
    if x.low < operation.low or x.high > operation.high:
        draft.interval(forms[0], operation.low, operation.high, site.source(0), site.name)
    return forms[0]


def _shift(draft: Draft, operation: Operation, site: Site, forms: tuple[Form, ...]) -> Form:
    """Lower a Shift, q = floor(x / 2^s): the prover commits to q, and the remainder x - 2^s q, which is a form, is
    checked to be in [0, 2^s).

    Soundness: three conditions make the quotient q of a Shift unique. The first condition is |x| < 2^62, by the type of
    x, whose sources are all range-checked; the second is that q and the remainder are both range-checked; the third is
    |2^s q + r| <= 2^62 for every q and r that the range checks allow. By the three conditions on a Shift, x = 2^s q + r
    modulo p is an equation of integers, since both sides are below p / 2.
    """
    assert isinstance(operation, Shift)
    size, x = 1 << operation.bits, site.types[0]
    low, high = _quotients(site, size)
    q = draft.result(site.target_wire, x.shape, site.value, site.name)
    draft.interval(q, low, high, site.value, site.name)
    remainder = forms[0] - q.times(size)
    source = site.source(0)
    draft.limbs(remainder, size, lambda trace: source(trace) & (size - 1), f"{site.name} remainder")
    return q


def _quotients(site: Site, size: int) -> tuple[int, int]:
    """Return the interval in which a quotient q is checked to be: that of the fused Check, or else an interval around
    that of the type which is cheap to check and leaves q unique.
    """

    def unique(low: int, high: int) -> bool:
        return low * size >= -LIMIT and high * size + size - 1 < LIMIT

    x = site.types[0]
    low, high = x.low // size, x.high // size
    if site.checked is None:
        wide = low + (1 << (high - low).bit_length()) - 1
        return (low, wide) if unique(low, wide) else _require_unique(site, low, high, unique)
    if unique(*site.checked):
        return site.checked
    return _require_unique(site, *_meet(site, low, high, site.checked), unique)


def _meet(site: Site, low: int, high: int, checked: tuple[int, int]) -> tuple[int, int]:
    low, high = max(low, checked[0]), min(high, checked[1])
    if low > high:
        raise Unprovable(f"{site.name}: expected values inside {list(checked)}, found none; widen the Check")
    return low, high


def _require_unique(site: Site, low: int, high: int, unique: Callable[[int, int], bool]) -> tuple[int, int]:
    if not unique(low, high):
        raise Unprovable(
            f"{site.name}: expected quotient and remainder of at most 62 bits together, found the interval "
            f"[{site.types[0].low}, {site.types[0].high}]; Check the source first"
        )
    return low, high


def _positive_part(draft: Draft, form: Form, low: int, high: int, values: Recipe, name: str) -> Form:
    if low >= 0:
        return form
    if high <= 0:
        return Form(form.shape, {})
    return form - draft.sign(form, low, high, values, name, positive=True)[1]


def _relu(draft: Draft, operation: Operation, site: Site, forms: tuple[Form, ...]) -> Form:
    """Return the rectifier as x - [x < 0] x; or, if the derivative needs to know whether the result is positive, as
    -[-x < 0] (-x), with the bit of that sign.
    """
    x, values = site.types[0], site.source(0)
    if not site.strict or x.low >= 0 or x.high <= 0:
        return _positive_part(draft, forms[0], x.low, x.high, values, site.name)
    return draft.sign(forms[0].times(-1), -x.high, -x.low, lambda trace: -values(trace), site.name)[1].times(-1)


def _is_negative(draft: Draft, operation: Operation, site: Site, forms: tuple[Form, ...]) -> Form:
    x = site.types[0]
    if site.target.low == site.target.high:
        return draft.splat(site.target.low, x.shape)
    return draft.sign(forms[0], x.low, x.high, site.source(0), site.name)[0]


def _select(draft: Draft, operation: Operation, site: Site, forms: tuple[Form, ...]) -> Form:
    """Lower a Select to y + c (x - y), where c is 0 or 1 by its type."""
    condition, x, y = forms
    c, a, b = (site.source(index) for index in range(3))
    _within(site, site.types[1].low - site.types[2].high, site.types[1].high - site.types[2].low)
    return y + draft.times(condition, x - y, lambda trace: c(trace) * (a(trace) - b(trace)))


def _maximum(draft: Draft, operation: Operation, site: Site, forms: tuple[Form, ...]) -> Form:
    x, y = site.types
    low, high = x.low - y.high, x.high - y.low
    _within(site, low, high)
    a, b = site.source(0), site.source(1)

    def difference(trace: Trace) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
        return a(trace) - b(trace)

    return forms[1] + _positive_part(draft, forms[0] - forms[1], low, high, difference, site.name)


def _within(site: Site, low: int, high: int) -> None:
    if max(-low, high) >= LIMIT:
        raise Unprovable(
            f"{site.name}: expected differences below 2^62, found [{low}, {high}]; Check the sources first"
        )


def _divide(draft: Draft, operation: Operation, site: Site, forms: tuple[Form, ...]) -> Form:
    """Lower a division, q = floor(x / y): the prover commits to q, and both x - q y and y - 1 - (x - q y) are checked
    to be in [0, 2^w), where 2^w is at least every y.

    Soundness: q y is below 2^62 for every q that its range check allows and every y of its type, and so is x, so that
    the equation of the remainder and 0 <= x - q y < y hold over the integers, where y >= 1 by its type. The range check
    of the quotient q is that of the fused Check, if there is one.
    """
    x, y = site.types
    low, high = site.target.low, site.target.high
    wide = low + (1 << (high - low).bit_length()) - 1
    if site.checked is not None:
        fits = max(map(abs, site.checked)) * y.high < LIMIT
        low, high = site.checked if fits else _meet(site, low, high, site.checked)
    elif max(-low, wide) * y.high < LIMIT:
        high = wide
    if max(-low, high) * y.high >= LIMIT:
        raise Unprovable(
            f"{site.name}: expected quotient times divisor below 2^62, found quotients in [{low}, {high}] and divisors "
            f"up to {y.high}; Check the sources first"
        )
    q = draft.result(site.target_wire, x.shape, site.value, site.name)
    draft.interval(q, low, high, site.value, site.name)
    value, a, b = site.value, site.source(0), site.source(1)
    product = draft.times(q, forms[1], lambda trace: value(trace) * b(trace))
    remainder, size = forms[0] - product, 1 << (y.high - 1).bit_length()
    draft.limbs(remainder, size, lambda trace: a(trace) % b(trace), f"{site.name} remainder")
    above = forms[1] - draft.splat(1, x.shape) - remainder
    draft.limbs(above, size, lambda trace: b(trace) - 1 - a(trace) % b(trace), f"{site.name} remainder from above")
    return q


def _square_root(draft: Draft, operation: Operation, site: Site, forms: tuple[Form, ...]) -> Form:
    """Lower a square root, r = floor(sqrt(x)): the prover commits to r, and both x - r^2 and 2 r - (x - r^2) are
    checked to be in [0, 2^w).

    Soundness: the two range-checked numbers of a root r, rest = x - r^2 and 2 r - rest, add up to t = 2 r modulo p,
    which is a number below 2^(w + 1), and t^2 = 4 r^2 = 4 (x - rest) modulo p. If w <= 30 and x < 2^60, both sides of
    t^2 = 4 (x - rest) are below p / 2, so that the equation holds over the integers: t is therefore even, r = t / 2 is
    a number below 2^w, and r^2 <= x <= r^2 + 2 r. For a greater x or w, the root r is range-checked as well: 0 <= r <
    2^31, so that r^2 and x are below 2^62.
    """
    x = site.types[0]
    low, high = math.isqrt(x.low), math.isqrt(x.high)
    root = draft.result(site.target_wire, x.shape, site.value, site.name)
    if (2 * high).bit_length() > 30 or x.high >= 1 << 60:
        wide = low + (1 << (high - low).bit_length()) - 1
        high = wide if wide < 1 << 31 else high
        draft.interval(root, low, high, site.value, site.name)
    value, a = site.value, site.source(0)
    square = draft.times(root, root, lambda trace: value(trace) * value(trace))
    rest, size = forms[0] - square, 1 << (2 * high).bit_length()
    draft.limbs(rest, size, lambda trace: a(trace) - value(trace) ** 2, f"{site.name} remainder")
    above = root.times(2) - rest
    draft.limbs(above, size, lambda trace: 2 * value(trace) - a(trace) + value(trace) ** 2, f"{site.name} from above")
    return root


def _lookup(draft: Draft, operation: Operation, site: Site, forms: tuple[Form, ...]) -> Form:
    """Lower a table lookup: the prover commits to the result y, and (x - low, y) is checked to be an entry of the
    table, in which each key has one value.
    """
    assert isinstance(operation, Lookup)
    table = draft.function(operation, len(operation.table), np.ascontiguousarray(operation.table, np.int64), site.name)
    key = forms[0] - draft.splat(operation.low, forms[0].shape)
    value = draft.result(site.target_wire, forms[0].shape, site.value, site.name)
    draft.pair(key, table, value)
    draft.known.append((forms[0], operation.low, operation.low + len(operation.table) - 1))
    return value


RULES: dict[type[Operation], Rule] = {
    Constant: _constant,
    Reindex: _reindex,
    Sum: _sum,
    Add: _add,
    Subtract: _subtract,
    Scale: _scale,
    Concatenate: _concatenate,
    Multiply: _multiply,
    Contract: _contract,
    Check: _check,
    Shift: _shift,
    ReLU: _relu,
    IsNegative: _is_negative,
    Select: _select,
    Maximum: _maximum,
    Divide: _divide,
    SquareRoot: _square_root,
    Lookup: _lookup,
}
"""The operations that tensor proofs prove directly; other operations are expanded into these."""
