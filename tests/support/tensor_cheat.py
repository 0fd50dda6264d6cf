"""A second prover of tensor proofs, in Python, for programs of a few elements: it cheats wherever it is told to.

It is the independent verifier's other end. An attack overrides one of its steps, and mostly knows challenges that it
should not know yet, because a weakened verifier does not hear (absorb) the messages that they should follow from.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from independent_verifier.arithmetic import Numbers, dot, multiply, numbers, powers
from independent_verifier.numbered import Mix, add_weights
from independent_verifier.verifier import published
from independent_verifier.weights import at_point
from numpy.typing import NDArray
from tensor_cheat_openings import Openings
from tensor_cheat_sums import Lookups, Products
from tensor_words import Tree

from circuitize.backends.tensor.forms import Public, padded_bits

Integers = NDArray[Any]


class Cheat(Lookups, Products, Openings):
    """Proves that `values` are those of all bases; honest as it stands, if they are."""

    def committed(self, commitment: int, table: Numbers) -> Numbers:
        """The table behind a commitment."""
        return table

    def roots(self, honest: list[bytes]) -> list[bytes]:
        return honest

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
            Tree(table, size.domain, bytes([7, c]))
            for c, (table, size) in enumerate(zip(self.tables, self.sizes(), strict=True))
        ]
        roots = self.roots(self.published())
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
            point = self.stacked(channel.challenge("zeros") for _ in range(max(map(padded_bits, shapes))))
            by_shape = {s: self.number(at_point(s, point[: padded_bits(s)])) for s in dict.fromkeys(shapes)}
            factors = [self.one, *powers(channel.challenge("zeros.combine"), len(shapes))]
            forms = zip(factors, made.zeros, shapes, strict=False)
            self.settle("zeros", [[(factor, form, by_shape[shape]) for factor, form, shape in forms]])
        while self.products:
            last = max(self.products)
            claims = self.products.pop(last)
            factors = [self.one]
            if len(claims) > 1:
                factors += [*powers(channel.challenge("products.combine"), len(claims) - 1)]
            mix: Mix = {}
            for power, (_, own, _) in zip(factors, claims, strict=True):
                for number, factor in own.items():
                    add_weights(mix, number, multiply(power, factor))
            self.product(last, mix, dot(np.stack(factors), np.stack([value for *_, value in claims])))
        self.opening()
        # Roots that were not absorbed may be those of what was opened.
        if "columns" in channel.labels:
            channel.messages = self.published()[-1] + channel.messages[32:]
        return channel.messages, self.published()[:-1] if "root" in channel.labels else roots[:-1]

    def published(self) -> list[bytes]:
        return [published(self.plan, number, tree.top) for number, tree in enumerate(self.trees)]
