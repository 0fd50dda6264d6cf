"""Tensors of a netlist and their arithmetic: each element of a tensor is a node times a power of two, with a sign."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import EllipsisType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from circuitize.circuits.operation import Values

from ...verilog.netlist import Integers, Kind, Netlist, Numbers

Index = Integers | NDArray[np.bool_] | int | slice | tuple[Integers | int | slice | EllipsisType | None, ...]
"""The places of elements of a tensor."""

WIDE = 1 << 60
"""The bound of magnitudes below which intermediate sums are built, so that int64 holds every interval."""


@dataclass(frozen=True)
class Elements:
    """A tensor of a netlist, as three arrays of one shape: each element is node * 2^shift, negated where `negative` is
    true. Multiplying an element of a tensor by a power of two costs no hardware.
    """

    node: Integers
    shift: Integers
    negative: NDArray[np.bool_]

    @staticmethod
    def of(node: object) -> Elements:
        """Return a tensor whose elements are the given nodes, neither shifted nor negated."""
        node = np.asarray(node, np.int64)
        return Elements(node, np.zeros(node.shape, np.int64), np.zeros(node.shape, bool))

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the tensor of nodes."""
        return self.node.shape

    def __getitem__(self, index: Index) -> Elements:
        return Elements(np.asarray(self.node[index]), np.asarray(self.shift[index]), np.asarray(self.negative[index]))

    def reshape(self, shape: tuple[int, ...]) -> Elements:
        """Return the same elements, in row-major order, in another shape."""
        return Elements(self.node.reshape(shape), self.shift.reshape(shape), self.negative.reshape(shape))

    def moved(self, move: Callable[[Values], Values]) -> Elements:
        """Return the tensor after its three arrays are rearranged in the same way."""
        return Elements(move(self.node), move(self.shift), move(self.negative))

    def times(self, shift: int | Integers, negative: bool | NDArray[np.bool_] = False) -> Elements:
        """Return the tensor times a power of two and a sign; elements that are node 0, the constant 0, stay
        unchanged.
        """
        live = self.node != 0
        return Elements(self.node, self.shift + np.where(live, shift, 0), self.negative ^ (live & negative))


def concatenate(parts: list[Elements], axis: int = 0) -> Elements:
    """Return several tensors joined one after the other along an axis."""
    return Elements(
        np.concatenate([part.node for part in parts], axis),
        np.concatenate([part.shift for part in parts], axis),
        np.concatenate([part.negative for part in parts], axis),
    )


def where(condition: NDArray[np.bool_], x: Elements, y: Elements) -> Elements:
    """Return the elements of x where the condition holds and those of y elsewhere; all three have the same shape, and
    no hardware is added.
    """
    return Elements(
        np.where(condition, x.node, y.node),
        np.where(condition, x.shift, y.shift),
        np.where(condition, x.negative, y.negative),
    )


def bounds(net: Netlist, x: Elements) -> tuple[Integers, Integers]:
    """Return the least and the greatest value of each element of a tensor."""
    low, high = net.low[x.node] << x.shift, net.high[x.node] << x.shift
    return np.where(x.negative, -high, low), np.where(x.negative, -low, high)


def is_constant(net: Netlist, x: Elements) -> NDArray[np.bool_]:
    """Return, for each element of a tensor, whether its node is a constant."""
    found: NDArray[np.bool_] = net.kind[x.node] == Kind.CONSTANT
    return found


def constants(net: Netlist, values: ArrayLike) -> Elements:
    """Return integers as constants of the netlist."""
    return Elements.of(net.constant(values))


def plain(net: Netlist, x: Elements) -> Integers:
    """Return nodes whose values are the elements themselves; where an element is negated or shifted, its node is
    made.
    """
    node = x.node.copy().reshape(-1)
    shift, negative = x.shift.reshape(-1), x.negative.reshape(-1)
    known = net.kind[node] == Kind.CONSTANT
    if known.any():
        low, _ = bounds(net, x)
        node[known] = net.constant(low.reshape(-1)[known])
    turn = negative & ~known
    if turn.any():
        at = node[turn]
        node[turn] = net.append(Kind.ADD, -net.high[at], -net.low[at], 0, at, n=1)
    move = (shift > 0) & ~known
    if move.any():
        at, by = node[move], shift[move]
        node[move] = net.append(Kind.LEFT, net.low[at] << by, net.high[at] << by, at, n=by)
    return node.reshape(x.shape)


def narrow(net: Netlist, x: Integers, least: Numbers, greatest: Numbers) -> Integers:
    """Return a node that equals x where x is in the interval [least, greatest], and is arbitrary elsewhere."""
    low, high = np.clip(net.low[x], least, greatest), np.clip(net.high[x], least, greatest)
    made = x.copy()
    at = (low != net.low[x]) | (high != net.high[x])
    made[at] = net.append(Kind.NARROW, low[at], high[at], x[at])
    return made


def add(net: Netlist, x: Elements, y: Elements) -> Elements:
    """Return the sums of the elements of two tensors of the same shape, with an adder only where neither element is
    zero or known.
    """
    shape = x.shape
    x, y = x.reshape((-1,)), y.reshape((-1,))
    made = where(x.node == 0, y, x)
    known = is_constant(net, x) & is_constant(net, y)
    if known.any():
        made = where(known, constants(net, bounds(net, x)[0] + bounds(net, y)[0]), made)
    at = np.flatnonzero((x.node != 0) & (y.node != 0) & ~known)
    if len(at):
        found = _sum(net, x[at], y[at])
        made.node[at], made.shift[at], made.negative[at] = found.node, found.shift, found.negative
    return made.reshape(shape)


def _sum(net: Netlist, x: Elements, y: Elements) -> Elements:
    swap = x.negative & ~y.negative
    x, y = where(swap, y, x), where(swap, x, y)
    swap = (x.negative == y.negative) & ((x.shift > y.shift) | ((x.shift == y.shift) & (x.node > y.node)))
    x, y = where(swap, y, x), where(swap, x, y)
    minus = x.negative != y.negative
    common = np.minimum(x.shift, y.shift)
    low_x, high_x = net.low[x.node] << (x.shift - common), net.high[x.node] << (x.shift - common)
    low_y, high_y = net.low[y.node] << (y.shift - common), net.high[y.node] << (y.shift - common)
    low, high = low_x + np.where(minus, -high_y, low_y), high_x + np.where(minus, -low_y, high_y)
    same = x.node == y.node
    if same.any():
        sign = np.where(minus, -1, 1)
        ends = low_x + sign * low_y, high_x + sign * high_y
        low, high = np.where(same, np.minimum(*ends), low), np.where(same, np.maximum(*ends), high)
    beside = ~minus & (low_x >= 0) & (x.shift == common) & (high_x < np.int64(1) << np.clip(y.shift - common, 0, 62))
    node = np.empty(len(minus), np.int64)
    for kind, at in ((Kind.JOIN, np.flatnonzero(beside)), (Kind.ADD, np.flatnonzero(~beside))):
        apart = y.shift[at] - x.shift[at]
        node[at] = net.append(kind, low[at], high[at], x.node[at], y.node[at], n=minus[at], m=apart)
    made = Elements(node, common, x.negative & y.negative)
    double = same & ~minus & (x.shift == y.shift)
    made = where(double, x.times(1), made)
    return where(node == 0, Elements.of(node), made)


def total(net: Netlist, terms: Elements, group: Integers, groups: int) -> Elements:
    """Return the sum of the terms in each group, added by balanced trees with the shallowest terms first; a group
    without terms has the sum 0.
    """
    live = terms.node != 0
    terms, group = terms[live], group[live]
    while len(group):
        order = np.lexsort((terms.shift, net.level[terms.node], group))
        terms, group = terms[order], group[order]
        start = np.flatnonzero(np.r_[True, group[1:] != group[:-1]])
        if len(start) == len(group):
            break
        sizes = np.diff(np.r_[start, len(group)])
        rank = np.arange(len(group)) - np.repeat(start, sizes)
        first = np.flatnonzero((rank % 2 == 0) & (rank + 1 < np.repeat(sizes, sizes)))
        odd = (rank % 2 == 0) & (rank + 1 == np.repeat(sizes, sizes))
        terms = concatenate([add(net, terms[first], terms[first + 1]), terms[odd]])
        group = np.concatenate([group[first], group[odd]])
        live = terms.node != 0
        terms, group = terms[live], group[live]
    made = Elements.of(np.zeros(groups, np.int64))
    made.node[group], made.shift[group], made.negative[group] = terms.node, terms.shift, terms.negative
    return made


def signed_digits(values: Integers) -> list[tuple[int, Integers]]:
    """Return the canonical signed digits of numbers as pairs of a position and the numbers' digits -1, 0 or 1 there,
    for those positions at which some digit is not 0.
    """
    found, rest, position = [], np.asarray(values, np.int64).copy(), 0
    while rest.any():
        odd = rest & 1
        digit = odd * (2 - (rest & 3))
        if digit.any():
            found.append((position, digit))
        rest = (rest - digit) >> 1
        position += 1
    return found


def scale(net: Netlist, x: Elements, factors: Integers, adders: bool) -> Elements:
    """Return each element of x times a known factor, by adding shifted copies of x or by a multiplier."""
    factors = np.broadcast_to(factors, x.shape).reshape(-1)
    shape, x = x.shape, x.reshape((-1,))
    low, high = bounds(net, x)
    magnitude = np.maximum(np.abs(low), np.abs(high)).astype(np.float64) * np.abs(factors)
    odd = factors >> lowest_bit(factors)
    by_sum = (np.abs(odd) <= 1) | is_constant(net, x) | (adders & (magnitude < WIDE))
    digits = signed_digits(np.where(by_sum & ~is_constant(net, x), factors, 0))
    places = np.arange(len(factors))
    known = is_constant(net, x)
    terms, groups = [constants(net, np.where(known, low * factors, 0))], [places]
    for position, digit in digits:
        at = np.flatnonzero(digit)
        terms.append(x[at].times(position, digit[at] < 0))
        groups.append(at)
    made = total(net, concatenate(terms), np.concatenate(groups), len(factors))
    rest = np.flatnonzero(~by_sum)
    if len(rest):
        power = lowest_bit(factors[rest])
        found = product(net, x[rest], constants(net, factors[rest] >> power)).times(power)
        made.node[rest], made.shift[rest], made.negative[rest] = found.node, found.shift, found.negative
    return made.reshape(shape)


def lowest_bit(values: Integers) -> Integers:
    """Return the position of the lowest 1 of each number, or 0 for the number 0."""
    lowest = np.maximum(values & -values, 1)
    found: Integers = np.rint(np.log2(lowest.astype(np.float64))).astype(np.int64)
    return found


def product(net: Netlist, x: Elements, y: Elements) -> Elements:
    """Return the products of the elements of two tensors of the same shape, with a multiplier for each element."""
    low_x, high_x = net.low[x.node], net.high[x.node]
    low_y, high_y = net.low[y.node], net.high[y.node]
    ends = np.stack([low_x * low_y, low_x * high_y, high_x * low_y, high_x * high_y])
    low, high = ends.min(axis=0), ends.max(axis=0)
    square = x.node == y.node
    low = np.where(square, np.where((low_x <= 0) & (high_x >= 0), 0, np.minimum(ends[0], ends[3])), low)
    high = np.where(square, np.maximum(ends[0], ends[3]), high)
    node = net.append(Kind.MULTIPLY, low, high, x.node, y.node)
    zero = node == 0
    return Elements(node, np.where(zero, 0, x.shift + y.shift), (x.negative ^ y.negative) & ~zero)


def multiply(net: Netlist, x: Elements, y: Elements, adders: bool) -> Elements:
    """Return the products of the elements of two tensors of the same shape; if `adders` is true, products with known
    elements are sums of shifted copies.
    """
    shape = x.shape
    x, y = x.reshape((-1,)), y.reshape((-1,))
    swap = is_constant(net, x)
    x, y = where(swap, y, x), where(swap, x, y)
    known = is_constant(net, y)
    made = Elements.of(np.zeros(len(known), np.int64))
    for scaled, at in ((True, np.flatnonzero(known)), (False, np.flatnonzero(~known))):
        if len(at):
            found = scale(net, x[at], bounds(net, y[at])[0], adders) if scaled else product(net, x[at], y[at])
            made.node[at], made.shift[at], made.negative[at] = found.node, found.shift, found.negative
    return made.reshape(shape)
