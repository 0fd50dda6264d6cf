"""The search for an assignment that satisfies a constraint system and stays close to another assignment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .quotients import Quotients
from .ranges import Ranges
from .relations import Kind, Relations, Terms
from .roots import quadratic_roots

STEPS = 2000
"""The most guesses of one search for an assignment."""

BUDGET = 300_000
"""The most wires times guesses of all attempts of one search."""

Choice = list[tuple[int, int]]
"""The values that a search has chosen for some wires."""


class Search:
    """A depth-first search for an assignment: values for which rows leave no choice are filled in, and then a wire is
    guessed, beginning with its value in `base`.

    The search for an assignment also requires that the forms in `extra` are 0, and ignores the rows in `skipped`. The
    assignment that the search finds satisfies every row that is not in `skipped`. If a search finds nothing,
    `exhausted` says that no assignment exists, since every guess tried all possible values.
    """

    def __init__(
        self, relations: Relations, ranges: Ranges, extra: Sequence[Terms] = (), skipped: Iterable[int] = ()
    ) -> None:
        self.relations, self.prime = relations, relations.prime
        self.bits = {wire for wire, interval in ranges.domain.items() if interval == (0, 1)}
        self.input_bits = self.bits & relations.input_bits.keys()
        self.extra, self.skipped = list(extra), set(skipped)
        self.quotients = Quotients(relations, self.bits)
        self.exhausted = False
        self.left = max(STEPS, BUDGET // relations.wires)

    def run(self, known: Mapping[int, int], base: Sequence[int], seeds: Iterable[int] = ()) -> list[int] | None:
        """Return an assignment that contains the known values, or None; wires near `seeds` are guessed first."""
        relations = self.relations
        values: list[int | None] = [None] * relations.wires
        values[0] = 1
        for wire, given in known.items():
            values[wire] = given % self.prime
        rows = set(range(relations.count + len(self.extra))) - self.skipped
        if len(known) > relations.wires // 2:
            missing = [wire for wire in range(relations.wires) if values[wire] is None]
            near = {row for wire in {*missing, *seeds} for row in relations.rows_of(wire)}
            rows &= near | set(range(relations.count, relations.count + len(self.extra)))
        order = self._order(values, [*seeds, *(wire for form in self.extra for wire, _ in form)])
        stack: list[tuple[list[int | None], Choice, set[int]]] = [(values, [], rows)]
        steps, self.exhausted = 0, True
        while stack and steps < STEPS and self.left > 0:
            self.left -= 1
            values, choice, waiting = stack.pop()
            steps += 1
            pending = self._propagate(values, choice, waiting)
            if pending is None:
                continue
            choices = min(pending.values(), key=len, default=None)
            if choices is None:
                guess = next((wire for wire in order if values[wire] is None), None)
                if guess is None:
                    return [value for value in values if value is not None]
                choices = self._guesses(guess, base[guess], values)
            stack.extend((values.copy(), each, set(pending)) for each in reversed(choices))
        self.exhausted &= not stack
        return None

    def _order(self, values: Sequence[int | None], seeds: Iterable[int]) -> list[int]:
        """Return the unknown wires in the order of guessing: bits of the seeds, of the inputs (which mostly determine
        all others), and of the seeds' rows, then the other bits in order, then the other wires.
        """
        near = dict.fromkeys(wire for wire in seeds if wire)
        first = [wire for wire in near if wire in self.bits]
        for wire in list(near):
            near.update(dict.fromkeys(other for row in self.relations.rows_of(wire) for other in self._wires(row)))
        close = [wire for wire in near if wire in self.bits]
        of_inputs = [wire for wire in (*close, *self.relations.input_bits) if wire in self.input_bits]
        every = dict.fromkeys([*first, *of_inputs, *close, *sorted(self.bits), *range(self.relations.wires)])
        return [wire for wire in every if values[wire] is None]

    def _wires(self, row: int) -> list[int]:
        if row >= self.relations.count:
            return [wire for wire, _ in self.extra[row - self.relations.count]]
        return self.relations.wires_of(row)

    def _guesses(self, wire: int, base: int, values: Sequence[int | None]) -> list[Choice]:
        """Return the possible values of an unknown wire: for a bit, 0 and 1, preceded by the bits that the guess of a
        quotient gives; for any other wire, the values that a row leaves for some unknown wire, or, if no row leaves a
        few, the values near `base` and 0.
        """
        if wire not in self.bits:
            unknown = (other for other, value in enumerate(values) if value is None)
            for row in dict.fromkeys(row for other in unknown for row in self._rows_of(other)):
                choices = self._examine(row, values) if row not in self.skipped else None
                if choices:
                    return choices
        if wire in self.bits:
            either = [[(wire, bit)] for bit in ((base, 1 - base) if base in (0, 1) else (0, 1))]
            if wire in self.input_bits:
                return either
            good = self.quotients.guess(values)
            return either if good is None else [*(self._equation(good[0], (good[1],), values) or []), *either]
        self.exhausted = False
        return [[(wire, value % self.prime)] for value in (base, base + 1, base - 1, 0)]

    def _propagate(self, values: list[int | None], choice: Choice, waiting: set[int]) -> dict[int, list[Choice]] | None:
        """Fill in all values for which rows leave no choice; return None at a contradiction, and otherwise the rows
        that leave several choices, except those of a single bit.
        """
        queue = dict.fromkeys(sorted(waiting))
        pending: dict[int, list[Choice]] = {}
        while True:
            for wire, value in choice:
                if values[wire] is not None:
                    if values[wire] != value:
                        return None
                    continue
                values[wire] = value
                queue.update(dict.fromkeys(row for row in self._rows_of(wire) if row not in self.skipped))
            choice = []
            while queue and not choice:
                row = next(iter(queue))
                del queue[row]
                pending.pop(row, None)
                choices = self._examine(row, values)
                if choices is None:
                    continue
                if not choices:
                    return None
                if len(choices) == 1:
                    choice = choices[0]
                elif len(choices[0]) > 1 or choices[0][0][0] not in self.bits:
                    pending[row] = choices
            if not choice and not queue:
                return pending

    def _rows_of(self, wire: int) -> list[int]:
        count = self.relations.count
        more = [count + place for place, form in enumerate(self.extra) if any(wire == name for name, _ in form)]
        return [*self.relations.rows_of(wire), *more]

    def _split(self, terms: Terms, values: Sequence[int | None]) -> tuple[int, Terms]:
        total, unknown = 0, []
        for wire, coefficient in terms:
            value = values[wire]
            if value is None:
                unknown.append((wire, coefficient))
            else:
                total += coefficient * value
        return total % self.prime, unknown

    def _examine(self, row: int, values: Sequence[int | None]) -> list[Choice] | None:
        """Return all values that a row leaves for its unknown wires, or None if these cannot be listed yet."""
        relations = self.relations
        if row >= relations.count:
            return self._equation(self.extra[row - relations.count], (0,), values)
        kind = relations.kind[row]
        if kind == Kind.NEVER:
            return []
        if kind != Kind.PRODUCT:
            targets = (0, relations.gap[row]) if kind == Kind.TWO_VALUED else (0,)
            return self._equation(relations.forms[row], targets, values)
        a, b, c = relations.sides(row)
        (a0, left), (b0, right), (c0, result) = (self._split(terms, values) for terms in (a, b, c))
        unknown = {wire for terms in (left, right, result) for wire, _ in terms}
        if len(unknown) <= 1:
            return self._single(unknown, a0, b0, c0, left, right, result)
        if (not left and not a0) or (not right and not b0) or (not left and not right):
            return self._equation(c, (a0 * b0 if not left and not right else 0,), values)
        if not result:
            for one, known, other, terms in ((left, a0, right, b), (right, b0, left, a)):
                if not one and other:
                    return self._equation(terms, (c0 * pow(known, -1, self.prime),), values)
                if c0 and len(one) == 1 and one[0][0] in self.bits:
                    wire, coefficient = one[0]
                    return [[(wire, bit)] for bit in (0, 1) if (known + coefficient * bit) % self.prime]
        return None

    def _single(
        self, unknown: set[int], a0: int, b0: int, c0: int, left: Terms, right: Terms, result: Terms
    ) -> list[Choice] | None:
        """Return the values of a single unknown wire that satisfy a product row, which are the roots of a polynomial in
        the wire.
        """
        prime = self.prime
        a1, b1, c1 = (sum(coefficient for _, coefficient in terms) for terms in (left, right, result))
        square, line, constant = a1 * b1 % prime, (a0 * b1 + a1 * b0 - c1) % prime, (a0 * b0 - c0) % prime
        if not square and not line:
            return None if unknown and not constant else [[]] if not constant else []
        (wire,) = unknown
        if not square:
            return [[(wire, -constant * pow(line, -1, prime) % prime)]]
        inverse = pow(square, -1, prime)
        return [[(wire, root)] for root in quadratic_roots(line * inverse % prime, constant * inverse % prime, prime)]

    def _equation(self, form: Terms, targets: Sequence[int], values: Sequence[int | None]) -> list[Choice] | None:
        """Return the ways in which a form can equal one of the target values."""
        known, unknown = self._split(form, values)
        rests = [(target - known) % self.prime for target in targets]
        if not unknown:
            return [[]] if 0 in rests else []
        if len(unknown) == 1:
            wire, coefficient = unknown[0]
            inverse = pow(coefficient % self.prime, -1, self.prime)
            return [[(wire, rest * inverse % self.prime)] for rest in rests]
        if not all(wire in self.bits for wire, _ in unknown):
            return None
        return self._digits(unknown, rests)

    def _digits(self, unknown: Terms, rests: Sequence[int]) -> list[Choice] | None:
        """Return the ways in which bits of given weights can have one of the given sums: there is one way if each
        weight is above the sum of the smaller ones, or if all or none of the bits must be set; otherwise, for a single
        sum, return the bits that all ways have in common.
        """
        offset = sum(-coefficient for _, coefficient in unknown if coefficient < 0)
        weights = sorted((abs(coefficient), wire, coefficient < 0) for wire, coefficient in unknown)
        total, greedy = 0, True
        for weight, _, _ in weights:
            greedy &= weight > total
            total += weight
        if total >= self.prime:
            return None
        sums = [left for rest in rests if (left := (rest + offset) % self.prime) <= total]
        if not greedy and any(left not in (0, total) for left in sums):
            return self._shared(weights, total, sums[0]) if len(sums) == 1 else None
        found = []
        for left in sums:
            choice = []
            for weight, wire, negative in reversed(weights):
                bit = int(left >= weight)
                left -= bit * weight
                choice.append((wire, 1 - bit if negative else bit))
            if left == 0:
                found.append(choice)
        return found

    def _shared(self, weights: list[tuple[int, int, bool]], total: int, left: int) -> list[Choice] | None:
        """Return the bits that must be 0 because they are too heavy for the sum, and the bits that must be 1 because
        the others fall short of the sum.
        """
        unset = [(wire, int(negative)) for weight, wire, negative in weights if weight > left]
        needed = [(wire, int(not negative)) for weight, wire, negative in weights if weight > total - left]
        if {wire for wire, _ in unset} & {wire for wire, _ in needed}:
            return []
        return [[*unset, *needed]] if unset or needed else None
