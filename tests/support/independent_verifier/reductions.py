"""Lookups, equations and products, reduced to claims on columns."""

from __future__ import annotations

import math

import numpy as np

from circuitize.backends.tensor.forms import Product, padded_bits

from .arithmetic import Elements, dot, equality, equality_of, multiply, numbers, powers, scale, stack, total
from .checks import Value, sumcheck
from .claims import Claim, Claims
from .numbered import Mix, Sum, add_weights
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
            self._product(self._combined(max(self.products)))

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
        places = self._places(point, sizes, offsets)
        own, of_tables = places[: len(made.lookups)], places[len(made.lookups) :]
        by_shape: dict[tuple[int, ...], int] = {}
        entries: Sum = []
        counts: Sum = []
        filled: list[Elements] = []
        for here, lookup in zip(own, made.lookups, strict=True):
            shape = made.forms[lookup.key].shape
            if shape not in by_shape:
                by_shape[shape] = self.number(at_point(shape, point[: padded_bits(shape)]))
            filled.append(sum_of(self.weights[by_shape[shape]]))
            entries.append((here, lookup.key, by_shape[shape]))
            if lookup.value is not None:
                entries.append((multiply(here, square), lookup.value, by_shape[shape]))
        known: list[Elements] = []
        for here, table, size in zip(of_tables, made.tables, sizes[len(made.lookups) :], strict=True):
            weights = Separable(self.one, (equality(point[:size])[: table.size],))
            known.append(apply(weights, numbers(range(table.size))))
            if table.values.size:
                known[-1] = known[-1] + multiply(square, apply(weights, numbers(table.values)))
            counts.append((here, table.column, self.number(weights)))
        counted, looked_up = self._settle("lookups.values", [counts, entries])
        checks = self.checks
        tags = [*(lookup.table + 1 for lookup in made.lookups), *range(1, len(counts) + 1)]
        top, covered = dot(own, stack(filled)), total(places)
        bottom = self.one - covered + multiply(covered, alpha) - dot(places, scale(apart[None], numbers(tags)))
        bottom = bottom - dot(of_tables, stack(known))
        ends = stack([self.one, -self.one, -self.one])
        for value in (
            checks.sum([checks.constant(top), counted, numerator], ends),
            checks.sum([checks.constant(bottom), looked_up, denominator], ends),
        ):
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
        weights = {shape: self.number(at_point(shape, point[: padded_bits(shape)])) for shape in dict.fromkeys(shapes)}
        factors = [self.one, *powers(self.transcript.challenge("zeros.combine"), len(shapes))]
        wanted = [(f, form, weights[shape]) for f, form, shape in zip(factors, self.plan.zeros, shapes, strict=False)]
        (value,) = self._settle("zeros", [wanted])
        self.checks.zero(value, "an equation of the program does not hold")

    def _combined(self, base: int) -> Claim:
        """All claims on a product as one, by powers of a challenge where there are several."""
        claims = self.products.pop(base)
        if len(claims) == 1:
            return claims[0]
        factors = stack([self.one, *powers(self.transcript.challenge("products.combine"), len(claims) - 1)])
        mix: Mix = {}
        for power, (_, own, _) in zip(factors, claims, strict=True):
            for number, factor in own.items():
                add_weights(mix, number, multiply(power, factor))
        return base, mix, self.checks.sum([value for *_, value in claims], factors)

    def _extension(self, mix: Mix, at: Separable) -> Elements:
        values = [extension(self.weights[number], at) for number in mix]
        return dot(stack(list(mix.values())), stack(values))

    def _product(self, claim: Claim) -> None:
        """A claim on sums of products, reduced to one on each operand."""
        base, mix, value = claim
        found, forms = self.plan.bases[base], self.plan.forms
        assert isinstance(found, Product)
        (of_x, of_y, of_z), (x, y) = found.letters, found.forms
        extents = dict(zip(of_x + of_y, forms[x].shape + forms[y].shape, strict=True))
        if set(of_x) == set(of_y) == set(of_z):
            left, point = sumcheck(self.checks, "product", 3, padded_bits(found.shape), value)
            at = at_point(found.shape, point)
            axes = dict(zip(of_z, at.axes, strict=True))
            self._operands(found, [(self.one, axes)], left, self._extension(mix, at))
            return
        operands = math.prod(forms[x].shape) + math.prod(forms[y].shape)
        apart = (len(mix) - 1) * operands <= 4 * math.prod(found.shape)
        if not apart or any(isinstance(self.weights[number], Dense) for number in mix):
            mix, value = self._dense(found, mix, value)
        batch = [letter for letter in of_z if letter in of_x and letter in of_y]
        kept = batch + [letter for letter in of_x if letter in of_y and letter not in of_z]
        shape = tuple(extents[letter] for letter in kept)
        simple, more = not batch and len(mix) == 1, (len(mix) - 1).bit_length()
        left, point = sumcheck(self.checks, "product", 2 if simple else 3, padded_bits(shape) + more, value)
        at, places = at_point(shape, point[: padded_bits(shape)]), equality(point[padded_bits(shape) :])
        factor = self.zero
        own = []
        for place, (number, scaled) in zip(places, mix.items(), strict=False):
            weights = self.weights[number]
            assert isinstance(weights, Separable)
            axes = {letter: ones(extent, self.plan.degree) for letter, extent in extents.items()}
            axes |= dict(zip(of_z, weights.axes, strict=True))
            here = multiply(multiply(place, scaled), weights.factor)
            if not simple:
                here = multiply(here, extension(Separable(self.one, tuple(axes[k] for k in kept)), at))
            factor = factor + here
            own.append((place, axes | dict(zip(kept, at.axes, strict=True))))
        self._operands(found, own, left, factor)

    def _dense(self, found: Product, mix: Mix, value: Value) -> tuple[Mix, Value]:
        """From any weights on a product to those of a point."""
        checks = self.checks
        left, point = sumcheck(checks, "dense", 2, padded_bits(found.shape), value)
        (value,) = checks.receive("dense.value", 1)
        at = at_point(found.shape, point)
        checks.zero(checks.sum([value, left], stack([self._extension(mix, at), -self.one])), UNTRUE)
        return {self.number(at): self.one}, value

    def _operands(
        self, found: Product, own: list[tuple[Elements, dict[str, Elements]]], left: Value, factor: Elements
    ) -> None:
        """The factor times both operands, each a sum over weights by their letters, is what is left."""
        operands = self._settle("operands", self.of_operands(found, own))
        both = self.checks.product(operands[0], operands[-1])
        self.checks.zero(self.checks.sum([both, left], stack([factor, -self.one])), UNTRUE)
