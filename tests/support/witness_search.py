"""Finds every witness of a constraint system that has given values on some wires, over a field of any size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isqrt

from circuitize.backends.r1cs.system import ConstraintSystem, Matrix

Terms = list[tuple[int, int]]
Choice = list[tuple[int, int]]
"""Values for some wires."""

MOST_PLACES = 64
"""Unknown wires of a sum that are looked at together."""

SMALL_FIELD = 600
"""Below this, a wire that no rule determines is given every value of the field."""


class Undetermined(Exception):
    """A wire of a large field that no rule pins down: a hole, or a gadget that this search does not understand."""


@dataclass(slots=True)
class Row:
    """a * b = c; `digits` where it says f * (f + d) = 0 of one form f, whose wires may be bits with other weights."""

    a: Terms
    b: Terms
    c: Terms
    wires: frozenset[int]
    digits: int | None


class Search:
    """Depth first: what rows determine is filled in, then a wire with two possible values is tried with both.

    Only four facts are used, each of which keeps all solutions. A row with one unknown wire is a polynomial of degree
    two in it. A row with a factor 0 needs c = 0. A row f * (f + d) = 0 whose unknown wires are bits, with weights of
    one sign each greater than the sum of the smaller ones, their sum below the prime, has at most one solution for
    each of f = 0 and f = -d: binary digits are unique. And where such a row leaves a wire in a window of integers (its
    bits may have any values), a sum of such wires, each weight beyond what the lighter ones reach, has at most one
    solution for each integer in reach that stands for its value: mixed radix digits are unique. So an empty result
    proves that there is no witness, and a single one that there is no other.
    """

    def __init__(self, system: ConstraintSystem) -> None:
        self.prime = system.field.prime
        self.wires = system.wires
        sides = [_terms(matrix, system) for matrix in (system.a, system.b, system.c)]
        self.rows = [self._row(a, b, c) for a, b, c in zip(*sides, strict=True)]
        self.uses: list[list[int]] = [[] for _ in range(self.wires)]
        for place, row in enumerate(self.rows):
            for wire in row.wires:
                self.uses[wire].append(place)
        self.bits = {
            row.a[0][0]
            for row in self.rows
            if len(row.a) == 1 and row.a == row.b == row.c and row.a[0][0] and row.a[0][1] == 1
        }
        self.ranges: dict[int, list[Row]] = {}
        for row in self.rows:
            if row.digits is not None:
                for wire in row.wires - self.bits:
                    self.ranges.setdefault(wire, []).append(row)
        for row in [row for rows in self.ranges.values() for row in rows]:
            # A wire of its own more gives the others a window.
            wires = row.wires - self.bits
            sums = {place for wire in wires for place in self.uses[wire] if self.rows[place].digits is None}
            for wire in wires:
                self.uses[wire] = sorted({*self.uses[wire], *sums})
        self.steps = 0

    def solutions(self, known: Mapping[int, int], limit: int = 2) -> list[list[int]]:
        """Up to `limit` witnesses that hold these values. Raise Undetermined."""
        values: list[int | None] = [None] * self.wires
        values[0] = 1
        given = [(wire, value % self.prime) for wire, value in known.items()]
        found = []
        for solution in self._search(values, given, list(range(len(self.rows)))):
            found.append(solution)
            if len(found) == limit:
                break
        return found

    def _search(self, values: list[int | None], choice: Choice, waiting: list[int]) -> Iterator[list[int]]:
        stack: list[tuple[list[int | None], Choice, list[int]]] = [(values, choice, waiting)]
        while stack:
            values, choice, waiting = stack.pop()
            self.steps += 1
            open_choices = self._propagate(values, choice, waiting)
            if open_choices is None:
                continue
            if all(value is not None for value in values):
                yield [value for value in values if value is not None]
                continue
            choices = open_choices[min(open_choices)] if open_choices else self._every_value(values)
            stack.extend((values.copy(), each, list(open_choices)) for each in reversed(choices))

    def _propagate(
        self, values: list[int | None], choice: Choice, waiting: list[int]
    ) -> dict[int, list[Choice]] | None:
        """Fills in what is determined; None at a contradiction, else the rows that leave two choices."""
        queue = dict.fromkeys(waiting)
        open_choices: dict[int, list[Choice]] = {}
        while True:
            for wire, value in choice:
                if values[wire] is not None:
                    if values[wire] != value:
                        return None
                    continue
                values[wire] = value
                queue.update(dict.fromkeys(self.uses[wire]))
            choice = []
            while queue and not choice:
                place = next(iter(queue))
                del queue[place]
                open_choices.pop(place, None)
                choices = self._examine(self.rows[place], values)
                if choices is None:
                    continue
                if not choices:
                    return None
                if len(choices) == 1:
                    choice = choices[0]
                else:
                    open_choices[place] = choices
            if not choice and not queue:
                return open_choices

    def _examine(self, row: Row, values: list[int | None]) -> list[Choice] | None:
        """All values that a row leaves for its unknown wires; None where it cannot be told yet."""
        unknown = {wire for wire in row.wires if values[wire] is None}
        prime = self.prime
        if not unknown:
            a, b, c = (_value(terms, values) for terms in (row.a, row.b, row.c))
            return [[]] if (a * b - c) % prime == 0 else []
        if len(unknown) == 1:
            (wire,) = unknown
            (a0, a1), (b0, b1), (c0, c1) = (_line(terms, values, wire) for terms in (row.a, row.b, row.c))
            roots = _roots(a1 * b1 % prime, (a0 * b1 + a1 * b0 - c1) % prime, (a0 * b0 - c0) % prime, prime)
            return None if roots is None else [[(wire, root)] for root in roots]
        if row.digits is not None and unknown <= self.bits:
            return self._digits(row, row.digits, values, unknown)
        if all(values[wire] is not None for wire, _ in (*row.a, *row.b)) and len(unknown) <= MOST_PLACES:
            return self._mixed_radix(row, values, unknown)
        for factor in (row.a, row.b):
            if all(values[wire] is not None for wire, _ in factor) and _value(factor, values) % prime == 0:
                left = [wire for wire, _ in row.c if values[wire] is None]
                if not left:
                    return [[]] if _value(row.c, values) % prime == 0 else []
                if len(left) == 1:
                    c0, c1 = _line(row.c, values, left[0])
                    return [[(left[0], -c0 * pow(c1, -1, prime) % prime)]]
        return None

    def _digits(self, row: Row, shift: int, values: list[int | None], unknown: set[int]) -> list[Choice] | None:
        prime = self.prime
        known = sum(coefficient * value for wire, coefficient in row.a if (value := values[wire]) is not None)
        weights = sorted((self._signed(coefficient), wire) for wire, coefficient in row.a if wire in unknown)
        sign = 1 if weights[0][0] > 0 else -1
        weights = sorted((sign * weight, wire) for weight, wire in weights)
        total = 0
        for weight, _ in weights:
            if weight <= total:
                return None
            total += weight
        if total >= prime:
            return None
        choices = []
        for target in (0, -shift):
            rest = (target - known) * sign % prime
            choice = []
            for weight, wire in reversed(weights):
                bit = int(rest >= weight)
                rest -= bit * weight
                choice.append((wire, bit))
            if rest == 0:
                choices.append(choice)
        return choices

    def _mixed_radix(self, row: Row, values: list[int | None], unknown: set[int]) -> list[Choice] | None:
        """Of a row whose product is known: the sum of its unknown wires, each in a window."""
        prime = self.prime
        windows = {wire: self._window(wire, values) for wire in unknown}
        rest = (_value(row.a, values) * _value(row.b, values) - _value(row.c, values)) % prime
        places = []
        for wire, coefficient in row.c:
            if wire in unknown:
                window = windows[wire]
                if window is None:
                    return None
                # wire = (low + z) / factor with 0 <= z < width.
                factor, low, width = window
                weight = coefficient * pow(factor, -1, prime) % prime
                places.append((weight, wire, window))
                rest = (rest - weight * low) % prime
        for unit, _, _ in places:
            inverse = pow(unit, -1, prime)
            scaled = sorted((weight * inverse % prime, wire, window) for weight, wire, window in places)
            reach = 0
            for weight, _, (_, _, width) in scaled:
                if weight <= reach:
                    break
                reach += weight * (width - 1)
            else:
                return self._decoded(scaled, range(rest * inverse % prime, reach + 1, prime))
        return None

    def _decoded(
        self, places: list[tuple[int, int, tuple[int, int, int]]], totals: range, most: int = 64
    ) -> list[Choice] | None:
        """For each total, the digits that come to it."""
        if len(totals) > most:
            return None
        choices = []
        for total in totals:
            choice = []
            for weight, wire, (factor, low, width) in reversed(places):
                digit = min(total // weight, width - 1)
                total -= weight * digit
                choice.append((wire, (low + digit) * pow(factor, -1, self.prime) % self.prime))
            if total == 0:
                choices.append(choice)
        return choices

    def _window(self, wire: int, values: list[int | None]) -> tuple[int, int, int] | None:
        """(factor, low, width) with factor * wire = low + z modulo the prime for some 0 <= z < width."""
        for row in self.ranges.get(wire, []):
            unknown = {other for other in row.wires if values[other] is None}
            if unknown - {wire} <= self.bits and row.digits is not None:
                weights = [self._signed(c) for other, c in row.a if other in unknown and other != wire]
                factor = sum(c for other, c in row.a if other == wire)
                ends = (0, self._signed(-row.digits))
                low = min(ends) - sum(weight for weight in weights if weight > 0) - _value(row.a, values)
                width = abs(ends[1]) + sum(map(abs, weights)) + 1
                if width < self.prime:
                    return factor, low, width
        return None

    def _every_value(self, values: list[int | None]) -> list[Choice]:
        wire = next(wire for wire, value in enumerate(values) if value is None)
        if self.prime > SMALL_FIELD:
            raise Undetermined(f"wire {wire} of {self.wires}")
        return [[(wire, value)] for value in range(self.prime)]

    def _signed(self, value: int) -> int:
        value %= self.prime
        return value - self.prime if value > self.prime // 2 else value

    def _row(self, a: Terms, b: Terms, c: Terms) -> Row:
        wires = frozenset(wire for terms in (a, b, c) for wire, _ in terms) - {0}
        digits = None
        if not c and [term for term in a if term[0]] == [term for term in b if term[0]]:
            digits = (dict(b).get(0, 0) - dict(a).get(0, 0)) % self.prime
        return Row(a, b, c, wires, digits or None)


def _terms(matrix: Matrix, system: ConstraintSystem) -> list[Terms]:
    numbers = system.field.to_integers(system.coefficient_limbs(matrix.coefficients))
    terms = list(zip(matrix.wires.tolist(), numbers, strict=True))
    offsets = matrix.offsets.tolist()
    return [terms[offsets[row] : offsets[row + 1]] for row in range(matrix.rows)]


def _value(terms: Terms, values: list[int | None]) -> int:
    return sum(coefficient * value for wire, coefficient in terms if (value := values[wire]) is not None)


def _line(terms: Terms, values: list[int | None], unknown: int) -> tuple[int, int]:
    """The constant and the factor of the unknown wire."""
    return _value(terms, values), sum(coefficient for wire, coefficient in terms if wire == unknown)


def _roots(a: int, b: int, c: int, prime: int) -> list[int] | None:
    """All x with a x^2 + b x + c = 0; None where every x will do."""
    if a == 0:
        if b == 0:
            return None if c == 0 else []
        return [-c * pow(b, -1, prime) % prime]
    root = square_root((b * b - 4 * a * c) % prime, prime)
    if root is None:
        return []
    half = pow(2 * a, -1, prime)
    return sorted({(-b + root) * half % prime, (-b - root) * half % prime})


def square_root(number: int, prime: int) -> int | None:
    """By Cipolla, where the audit of R1CS has Tonelli and Shanks; None for a non-residue.

    With d = t^2 - n no square, (t + sqrt d)^(p + 1) is the norm n, so (t + sqrt d)^((p + 1) / 2) is a root of n: in the
    prime field if n has one there, else outside.
    """
    number %= prime
    if isqrt(number) ** 2 == number:
        return isqrt(number)
    for t in range(prime):
        d = (t * t - number) % prime
        if d == 0:
            return t
        if pow(d, (prime - 1) // 2, prime) != 1:
            break
    root, power = (1, 0), (t, 1)
    for bit in reversed(f"{(prime + 1) // 2:b}"):
        if bit == "1":
            root = _times(root, power, d, prime)
        power = _times(power, power, d, prime)
    return root[0] if root[1] == 0 else None


def _times(x: tuple[int, int], y: tuple[int, int], d: int, prime: int) -> tuple[int, int]:
    """(x0 + x1 sqrt d) (y0 + y1 sqrt d)."""
    return (x[0] * y[0] + x[1] * y[1] * d) % prime, (x[0] * y[1] + x[1] * y[0]) % prime
