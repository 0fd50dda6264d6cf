"""Single operations on elements in a parallel design: rounding, comparing, choosing, dividing, roots and tables."""

from __future__ import annotations

import numpy as np

from circuitize.circuits.integers import Wrap

from ...verilog.netlist import Integers, Kind, Netlist, Numbers, widths
from .elements import Elements, add, bounds, concatenate, constants, is_constant, narrow, plain, total, where
from .intervals import ends


def shift(net: Netlist, x: Elements, bits: int) -> Elements:
    """Return floor(x / 2^bits), which takes no logic if x ends in that many zeros; a clamped number is shifted before
    it is clamped.
    """
    shape, x = x.shape, x.reshape((-1,))
    known = is_constant(net, x)
    made = where(known, constants(net, bounds(net, x)[0] >> bits), x.times(-bits))
    at = np.flatnonzero(~known & (x.shift < bits))
    if len(at):
        turned = Elements(x.node[at], np.zeros(len(at), np.int64), x.negative[at])
        made.node[at] = _shifted(net, plain(net, turned), bits - x.shift[at])
        made.shift[at], made.negative[at] = 0, False
    return made.reshape(shape)


def _shifted(net: Netlist, node: Integers, bits: Integers) -> Integers:
    made = node.copy()
    clamped = net.kind[node] == Kind.CLAMP
    if clamped.any():
        inside = _shifted(net, net.a[node[clamped]].astype(np.int64), bits[clamped])
        low, high = net.low[node[clamped]] >> bits[clamped], net.high[node[clamped]] >> bits[clamped]
        made[clamped] = _clamped(net, inside, low, high)
    rest = np.flatnonzero(~clamped)
    twice = net.kind[node[rest]] == Kind.SHIFT
    source = np.where(twice, net.a[node[rest]], node[rest])
    by = bits[rest] + np.where(twice, net.n[node[rest]], 0)
    low, high = net.low[source], net.high[source]
    made[rest] = net.append(Kind.SHIFT, low >> by, high >> by, source, n=by)
    return made


def clamp(net: Netlist, x: Elements, least: int, greatest: int) -> Elements:
    """Return x clamped to [least, greatest], which takes no logic if x always lies there."""
    shape, x = x.shape, x.reshape((-1,))
    low, high = bounds(net, x)
    made = Elements(x.node.copy(), x.shift.copy(), x.negative.copy())
    at = np.flatnonzero((low < least) | (high > greatest))
    if len(at):
        made.node[at] = _clamped(net, plain(net, x[at]), *(np.clip(v[at], least, greatest) for v in (low, high)))
        made.shift[at], made.negative[at] = 0, False
    return made.reshape(shape)


def _clamped(net: Netlist, node: Integers, low: Integers, high: Integers) -> Integers:
    source = np.where(net.kind[node] == Kind.CLAMP, net.a[node], node)
    made = node.copy()
    at = np.flatnonzero((net.low[node] < low) | (net.high[node] > high))
    made[at] = net.append(Kind.CLAMP, low[at], high[at], source[at])
    return made


def wrap(net: Netlist, x: Elements, wrapped: Wrap) -> Elements:
    """Return the low bits of x, which takes no logic; zeros in which x ends are kept as a shift."""
    shape = x.shape
    x = x.reshape((-1,)).moved(np.copy)
    low, high = bounds(net, x)
    wide = np.flatnonzero((low < wrapped.low) | (high > wrapped.high))
    if len(wide):
        node = plain(net, x[wide])
        least, most = ends(net, node)
        fits = (least >= wrapped.low) & (most <= wrapped.high)
        x.node[wide[fits]] = narrow(net, node[fits], least[fits], most[fits])
        x.shift[wide[fits]], x.negative[wide[fits]] = 0, False
        low, high = bounds(net, x)
    first, last = (low - wrapped.low) >> wrapped.bits, (high - wrapped.low) >> wrapped.bits
    made = where(first == last, add(net, x, constants(net, -(first << wrapped.bits))), x)
    at = np.flatnonzero(first != last)
    if len(at):
        zeros = np.minimum(x.shift[at], wrapped.bits)
        node = plain(net, Elements(x.node[at], x.shift[at] - zeros, x.negative[at]))
        kept = net.append(Kind.WRAP, wrapped.low >> zeros, wrapped.high >> zeros, node)
        made.node[at], made.shift[at], made.negative[at] = kept, np.where(kept == 0, 0, zeros), False
    return made.reshape(shape)


def is_negative(net: Netlist, x: Elements) -> Elements:
    """Return nodes that are 1 where x < 0 and 0 elsewhere."""
    low, high = bounds(net, x)
    least, most = (high < 0).astype(np.int64), (low < 0).astype(np.int64)
    node = np.where(least == most, net.constant(least), 0)
    up = (least != most) & ~x.negative
    down = (least != most) & x.negative
    node[up] = net.append(Kind.NEGATIVE, 0, 1, x.node[up])
    node[down] = net.append(Kind.LESS, 0, 1, 0, x.node[down])
    return Elements.of(node)


def less(net: Netlist, x: Elements, y: Elements) -> Integers:
    """Return nodes that are 1 where x < y and 0 elsewhere."""
    a, b = plain(net, x), plain(net, y)
    return net.append(Kind.LESS, net.high[a] < net.low[b], net.low[a] < net.high[b], a, b)


def select(
    net: Netlist, condition: Integers, x: Elements, y: Elements, low: Numbers | None = None, high: Numbers | None = None
) -> Elements:
    """Return x where the node `condition` is 1 and y where it is 0; an interval may be given that is tighter than those
    of x and y together.
    """
    a, b = plain(net, x), plain(net, y)
    sure = np.where(net.low[condition] == 1, a, b)
    hull = np.minimum(net.low[a], net.low[b]), np.maximum(net.high[a], net.high[b])
    least, most = hull[0] if low is None else low, hull[1] if high is None else high
    open_ = (net.low[condition] != net.high[condition]) & (a != b)
    made = np.where(net.low[condition] == net.high[condition], sure, a)
    least, most = np.broadcast_to(least, made.shape), np.broadcast_to(most, made.shape)
    made[open_] = net.append(Kind.SELECT, least[open_], most[open_], a[open_], b[open_], condition[open_])
    return Elements.of(made)


def maximum(net: Netlist, x: Elements, y: Elements) -> Elements:
    """Return the greater of x and y, element by element."""
    (low_x, high_x), (low_y, high_y) = bounds(net, x), bounds(net, y)
    return select(net, less(net, x, y), y, x, np.maximum(low_x, low_y), np.maximum(high_x, high_y))


def arg_max(net: Netlist, x: Elements) -> Integers:
    """Return nodes for the index of the greatest element along the last axis, found by a tournament of halves; among
    equal elements, the lowest index wins.
    """
    index = np.broadcast_to(net.constant(np.arange(x.shape[-1])), x.shape)
    while x.shape[-1] > 1:
        even, pairs = x.shape[-1] - x.shape[-1] % 2, x.shape[-1] // 2
        left, right = x[..., 0:even:2], x[..., 1:even:2]
        later = less(net, left, right)
        (low_x, high_x), (low_y, high_y) = bounds(net, left), bounds(net, right)
        best = select(net, later, right, left, np.maximum(low_x, low_y), np.maximum(high_x, high_y))
        place = select(net, later, Elements.of(index[..., 1:even:2]), Elements.of(index[..., 0:even:2]))
        x = concatenate([best, x[..., even:]], -1)
        index = np.concatenate([place.node, index[..., even:]], -1)
        assert x.shape[-1] == pairs + (x.shape[-1] > pairs)
    return index[..., 0]


def equals(net: Netlist, x: Integers, value: Numbers) -> Integers:
    """Return nodes that are 1 where x equals a known number and 0 elsewhere."""
    low, high, value = np.broadcast_arrays(net.low[x], net.high[x], value)
    return net.append(Kind.EQUAL, (low == value) & (high == value), (low <= value) & (value <= high), x, n=value)


def outside(net: Netlist, x: Integers, least: int, greatest: int) -> Integers:
    """Return nodes that are 1 where x is outside the interval [least, greatest] and 0 elsewhere."""
    low, high = net.low[x], net.high[x]
    always, never = (high < least) | (low > greatest), (low >= least) & (high <= greatest)
    return net.append(Kind.OUTSIDE, always, ~never, x, n=least, m=greatest)


def bit(net: Netlist, x: Integers, position: int) -> Integers:
    """Return nodes that are one bit of unsigned numbers."""
    known = (net.kind[x] == Kind.CONSTANT) | (net.high[x] >> position == 0)
    made = np.where(known, net.constant((net.low[x] >> position) & 1), 0)
    made[~known] = net.append(Kind.BIT, 0, 1, x[~known], n=position)
    return made


def _opposite(net: Netlist, x: Elements) -> Elements:
    """Return -1 - x, the complement of x."""
    return add(net, constants(net, np.full(x.shape, -1)), x.times(0, True))


def _bits(found: list[tuple[int, Integers]]) -> Elements:
    """Return the numbers that consist of the given bits at the given positions."""
    return concatenate([Elements.of(node).times(position) for position, node in found])


def divide(net: Netlist, x: Elements, y: Elements) -> Elements:
    """Return floor(x / y) for y >= 1, by restoring division with one level for each bit of the quotient.

    The division of a negative x uses that floor(x / y) = -1 - floor((-1 - x) / y).
    """
    shape, x, y = x.shape, x.reshape((-1,)), y.reshape((-1,))
    low, high = bounds(net, x)
    sign = is_negative(net, x).node
    most = np.maximum(high, -1 - low)
    size = plain(net, select(net, sign, _opposite(net, x), x, np.where(low > 0, low, 0), most))
    node = plain(net, y)
    divisor = net.high[node]
    rest, found = Elements.of(np.zeros(len(size), np.int64)), []
    for position in reversed(range(int(widths(np.zeros_like(most), most).max()))):
        rest = add(net, rest.times(1), Elements.of(bit(net, size, position)))
        trial = add(net, rest, y.times(0, True))
        below = is_negative(net, trial).node
        top = np.minimum(bounds(net, rest)[1], divisor - 1)
        found.append((position, equals(net, below, 0)))
        rest = select(net, below, rest, trial, np.zeros_like(top), top)
    groups = np.tile(np.arange(len(size)), len(found))
    whole = total(net, _bits(found), groups, len(size))
    least = net.low[size] // divisor
    quotient = Elements.of(narrow(net, plain(net, whole), least, net.high[size] // net.low[node]))
    ends = np.stack([low // net.low[node], low // divisor, high // net.low[node], high // divisor])
    made = select(net, sign, _opposite(net, quotient), quotient, ends.min(axis=0), ends.max(axis=0))
    return made.reshape(shape)


def square_root(net: Netlist, x: Elements, low: Integers, high: Integers) -> Elements:
    """Return floor(sqrt(x)) for x >= 0, where the root lies in [low, high], by a restoring algorithm with one level for
    two bits of x and one bit of the root.
    """
    shape, size = x.shape, plain(net, x).reshape(-1)
    root = rest = Elements.of(np.zeros(len(size), np.int64))
    one = constants(net, np.ones(len(size), np.int64))
    for position in reversed(range((int(widths(net.low[size], net.high[size]).max()) + 1) // 2)):
        pair = add(
            net, Elements.of(bit(net, size, 2 * position)), Elements.of(bit(net, size, 2 * position + 1)).times(1)
        )
        rest = add(net, rest.times(2), pair)
        trial = add(net, rest, add(net, root.times(2), one).times(0, True))
        below = is_negative(net, trial).node
        root = add(net, root.times(1), Elements.of(equals(net, below, 0)))
        top = np.minimum(bounds(net, rest)[1], 2 * bounds(net, root)[1])
        rest = select(net, below, rest, trial, np.zeros_like(top), top)
    made = narrow(net, plain(net, root), low.reshape(-1), high.reshape(-1))
    return Elements.of(made.reshape(shape))


def lookup(net: Netlist, x: Elements, first: int, table: Integers) -> Elements:
    """Return the entries table[x - first] of a table."""
    index = plain(net, x).reshape(-1)
    distinct, inverse = np.unique(np.stack([net.low[index], net.high[index]]), axis=1, return_inverse=True)
    ends = [(table[a - first : b - first + 1].min(), table[a - first : b - first + 1].max()) for a, b in distinct.T]
    low, high = np.array(ends, np.int64).T[:, inverse.reshape(-1)]
    made = net.append(Kind.TABLE, low, high, index, n=net.table(table), m=first)
    return Elements.of(made.reshape(x.shape))


def pick(net: Netlist, x: Elements, index: Integers) -> Elements:
    """Return x[..., index] for nodes `index` that are in range, by a tree of selections with one level for each bit of
    the index.
    """
    position = 0
    while x.shape[-1] > 1:
        even = x.shape[-1] - x.shape[-1] % 2
        chosen = np.broadcast_to(bit(net, index, position)[..., None], (*x.shape[:-1], even // 2))
        x = concatenate([select(net, chosen, x[..., 1:even:2], x[..., 0:even:2]), x[..., even:]], -1)
        position += 1
    return x[..., 0]
