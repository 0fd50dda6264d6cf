"""The tables in which the ranges and signs of a tensor system are looked up, and the limbs into which numbers are
cut.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from .draft import Draft, Range, Sign
from .forms import PRIME, Column, Form, Integers, Recipe, Trace, padded_bits
from .limbs import WIDEST, Demand, Limbs, cheapest, power_above, uniform


@dataclass(frozen=True)
class Chosen:
    """The choice of lookups for the range and sign checks of a draft: the limbs, and the signs that are looked up as
    pairs.
    """

    limbs: Limbs
    pairs: frozenset[int]


def settle(draft: Draft, limb_bits: int | None = None) -> int:
    """Choose how all ranges and signs of a draft are looked up, as cheaply as the search finds unless a width of limbs
    is given, and return the width of the widest limb.

    Range and sign checks by limbs and tables are sound for the following reasons. In the check of a range, each limb of
    x - low is in a table of its own size, so that x - low is, modulo p, a number of as many bits as the limbs have
    together. If the size of the interval is not a power of two and has no table of its own, high - x is shown to be a
    number of as many bits modulo p too. In the check of a sign, either (x - low, s) is an entry of the table that
    contains [x < 0] for each x in [low, high], so that x is in this interval too; or s is in {0, 1}, and x - 2 s x - s,
    which is x for s = 0 and -x - 1 for s = 1, is in [0, 2^w), with w <= 62: then s = 1 implies -2^w <= x < 0, and s = 0
    implies 0 <= x < 2^w, since everything is below p / 2. A range check is left out if another check of the same form
    implies it.
    """
    chosen = _choice(draft, limb_bits)
    for number, sign in enumerate(draft.signs):
        draft.part = sign.part
        if number in chosen.pairs:
            _pair(draft, sign)
        else:
            draft.lookup(sign.bit, 2)
            _distance(draft, sign)
    for range in _needed(draft, chosen.pairs):
        draft.part = range.part
        _look_up(draft, chosen.limbs, range)
    draft.part = ""
    return max(chosen.limbs.widths, default=1)


def _pair(draft: Draft, sign: Sign) -> None:
    size = sign.high - sign.low + 1
    values = (np.arange(sign.low, sign.high + 1) < 0).astype(np.int64)
    table = draft.function(("negative", sign.low, sign.high), size, values, "negative")
    draft.pair(sign.form - draft.splat(sign.low, sign.form.shape), table, sign.bit)


def _distance(draft: Draft, sign: Sign) -> None:
    bits, values = _distance_bits(sign), sign.values

    def distance(trace: Trace) -> Integers:
        x = values(trace)
        return np.where(x < 0, -x - 1, x)

    form = sign.form - sign.negative.times(2) - sign.bit
    draft.interval(form, 0, (1 << bits) - 1, distance, f"{sign.name} distance")


def _distance_bits(sign: Sign) -> int:
    return max(sign.high, -sign.low - 1).bit_length()


def _look_up(draft: Draft, limbs: Limbs, range: Range) -> None:
    size, shape, values = range.high - range.low + 1, range.form.shape, range.values
    above = range.form - draft.splat(range.low, shape)
    if size == 1:
        draft.zero(above)
    elif limbs.is_alone(size):
        draft.lookup(above, size)
    elif size & (size - 1) == 0:
        _cut(draft, limbs, above, size.bit_length() - 1, lambda trace: values(trace) - range.low, range.name)
    else:
        # Both differences lie in [0, 2^63), and add up to size - 1 modulo p; size - 1 + p would take more than 2^64.
        bits = size.bit_length()
        assert bits < 62 or 1 << 61 <= size < 1 << 63
        _cut(draft, limbs, above, bits, lambda trace: values(trace) - range.low, range.name)
        below = draft.splat(range.high, shape) - range.form
        _cut(draft, limbs, below, bits, lambda trace: range.high - values(trace), f"{range.name} from above")


def _cut(draft: Draft, limbs: Limbs, form: Form, bits: int, values: Recipe, name: str) -> None:
    """Show that every element of a form is in [0, 2^bits).

    The prover commits to the low limbs of a number; the highest limb is the number minus the other limbs, divided by a
    power of two in the field. If each limb of a form is in its own table, then form = limb_0 + 2^w_0 limb_1 + ...
    modulo p, which is a number below 2^bits.
    """
    *low, last = limbs.cut(bits)
    shift, rest = 0, form
    for number, width in enumerate(low):

        def limb(trace: Trace, shift: int = shift, width: int = width) -> Integers:
            return (values(trace) >> shift) & ((1 << width) - 1)

        own = draft.column(form.shape, limb, f"{name} limb {number}")
        draft.lookup(own, 1 << width)
        rest = rest - own.times(1 << shift)
        shift += width
    draft.lookup(rest.times(pow(1 << shift, -1, PRIME)), 1 << last)


# What is cheapest.


def _needed(draft: Draft, pairs: frozenset[int]) -> list[Range]:
    """Return the range checks that no other check implies: the tightest range of each form, unless the table of a sign
    or of a function implies it.
    """
    said: dict[object, list[tuple[int, int]]] = {}
    for number, sign in enumerate(draft.signs):
        reach = 1 << _distance_bits(sign)
        low, high = (sign.low, sign.high) if number in pairs else (-reach, reach - 1)
        said.setdefault(sign.form.key(), []).append((low, high))
        said.setdefault(sign.form.times(-1).key(), []).append((-high, -low))
    for form, low, high in draft.known:
        said.setdefault(form.key(), []).append((low, high))
    own: dict[object, list[Range]] = {}
    for range in draft.ranges.values():
        own.setdefault(range.form.key(), []).append(range)
    found = []
    for key, ranges in own.items():
        intervals = [(range.low, range.high) for range in ranges]
        for range in ranges:
            others = [(low, high) for low, high in intervals if (low, high) != (range.low, range.high)]
            if not any(range.low <= low and high <= range.high for low, high in [*others, *said.get(key, [])]):
                found.append(range)
    return found


def _demand(draft: Draft, pairs: frozenset[int]) -> Demand:
    sizes: Counter[int] = Counter()
    for range in _needed(draft, pairs):
        sizes[range.high - range.low + 1] += draft.padded(range.form.shape)
    leaves, tables = 0.0, {(sign.low, sign.high) for n, sign in enumerate(draft.signs) if n in pairs}
    for number, sign in enumerate(draft.signs):
        elements = draft.padded(sign.form.shape)
        leaves += elements
        if number not in pairs:
            sizes[1 << _distance_bits(sign)] += elements
    sizes.pop(1, None)
    leaves += sum(1 << padded_bits(draft.forms[lookup.key].shape) for lookup in draft.lookups)
    more = sum(power_above(high - low + 1) for low, high in tables)
    ported = {id(column) for columns in draft.ports.values() for column in columns}
    columns = [base for base in draft.bases if isinstance(base, Column) and id(base) not in ported]
    own = sum(1 << padded_bits(column.shape) for column in columns)
    return Demand(sizes, leaves + more, own + more)


def _choice(draft: Draft, limb_bits: int | None) -> Chosen:
    """Return the cheapest limbs for range checks that a search finds; the signs of an interval are looked up as pairs
    if that is cheaper.
    """
    intervals = sorted({(sign.low, sign.high) for sign in draft.signs}, key=lambda ends: ends[0] - ends[1])

    def of(taken: set[tuple[int, int]]) -> frozenset[int]:
        return frozenset(n for n, sign in enumerate(draft.signs) if (sign.low, sign.high) in taken)

    taken: set[tuple[int, int]] = set()
    if limb_bits is not None:
        taken = {(low, high) for low, high in intervals if high - low + 1 <= 1 << limb_bits}
        demand = _demand(draft, of(taken))
        return Chosen(uniform(limb_bits, demand.sizes), of(taken))
    cost, limbs = cheapest(_demand(draft, frozenset()))
    for ends in intervals:
        if ends[1] - ends[0] + 1 > 1 << WIDEST:
            continue
        paired = cheapest(_demand(draft, of(taken | {ends})), limbs)
        if paired[0] < cost:
            taken.add(ends)
            cost, limbs = paired
    return Chosen(limbs, of(taken))
