"""A second prover of tensor proofs, in Python, for programs of a few elements: it cheats wherever it is told to.

It is the independent verifier's other end. An attack overrides one of its steps, and mostly knows challenges that it
should not know yet, because a weakened verifier does not hear (absorb) the messages that they should follow from.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tensor_words import Sending, Tree, adapted, divide, padded, power_weights

from circuitize.provers.tensor.forms import Column, Fixed, Product, Public, padded_bits
from circuitize.provers.tensor.independent.arithmetic import (
    FIELD,
    ONE,
    ZERO,
    Elements,
    Numbers,
    dot,
    equality,
    interpolated,
    lift,
    line,
    multiply,
    numbers,
    powers,
    total,
)
from circuitize.provers.tensor.independent.opening import (
    FOLD,
    LAST,
    SHRINK,
    fold,
    query_count,
    reversed_bits,
    root_of_unity,
    roots_to,
)
from circuitize.provers.tensor.independent.weights import Dense, Separable, along, apply, at_point, dense, ones
from circuitize.provers.tensor.plan import Plan

Integers = NDArray[Any]


class Cheat:
    """Proves that `values` are those of all bases; honest as it stands, if they are. `labels` are not absorbed."""

    tags = True
    """Whether entries of different tables differ."""

    pairs = True
    """Whether entries of tables hold their values."""

    queries = staticmethod(query_count)

    def __init__(
        self, made: Plan, values: Sequence[Integers], labels: frozenset[str] = frozenset(), digest: bytes | None = None
    ) -> None:
        self.plan, self.digest = made, digest or made.digest
        self.channel = Sending(b"")
        self.channel.labels = labels
        self.values: list[Numbers] = [numbers(np.asarray(v).reshape(-1)) for v in values]
        self.weights: list[Any] = []
        self.known: set[tuple[int, int]] = set()
        self.moved: dict[Any, int] = {}
        self.products: deque[tuple[int, int, Elements]] = deque()
        self.openings: list[tuple[int, int, Elements]] = []
        self.gammas: list[Elements] = []

    # What an attack may override.

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

    def settled(self, label: str, asked: list[tuple[int, int]], honest: Elements) -> Elements:
        """The weighted sums that are sent."""
        return honest

    def ends(self, level: int, claim: Elements, mix: Elements, weight: Elements, honest: Elements) -> Elements:
        return honest

    def root(self, numerator: Elements, denominator: Elements) -> Elements:
        """The denominator that is sent; the numerator must be 0."""
        return denominator

    def committed(self, commitment: int, table: Numbers) -> Numbers:
        """The table behind a commitment."""
        return table

    def opened(self, commitment: int, table: Numbers, weights: Elements, claim: Elements) -> Numbers:
        """The table that is opened; it may be another one only where a verifier lets it."""
        return table

    def guessed(self, honest: Elements, weights: Elements, claim: Elements) -> Elements:
        """The folded polynomial that is sent where the places asked are not known."""
        return honest

    # The proof.

    def prove(self, publics: Mapping[tuple[str, str], Integers]) -> tuple[bytes, list[bytes]]:
        """The messages, and the roots of all commitments but the last."""
        made, channel = self.plan, self.channel
        lookups = [
            (self.form(lookup.key), None if lookup.value is None else self.form(lookup.value))
            for lookup in made.lookups
        ]
        self.counts(lookups)
        self.tables = [self.committed(c, self.table(c)) for c in range(len(made.commitments))]
        self.trees = [
            Tree(table, bits + 1, bytes([7, c]))
            for c, (table, bits) in enumerate(zip(self.tables, made.commitments, strict=True))
        ]
        roots = self.roots([tree.root for tree in self.trees])
        channel.absorb("statement", self.digest)
        channel.absorb("context", b"")
        for base in made.bases:
            if isinstance(base, Public):
                words = numbers(np.asarray(publics[base.side, base.name]).reshape(-1))
                channel.absorb("public", np.asarray(words).astype("<u8").tobytes())
        for root in roots[:-1]:
            channel.absorb("root", root)
        channel.send("columns", roots[-1])
        if made.lookups:
            self.lookups(lookups)
        if made.zeros:
            shapes = [made.forms[form].shape for form in made.zeros]
            point = np.stack([ZERO, *(channel.challenge("zeros") for _ in range(max(map(padded_bits, shapes))))])[1:]
            by_shape = {s: self.number(at_point(s, point[: padded_bits(s)])) for s in dict.fromkeys(shapes)}
            self.settle("zeros", [(form, by_shape[shape]) for form, shape in zip(made.zeros, shapes, strict=True)])
        while self.products:
            self.product(*self.products.popleft())
        for commitment, variables in enumerate(made.commitments):
            self.opening(commitment, variables)
        # Roots that were not absorbed may be those of what was opened.
        if "columns" in channel.labels:
            channel.messages = self.trees[-1].root + channel.messages[32:]
        return channel.messages, [tree.root for tree in self.trees[:-1]] if "root" in channel.labels else roots[:-1]

    def roots(self, honest: list[bytes]) -> list[bytes]:
        return honest

    def table(self, commitment: int) -> Numbers:
        made = FIELD.Zeros(1 << self.plan.commitments[commitment])
        for base, values in zip(self.plan.bases, self.values, strict=True):
            if isinstance(base, Column) and base.commitment == commitment:
                own = padded_bits(base.shape)
                made[base.offset : base.offset + (1 << own)] = padded(values, base.shape)
        return made

    def form(self, form: int) -> Numbers:
        found = self.plan.forms[form]
        made = FIELD.Zeros(found.shape)
        for (base, path), coefficient in found.terms.items():
            array = np.asarray(self.values[base], object).reshape(self.plan.bases[base].shape)
            if isinstance(self.plan.bases[base], Fixed):
                array = np.broadcast_to(array, self.plan.bases[base].shape)
            for view, sums in reversed(path):
                array = np.asarray(view.scatter(array) if sums else view.gather(array), object)
            made = made + numbers(array) * numbers(coefficient)
        return made.reshape(-1)

    def number(self, weights: Any) -> int:
        self.weights.append(weights)
        return len(self.weights) - 1

    def settle(self, label: str, wanted: list[tuple[int, int]]) -> list[tuple[int, int]]:
        asked: list[tuple[int, int]] = []
        for form, weights in wanted:
            for base, path in self.plan.forms[form].terms:
                number = weights
                for view, sums in path:
                    key = (number, view, sums)
                    if key not in self.moved:
                        self.moved[key] = self.number(along(self.weights[number], view, sums))
                    number = self.moved[key]
                hidden = isinstance(self.plan.bases[base], Column | Product)
                if hidden and (base, number) not in self.known:
                    self.known.add((base, number))
                    asked.append((base, number))
        honest = [apply(self.weights[number], self.values[base]) for base, number in asked]
        sent = self.settled(label, asked, np.stack([ZERO, *honest])[1:])
        self.channel.send_numbers(label, sent)
        for (base, number), value in zip(asked, sent, strict=True):
            is_product = isinstance(self.plan.bases[base], Product)
            (self.products if is_product else self.openings).append((base, number, value))
        return asked

    def sumcheck(
        self, label: str, degree: int, claim: Elements, tables: Elements, f: Callable[[Elements], Elements]
    ) -> tuple[Elements, Elements, Elements]:
        """The claim that is left, the point, and the tables there. `tables` has one table after the other first."""
        drawn = []
        while tables.shape[1] > 1:
            low, high = tables[:, ::2], tables[:, 1::2]
            at = [low, *(low + (high - low) * numbers(t) for t in range(2, degree + 1))]
            message = np.stack([total(f(values)) for values in at])
            if label in self.channel.labels:
                r = self.channel.peek(label)
                message = adapted(message, claim, r, total(f(line(low, high, r))))
            self.channel.send_numbers(label, message)
            r = self.channel.challenge(label)
            claim = interpolated(message[None], claim, r[None])
            tables = line(low, high, r)
            drawn.append(r)
        return claim, np.stack([ZERO, *drawn])[1:], tables[:, 0]

    # Lookups.

    def lookups(self, looked_up: list[tuple[Numbers, Numbers | None]]) -> None:
        made, channel = self.plan, self.channel
        alpha, beta = channel.challenge("lookups.alpha"), channel.challenge("lookups.beta")
        square = multiply(beta, beta) if self.pairs else ZERO
        sizes = [padded_bits(made.forms[lookup.key].shape) for lookup in made.lookups]
        sizes += [(table.size - 1).bit_length() for table in made.tables]
        offsets, end = [0] * len(sizes), 0
        for i in sorted(range(len(sizes)), key=lambda i: -sizes[i]):
            offsets[i], end = end, end + (1 << sizes[i])
        depth = (end - 1).bit_length()
        n, d = FIELD.Zeros((1 << depth, 2)), FIELD.Zeros((1 << depth, 2)) + ONE
        for lookup, (keys, values), offset in zip(made.lookups, looked_up, offsets, strict=False):
            shape = made.forms[lookup.key].shape
            own = slice(offset, offset + (1 << padded_bits(shape)))
            second = multiply(square, lift(padded(values, shape))) if values is not None else ZERO
            d[own] = alpha - self.tag(beta, lookup.table) - lift(padded(keys, shape)) - second
            n[own] = lift(padded(FIELD.Ones(len(keys)), shape))
        for t, (table, offset) in enumerate(zip(made.tables, offsets[len(made.lookups) :], strict=True)):
            own = slice(offset, offset + (1 << (table.size - 1).bit_length()))
            keys, counts, values = self.entries(t)
            d[own] = alpha - self.tag(beta, t) - lift(keys) - multiply(square, lift(values))
            n[own] = -lift(counts)
        self.tree(n, d)
        point = self.point
        self.places = offsets, sizes
        by_shape: dict[Any, int] = {}
        wanted = []
        for lookup in made.lookups:
            shape = made.forms[lookup.key].shape
            if shape not in by_shape:
                by_shape[shape] = self.number(at_point(shape, point[: padded_bits(shape)]))
            wanted += [(form, by_shape[shape]) for form in (lookup.key, lookup.value) if form is not None]
        for table in made.tables:
            vector = equality(point[: (table.size - 1).bit_length()])[: table.size]
            wanted.append((table.column, self.number(Separable(ONE, (vector,)))))
        self.settle("lookups.values", wanted)

    def tag(self, beta: Elements, table: int) -> Elements:
        return beta * numbers(table + 1) if self.tags else ZERO

    def entries(self, number: int) -> tuple[Numbers, Numbers, Numbers]:
        """Keys, counts and values of a table, padded to a power of two."""
        table = self.plan.tables[number]
        values = numbers(table.values) if table.values.size else FIELD.Zeros(table.size)
        found = (numbers(range(table.size)), self.form(table.column), values)
        return tuple(padded(x, (table.size,)) for x in found)  # type: ignore[return-value]

    def tree(self, n: Elements, d: Elements) -> None:
        layers = [(n, d)]
        while len(n) > 1:
            half = len(n) // 2
            n, d = multiply(n[:half], d[half:]) + multiply(n[half:], d[:half]), multiply(d[:half], d[half:])
            layers.append((n, d))
        sent = self.root(n[0], d[0])
        self.channel.send_numbers("fractions.root", sent)
        numerator, denominator = ZERO, sent
        point = FIELD.Zeros((0, 2))
        for level, (n, d) in enumerate(layers[-2::-1]):
            half = 1 << level
            mix = self.channel.challenge("fractions.combine")
            claim = numerator + multiply(mix, denominator)

            def f(at: Elements, mix: Elements = mix) -> Elements:
                e, n0, n1, d0, d1 = at
                both = multiply(
                    np.stack([n0, n1, multiply(d0, d1)]), np.stack([d1, d0, np.broadcast_to(mix, d0.shape).view(FIELD)])
                )
                return multiply(e, total(both))

            tables = np.stack([equality(point), n[:half], n[half:], d[:half], d[half:]])
            claim, below, at = self.sumcheck("fractions.sum", 3, claim, tables, f)
            ends = self.ends(level, claim, mix, at[0], at[1:])
            self.channel.send_numbers("fractions.ends", ends)
            r = self.channel.challenge("fractions.line")
            numerator, denominator = line(ends[0], ends[1], r), line(ends[2], ends[3], r)
            point = np.concatenate([below, r[None]])
        self.point = point

    # Products.

    def product(self, base: int, number: int, value: Elements) -> None:
        found, weights = self.plan.bases[base], self.weights[number]
        assert isinstance(found, Product)
        if isinstance(weights, Dense):
            own = np.stack([padded(dense(weights), found.shape), lift(padded(self.values[base], found.shape))])
            _, point, at = self.sumcheck("dense", 2, value, own, lambda t: multiply(t[0], t[1]))
            self.channel.send_numbers("dense.value", at[1])
            value, weights = at[1], at_point(found.shape, point)
        of_x, of_y, of_z = found.letters
        x, y = found.forms
        extents = dict(zip(of_x + of_y, self.plan.forms[x].shape + self.plan.forms[y].shape, strict=True))
        own = dict(zip(of_z, weights.axes, strict=True))
        batch = [letter for letter in of_z if letter in of_x and letter in of_y]
        kept = batch + [letter for letter in of_x if letter in of_y and letter not in of_z]
        shape = tuple(extents[letter] for letter in kept)
        mixed = Separable(weights.factor, tuple(own[k] if k in own else ones(extents[k]) for k in kept))
        tables = [padded(dense(mixed), shape)]
        for letters, form in ((of_x, x), (of_y, y)):
            made = lift(self.form(form)).reshape(*(extents[k] for k in letters), 2)
            for axis, letter in enumerate(letters):
                if letter not in kept and letter in own:
                    view = [1] * len(letters)
                    view[axis] = extents[letter]
                    made = multiply(made, own[letter].reshape(*view, 2))
            gone = tuple(axis for axis, letter in enumerate(letters) if letter not in kept)
            for axis in reversed(gone):
                made = np.add.reduce(made, axis=axis)
            left = [letter for letter in letters if letter in kept]
            order = [left.index(letter) for letter in kept]
            tables.append(padded(np.transpose(made, (*order, len(order))).reshape(-1, 2), shape))
        stacked = np.stack(tables)
        if not batch:
            stacked[0] = weights.factor
            self.left, point, at = self.sumcheck(
                "product", 2, value, stacked, lambda t: multiply(weights.factor, multiply(t[1], t[2]))
            )
        else:
            self.left, point, at = self.sumcheck(
                "product", 3, value, stacked, lambda t: multiply(t[0], multiply(t[1], t[2]))
            )
        self.factor = at[0]
        at_kept = dict(zip(kept, at_point(shape, point).axes, strict=True))

        def on(letters: str) -> int:
            axes = {k: ones(extents[k]) for k in letters} | {k: v for k, v in own.items() if k in letters} | at_kept
            return self.number(Separable(ONE, tuple(axes[k] for k in letters)))

        on_x = on(of_x)
        on_y = on_x if x == y and of_x == of_y else on(of_y)
        self.settle("operands", [(x, on_x), (y, on_y)])

    # Openings.

    def opening(self, commitment: int, variables: int) -> None:
        channel = self.channel
        gamma = channel.challenge("openings")
        self.gammas.append(gamma)
        claim, factor = ZERO, ONE
        weights = FIELD.Zeros((1 << variables, 2))
        for base, number, value in self.openings:
            column = self.plan.bases[base]
            assert isinstance(column, Column)
            if column.commitment == commitment:
                claim = claim + multiply(factor, value)
                own = slice(column.offset, column.offset + (1 << padded_bits(column.shape)))
                weights[own] = weights[own] + multiply(factor, padded(dense(self.weights[number]), column.shape))
                factor = multiply(factor, gamma)
        opened = self.opened(commitment, self.tables[commitment], weights, claim)
        if opened is not self.tables[commitment]:
            self.trees[commitment] = Tree(opened, variables + 1, bytes([7, commitment]))
        f, tree = lift(opened), self.trees[commitment]
        rounds = max(1, -(-(variables - LAST) // FOLD))
        bits = variables + 1
        for round in range(rounds):
            claim, folded, f, weights = self.folding(claim, f, weights, FOLD)
            is_last = round == rounds - 1
            label = "whir.last" if is_last else "whir.root"

            self.asked = tree, folded, bits, round
            f = self.foreseen(f, weights, claim) if label in channel.labels else self.guessed(f, weights, claim)
            following = None
            if is_last:
                channel.send_numbers("whir.last", f)
            else:
                following = Tree(f, bits - SHRINK, None)
                channel.send("whir.root", following.root)
            more, added = self.answers(len(f))
            claim, weights = claim + more, weights + added
            if following is not None:
                tree = following
            bits -= SHRINK
        self.folding(claim, f, weights, len(f).bit_length() - 1)

    def answers(self, size: int) -> tuple[Elements, Elements]:
        """Opens the places that are asked; what this adds to the claim on the folded polynomial, and to its weights."""
        channel, (tree, folded, bits, round) = self.channel, self.asked
        depth = bits - FOLD
        places = channel.positions("whir.queries", self.queries(round), depth)
        indices = [reversed_bits(place, depth) for place in places]
        symbols = tree.leaves[places]
        channel.send_numbers("whir.leaves", symbols)
        if round == 0:
            channel.send("whir.salts", b"".join(tree.salts[place] for place in places))
        channel.send("whir.nodes", b"".join(tree.missing(places)))
        factors = powers(channel.challenge("whir.combine"), len(places))
        values = fold(lift(symbols[..., 0]) if round == 0 else symbols, indices, bits, folded)
        return dot(factors, values), power_weights(factors, roots_to(root_of_unity(depth), indices, depth), size)

    def foreseen(self, f: Elements, weights: Elements, claim: Elements) -> Elements:
        """A folded polynomial that answers a false claim, where the places and what combines them are known before."""
        channel = self.channel
        before = channel.state, channel.at, channel.messages
        more, added = self.answers(len(f))
        channel.state, channel.at, channel.messages = before
        made = f.copy()
        made[0] = made[0] + divide(claim + more - dot(f, weights + added), (weights + added)[0])
        return made

    def folding(self, claim: Elements, f: Elements, weights: Elements, rounds: int) -> Any:
        drawn = []
        for _ in range(rounds):
            tables = np.stack([f, weights])
            low, high = tables[:, ::2], tables[:, 1::2]
            at = [low, low + (high - low) * numbers(2)]
            message = np.stack([dot(*values) for values in at])
            if "whir.fold" in self.channel.labels:
                r = self.channel.peek("whir.fold")
                message = adapted(message, claim, r, dot(*line(low, high, r)))
            self.channel.send_numbers("whir.fold", message)
            r = self.channel.challenge("whir.fold")
            claim = interpolated(message[None], claim, r[None])
            f, weights = line(low, high, r)
            drawn.append(r)
        return claim, np.stack([ZERO, *drawn])[1:], f, weights
