"""A cheating prover's openings of what it committed to."""

from __future__ import annotations

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
)
from independent_verifier.opening import (
    FOLD,
    LAST,
    SHRINK,
    fold,
    query_count,
    reversed_bits,
    root_of_unity,
    roots_to,
)
from independent_verifier.weights import dense, zeros
from tensor_cheat_claims import Claims
from tensor_words import Tree, adapted, divide, padded, power_weights

from circuitize.provers.tensor.forms import Column, padded_bits


class Openings(Claims):
    """Each commitment has the weighted sums that are claimed of it."""

    queries = staticmethod(query_count)
    tables: list[Numbers]
    trees: list[Tree]

    def opened(self, commitment: int, table: Numbers, weights: Elements, claim: Elements) -> Numbers:
        """The table that is opened; it may be another one only where a verifier lets it."""
        return table

    def guessed(self, honest: Elements, weights: Elements, claim: Elements) -> Elements:
        """The folded polynomial that is sent where the places asked are not known."""
        return honest

    def opening(self, commitment: int, variables: int) -> None:
        channel = self.channel
        gamma = channel.challenge("openings")
        self.gammas.append(gamma)
        claim, factor = self.zero, self.one
        weights = zeros(1 << variables, self.degree)
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
        f, tree = self.lifted(opened), self.trees[commitment]
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
                channel.send("whir.root", following.top)
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
        self.queried.append(places)
        indices = [reversed_bits(place, depth) for place in places]
        symbols = tree.leaves[places]
        channel.send_numbers("whir.leaves", symbols)
        if round == 0:
            channel.send("whir.salts", b"".join(tree.salts[place] for place in places))
        channel.send("whir.nodes", b"".join(tree.missing(places)))
        factors = powers(channel.challenge("whir.combine"), len(places))
        if round == 0:
            symbols = self.lifted(symbols[..., 0])
        values = fold(symbols, indices, bits, folded)
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
        return claim, self.stacked(drawn), f, weights
