"""The symbols in linear forms: integers, each identified by its definition, so that equal terms cancel.

A symbol is free (an input) or a function of forms, such as a floor, a clamp or a product. If a form takes few enough
values, a function of this form is represented by the table of all its values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from .forms import ZERO, Form, Key, known, total
from .refusal import Refused
from .tables import LIMIT, WIDEST, Numbers, Tables


class Symbols(Tables):
    """The operations of Verilog and of programs on forms of the symbols of one check."""

    def __init__(self, limit: int = LIMIT) -> None:
        super().__init__(limit)
        self.checks = 0
        self._checked: dict[Key, dict[Form, int]] = {}
        self._clamped: dict[tuple[Key, int, int], Form] = {}
        self._factors: dict[int, tuple[Form, Form]] = {}
        """The two factors of each symbol that is a product."""
        self._apart: set[int] = set()
        """The products that have the low bits of a number as a factor."""

    def floor(self, form: Form, bits: int) -> Form:
        """Return the greatest integer that is at most form / 2^bits."""
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
        """Return the floor of a floor or of a clamp, written with a floor of the innermost form; None for any other
        form.
        """
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
        """Return the form modulo 2^width, in [0, 2^width)."""
        low, high = self.interval(form)
        if low >= 0 and high < 1 << width:
            return form
        return self.note(form - self.floor(form, width) * (1 << width), 0, (1 << width) - 1)

    def signed(self, form: Form, width: int) -> Form:
        """Return the form modulo 2^width, in two's complement."""
        half = 1 << (width - 1)
        low, high = self.interval(form)
        if -half <= low and high < half:
            return form
        made = form - self.floor(form.plus(half), width) * (1 << width)
        return self.note(made, -half, half - 1)

    def less(self, form: Form, bound: int) -> Form:
        """Return the form that is 1 where form < bound, 0 elsewhere."""
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

    def equal(self, form: Form, number: int) -> Form:
        """Return the form that is 1 where a form equals a number, 0 elsewhere."""
        return self.bit(self.bits.both(self.decided(self.less(form, number + 1)), self._not_less(form, number)))

    def _not_less(self, form: Form, number: int) -> int:
        return self.bits.invert(self.decided(self.less(form, number)))

    def select(self, condition: Form, yes: Form, no: Form) -> Form:
        """Return the form that is `yes` where the condition is 1, `no` where it is 0."""
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
        """Return a form masked by a condition: the form itself where the condition is 1, 0 elsewhere."""
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
        """Return the product of two forms."""
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
        self._factors[min(made.terms)] = first, second
        if any(len(factor.terms) > 1 and self._floors(factor) for factor in (first, second)):
            self._apart.update(made.terms)
        made = made * (one * other) + right.plus(-right.constant) * left.constant + left * right.constant
        return self.note(made, min(ends), max(ends)) if left != right else made

    def _floors(self, form: Form) -> set[int]:
        """Return the symbols of a form that are floors."""
        return {number for number in form.terms if self.all[number].what[0] == "floor"}

    def joined(self, form: Form) -> Form:
        """Return a form in which products of the parts of a number and of one other factor are the product of the
        number, where the floors by which the parts were taken cancel.

        Soundness: the sum of c x y over x is the product of y and of the sum of c x, whatever x and y are.
        """
        if self._apart.isdisjoint(form.terms):
            return form
        groups: dict[Form, list[tuple[int, int, Form]]] = {}
        for number in sorted(form.terms.keys() & self._factors.keys()):
            first, second = self._factors[number]
            for factor, part in dict.fromkeys([(first, second), (second, first)]):  # Once if it is a square.
                if self._floors(part):
                    groups.setdefault(factor, []).append((number, form.terms[number], part))
        for factor, found in groups.items():
            whole = total((count, part) for _, count, part in found)
            if set().union(*(self._floors(part) for _, _, part in found)) - whole.terms.keys():
                numbers = {number for number, _, _ in found}
                rest = {number: count for number, count in form.terms.items() if number not in numbers}
                return Form(rest, form.constant) + self.product(whole, factor)
        return form

    def same(self, left: Form, right: Form) -> bool:
        """Return whether two forms are shown to be the same integer."""
        return super().same(left, right) or super().same(self.joined(left - right), ZERO)

    def clamp(self, form: Form, least: int, most: int) -> Form:
        """Return a form clamped to the interval from `least` to `most`."""
        low, high = self.interval(form)
        if least <= low and high <= most:
            return form
        if high <= least or low >= most:
            return known(least if high <= least else most)
        base = self.base(form)
        if base is not None:
            key = form.key, least, most
            if key not in self._clamped:
                self._clamped[key] = self.from_table(base, np.clip(self.values(form, base), least, most))
            return self._clamped[key]
        return self._make(("clamp", form.key, least, most, form), max(low, least), min(high, most), None)

    def positive(self, form: Form, always: bool) -> Form:
        """A form where it is not negative, 0 elsewhere. Unless `always`, only if it was clamped so before: the units of
        a folded design compute on stale words most of the time.
        """
        most = max(0, self.interval(form)[1])
        if not always and self.base(form) is not None and (form.key, 0, most) not in self._clamped:
            raise Refused("a clamp of a form of few enough values that the statement does not clamp")
        return self.clamp(form, 0, most)

    def lookup(self, form: Form, entries: Numbers, first: int) -> Form:
        """Return the entry of a table at the index form - first."""

        def entry(places: Numbers) -> Numbers:
            if places.min() < first or places.max() >= first + len(entries):
                raise Refused("an index past the ends of its table")
            return entries[places - first]

        return self.tabulated(entry, form)

    def tabulated(self, function: Callable[..., Numbers], *forms: Form) -> Form:
        """Return a function of forms that are all functions of one form, or of forms that are known numbers."""
        base = self.common(*forms) if any(form.terms for form in forms) else ZERO
        if base is None:
            raise Refused(f"a function of several numbers, or of one of more than {self.limit} values")
        return self.from_table(base, function(*(self.values(form, base) for form in forms)))

    def checked(self, form: Form, least: int, most: int) -> tuple[Form, Form, int]:
        """Return a new symbol for a form where it lies in an interval, the form that is 1 where it does not, and the
        number of this check.

        If a form always lies in the interval of its check, no check is made, and the form stands for itself. If it
        never does, so that no frame passes, a number is returned.
        """
        low, high = self.interval(form)
        failed = self.bit(self.bits.either(self.decided(self.less(form, least)), self._not_less(form, most + 1)))
        if not failed.terms and not failed.constant:
            return form, failed, -1
        first, end = max(low, least), min(high, most)
        symbol = known(first) if first >= end else self._make(("check", form.key, least, most), first, end, None)
        places = self._checked.setdefault(form.key, {})
        self.checks += symbol not in places
        return symbol, failed, places.setdefault(symbol, self.checks - 1)

    def checks_of(self, form: Form) -> Iterable[tuple[int, Form]]:
        """Return the checks of a form, each with the symbol that stands for the form where the check passes."""
        return [(number, symbol) for symbol, number in self._checked.get(form.key, {}).items()]
