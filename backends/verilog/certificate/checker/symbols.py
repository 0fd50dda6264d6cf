"""Symbols: integers that linear forms are of, each identified by what it is, so that what is equal cancels.

A symbol is free (an input), or the floor, the clamp, the product, ... of forms. Where a form takes few enough values, a
function of it is the table of all of them, so that equal functions are one symbol however they were written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .decisions import Decisions
from .forms import ZERO, Form, Key, known
from .refusal import Refused

Numbers = NDArray[np.int64]
LIMIT = 1 << 22
"""A function is tabulated where what it is a function of takes at most so many values."""

WIDEST = 1 << 62
"""Tables hold numbers up to this one."""

CHANGES = 16
"""A bit that changes more often over an interval is a symbol of its own."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """What a symbol is, its interval, and the form that it is a function of if that takes few enough values."""

    low: int
    high: int
    what: tuple[Any, ...]
    base: Form | None


class Symbols:
    """All symbols of one check. Forms are of these only."""

    def __init__(self) -> None:
        self.all: list[Symbol] = []
        self.bits = Decisions()
        self.widest = 0
        self._known: dict[tuple[Any, ...], Form] = {}
        self._facts: dict[Key, tuple[int, int]] = {}
        self._domains: dict[Key, tuple[int, int] | None] = {}
        self.checks = 0
        self._checked: dict[Key, dict[Form, int]] = {}
        self._settled: set[int] = set()
        """Functions of bits that are the one way to write a function of one form."""
        self._steps: dict[tuple[Key, int], Form] = {}
        self._tables: dict[int, Numbers] = {}

    def free(self, low: int, high: int, *name: object) -> Form:
        """A symbol that is a function of nothing."""
        return self._make(("free", *name), low, high, None)

    def interval(self, form: Form) -> tuple[int, int]:
        """Numbers that the form lies between."""
        low = high = form.constant
        for number, factor in form.terms.items():
            symbol = self.all[number]
            if factor > 0:
                low, high = low + factor * symbol.low, high + factor * symbol.high
            else:
                low, high = low + factor * symbol.high, high + factor * symbol.low
        if len(form.terms) > 1:
            primitive, factor = form.primitive
            fact = self._facts.get(primitive.key)
            if fact is not None:
                ends = sorted(factor * end + form.constant for end in fact)
                low, high = max(low, ends[0]), min(high, ends[1])
        return low, high

    def note(self, form: Form, low: int, high: int) -> Form:
        """The form, of which it is known for another reason that it lies between these numbers."""
        least, most = self.interval(form)
        if len(form.terms) > 1 and (low > least or high < most):
            primitive, factor = form.primitive
            ends = max(low, least) - form.constant, min(high, most) - form.constant
            self._facts[primitive.key] = _inside(*ends, factor)
        return form

    def floor(self, form: Form, bits: int) -> Form:
        """The greatest integer at most form / 2^bits."""
        low, high = self.interval(form)
        if bits == 0 or low >> bits == high >> bits:
            return form if bits == 0 else known(low >> bits)
        if len(form.terms) == 1 and high - low == abs(*form.terms.values()):
            # One symbol of two values, neighbours.
            ((number, factor),) = form.terms.items()
            symbol = self.all[number]
            first, last = ((form.constant + factor * end) >> bits for end in (symbol.low, symbol.high))
            return Form({number: last - first}, first - (last - first) * symbol.low)
        if -1 << bits <= low and high < 1 << bits:
            return self.less(form, 0) * -1
        inner = self._inner(form, bits)
        if inner is not None:
            return inner
        mask = (1 << bits) - 1
        inside, outside = Form(form.terms, form.constant & mask), form.constant >> bits
        zeros = min(bits, *((factor & -factor).bit_length() - 1 for factor in form.terms.values()))
        if zeros:
            halved = {number: factor >> zeros for number, factor in form.terms.items()}
            return self.floor(Form(halved, inside.constant >> zeros), bits - zeros).plus(outside)
        key = ("floor", inside.key, bits)
        if key not in self._known:
            base = self.base(form)
            if base is not None and base != form.primitive[0]:
                self._known[key] = self.from_table(base, self.values(inside, base) >> bits)
            else:
                self._make((*key, inside), (low >> bits) - outside, (high >> bits) - outside, base)
        return self._known[key].plus(outside)

    def _inner(self, form: Form, bits: int) -> Form | None:
        """The floor of a floor, or of a clamp, as one of what is inside, if it is one."""
        if len(form.terms) > 1:
            return None
        ((number, factor),) = form.terms.items()
        kind, *what = self.all[number].what
        if kind == "floor" and factor == 1:
            return self.floor(what[2].plus(form.constant << what[1]), bits + what[1])
        if kind == "clamp" and factor == 1 and not form.constant:
            return self.clamp(self.floor(what[3], bits), what[1] >> bits, what[2] >> bits)
        return None

    def unsigned(self, form: Form, width: int) -> Form:
        """The form modulo 2^width, from 0 on."""
        low, high = self.interval(form)
        if low >= 0 and high < 1 << width:
            return form
        return self.note(form - self.floor(form, width) * (1 << width), 0, (1 << width) - 1)

    def signed(self, form: Form, width: int) -> Form:
        """The form modulo 2^width, in two's complement."""
        half = 1 << (width - 1)
        low, high = self.interval(form)
        if -half <= low and high < half:
            return form
        made = form - self.floor(form.plus(half), width) * (1 << width)
        return self.note(made, -half, half - 1)

    def less(self, form: Form, bound: int) -> Form:
        """1 where form < bound, 0 elsewhere."""
        low, high = self.interval(form)
        if high < bound or low >= bound:
            return known(int(high < bound))
        if len(form.terms) == 1:
            ((number, factor),) = form.terms.items()
            kind, *what = self.all[number].what
            if kind == "floor" and factor == 1:
                # floor(y / 2^k) + c < t where y < 2^k (t - c)
                return self.less(what[2], (bound - form.constant) << what[1])
            if kind == "floor" and factor == -1:
                return self.less(form * -1, 1 - bound) * -1 + known(1)
        primitive, factor = form.primitive
        if factor > 0:
            return self._step(primitive, -((form.constant - bound) // factor))
        return self._step(primitive, (bound - form.constant) // factor + 1) * -1 + known(1)

    def _step(self, primitive: Form, bound: int) -> Form:
        """1 where a primitive form is below a number."""
        key = primitive.key, bound
        if key not in self._steps:
            self._steps[key] = self._new_step(primitive, bound)
        return self._steps[key]

    def _new_step(self, primitive: Form, bound: int) -> Form:
        base = self.base(primitive)
        if base is not None and base != primitive:
            return self.from_table(base, (self.values(primitive, base) < bound).astype(np.int64))
        if len(primitive.terms) == 1 and self.interval(primitive) == (0, 1):
            return primitive * -1 + known(1)
        return self._make(("step", primitive.key, bound), 0, 1, base)

    def equal(self, form: Form, number: int) -> Form:
        """1 where the form is a number."""
        return self.bit(self.bits.both(self.decided(self.less(form, number + 1)), self._not_less(form, number)))

    def _not_less(self, form: Form, number: int) -> int:
        return self.bits.invert(self.decided(self.less(form, number)))

    def decided(self, form: Form) -> int:
        """A form of 0 and 1 as a function of bits."""
        if not form.terms:
            return form.constant & 1
        if len(form.terms) == 1:
            ((number, factor),) = form.terms.items()
            symbol = self.all[number]
            if symbol.low >= 0 and symbol.high <= 1 and (factor, form.constant) in ((1, 0), (-1, 1)):
                function = symbol.what[1] if symbol.what[0] == "decision" else self.bits.variable(number)
                return function if factor == 1 else self.bits.invert(function)
        base = self.base(form)
        if base is not None:
            settled = self.from_table(base, self.values(form, base))
            if settled != form:
                return self.decided(settled)
        return self.decided(self._make(("bit", form.key), 0, 1, None))

    def bit(self, function: int) -> Form:
        """A function of bits as a form of 0 and 1."""
        if function < 2:
            return known(function)
        if self.bits.at_zeros(function):
            return self.bit(self.bits.invert(function)) * -1 + known(1)
        number, yes, no = self.bits.nodes[function]
        if (yes, no) == (1, 0):
            return Form({number: 1}, 0)
        bases = {self.all[variable].base for variable in self.bits.variables(function)}
        base = bases.pop() if len(bases) == 1 else None
        if base is not None and function not in self._settled:
            return self.from_table(base, self._evaluated(function, base))
        return self._make(("decision", function), 0, 1, base)

    def select(self, condition: Form, yes: Form, no: Form) -> Form:
        """`yes` where the condition is 1, `no` where it is 0."""
        if not condition.terms or yes == no:
            return yes if condition.constant else no
        (low, high), (least, most) = self.interval(yes), self.interval(no)
        if min(low, least) >= 0 and max(high, most) <= 1:
            return self.bit(self.bits.choose(self.decided(condition), self.decided(yes), self.decided(no)))
        base = self.common(condition, yes, no)
        if base is not None:
            taken = np.where(self.values(condition, base) != 0, self.values(yes, base), self.values(no, base))
            return self.from_table(base, taken)
        made = no + self.gate(condition, yes - no)
        ends = min(low, least), max(high, most)
        function = self.decided(condition)
        if function == self.decided(self.less(no - yes, 0)):
            ends = max(low, least), max(high, most)
        elif function == self.decided(self.less(yes - no, 0)):
            ends = min(low, least), min(high, most)
        return self.note(made, *ends)

    def gate(self, condition: Form, form: Form) -> Form:
        """The form where the condition is 1, 0 elsewhere."""
        if not condition.terms or not form.terms:
            return condition * form.constant if condition.terms else form * condition.constant
        function = self.decided(condition)
        if self.bits.at_zeros(function):
            return form - self.gate(self.bit(self.bits.invert(function)), form)
        base = self.common(condition, form)
        if base is not None:
            return self.from_table(base, self.values(condition, base) * self.values(form, base))
        primitive, factor = form.primitive
        low, high = self.interval(primitive)
        if (low, high) == (0, 1):
            made = self.bit(self.bits.both(function, self.decided(primitive)))
        else:
            made = self._make(("gate", function, primitive.key), min(low, 0), max(high, 0), None)
        return made * factor + condition * form.constant

    def product(self, left: Form, right: Form) -> Form:
        """The product of two forms."""
        if not left.terms or not right.terms:
            return right * left.constant if not left.terms else left * right.constant
        ends = [a * b for a in self.interval(left) for b in self.interval(right)]
        base = self.common(left, right)
        if base is not None and max(map(abs, ends)) <= WIDEST:
            return self.from_table(base, self.values(left, base) * self.values(right, base))
        (first, one), (second, other) = sorted((left.primitive, right.primitive), key=lambda pair: pair[0].key)
        inner = [a * b for a in self.interval(first) for b in self.interval(second)]
        square = first == second and self.interval(first)[0] <= 0 <= self.interval(first)[1]
        made = self._make(("product", first.key, second.key), 0 if square else min(inner), max(inner), None)
        made = made * (one * other) + right.plus(-right.constant) * left.constant + left * right.constant
        return self.note(made, min(ends), max(ends)) if left != right else made

    def clamp(self, form: Form, least: int, most: int) -> Form:
        """The number nearest to the form from `least` to `most`."""
        low, high = self.interval(form)
        if least <= low and high <= most:
            return form
        if high <= least or low >= most:
            return known(least if high <= least else most)
        base = self.base(form)
        if base is not None:
            return self.from_table(base, np.clip(self.values(form, base), least, most))
        return self._make(("clamp", form.key, least, most, form), max(low, least), min(high, most), None)

    def lookup(self, form: Form, entries: Numbers, first: int) -> Form:
        """The entry at form - first."""

        def entry(places: Numbers) -> Numbers:
            if places.min() < first or places.max() >= first + len(entries):
                raise Refused("an index past the ends of its table")
            return entries[places - first]

        return self.tabulated(entry, form)

    def tabulated(self, function: Callable[..., Numbers], *forms: Form) -> Form:
        """A function of forms that are functions of one form, or known."""
        base = self.common(*forms) if any(form.terms for form in forms) else ZERO
        if base is None:
            raise Refused(f"a function of several numbers, or of one of more than {LIMIT} values")
        return self.from_table(base, function(*(self.values(form, base) for form in forms)))

    def checked(self, form: Form, least: int, most: int) -> tuple[Form, Form, int]:
        """The form where it lies between two numbers, as a symbol of its own; 1 where it does not; the check's number.

        Where it always does there is no check, and the form is itself.
        """
        low, high = self.interval(form)
        failed = self.bit(self.bits.either(self.decided(self.less(form, least)), self._not_less(form, most + 1)))
        if not failed.terms and not failed.constant:
            return form, failed, -1
        first, end = max(low, least), min(high, most)
        symbol = known(first) if first == end else self._make(("check", form.key, least, most), first, end, None)
        places = self._checked.setdefault(form.key, {})
        self.checks += symbol not in places
        return symbol, failed, places.setdefault(symbol, self.checks - 1)

    def checks_of(self, form: Form) -> Iterable[tuple[int, Form]]:
        """The checks of a form, each with the symbol that stands for the form where it passes."""
        return [(number, symbol) for symbol, number in self._checked.get(form.key, {}).items()]

    def base(self, form: Form) -> Form | None:
        """What a form is a function of, if that takes few enough values."""
        bases = {number: self.all[number].base for number in form.terms}
        for number, base in bases.items():
            if base is None or base == Form({number: 1}, 0) or (len(form.terms) > 1 and not self._same(base, bases)):
                continue
            rest = Form({n: form.terms[n] for n, other in bases.items() if other != base}, 0)
            if not rest.terms or rest.primitive[0] == base:
                return base
        primitive, _ = form.primitive
        return primitive if primitive.terms and self._domain(primitive) is not None else None

    @staticmethod
    def _same(base: Form, bases: dict[int, Form | None]) -> bool:
        """Whether a sum of symbols may be a function of a base: its symbols are there, or its functions alone."""
        return base.terms.keys() <= bases.keys() or all(other == base for other in bases.values())

    def common(self, *forms: Form) -> Form | None:
        """What all forms are functions of, if that takes few enough values."""
        bases = {self.base(form) for form in forms if form.terms}
        return bases.pop() if len(bases) == 1 else None

    def _domain(self, primitive: Form) -> tuple[int, int] | None:
        """The interval that functions of a form are tabulated over, always the same one."""
        key = primitive.key
        if key not in self._domains:
            low, high = self.interval(primitive)
            self._domains[key] = (low, high) if high - low < LIMIT else None
        return self._domains[key]

    def values(self, form: Form, base: Form) -> Numbers:
        """The form for each value of what it is a function of."""
        domain = self._domain(base)
        assert domain is not None
        # Sums of int64 wrap, so that they are right where the form itself is small enough.
        if max(map(abs, (*self.interval(form), *form.terms.values()))) > WIDEST:
            raise Refused("a function of a number, or a number, of more than 62 bits")
        made = np.full(domain[1] - domain[0] + 1, form.constant, np.int64)
        rest: dict[int, int] = {}
        for number, factor in form.terms.items():
            if self.all[number].base == base and Form({number: 1}, 0) != base:
                made += factor * self._table(number, base)
            else:
                rest[number] = factor
        if rest:
            primitive, factor = Form(rest, 0).primitive
            if primitive != base:
                raise Refused("a function of several numbers")
            made += factor * np.arange(domain[0], domain[1] + 1)
        self.widest = max(self.widest, len(made))
        return made

    def _table(self, number: int, base: Form) -> Numbers:
        kind, *what = self.all[number].what
        if kind == "floor":
            inside: Numbers = self.values(what[2], base) >> what[1]
            return inside
        if kind == "decision":
            return self._evaluated(what[0], base)
        if kind == "step":
            domain = self._domain(base)
            assert domain is not None
            below: Numbers = (np.arange(domain[0], domain[1] + 1) < what[1]).astype(np.int64)
            return below
        return self._tables[number].astype(np.int64)

    def _evaluated(self, function: int, base: Form) -> Numbers:
        number, yes, no = self.bits.nodes[function]
        either = [self._evaluated(f, base) if f > 1 else np.int64(f) for f in (yes, no)]
        return np.where(self.values(Form({number: 1}, 0), base) != 0, *either)

    def from_table(self, base: Form, table: Numbers) -> Form:
        """The form that takes these values, one for each of the base."""
        domain = self._domain(base)
        assert domain is not None
        low, least, most = domain[0], int(table.min()), int(table.max())
        if least == most:
            return known(least)
        steps = np.diff(table)
        if (steps == steps[0]).all():
            return base * int(steps[0]) + known(int(table[0]) - int(steps[0]) * low)
        factor = int(np.gcd.reduce(steps))
        changes = np.flatnonzero(steps)
        if steps[changes[0]] < 0:
            factor, least = -factor, most
        table = (table - least) // factor
        if table.max() == 1 and len(changes) <= CHANGES:
            return self._bits_of(base, table, low, changes + 1) * factor + known(least)
        small = table.astype(np.min_scalar_type(int(table.max())))
        digest = hashlib.sha256(small.tobytes()).hexdigest()
        made = self._make(("table", base.key, str(small.dtype), digest), 0, int(table.max()), base)
        self._tables.setdefault(min(made.terms), small)
        return made * factor + known(least)

    def _bits_of(self, base: Form, table: Numbers, low: int, changes: Numbers) -> Form:
        function = int(table[0])
        for place in changes.tolist():
            below = self.decided(self._step(base, low + place))
            function = self.bits.choose(below, function, int(table[place]))
        self._settled |= {function, self.bits.invert(function)}
        return self.bit(function)

    def settled(self, form: Form) -> Form:
        """The same integer, in the one way in which a function of a single form is written."""
        if len(form.terms) < 2:
            return form
        base = self.base(form)
        if base is None or base == form.primitive[0]:
            return form
        return self.from_table(base, self.values(form, base))

    def same(self, left: Form, right: Form) -> bool:
        """Whether two forms are shown to be the same integer."""
        if left == right:
            return True
        apart = left - right
        base = self.base(apart) if apart.terms else None
        return base is not None and base != apart.primitive[0] and not self.values(apart, base).any()

    def _make(self, what: tuple[Any, ...], low: int, high: int, base: Form | None) -> Form:
        key = tuple(part for part in what if not isinstance(part, Form))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Form({len(self.all): 1}, 0)
            self.all.append(Symbol(low, high, what, base))
        return found


def _inside(low: int, high: int, factor: int) -> tuple[int, int]:
    """The least and greatest number whose multiple by the factor lies between two numbers."""
    if factor < 0:
        return _inside(-high, -low, -factor)
    return -(-low // factor), high // factor
