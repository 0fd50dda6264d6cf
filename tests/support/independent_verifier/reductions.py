"""Lookups, equations and products, reduced to claims on columns."""

from __future__ import annotations

import numpy as np

from circuitize.backends.tensor.forms import Product, padded_bits

from .arithmetic import Elements, dot, equality, equality_of, multiply, numbers, scale, stack, total
from .checks import Value, sumcheck
from .claims import Claim, Claims
from .weights import Dense, Separable, apply, at_point, extension, ones, sum_of

UNTRUE = "a claim on a product does not hold"


class Reductions(Claims):
    """What a verifier does before openings."""

    def reduce(self) -> None:
        """From the statement to claims on columns."""
        if self.plan.lookups:
            self._lookups()
        if self.plan.zeros:
            self._zeros()
        while self.products:
            self._product(self.products.popleft())

    # Lookups: sum of 1 / (alpha - entry) over lookups = sum of count / (alpha - entry) over tables.

    def _lookups(self) -> None:
        made, transcript = self.plan, self.transcript
        alpha, beta = transcript.challenge("lookups.alpha"), transcript.challenge("lookups.beta")
        apart, square = self._pairing(beta)
        sizes = [padded_bits(made.forms[lookup.key].shape) for lookup in made.lookups]
        sizes += [(table.size - 1).bit_length() for table in made.tables]
        offsets, end = [0] * len(sizes), 0
        for i in sorted(range(len(sizes)), key=lambda i: -sizes[i]):
            offsets[i], end = end, end + (1 << sizes[i])
        numerator, denominator, point = self._tree((end - 1).bit_length())
        by_shape: dict[tuple[int, ...], int] = {}
        wanted: list[tuple[int, int]] = []
        for lookup in made.lookups:
            shape = made.forms[lookup.key].shape
            if shape not in by_shape:
                by_shape[shape] = self._number(at_point(shape, point[: padded_bits(shape)]))
            wanted.append((lookup.key, by_shape[shape]))
            if lookup.value is not None:
                wanted.append((lookup.value, by_shape[shape]))
        for table, size in zip(made.tables, sizes[len(made.lookups) :], strict=True):
            vector = equality(point[:size])[: table.size]
            wanted.append((table.column, self._number(Separable(self.one, (vector,)))))
        found = iter(zip(self._settle("lookups.values", wanted), wanted, strict=True))
        checks = self.checks
        sums = {number: sum_of(self.weights[number]) for number in by_shape.values()}
        filled: list[Elements] = []
        keys: list[Value] = []
        values: list[Value] = []
        valued: list[int] = []
        for i, lookup in enumerate(made.lookups):
            key, (_, number) = next(found)
            keys.append(key)
            filled.append(sums[number])
            if lookup.value is not None:
                values.append(next(found)[0])
                valued.append(i)
        counts: list[Value] = []
        entries: list[Elements] = []
        for table in made.tables:
            count, (_, number) = next(found)
            counts.append(count)
            entries.append(apply(self.weights[number], numbers(range(table.size))))
            if table.values.size:
                entries[-1] = entries[-1] + multiply(square, apply(self.weights[number], numbers(table.values)))
        places = self._places(point, sizes, offsets)
        own, of_tables = places[: len(keys)], places[len(keys) :]
        tags = scale(apart[None], numbers([*(lookup.table + 1 for lookup in made.lookups), *range(1, len(counts) + 1)]))
        top, covered = checks.constant(dot(own, stack(filled))), total(places)
        bottom = self.one - covered + multiply(covered, alpha) - dot(places, tags) - dot(of_tables, stack(entries))
        ends = stack([self.one, -self.one])
        tops = checks.sum([*counts, top, numerator], np.concatenate([-of_tables, ends]))
        factors = np.concatenate([-own, -multiply(own[np.array(valued, int)], square[None]), ends])
        bottoms = checks.sum([*keys, *values, checks.constant(bottom), denominator], factors)
        for value in (tops, bottoms):
            checks.zero(value, "a value that is looked up is not the one in the sum of fractions")

    def _pairing(self, beta: Elements) -> tuple[Elements, Elements]:
        """What a table's number is multiplied with, and what a value is, to be an entry together with a key."""
        return beta, multiply(beta, beta)

    def _tree(self, depth: int) -> tuple[Value, Value, Elements]:
        """From the root 0 / d, d != 0, of a tree of fractions to numerator and denominator of its leaves at a point."""
        transcript, checks = self.transcript, self.checks
        (denominator,) = checks.receive("fractions.root", 1)
        checks.not_zero(denominator, "the denominator of the sum of fractions is zero")
        numerator, point = checks.constant(self.zero), stack([self.zero])[:0]
        for level in range(depth):
            mix = transcript.challenge("fractions.combine")
            claim = checks.sum([numerator, denominator], stack([self.one, mix]))
            claim, below = sumcheck(checks, "fractions.sum", 3, level, claim)
            n0, n1, d0, d1 = checks.receive("fractions.ends", 4)
            first = checks.product(d1, checks.sum([n0, d0], stack([self.one, mix])))
            second = checks.product(n1, d0)
            weight = equality_of(point, below)
            crossed = checks.sum([first, second, claim], stack([weight, weight, -self.one]))
            checks.zero(crossed, "the sum of fractions of the lookups does not hold")
            r = transcript.challenge("fractions.line")
            ends = stack([self.one - r, r])
            numerator, denominator = checks.sum([n0, n1], ends), checks.sum([d0, d1], ends)
            point = np.concatenate([below, r[None]])
        return numerator, denominator, point

    def _zeros(self) -> None:
        shapes = [self.plan.forms[form].shape for form in self.plan.zeros]
        drawn = [self.transcript.challenge("zeros") for _ in range(max(map(padded_bits, shapes)))]
        point = stack([self.zero, *drawn])[1:]
        weights = {shape: self._number(at_point(shape, point[: padded_bits(shape)])) for shape in dict.fromkeys(shapes)}
        wanted = [(form, weights[shape]) for form, shape in zip(self.plan.zeros, shapes, strict=True)]
        for value in self._settle("zeros", wanted):
            self.checks.zero(value, "an equation of the program does not hold")

    def _product(self, claim: Claim) -> None:
        """A claim on sums of products, reduced to one on each operand."""
        checks, (base, number, value) = self.checks, claim
        found, weights = self.plan.bases[base], self.weights[number]
        assert isinstance(found, Product)
        if isinstance(weights, Dense):
            left, point = sumcheck(checks, "dense", 2, padded_bits(found.shape), value)
            (value,) = checks.receive("dense.value", 1)
            factor = extension(weights, at_point(found.shape, point))
            checks.zero(checks.sum([value, left], stack([factor, -self.one])), UNTRUE)
            weights = at_point(found.shape, point)
        of_x, of_y, of_z = found.letters
        x, y = found.forms
        extents = dict(zip(of_x + of_y, self.plan.forms[x].shape + self.plan.forms[y].shape, strict=True))
        own = dict(zip(of_z, weights.axes, strict=True))
        batch = [letter for letter in of_z if letter in of_x and letter in of_y]
        kept = batch + [letter for letter in of_x if letter in of_y and letter not in of_z]
        shape = tuple(extents[letter] for letter in kept)
        left, point = sumcheck(checks, "product", 3 if batch else 2, padded_bits(shape), value)
        own_point = at_point(shape, point)
        at = dict(zip(kept, own_point.axes, strict=True))
        mixed = tuple(own[letter] if letter in own else ones(extents[letter], self.plan.degree) for letter in kept)
        factor = extension(Separable(weights.factor, mixed), own_point) if batch else weights.factor

        def on(letters: str) -> int:
            axes = {letter: ones(extents[letter], self.plan.degree) for letter in letters}
            axes |= {k: v for k, v in own.items() if k in letters} | at
            return self._number(Separable(self.one, tuple(axes[letter] for letter in letters)))

        on_x = on(of_x)
        on_y = on_x if x == y and of_x == of_y else on(of_y)
        operands = self._settle("operands", [(x, on_x), (y, on_y)])
        both = checks.product(*operands)
        checks.zero(checks.sum([both, left], stack([factor, -self.one])), UNTRUE)
