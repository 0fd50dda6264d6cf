"""A cheating prover's sums: fractions of what is looked up, products of forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from independent_verifier.arithmetic import (
    Elements,
    Field,
    Numbers,
    equality,
    equality_at,
    line,
    multiply,
    numbers,
    total,
)
from independent_verifier.numbered import Mix, Sum
from independent_verifier.weights import Dense, Separable, at_point, dense, ones, zeros
from tensor_cheat_claims import Claims
from tensor_words import padded

from circuitize.backends.tensor.forms import Product, padded_bits


class Lookups(Claims):
    """What is looked up is in the tables."""

    tags = True
    """Whether entries of different tables differ."""

    pairs = True
    """Whether entries of tables hold their values."""

    def counts(self, lookups: list[tuple[Numbers, Numbers | None]]) -> None:
        """Sets the columns of counts to the true ones."""
        for t, table in enumerate(self.plan.tables):
            ((base, _),) = self.plan.forms[table.column].terms
            if not len(self.values[base]):
                found = [0] * table.size
                for lookup, (keys, _) in zip(self.plan.lookups, lookups, strict=True):
                    for key in keys.tolist() if lookup.table == t else ():
                        if key < table.size:
                            found[key] += 1
                self.values[base] = numbers(found)

    def ends(self, level: int, claim: Elements, mix: Elements, weight: Elements, honest: Elements) -> Elements:
        return honest

    def root(self, numerator: Elements, denominator: Elements) -> Elements:
        """The denominator that is sent; the numerator must be 0."""
        return denominator

    def lookups(self, looked_up: list[tuple[Numbers, Numbers | None]]) -> None:
        made, channel = self.plan, self.channel
        alpha, beta = channel.challenge("lookups.alpha"), channel.challenge("lookups.beta")
        square = multiply(beta, beta) if self.pairs else self.zero
        sizes = [padded_bits(made.forms[lookup.key].shape) for lookup in made.lookups]
        sizes += [(table.size - 1).bit_length() for table in made.tables]
        offsets, end = [0] * len(sizes), 0
        for i in sorted(range(len(sizes)), key=lambda i: -sizes[i]):
            offsets[i], end = end, end + (1 << sizes[i])
        depth = (end - 1).bit_length()
        n, d = zeros(1 << depth, self.degree), ones(1 << depth, self.degree)
        for lookup, (keys, values), offset in zip(made.lookups, looked_up, offsets, strict=False):
            shape = made.forms[lookup.key].shape
            own = slice(offset, offset + (1 << padded_bits(shape)))
            second = multiply(square, self.lifted(padded(values, shape))) if values is not None else self.zero
            d[own] = alpha - self.tag(beta, lookup.table) - self.lifted(padded(keys, shape)) - second
            n[own] = self.lifted(padded(Field.ones(len(keys)), shape))
        for t, (table, offset) in enumerate(zip(made.tables, offsets[len(made.lookups) :], strict=True)):
            own = slice(offset, offset + (1 << (table.size - 1).bit_length()))
            keys, counts, values = self.entries(t)
            d[own] = alpha - self.tag(beta, t) - self.lifted(keys) - multiply(square, self.lifted(values))
            n[own] = -self.lifted(counts)
        self.tree(n, d)
        point = self.point
        self.places = offsets, sizes
        by_shape: dict[Any, int] = {}
        places = self.stacked(
            equality_at(point[size:], [offset >> size])[0] for offset, size in zip(offsets, sizes, strict=True)
        )
        entries: Sum = []
        for here, lookup in zip(places, made.lookups, strict=False):
            shape = made.forms[lookup.key].shape
            if shape not in by_shape:
                by_shape[shape] = self.number(at_point(shape, point[: padded_bits(shape)]))
            entries.append((here, lookup.key, by_shape[shape]))
            if lookup.value is not None:
                entries.append((multiply(here, square), lookup.value, by_shape[shape]))
        counted: Sum = []
        for here, table in zip(places[len(made.lookups) :], made.tables, strict=True):
            vector = equality(point[: (table.size - 1).bit_length()])[: table.size]
            counted.append((here, table.column, self.number(Separable(self.one, (vector,)))))
        self.settle("lookups.values", [counted, entries])

    def tag(self, beta: Elements, table: int) -> Elements:
        return beta * numbers(table + 1) if self.tags else self.zero

    def entries(self, number: int) -> tuple[Numbers, Numbers, Numbers]:
        """Keys, counts and values of a table, padded to a power of two."""
        table = self.plan.tables[number]
        values = numbers(table.values) if table.values.size else Field.zeros(table.size)
        found = (numbers(range(table.size)), self.form(table.column), values)
        return tuple(padded(x, (table.size,)) for x in found)

    def tree(self, n: Elements, d: Elements) -> None:
        layers = [(n, d)]
        while len(n) > 1:
            half = len(n) // 2
            n, d = multiply(n[:half], d[half:]) + multiply(n[half:], d[:half]), multiply(d[:half], d[half:])
            layers.append((n, d))
        sent = self.root(n[0], d[0])
        self.channel.send_numbers("fractions.root", sent)
        numerator, denominator = self.zero, sent
        point = zeros(0, self.degree)
        for level, (n, d) in enumerate(layers[-2::-1]):
            half = 1 << level
            mix = self.channel.challenge("fractions.combine")
            claim = numerator + multiply(mix, denominator)

            def f(at: Elements, mix: Elements = mix) -> Elements:
                e, n0, n1, d0, d1 = at
                both = multiply(np.stack([n0, n1, multiply(d0, d1)]), np.stack([d1, d0, mix + Field.zeros(d0.shape)]))
                return multiply(e, total(both))

            tables = np.stack([equality(point), n[:half], n[half:], d[:half], d[half:]])
            claim, below, at = self.sumcheck("fractions.sum", 3, claim, tables, f)
            ends = self.ends(level, claim, mix, at[0], at[1:])
            self.channel.send_numbers("fractions.ends", ends)
            r = self.channel.challenge("fractions.line")
            numerator, denominator = line(ends[0], ends[1], r), line(ends[2], ends[3], r)
            point = np.concatenate([below, r[None]])
        self.point = point


class Products(Claims):
    """Products are the contractions of their forms."""

    def filled(self, value: Elements, tables: Elements) -> Elements:
        """Weights and operands, side by side, with what is where nothing should be: zeros."""
        return tables

    def product(self, base: int, mix: Mix, value: Elements) -> None:
        found = self.plan.bases[base]
        assert isinstance(found, Product)
        (of_x, of_y, of_z), (x, y) = found.letters, found.forms
        extents = dict(zip(of_x + of_y, self.plan.forms[x].shape + self.plan.forms[y].shape, strict=True))
        if set(of_x) == set(of_y) == set(of_z):
            tables = [padded(self.dense(mix), found.shape)]
            tables += [self.operand(letters, form, extents, {}, list(of_z)) for letters, form in ((of_x, x), (of_y, y))]
            self.left, point, at = self.sumcheck("product", 3, value, np.stack(tables), cubic)
            self.factor = at[0]
            self.operands(found, [(self.one, dict(zip(of_z, at_point(found.shape, point).axes, strict=True)))])
            return
        operands = math.prod(self.plan.forms[x].shape) + math.prod(self.plan.forms[y].shape)
        apart = (len(mix) - 1) * operands <= 4 * math.prod(found.shape)
        if not apart or any(isinstance(self.weights[number], Dense) for number in mix):
            both = np.stack([padded(self.dense(mix), found.shape), self.lifted(padded(self.values[base], found.shape))])
            _, point, at = self.sumcheck("dense", 2, value, both, lambda t: multiply(t[0], t[1]))
            self.channel.send_numbers("dense.value", at[1])
            value, mix = at[1], {self.number(at_point(found.shape, point)): self.one}
        batch = [letter for letter in of_z if letter in of_x and letter in of_y]
        kept = batch + [letter for letter in of_x if letter in of_y and letter not in of_z]
        shape = tuple(extents[letter] for letter in kept)
        own, parts = [], []
        for number, factor in mix.items():
            weights = self.weights[number]
            assert isinstance(weights, Separable)
            axes = {letter: ones(extent, self.degree) for letter, extent in extents.items()}
            axes |= dict(zip(of_z, weights.axes, strict=True))
            own.append(axes)
            mixed = Separable(multiply(factor, weights.factor), tuple(axes[k] for k in kept))
            sides = [self.operand(letters, form, extents, axes, kept) for letters, form in ((of_x, x), (of_y, y))]
            parts.append(np.stack([padded(dense(mixed), shape), *sides]))
        more = (len(mix) - 1).bit_length()
        parts += [zeros(parts[0].size // self.degree, self.degree).reshape(parts[0].shape)] * ((1 << more) - len(mix))
        stacked = self.filled(value, np.concatenate(parts, axis=1))
        if batch or more:
            self.left, point, at = self.sumcheck("product", 3, value, stacked, cubic)
            self.factor = at[0]
        else:
            factor = stacked[0][0]
            self.left, point, _ = self.sumcheck(
                "product", 2, value, stacked[1:], lambda t: multiply(factor, multiply(t[0], t[1]))
            )
            self.factor = factor
        at_kept = dict(zip(kept, at_point(shape, point[: padded_bits(shape)]).axes, strict=True))
        places = equality(point[padded_bits(shape) :])
        self.operands(found, [(place, axes | at_kept) for place, axes in zip(places, own, strict=False)])

    def operand(
        self, letters: str, form: int, extents: dict[str, int], own: dict[str, Elements], kept: list[str]
    ) -> Elements:
        """Sums of a form's elements along the letters that are not kept, with weights, padded."""
        made = self.lifted(self.form(form)).reshape(*(extents[k] for k in letters), self.degree)
        for axis, letter in enumerate(letters):
            if letter not in kept:
                view = [1] * len(letters)
                view[axis] = extents[letter]
                made = multiply(made, own[letter].reshape(*view, self.degree))
        for axis in reversed([axis for axis, letter in enumerate(letters) if letter not in kept]):
            made = total(made, axis)
        left = [letter for letter in letters if letter in kept]
        order = [left.index(letter) for letter in kept]
        shape = tuple(extents[letter] for letter in kept)
        return padded(np.transpose(made, (*order, len(order))).reshape(-1, self.degree), shape)

    def operands(self, found: Product, own: list[tuple[Elements, dict[str, Elements]]]) -> None:
        self.settle("operands", self.of_operands(found, own))


def cubic(tables: Elements) -> Elements:
    return multiply(tables[0], multiply(tables[1], tables[2]))
