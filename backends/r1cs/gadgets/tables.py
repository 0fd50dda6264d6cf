"""Range checks by tables: values that are fixed before a challenge is drawn are shown to be in tables, with one row for
each value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError

from ...field import Limbs
from ...forms import Integers, LinearForms, constant, uniform, wires, zeros
from ...values import Affine, Elements, Trace, Value
from .assembly import Assembly, ones

WIDEST = 18
"""Tables of range checks have at most 2^18 entries, or 18 bits."""


@dataclass(frozen=True, slots=True, eq=False)
class Digits(Value):
    """The digits start, ..., start + count - 1 of natural numbers in base 2^bits; the digits of one number are
    consecutive.
    """

    value: Value
    bits: int
    start: int
    count: int

    def read(self, trace: Trace) -> Integers:
        shifts = self.bits * np.arange(self.start, self.start + self.count, dtype=np.int64)
        digits: Integers = (self.value.read(trace)[:, None] >> shifts) & ((1 << self.bits) - 1)
        return digits.reshape(-1)


@dataclass(frozen=True, slots=True, eq=False)
class Demand:
    """A demand for a range check: forms that must be integers in [0, size), the integers that an honest prover has
    there, and the gadget that demands the check.
    """

    edge: int
    role: str
    forms: LinearForms
    value: Value
    size: int


@dataclass(frozen=True, slots=True, eq=False)
class Counts(Value):
    """The number of times that each of 0, ..., size - 1 is among the values; values outside this range are not
    counted.
    """

    values: tuple[Value, ...]
    size: int

    def read(self, trace: Trace) -> Integers:
        counts = np.zeros(self.size, np.int64)
        for value in self.values:
            read = value.read(trace)
            counts += np.bincount(read[(read >= 0) & (read < self.size)], minlength=self.size)
        return counts


@dataclass(frozen=True, slots=True, eq=False)
class Reciprocals(Elements):
    """The reciprocals 1 / (challenge + value) for values in [0, size), and 0 for other values; all reciprocals of a
    table are computed at once.
    """

    value: Value
    size: int

    def limbs(self, trace: Trace) -> Limbs:
        values = self.value.read(trace)
        inside = (values >= 0) & (values < self.size)
        found: Limbs = table_reciprocals(trace, self.size)[np.where(inside, values, 0)]
        return found if inside.all() else np.where(inside[:, None], found, 0).astype(np.uint64)


@dataclass(frozen=True, slots=True, eq=False)
class Fractions(Elements):
    """The fractions counts[j] / (challenge + j) of a table in which entry j occurs counts[j] times."""

    counts: Counts

    def limbs(self, trace: Trace) -> Limbs:
        field, prime = trace.field, trace.field.prime
        reciprocals = field.to_integers(table_reciprocals(trace, self.counts.size))
        counts = self.counts.read(trace).tolist()
        return field.from_integers([c * y % prime for c, y in zip(counts, reciprocals, strict=True)])


def table_reciprocals(trace: Trace, size: int) -> Limbs:
    """Return the reciprocals 1 / (challenge + j) for each j below size, computed with a single inversion; the
    reciprocal of 0 is given as 0.
    """
    key = ("reciprocals", size)
    found: Limbs | None = trace.memory.get(key)
    if found is None:
        prime, challenge = trace.field.prime, trace.challenge()
        numbers = [(challenge + j) % prime or 1 for j in range(size)]
        before = [1]
        for number in numbers:
            before.append(before[-1] * number % prime)
        inverse, results = pow(before[-1], -1, prime), [0] * size
        for j in reversed(range(size)):
            results[j] = before[j] * inverse % prime if (challenge + j) % prime else 0
            inverse = inverse * numbers[j] % prime
        found = trace.memory[key] = trace.field.from_integers(results)
    return found


@dataclass(slots=True, eq=False)
class Tables:
    """The range checks of a circuit whose challenge is drawn after the prover has committed to all checked values."""

    demands: list[Demand] = field(default_factory=list)
    stood: dict[int, list[Demand]] = field(default_factory=dict)
    counts: dict[int, tuple[Counts, int]] = field(default_factory=dict)

    @property
    def degree(self) -> int:
        """Return the greatest number of challenges for which a value that is in no table could pass, or for which the
        witness would not be unique.
        """
        return sum(2 * size + sum(len(cell.forms) for cell in cells) for size, cells in self.stood.items())

    def within(self, assembly: Assembly, forms: LinearForms, value: Value, size: int, role: str) -> None:
        """Constrain each form to be an integer in [0, size); `value` says which integers an honest prover has there.

        The caller must show with `no_wrap` that `size` and the integer for which the form stands are below p/2.

        Soundness: sizes 1 and 2 have rows without other solutions; for other sizes, `commit` and `show` exclude a value
        outside the range except for at most `degree` challenges.
        """
        if size == 1:
            assembly.equal(forms, zeros(len(forms)), role)
        elif size == 2:
            assembly.rows(forms, forms.plus(-1), zeros(len(forms)), role)
        elif len(forms):
            self.demands.append(Demand(assembly.edge, role, forms, value, size))

    def commit(self, assembly: Assembly) -> None:
        """Put all values for which `within` was called into tables, with the fewest rows: these values must be fixed
        before the challenge is drawn.
        """
        if not self.demands:
            return
        outer = assembly.edge
        cells = self._digits(assembly, base(size_counts(self.demands)))
        chosen = tables(size_counts(cells))
        self.stood = {size: [] for size in chosen}
        for cell in cells:
            for forms, value, size in _placed(cell, chosen):
                self.stood[size].append(Demand(cell.edge, cell.role, forms, value, size))
        assembly.edge = -1
        for size in chosen:
            content = Counts(tuple(cell.value for cell in self.stood[size]), size)
            self.counts[size] = content, assembly.wires(content, size, f"table {size} count")
        assembly.edge = outer

    def show(self, assembly: Assembly, challenge: int) -> None:
        """Emit the rows that test the committed values by the challenge; `challenge` is the number of the challenge's
        wire.
        """
        outer = assembly.edge
        for size, cells in self.stood.items():
            _show(assembly, cells, *self.counts[size], challenge)
        assembly.edge = outer

    def _digits(self, assembly: Assembly, bits: int) -> list[Demand]:
        """Return demands for range checks of sizes up to 2^bits that are equivalent to the given ones: they are for
        digits in base 2^bits, where the lowest digit is the form minus all other digits.

        Soundness: if every digit of a form of k bits is in [0, 2^bits), and the topmost digit has only the remaining
        bits, the form is the sum of its digits and therefore an integer in [0, 2^k). If a size is not a power of two,
        size - 1 - form is shown to be in [0, 2^k) too: the form is then in both windows, as an integer below p/2, and
        therefore in [0, size).
        """
        found = []
        for demand in self.demands:
            if demand.size <= 1 << bits:
                found.append(demand)
                continue
            assembly.edge = demand.edge
            total = (demand.size - 1).bit_length()
            sides = [(demand.forms, demand.value)]
            if demand.size != 1 << total:
                mirrored = demand.forms.scale(-1).plus(demand.size - 1)
                sides.append((mirrored, Affine(demand.value, -1, demand.size - 1)))
            for forms, value in sides:
                found += _split(assembly, forms, value, total, bits, demand.role)
        return found


def _show(assembly: Assembly, cells: list[Demand], counts: Counts, first: int, challenge: int) -> None:
    """Show that every cell is in [0, size); the wires from `first` on hold the number of times that each entry occurs.

    A range check by table has the rows y * (r + cell) = 1 for each cell and f_j * (r + j) = count_j for each j in [0,
    size), and a row that says that the sum of all y equals the sum of all f_j. (The large numbers are the left factors,
    since right factors are multiplied in the prover's more expensive group.)

    Soundness (Haboeck, "Multivariate lookups based on logarithmic derivatives", 2022): the cells and the counts of a
    table are fixed before r is known. For any r such that no r + j is 0 modulo p, the rows of a table say that the sum
    of 1 / (r + cell) equals the sum of count_j / (r + j). As rational functions of r, the sum of 1 / (r + cell) and the
    sum of count_j / (r + j) are equal only if every cell is some j: for any other cell c, the first sum has a pole,
    whose residue is the number of cells equal to c, which is below p. If some cell is not in the table, the rows hold
    for at most `cells + size` challenges r, and at most `size` challenges make some r + j zero. Unless the challenge
    makes a denominator zero, the wires y and f_j of a table are determined, so that the witness is unique.
    """
    size, total = counts.size, sum(len(cell.forms) for cell in cells)
    sums = []
    for cell in cells:
        assembly.edge, count = cell.edge, len(cell.forms)
        own = wires(assembly.wires(Reciprocals(cell.value, size), count, f"{cell.role} reciprocal"), count)
        point = LinearForms(
            np.arange(count + 1, dtype=np.int64), np.full(count, challenge, np.int32), np.ones(count, np.int64)
        )
        assembly.rows(own, point + cell.forms, ones(count), f"{cell.role} table")
        sums.append(own.wires)
    assembly.edge = -1
    fractions = wires(assembly.wires(Fractions(counts), size, f"table {size} fraction"), size)
    steps = np.arange(size + 1, dtype=np.int64)
    points = constant(np.arange(size)) + LinearForms(steps, np.full(size, challenge, np.int32), np.ones(size, np.int64))
    assembly.rows(fractions, points, wires(first, size), f"table {size}")
    together = np.concatenate(sums)
    left = uniform(np.sort(together)[None, :], np.ones(total, np.int64))
    assembly.equal(left, uniform(fractions.wires[None, :], np.ones(size, np.int64)), f"table {size} sum")


def size_counts(demands: list[Demand]) -> Mapping[int, int]:
    """Return, for each size, the number of values that must be shown to be in [0, size)."""
    counts: Counter[int] = Counter()
    for demand in demands:
        counts[demand.size] += len(demand.forms)
    return counts


def base(counts: Mapping[int, int]) -> int:
    """Return the number of bits per digit with which range checks take the fewest rows, the least of equally good ones;
    `counts` has the number of range checks of every size.
    """
    return min(range(2, WIDEST + 1), key=lambda bits: (_rows(counts, bits), bits))


def tables(counts: Mapping[int, int]) -> list[int]:
    """Return the sizes that get their own table, in ascending order: the greatest size, and each size with fewer
    entries than values to check.

    A value that must be below a size without its own table is looked up twice in the next larger table.
    """
    largest = max(counts)
    return sorted(size for size, count in counts.items() if count > size or size == largest)


def _rows(counts: Mapping[int, int], bits: int) -> int:
    """Return the approximate number of rows that range checks take with digits of `bits` bits; the number is exact for
    tables that several sizes share.
    """
    cells: Counter[int] = Counter()
    booleans = 0
    for size, count in counts.items():
        if size <= 1 << bits:
            cells[size] += count
            continue
        total = (size - 1).bit_length()
        sides = count if size == 1 << total else 2 * count
        full, rest = divmod(total, bits)
        cells[1 << bits] += full * sides
        if rest == 1:
            booleans += sides
        elif rest:
            cells[1 << rest] += sides
    own = set(tables(cells))
    return booleans + sum(own) + sum(count if size in own else 2 * count for size, count in cells.items())


def _split(assembly: Assembly, forms: LinearForms, value: Value, total: int, bits: int, role: str) -> list[Demand]:
    """Return the range checks of the digits of natural numbers below 2^total; a topmost digit of one bit gets its row
    at once.
    """
    count, places = len(forms), -(-total // bits)
    first = assembly.wires(
        Digits(value, bits, 1, places - 1), count * (places - 1), f"{role} digit", (count, places - 1)
    )
    grid = np.arange(first, first + count * (places - 1), dtype=np.int32).reshape(count, places - 1)
    weights = -np.left_shift(np.int64(1), bits * np.arange(1, places, dtype=np.int64))
    lowest = forms.beside(uniform(grid, weights))
    made = [Demand(assembly.edge, role, lowest, Digits(value, bits, 0, 1) if places > 1 else value, 1 << bits)]
    top = total - bits * (places - 1)
    inner = places - 1 if top == bits else places - 2
    if inner:
        chosen = _each(grid[:, :inner])
        made.append(Demand(assembly.edge, role, chosen, Digits(value, bits, 1, inner), 1 << bits))
    if top < bits:
        digit = _each(grid[:, -1:])
        if top == 1:
            assembly.rows(digit, digit, digit, role)
        else:
            made.append(Demand(assembly.edge, role, digit, Digits(value, bits, places - 1, 1), 1 << top))
    return made


def _each(table: NDArray[np.int32]) -> LinearForms:
    """Return linear forms that consist of one wire each."""
    return uniform(table.reshape(-1, 1), np.ones(1, np.int64))


def _placed(cell: Demand, chosen: list[int]) -> list[tuple[LinearForms, Value, int]]:
    """Return the lookups that check a cell: one in the table of its own size, or two in a larger table.

    Soundness: if x and x + t - size, as integers below p/2, are both in [0, t), then x is in [0, size).
    """
    if cell.size in chosen:
        return [(cell.forms, cell.value, cell.size)]
    larger = next((size for size in chosen if size > cell.size), None)
    if larger is None:
        raise CircuitizeError(f"expected a table of more than {cell.size} entries, found {chosen}")
    moved = larger - cell.size
    return [
        (cell.forms, cell.value, larger),
        (cell.forms.plus(moved), Affine(cell.value, 1, moved), larger),
    ]
