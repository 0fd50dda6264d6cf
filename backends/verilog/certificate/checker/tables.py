"""Functions of one form as tables of all their values, so that equal functions are one symbol however they are
written.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from .forms import Form, Key, known
from .refusal import Refused
from .store import Store

Numbers = NDArray[np.int64]
LIMIT = 1 << 22
"""The most values of a form whose functions are tabulated."""

WIDEST = 1 << 62
"""The greatest number that a table of function values holds."""

CHANGES = 16
"""The most often that a tabulated bit may change over its interval; a bit that changes more often becomes a separate
symbol.
"""


class Tables(Store):
    """The symbols of a check, with the forms of which they are functions, the tables of these functions, and their
    bits.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        super().__init__()
        self.limit = limit
        self.widest = 0
        self._domains: dict[Key, tuple[int, int] | None] = {}
        self._settled: set[int] = set()
        """The canonical functions of bits for each function of one form."""
        self._steps: dict[tuple[Key, int], Form] = {}
        self._tables: dict[int, Numbers] = {}

    def base(self, form: Form) -> Form | None:
        """Return the base of which a form is a function, if the base takes few enough values to be tabulated, else
        None.
        """
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
        """Return whether a sum of symbols may be a function of a base: the sum must contain the base's own symbols, or
        only functions of the base.
        """
        return base.terms.keys() <= bases.keys() or all(other == base for other in bases.values())

    def common(self, *forms: Form) -> Form | None:
        """Return the base of which all given forms are functions, if it takes few enough values to be tabulated, else
        None.
        """
        bases = {self.base(form) for form in forms if form.terms}
        return bases.pop() if len(bases) == 1 else None

    def _domain(self, primitive: Form) -> tuple[int, int] | None:
        """Return the interval over which all functions of a form are tabulated, or None if it has too many values."""
        key = primitive.key
        if key not in self._domains:
            low, high = self.interval(primitive)
            self._domains[key] = (low, high) if high - low < self.limit else None
        return self._domains[key]

    def values(self, form: Form, base: Form) -> Numbers:
        """Return the value of a form for each value of `base`, the form of which it is a function."""
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
        kept: Numbers = self._tables[number].astype(np.int64)
        return kept

    def _evaluated(self, function: int, base: Form) -> Numbers:
        return self._at(function, base, {})

    def _at(self, function: int, base: Form, found: dict[int, Numbers]) -> Numbers:
        if function not in found:
            number, yes, no = self.bits.nodes[function]
            either = [self._at(f, base, found) if f > 1 else np.int64(f) for f in (yes, no)]
            found[function] = np.where(self.values(Form({number: 1}, 0), base) != 0, *either)
        return found[function]

    def from_table(self, base: Form, table: Numbers) -> Form:
        """Return the form that takes the given values, one for each value of the base."""
        domain = self._domain(base)
        assert domain is not None
        low, least, most = domain[0], int(table.min()), int(table.max())
        if least == most:
            return known(least)
        if most - least > WIDEST:
            raise Refused("a table of numbers further apart than 2^62")
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

    def _step(self, primitive: Form, bound: int) -> Form:
        """Return the function that is 1 where a primitive form is below a number."""
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

    def decided(self, form: Form) -> int:
        """Return the function of bits that equals a form whose values are 0 and 1."""
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
        """Return the form with values 0 and 1 that equals a function of bits."""
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

    def settled(self, form: Form) -> Form:
        """Return a form in the canonical way of writing a function of a single form."""
        if len(form.terms) < 2:
            return form
        base = self.base(form)
        if base is None or base == form.primitive[0]:
            return form
        return self.from_table(base, self.values(form, base))

    def same(self, left: Form, right: Form) -> bool:
        """Return whether two forms are shown to be the same integer."""
        if left == right:
            return True
        apart = left - right
        base = self.base(apart) if apart.terms else None
        return base is not None and base != apart.primitive[0] and not self.values(apart, base).any()
