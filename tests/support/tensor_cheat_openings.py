"""A cheating prover's opening of all that it committed to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from independent_verifier.arithmetic import (
    Elements,
    Numbers,
    dot,
    interpolated,
    line,
    multiply,
    numbers,
    powers,
    total,
)
from independent_verifier.geometry import Block, Geometry, table, vectors
from independent_verifier.opening import FOLD, fold, reversed_bits, root_of_unity, roots_to
from independent_verifier.weights import zeros
from tensor_cheat_claims import Claims
from tensor_words import Tree, adapted, divide, padded, power_weights

from circuitize.backends.tensor.forms import Column, padded_bits


@dataclass
class Source:
    """A word that is queried, and the block of the next vector that its fold is."""

    tree: Tree
    geometry: Geometry
    block: Block


class Openings(Claims):
    """All commitments have the weighted sums that are claimed of them."""

    tables: list[Numbers]
    trees: list[Tree]
    sources: list[Source]

    def opened(self, commitment: int, table: Numbers, weights: Elements) -> Numbers:
        """The table that is opened; it may be another one only where a verifier lets it."""
        return table

    def guessed(self, honest: Elements, weights: Elements, claim: Elements) -> Elements:
        """The vector that is sent or committed to where the places asked are not known."""
        return honest

    def sizes(self) -> list[Geometry]:
        return [table(1 << variables, 0) for variables in self.plan.commitments]

    def opening(self) -> None:
        channel = self.channel
        gamma = channel.challenge("openings")
        self.gammas.append(gamma)
        claim, factor = self.zero, self.one
        weights = [zeros(1 << variables, self.degree) for variables in self.plan.commitments]
        for base, mix, value in self.openings:
            column = self.plan.bases[base]
            assert isinstance(column, Column) and column.commitment is not None
            claim = claim + multiply(factor, value)
            own = weights[column.commitment], slice(column.offset, column.offset + (1 << padded_bits(column.shape)))
            own[0][own[1]] = own[0][own[1]] + multiply(factor, padded(self.dense(mix), column.shape))
            factor = multiply(factor, gamma)
        geometries = self.sizes()
        for number, honest in enumerate(self.tables):
            opened = self.opened(number, honest, weights[number])
            if opened is not honest:
                self.tables[number] = opened
                self.trees[number] = Tree(opened, geometries[number].domain, bytes([7, number]))
        pairs = [(self.lifted(own), of) for own, of in zip(self.tables, weights, strict=True)]
        trees = self.trees
        for vector in vectors(geometries, hides=False):
            claim, self.folded, pairs = self.folding(claim, pairs, FOLD)
            f, w = (zeros(1 << vector.geometry.bits, self.degree) for _ in range(2))
            for block, pair in zip(vector.folds, pairs, strict=True):
                for whole, part in zip((f, w), pair, strict=True):
                    whole[block.offset : block.offset + len(part)] = part
            self.sources = [Source(*source) for source in zip(trees, geometries, vector.folds, strict=True)]
            label = "whir.last" if vector.last else "whir.root"
            f = self.foreseen(f, w, claim) if label in channel.labels else self.guessed(f, w, claim)
            if vector.last:
                channel.send_numbers("whir.last", f[: vector.geometry.end])
            else:
                trees, geometries = [Tree(f, vector.geometry.domain, None)], [vector.geometry]
                channel.send("whir.root", trees[0].top)
            more, added = self.answers(len(f))
            claim, pairs = claim + more, [(f, w + added)]
        self.folding(claim, pairs, len(pairs[0][0]).bit_length() - 1)

    def answers(self, size: int) -> tuple[Elements, Elements]:
        """Opens the places that are asked; what this adds to the claim on the next vector, and to its weights."""
        found = [self.answered(source) for source in self.sources]
        factors = powers(self.channel.challenge("whir.combine"), sum(len(z) for z, _ in found))
        more, added, at = self.zero, zeros(size, self.degree), 0
        for (z, values), source in zip(found, self.sources, strict=True):
            own, block = factors[at : at + len(z)], source.block
            at += len(z)
            more = more + dot(own, values)
            part = slice(block.offset, block.offset + (1 << block.bits))
            added[part] = added[part] + power_weights(own, z, 1 << block.bits)
        return more, added

    def answered(self, source: Source) -> tuple[Numbers, Elements]:
        """The points that the places asked of a word stand for, and the fold's values there."""
        channel, tree, domain = self.channel, source.tree, source.geometry.domain
        places = channel.positions("whir.queries", source.geometry.queries, domain - FOLD)
        self.queried.append(places)
        indices = [reversed_bits(place, domain - FOLD) for place in places]
        symbols = tree.leaves[places]
        channel.send_numbers("whir.leaves", symbols)
        if tree.salts[0]:
            channel.send("whir.salts", b"".join(tree.salts[place] for place in places))
            symbols = self.lifted(symbols[..., 0])
        channel.send("whir.nodes", b"".join(tree.missing(places)))
        z = roots_to(root_of_unity(domain - FOLD), indices)
        return z, fold(symbols, indices, domain, self.folded)

    def foreseen(self, f: Elements, weights: Elements, claim: Elements) -> Elements:
        """A vector that answers a false claim, where the places and what combines them are known before."""
        channel = self.channel
        before = channel.state, channel.at, channel.messages
        more, added = self.answers(len(f))
        channel.state, channel.at, channel.messages = before
        made = f.copy()
        made[0] = made[0] + divide(claim + more - dot(f, weights + added), (weights + added)[0])
        return made

    def folding(self, claim: Elements, pairs: list[tuple[Elements, Elements]], rounds: int) -> Any:
        """Rounds of the sumcheck of the sum over pairs of tables; what is left, the point, and the pairs there."""
        drawn = []
        for _ in range(rounds):
            halves = [(both[:, ::2], both[:, 1::2]) for both in map(np.stack, pairs)]
            points = numbers([0, 2])
            at = [[dot(*(low + (high - low) * t)) for low, high in halves] for t in points]
            message = np.stack([total(np.stack(values)) for values in at])
            if "whir.fold" in self.channel.labels:
                r = self.channel.peek("whir.fold")
                true = total(np.stack([dot(*line(low, high, r)) for low, high in halves]))
                message = adapted(message, claim, r, true)
            self.channel.send_numbers("whir.fold", message)
            r = self.channel.challenge("whir.fold")
            claim = interpolated(message[None], claim, r[None])
            pairs = [tuple(line(low, high, r)) for low, high in halves]
            drawn.append(r)
        return claim, self.stacked(drawn), pairs
