"""Upper ends of intervals that wait until everything else is emitted, and take rows only if no other range check
implies them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...forms import Integers, LinearForms
from ...values import Chosen, Value
from .bits import Bits, at_most

if TYPE_CHECKING:
    from .assembly import Assembly

FARTHEST = 1 << 62
"""Ends of windows and constants beyond this magnitude are ignored when bounds are compared."""


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """A bound that is not enforced yet: wires that must be at most `high`, and the bits of each wire minus bits.low,
    whose greatest value exceeds `high`.
    """

    wires: NDArray[np.int32]
    high: int
    bits: Bits
    value: Value
    role: str
    edge: int


@dataclass(slots=True, eq=False)
class Bounds:
    """The bounds of wires that range checks leave open, and what all range checks together say about these wires.

    Soundness: a wire whose bound waits has its own bits, so that it is an integer x in their window. The gadget
    `decompose` shows that factor * wire + constant is an integer y in a window, modulo p; `note` uses this only if
    |factor x + constant| and |y| stay below p/2 for every x in the wire's own window, so that y = factor x + constant.
    A wire is in every interval that was noted for it; if these intervals contain nothing above its bound, the bound
    holds without rows.
    """

    waiting: list[Bound] = field(default_factory=list)
    tracked: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    lows: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    highs: Integers = field(default_factory=lambda: np.zeros(0, np.int64))

    def postpone(self, bound: Bound) -> bool:
        """Postpone a bound until `emit`, if the ends of its window are small enough for the comparison."""
        low, high = bound.bits.low, bound.bits.low + (1 << bound.bits.count) - 1
        if low < -FARTHEST or high > FARTHEST:
            return False
        wires, size = bound.wires, 1 + int(bound.wires.max())
        missing = max(size - len(self.lows), 0)
        self.tracked = np.concatenate([self.tracked, np.zeros(missing, np.bool_)])
        self.lows = np.concatenate([self.lows, np.full(missing, -FARTHEST)])
        self.highs = np.concatenate([self.highs, np.full(missing, FARTHEST)])
        self.tracked[wires] = True
        self.lows[wires] = np.maximum(self.lows[wires], low)
        self.highs[wires] = np.minimum(self.highs[wires], high)
        self.waiting.append(bound)
        return True

    def note(self, assembly: Assembly, forms: LinearForms, low: int, high: int) -> None:
        """Note that every form is an integer in [low, high], and what this implies for single wires whose bounds
        wait.
        """
        if not self.waiting or forms.terms > 2 * len(forms) or forms.magnitude > FARTHEST:
            return
        named = forms.wires != 0
        element = np.repeat(np.arange(len(forms)), forms.lengths)[named]
        wires, factors = forms.wires[named], forms.coefficients[named]
        kept = (np.bincount(element, minlength=len(forms))[element] == 1) & (wires < len(self.tracked))
        kept[kept] = self.tracked[wires[kept]]
        element, wires, factors = element[kept], wires[kept], factors[kept]
        constants, size = forms.constants()[element], np.abs(factors)
        reach = int(np.maximum(-self.lows[wires], self.highs[wires]).max(initial=0))
        if 2 * (int(size.max(initial=0)) * reach + forms.magnitude + max(-low, high)) >= assembly.field.prime:
            return
        if low >= -FARTHEST:
            least, up = low - constants, factors > 0
            np.maximum.at(self.lows, wires[up], -(-least[up] // size[up]))
            np.minimum.at(self.highs, wires[~up], -least[~up] // size[~up])
        if high <= FARTHEST:
            greatest, up = high - constants, factors > 0
            np.minimum.at(self.highs, wires[up], greatest[up] // size[up])
            np.maximum.at(self.lows, wires[~up], -(greatest[~up] // size[~up]))

    def emit(self, assembly: Assembly) -> None:
        """Emit rows for every bound that is not implied yet, the lowest first, since the rows of one bound may imply
        other bounds.
        """
        outer = assembly.edge
        for bound in sorted(self.waiting, key=lambda bound: bound.high):
            highs = self.highs[bound.wires]
            places = np.flatnonzero(highs > bound.high)
            if not len(places):
                continue
            assembly.edge = bound.edge
            value, bits = bound.value, bound.bits
            if len(places) < len(bound.wires):
                value, bits = Chosen(value, places), bits.gather(places)
            reach = int(highs.max()) - bits.low
            at_most(assembly, bits, value, bound.high - bits.low, bound.role, reach, places)
            self.highs[bound.wires[places]] = bound.high
        self.waiting.clear()
        assembly.edge = outer
