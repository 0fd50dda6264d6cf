"""The store of symbols, which keeps the definition of each symbol once, with its interval, and what else is known of
forms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .decisions import Decisions
from .forms import Form, Key


@dataclass(frozen=True, slots=True)
class Symbol:
    """The definition of a symbol, its interval, and the form of which it is a function, if that form takes few enough
    values to be tabulated.
    """

    low: int
    high: int
    what: tuple[Any, ...]
    base: Form | None


class Store:
    """All symbols of one check, and the decision diagrams of the symbols that are bits. The forms of one check contain
    only symbols of its store.
    """

    def __init__(self) -> None:
        self.all: list[Symbol] = []
        self.bits = Decisions()
        self._known: dict[tuple[object, ...], Form] = {}
        self._facts: dict[Key, tuple[int, int]] = {}

    def free(self, low: int, high: int, *name: object) -> Form:
        """Return a free symbol, which is a function of no other symbols."""
        return self._make(("free", *name), low, high, None)

    def interval(self, form: Form) -> tuple[int, int]:
        """Return an interval that holds all values of a form."""
        if form.ends is None:
            form.ends = self._interval(form)
        return form.ends

    def _interval(self, form: Form) -> tuple[int, int]:
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
        """Return a form after recording that it is known to lie in a given interval for a reason other than its terms'
        intervals.
        """
        least, most = self.interval(form)
        if len(form.terms) > 1 and (low > least or high < most):
            primitive, factor = form.primitive
            ends = max(low, least) - form.constant, min(high, most) - form.constant
            self._facts[primitive.key] = _inside(*ends, factor)
            form.ends = self._interval(form)
        return form

    def _make(self, what: tuple[object, ...], low: int, high: int, base: Form | None) -> Form:
        key = tuple(part for part in what if not isinstance(part, Form))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Form({len(self.all): 1}, 0)
            self.all.append(Symbol(low, high, what, base))
        return found


def _inside(low: int, high: int, factor: int) -> tuple[int, int]:
    """Return the least and the greatest number whose product with the factor lies in an interval."""
    if factor < 0:
        return _inside(-high, -low, -factor)
    return -(-low // factor), high // factor
