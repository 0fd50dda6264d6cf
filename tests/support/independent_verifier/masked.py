"""Numbers that were sent with pads added: forms in what is behind them, and the one equation that pads must fulfil."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .arithmetic import (
    Elements,
    Field,
    Integers,
    Numbers,
    dot,
    equality,
    equality_at,
    inverse,
    lift,
    multiply,
    numbers,
    one,
    powers,
    same,
    stack,
    total,
    zero,
)
from .transcript import Refused, Transcript
from .weights import gathered


@dataclass(frozen=True)
class Form:
    """A constant and multiples of unknowns: those from 0 on are numbers less their pads, -1 - k is the product k.

    An unknown may stand in it more than once.
    """

    constant: Elements
    unknowns: Integers
    factors: Elements


@dataclass(frozen=True)
class Equation:
    """The constant and the sum of pads times factors are zero."""

    constant: Elements
    pads: Elements


class Masked:
    """Nothing is checked at once: what must be zero, and which products stand for what, is noted."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self.one, self.none = one(transcript.degree), zero(transcript.degree)
        self.once, self.nothing = self.one[None], np.zeros(0, np.int64)
        self.messages: list[Elements] = [Field.zeros((0, transcript.degree))]
        self.count = 0
        self.zeros: list[Form] = []
        self.factors: list[tuple[Form, Form]] = []

    @property
    def counts(self) -> tuple[int, int, int]:
        """Numbers, products and equations."""
        return self.count, len(self.factors), len(self.zeros)

    def _unknown(self, number: int) -> Form:
        return Form(self.none, np.array([number], np.int64), self.once)

    def receive(self, label: str, count: int) -> Sequence[Form]:
        self.messages.append(self.transcript.elements(label, count))
        self.count += count
        return [self._unknown(number) for number in range(self.count - count, self.count)]

    def constant(self, element: Elements) -> Form:
        return Form(element, self.nothing, self.messages[0])

    def sum(self, values: Sequence[Form], factors: Elements | Numbers) -> Form:
        factors = lift(factors, self.transcript.degree) if factors.ndim == 1 else factors
        constant = dot(stack([value.constant for value in values]), factors)
        repeated = np.repeat(factors, [len(value.unknowns) for value in values], axis=0)
        unknowns = np.concatenate([value.unknowns for value in values])
        return Form(constant, unknowns, multiply(np.concatenate([value.factors for value in values]), repeated))

    def product(self, x: Form, y: Form) -> Form:
        """The product of what was sent; a product of a product has no triple."""
        assert all((form.unknowns >= 0).all() for form in (x, y))
        self.factors.append((x, y))
        return self._unknown(-len(self.factors))

    def zero(self, value: Form, _: str) -> None:
        self.zeros.append(value)

    def not_zero(self, value: Form, reason: str) -> None:
        """It has an inverse, which is sent too."""
        (found,) = self.receive("inverse", 1)
        both = self.product(value, found)
        self.zero(Form(both.constant - self.one, both.unknowns, both.factors), reason)

    def equation(self, values: Sequence[Form], factors: Elements) -> tuple[Equation, Elements]:
        """What the sum of forms times factors says of the pads of numbers, and how often each product is in it."""
        whole = self.sum([self.constant(self.none), *values], np.concatenate([self.one[None], factors]))
        is_number = whole.unknowns >= 0
        found = gathered(whole.factors[is_number], whole.unknowns[is_number], self.count)
        products = gathered(whole.factors[~is_number], -1 - whole.unknowns[~is_number], len(self.factors))
        return Equation(whole.constant + dot(found, np.concatenate(self.messages)), -found), products

    def finish(self) -> Equation:
        """All equations as one, with products by triples of pads (a, b, c = a b), which lie behind all others.

        What is sent of a product's factors A and B is rho = r A - a and sigma = B - b, two equations more; and A B is
        1 / r times c + sigma a + rho b + rho sigma.
        """
        transcript, count = self.transcript, len(self.factors)
        r = transcript.challenge("products.scale")
        if same(r, self.none):
            raise Refused("the scale of products is zero")
        sent = transcript.elements("products.factors", 2 * count)
        delta = transcript.challenge("equations.combine")
        mixed = np.concatenate([self.one[None], powers(delta, len(self.zeros) + 2 * count)])[:-1]
        linear, own = mixed[: len(self.zeros)], mixed[len(self.zeros) :]
        at_factors = own.copy()
        at_factors[::2] = multiply(own[::2], r[None])
        forms = [*self.zeros, *(form for pair in self.factors for form in pair)]
        made, products = self.equation(forms, np.concatenate([linear, at_factors]))
        rho, sigma, times = sent[::2], sent[1::2], multiply(products, inverse(r)[None])
        masks = [multiply(times, sigma) - own[::2], multiply(times, rho) - own[1::2], times]
        constant = made.constant - dot(own, sent) + total(multiply(multiply(times, rho), sigma))
        return Equation(constant, np.concatenate([made.pads, np.stack(masks, axis=1).reshape(-1, len(r))]))


def pad_words(pads: Elements) -> Elements:
    """Factors of pads as factors of the words that these consist of, each times its power of X."""
    basis = numbers(np.eye(pads.shape[-1], dtype=int))
    return multiply(pads[:, None], basis[None]).reshape(-1, pads.shape[-1])


def extension_from(start: int, weights: Elements, point: Elements) -> Elements:
    """The extension, at a point, of weights on the elements from `start` on."""
    if not len(weights):
        return zero(weights.shape[-1])
    places, bits = np.arange(start, start + len(weights)), (len(weights) - 1).bit_length()
    blocks = places >> bits
    high = equality_at(point[bits:], range(blocks[0], blocks[-1] + 1))
    low = equality(point[:bits])
    return dot(weights, multiply(low[places & ((1 << bits) - 1)], high[blocks - blocks[0]]))
