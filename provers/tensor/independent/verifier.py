"""The protocol as the verifier sees it, written from its description, apart from the native code."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from circuitize.circuits.program import Program
from circuitize.provers.tensor.config import MOST_CLAIMS
from circuitize.provers.tensor.forms import Column, Fixed, Product, Public, padded_bits
from circuitize.provers.tensor.plan import Plan, plan
from circuitize.provers.tensor.proof import Proof
from circuitize.provers.tensor.statement import Statement, fault

from .arithmetic import (
    ONE,
    PRIME,
    ZERO,
    Element,
    add,
    equality,
    equality_at,
    equality_of,
    line,
    multiply,
    product,
    scale,
    subtract,
    total,
)
from .opening import check_opening, sumcheck
from .transcript import Refused, Transcript
from .weights import Dense, Separable, Weights, along, apply, at_point, extension, sum_of

Claim = tuple[int, int, Element]
"""A base, the number of its weights, and the weighted sum that is claimed."""


def refusal(program: Program, statement: Statement, proof: Proof, made: Plan | None = None) -> str | None:
    """None where the proof is valid, else why it is not: the same answer as the native verifier's, by other code."""
    made = made or plan(program)
    if proof.digest != made.program:
        return f"the proof is for program {proof.digest}, expected {made.program}"
    reason = fault(program, statement)
    if reason is not None:
        return reason
    try:
        _Verifier(made, statement, proof.messages).check()
    except Refused as error:
        return str(error)
    return None


class _Verifier:
    def __init__(self, made: Plan, statement: Statement, messages: bytes) -> None:
        self.plan = made
        self.statement = statement
        self.transcript = Transcript(messages)
        self.weights: list[Weights] = []
        self.moved: dict[object, int] = {}
        self.known: dict[tuple[int, int], Element] = {}
        self.products: deque[Claim] = deque()
        self.openings: list[Claim] = []

    def check(self) -> None:
        made, transcript = self.plan, self.transcript
        transcript.absorb("statement", made.digest)
        for base in made.bases:
            if isinstance(base, Public):
                words = self._public(base).astype(object) % PRIME
                transcript.absorb("public", b"".join(int(word).to_bytes(8, "little") for word in words))
        for key in made.groups:
            transcript.absorb("root", self.statement.roots[key])
        own = transcript.bytes("columns", 32)
        if made.lookups:
            self._lookups()
        if made.zeros:
            self._zeros()
        while self.products:
            self._product(self.products.popleft())
        roots = [*(self.statement.roots[key] for key in made.groups), own]
        for number, (variables, root) in enumerate(zip(made.commitments, roots, strict=True)):
            self._opening(number, variables, root)
        transcript.finish()

    def _public(self, base: Public) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
        return np.asarray(self.statement.publics[base.side, base.name]).reshape(-1)

    # Claims.

    def _number(self, weights: Weights) -> int:
        self.weights.append(weights)
        return len(self.weights) - 1

    def _settle(self, label: str, wanted: Sequence[tuple[int, int]]) -> list[Element]:
        """Weighted sums of forms: one message holds those of bases that are not known here, each once."""
        rows: list[list[tuple[int, tuple[int, int]]]] = []
        asked: dict[tuple[int, int], None] = {}
        for form, weights in wanted:
            row = []
            for (base, path), coefficient in self.plan.forms[form].terms.items():
                number = weights
                for view, sums in path:
                    key = (number, view, sums)
                    if key not in self.moved:
                        self.moved[key] = self._number(along(self.weights[number], view, sums))
                    number = self.moved[key]
                row.append((coefficient, (base, number)))
                if (base, number) not in self.known and not self._evaluate(base, number):
                    asked[base, number] = None
            rows.append(row)
        if len(self.known) + len(asked) > MOST_CLAIMS:
            raise Refused("the plan needs more claims than the security level allows")
        for (base, number), value in zip(asked, self.transcript.elements(label, len(asked)), strict=True):
            self.known[base, number] = value
            is_product = isinstance(self.plan.bases[base], Product)
            (self.products if is_product else self.openings).append((base, number, value))
        return [total(scale(self.known[key], coefficient) for coefficient, key in row) for row in rows]

    def _evaluate(self, base: int, number: int) -> bool:
        found = self.plan.bases[base]
        if isinstance(found, Public):
            self.known[base, number] = apply(self.weights[number], self._public(found).tolist())
        elif isinstance(found, Fixed) and found.values.size == 1:
            self.known[base, number] = scale(sum_of(self.weights[number]), int(found.values.reshape(-1)[0]))
        elif isinstance(found, Fixed):
            self.known[base, number] = apply(self.weights[number], found.values.reshape(-1).tolist())
        return (base, number) in self.known

    # Lookups: sum of 1 / (alpha - entry) over lookups = sum of count / (alpha - entry) over tables.

    def _lookups(self) -> None:
        made, transcript = self.plan, self.transcript
        alpha, beta = transcript.challenge("lookups.alpha"), transcript.challenge("lookups.beta")
        square = multiply(beta, beta)
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
            wanted.append((table.column, self._number(Separable(ONE, (vector,)))))
        found = iter(zip(self._settle("lookups.values", wanted), wanted, strict=True))
        places = [equality_at(point[size:], offset >> size) for size, offset in zip(sizes, offsets, strict=True)]
        tops, bottoms = ZERO, subtract(ONE, total(places))
        for lookup, place in zip(made.lookups, places, strict=False):
            key, (_, number) = next(found)
            entry = add(key, scale(beta, lookup.table + 1))
            if lookup.value is not None:
                entry = add(entry, multiply(square, next(found)[0]))
            tops = add(tops, multiply(place, sum_of(self.weights[number])))
            bottoms = add(bottoms, multiply(place, subtract(alpha, entry)))
        for t, (table, place) in enumerate(zip(made.tables, places[len(made.lookups) :], strict=True)):
            count, (_, number) = next(found)
            entry = add(apply(self.weights[number], range(table.size)), scale(beta, t + 1))
            if table.values.size:
                entry = add(entry, multiply(square, apply(self.weights[number], table.values.tolist())))
            tops = subtract(tops, multiply(place, count))
            bottoms = add(bottoms, multiply(place, subtract(alpha, entry)))
        if (tops, bottoms) != (numerator, denominator):
            raise Refused("a value that is looked up is not the one in the sum of fractions")

    def _tree(self, depth: int) -> tuple[Element, Element, list[Element]]:
        """From the root 0 / d, d != 0, of a tree of fractions to numerator and denominator of its leaves at a point."""
        transcript = self.transcript
        (denominator,) = transcript.elements("fractions.root", 1)
        if denominator == ZERO:
            raise Refused("the denominator of the sum of fractions is zero")
        numerator, point = ZERO, list[Element]()
        for level in range(depth):
            mix = transcript.challenge("fractions.combine")
            claim = add(numerator, multiply(mix, denominator))
            claim, below = sumcheck(transcript, "fractions.sum", 3, level, claim)
            n0, n1, d0, d1 = transcript.elements("fractions.ends", 4)
            crossed = add(multiply(n0, d1), multiply(n1, d0))
            sums = add(crossed, multiply(mix, multiply(d0, d1)))
            if multiply(equality_of(point, below), sums) != claim:
                raise Refused("the sum of fractions of the lookups does not hold")
            r = transcript.challenge("fractions.line")
            numerator, denominator, point = line(n0, n1, r), line(d0, d1, r), [*below, r]
        return numerator, denominator, point

    def _zeros(self) -> None:
        shapes = [self.plan.forms[form].shape for form in self.plan.zeros]
        point = [self.transcript.challenge("zeros") for _ in range(max(map(padded_bits, shapes)))]
        numbers = [self._number(at_point(shape, point[: padded_bits(shape)])) for shape in shapes]
        if any(value != ZERO for value in self._settle("zeros", list(zip(self.plan.zeros, numbers, strict=True)))):
            raise Refused("an equation of the program does not hold")

    def _product(self, claim: Claim) -> None:
        """A claim on sums of products, reduced to one on each operand."""
        base, number, value = claim
        found, weights = self.plan.bases[base], self.weights[number]
        assert isinstance(found, Product)
        if isinstance(weights, Dense):
            left, point = sumcheck(self.transcript, "dense", 2, padded_bits(found.shape), value)
            (value,) = self.transcript.elements("dense.value", 1)
            if multiply(extension(weights, found.shape, point), value) != left:
                raise Refused("a claim on a product does not hold")
            weights = at_point(found.shape, point)
        of_x, of_y, of_z = found.letters
        x, y = found.forms
        extents = dict(zip(of_x + of_y, self.plan.forms[x].shape + self.plan.forms[y].shape, strict=True))
        own = dict(zip(of_z, weights.axes, strict=True))
        batch = [letter for letter in of_z if letter in of_x and letter in of_y]
        kept = batch + [letter for letter in of_x if letter in of_y and letter not in of_z]
        shape = tuple(extents[letter] for letter in kept)
        left, point = sumcheck(self.transcript, "product", 3 if batch else 2, padded_bits(shape), value)
        at = dict(zip(kept, at_point(shape, point).axes, strict=True))
        mixed = tuple(own.get(letter, [ONE] * extents[letter]) for letter in kept)
        factor = extension(Separable(weights.factor, mixed), shape, point) if batch else weights.factor

        def on(letters: str) -> int:
            ones = {letter: [ONE] * extents[letter] for letter in letters}
            axes = {**ones, **{k: v for k, v in own.items() if k in letters}, **at}
            return self._number(Separable(ONE, tuple(axes[letter] for letter in letters)))

        on_x = on(of_x)
        on_y = on_x if x == y and of_x == of_y else on(of_y)
        operands = self._settle("operands", [(x, on_x), (y, on_y)])
        if product([factor, *operands]) != left:
            raise Refused("a claim on a product does not hold")

    def _opening(self, commitment: int, variables: int, root: bytes) -> None:
        gamma = self.transcript.challenge("openings")
        claim, factor = ZERO, ONE
        mine: list[tuple[Element, Column, int]] = []
        for base, number, value in self.openings:
            column = self.plan.bases[base]
            assert isinstance(column, Column)
            if column.commitment == commitment:
                claim = add(claim, multiply(factor, value))
                mine.append((factor, column, number))
                factor = multiply(factor, gamma)

        def weight_at(point: list[Element]) -> Element:
            return total(multiply(factor, self._placed(column, number, point)) for factor, column, number in mine)

        check_opening(self.transcript, variables, root, claim, weight_at)

    def _placed(self, column: Column, number: int, point: list[Element]) -> Element:
        """The extension of a column's weights, at the column's place in its commitment."""
        own = padded_bits(column.shape)
        place = equality_at(point[own:], column.offset >> own)
        return multiply(place, extension(self.weights[number], column.shape, point[:own]))
