"""The scalars of a run's steps as integers of their formats: the schedule is called once for each step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

import numpy as np

from circuitize.backends.tensor.forms import Integers
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.port import Port
from circuitize.circuits.types import Fixed

Scalars = Callable[[int], Mapping[str, Fraction]]
"""The scalars of step 1, 2, ..., as exact numbers from a schedule."""


@dataclass(frozen=True)
class Asked:
    """The scalars that a schedule gave for some ports; they are cached by the first of the steps for which they were
    computed together.
    """

    ports: tuple[Port[Fixed], ...]
    scalars: Scalars
    known: dict[int, dict[str, Integers]] = field(default_factory=dict)

    def of(self, step: int, count: int) -> dict[str, Integers]:
        """Return the scalars of `count` steps from `step` on, by name, with one number for each step.

        Raise CircuitizeError if a scalar of a step is missing or out of its format.
        """
        if step not in self.known:
            found = {port.name: np.empty(count, np.int64) for port in self.ports}
            for k in range(count):
                given = self.scalars(step + k)
                for port in self.ports:
                    found[port.name][k] = _integer(port, given, step + k)
            self.known[step] = found
        return self.known[step]


def _integer(port: Port[Fixed], given: Mapping[str, Fraction], step: int) -> int:
    """Return a scalar as an integer of its port's format, rounded half to even."""
    if port.name not in given:
        raise CircuitizeError(f"expected a value of {port.name!r} for step {step}, found {sorted(given)}; add it")
    format = port.format
    number = Fraction(given[port.name])
    units = round(number * Fraction(2) ** format.fraction_bits)
    if not format.low <= units <= format.high:
        found = Decimal(number.numerator) / number.denominator
        raise CircuitizeError(
            f"step {step}: expected {port.name!r} in its format, found {found:g}; change the schedule"
        )
    return units
