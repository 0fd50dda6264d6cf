"""The cells of a Plonkish system whose lookups are sums of fractions: multiplicities, fractions and running sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError

from ..field import Field, Limbs
from .grid import Evaluator, Grid, Values

if TYPE_CHECKING:
    from .lookup_sums import Summed


class Cells(Protocol):
    """The cells of one run of a Plonkish system that has lookups."""

    def instance(self) -> list[Limbs]:
        """Return the instance columns of the run."""

    def first(self) -> list[Limbs]:
        """Return the advice columns of phase 0 of the run, which depend on no challenge."""

    def second(self, challenges: Sequence[int]) -> list[Limbs]:
        """Return the advice columns of phase 1 of the run, given the challenges."""


class SummedCells:
    """The cells of one run of a Plonkish system whose lookups are sums of fractions: see `Summed`.

    Raise CircuitizeError if the input of a lookup is not in its table, so that no multiplicities exist.
    """

    def __init__(self, summed: Summed, cells: Cells) -> None:
        self.summed, self._cells = summed, cells
        self._indices: list[list[NDArray[np.int64]]] = []
        self._counts: list[NDArray[np.int64]] = []
        self._entries: list[list[Values]] = []

    def instance(self) -> list[Limbs]:
        """Return the instance columns of the run, which are the same as in the system with lookups."""
        return self._cells.instance()

    def first(self) -> list[Limbs]:
        """Return the advice columns of phase 0: those of the system with lookups, and a column of multiplicities for
        each table.
        """
        plain = self.summed.plain
        early = self._cells.first()
        late = [np.zeros((0, 4), np.uint64)] * (plain.advice - len(early))
        grid = Grid(plain, [*early, *late], self._cells.instance(), [0] * plain.challenges)
        every = Evaluator(grid, np.arange(plain.rows))
        for group in self.summed.groups:
            entries = [every.value(node) for node in group.table]
            keys = _Keys(entries)
            indices = []
            for lookup in (lookup for part in group.parts for lookup in part):
                places = keys.find([every.value(node) for node in lookup.inputs])
                if (places < 0).any():
                    row = int(np.flatnonzero(places < 0)[0])
                    raise CircuitizeError(
                        f"expected an entry of its table at lookup {lookup.name}, row {row}, found another tuple; "
                        "prove a run of the program"
                    )
                indices.append(places)
            self._entries.append(entries)
            self._indices.append(indices)
            self._counts.append(np.bincount(np.concatenate(indices), minlength=plain.rows))
        return [*early, *(plain.field.from_int64(count.astype(np.int64)) for count in self._counts)]

    def second(self, challenges: Sequence[int]) -> list[Limbs]:
        """Return the advice columns of phase 1, given the challenges: those of the system with lookups, the fractions,
        and the running sums.
        """
        plain = self.summed.plain
        field = plain.field
        b, a = challenges[plain.challenges], challenges[plain.challenges + 1]
        made = self._cells.second(challenges[: plain.challenges])
        for group, entries, indices, counts in zip(
            self.summed.groups, self._entries, self._indices, self._counts, strict=True
        ):
            inverses = _inverses(_folded(entries, a, b, field), field)
            total: NDArray[np.object_] = np.zeros(plain.rows, dtype=object)
            at = 0
            for part in group.parts:
                own = [inverses[places] for places in indices[at : at + len(part)]]
                fraction: NDArray[np.object_] = np.sum(own, axis=0) % field.prime
                at += len(part)
                total = total + fraction
                made.append(field.from_integers(fraction.tolist()))
            entry = inverses * counts.astype(object) % field.prime
            made.append(field.from_integers(entry.tolist()))
            steps = np.concatenate([np.zeros(1, dtype=object), np.cumsum(total - entry)]) % field.prime
            made.append(field.from_integers(steps.tolist()))
        return made


class _Keys:
    """The tuples in a table as single integers, by mixed radix, so that other tuples can be searched among them."""

    def __init__(self, entries: Sequence[Values]) -> None:
        if not all(column.exact for column in entries):
            raise CircuitizeError("expected a table of small integers, found large ones; prove lookups another way")
        self._lows = [int(column.numbers.min()) for column in entries]
        self._sizes = [int(column.numbers.max()) - low + 1 for column, low in zip(entries, self._lows, strict=True)]
        radix = 1
        for size in self._sizes:
            radix *= size
        if radix >= 1 << 62:
            raise CircuitizeError("expected a table whose tuples fit 62 bits, found wider ones; use narrower tables")
        keys = self._keys([np.asarray(column.numbers, np.int64) for column in entries])
        self._sorted, self._places = np.unique(keys, return_index=True)

    def find(self, inputs: Sequence[Values]) -> NDArray[np.int64]:
        """Return, for each tuple, the place of the first table entry that equals it, or -1 if no entry does."""
        inside = np.ones(len(inputs[0].numbers), np.bool_)
        numbers = []
        for column, low, size in zip(inputs, self._lows, self._sizes, strict=True):
            own = (column.numbers >= low) & (column.numbers < low + size)
            inside &= np.asarray(own, np.bool_)
            numbers.append(np.where(own, column.numbers, low).astype(np.int64))
        keys = self._keys(numbers)
        at = np.minimum(np.searchsorted(self._sorted, keys), len(self._sorted) - 1)
        return np.where(inside & (self._sorted[at] == keys), self._places[at], -1)

    def _keys(self, columns: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        keys = np.zeros(len(columns[0]), np.int64)
        for column, low, size in zip(columns, self._lows, self._sizes, strict=True):
            keys = keys * size + (column - low)
        return keys


def _folded(entries: Sequence[Values], a: int, b: int, field: Field) -> NDArray[np.object_]:
    folded = entries[-1].numbers.astype(object)
    for column in reversed(entries[:-1]):
        folded = (column.numbers.astype(object) + a * folded) % field.prime
    found: NDArray[np.object_] = (folded + b) % field.prime
    return found


def _inverses(values: NDArray[np.object_], field: Field) -> NDArray[np.object_]:
    """Return the inverses of numbers, computed with a single inversion, where the inverse of 0 is given as 0; a random
    challenge makes 0 improbable.
    """
    prime, products, total = field.prime, [], 1
    for value in values.tolist():
        products.append(total)
        total = total * (value or 1) % prime
    inverse = pow(total, -1, prime)
    made = np.zeros(len(values), dtype=object)
    for at in range(len(values) - 1, -1, -1):
        value = values[at]
        if value:
            made[at] = products[at] * inverse % prime
            inverse = inverse * value % prime
    return made
