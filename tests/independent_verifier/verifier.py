"""The protocol as the verifier sees it, written from its description, apart from the native code."""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Mapping, Sequence

import numpy as np

from circuitize.circuits.program import Program
from circuitize.provers.tensor.config import MOST_CLAIMS
from circuitize.provers.tensor.forms import Column, Fixed, Product, Public, Rows, padded_bits
from circuitize.provers.tensor.groups import GroupName
from circuitize.provers.tensor.plan import Plan, plan
from circuitize.provers.tensor.ports import PortList
from circuitize.provers.tensor.proof import Proof
from circuitize.provers.tensor.security import require_secure
from circuitize.provers.tensor.statement import Statement, fault, untrusted

from .arithmetic import (
    PRIME,
    Elements,
    dot,
    equality,
    equality_at,
    equality_of,
    line,
    multiply,
    numbers,
    one,
    product,
    same,
    scale,
    total,
    zero,
)
from .opening import check_opening, sumcheck
from .transcript import Refused, Transcript, hashed
from .weights import Dense, Separable, Weights, along, apply, at_point, extension, ones, onto_rows, sum_of

Claim = tuple[int, int, Elements]
"""A base, the number of its weights, and the weighted sum that is claimed."""


def refusal(
    program: Program,
    statement: Statement,
    proof: Proof,
    made: Plan | None = None,
    context: bytes = b"",
    trusted: Mapping[GroupName, bytes] | None = None,
) -> str | None:
    """None where the proof is valid, else why it is not: the same answer as the native verifier's, by other code.

    Raises Unprovable where no proof of this program could be trusted.
    """
    made = made or plan(program)
    require_secure(made)
    if proof.digest != made.program:
        return f"the proof is for program {proof.digest}, expected {made.program}"
    reason = fault(program, statement, made.dataset) or untrusted(statement, made.assumed, trusted or {})
    if reason is not None:
        return reason
    try:
        Verifier(made, statement, proof.messages).check(context)
    except Refused as error:
        return str(error)
    return None


def ports_hash(ports: PortList) -> bytes:
    """The hash of the list of ports that a root is of."""
    content = struct.pack("<qqq", 0, 1, len(ports))
    for port in sorted(ports, key=lambda port: port.name):
        name = port.name.encode("utf-8", "surrogatepass")
        numbers = (port.fraction_bits, port.low, port.high, len(port.shape), *port.shape, port.blocks)
        content += struct.pack("<q", len(name)) + name + struct.pack(f"<{len(numbers)}q", *numbers)
    return hashed("ports", content)


def published(made: Plan, commitment: int, top: bytes) -> bytes:
    """The root that stands for the top of a commitment's tree: the last one is of what the proof itself commits to."""
    if commitment == len(made.lists):
        return hashed("columns", top)
    return hashed("root", ports_hash(made.lists[commitment]) + top)


class Verifier:
    """One check of one proof; raises Refused."""

    def __init__(self, made: Plan, statement: Statement, messages: bytes) -> None:
        self.plan = made
        self.statement = statement
        self.transcript = Transcript(messages, made.degree)
        self.zero, self.one = zero(made.degree), one(made.degree)
        self.weights: list[Weights] = []
        self.moved: dict[object, int] = {}
        self.known: dict[tuple[int, int], Elements] = {}
        self.products: deque[Claim] = deque()
        self.openings: list[Claim] = []

    def check(self, context: bytes) -> None:
        made, transcript = self.plan, self.transcript
        transcript.absorb("statement", made.digest)
        transcript.absorb("context", context)
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

    def _settle(self, label: str, wanted: Sequence[tuple[int, int]]) -> list[Elements]:
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
                base, number = self._resolved(base, number)
                row.append((coefficient, (base, number)))
                if (base, number) not in self.known and not self._evaluate(base, number):
                    asked[base, number] = None
            rows.append(row)
        if len(self.known) + len(asked) > MOST_CLAIMS[self.plan.degree]:
            raise Refused("the plan needs more claims than the security level allows")
        for (base, number), value in zip(asked, self.transcript.elements(label, len(asked)), strict=True):
            self.known[base, number] = value
            is_product = isinstance(self.plan.bases[base], Product)
            (self.products if is_product else self.openings).append((base, number, value))
        return [self._sum(row) for row in rows]

    def _sum(self, row: list[tuple[int, tuple[int, int]]]) -> Elements:
        if not row:
            return self.zero
        return total(scale(np.stack([self.known[key] for _, key in row]), numbers([number for number, _ in row])))

    def _resolved(self, base: int, number: int) -> tuple[int, int]:
        """Weights on rows of a column are weights on the column: each row's add up at the row that is read."""
        found = self.plan.bases[base]
        if not isinstance(found, Rows):
            return base, number
        key = ("rows", base, number)
        if key not in self.moved:
            index, column = self.plan.bases[found.index], self.plan.bases[found.column]
            assert isinstance(index, Public)
            made = onto_rows(self.weights[number], self._public(index), column.shape[0])
            self.moved[key] = self._number(made)
        return found.column, self.moved[key]

    def _evaluate(self, base: int, number: int) -> bool:
        found = self.plan.bases[base]
        if isinstance(found, Public):
            self.known[base, number] = apply(self.weights[number], numbers(self._public(found)))
        elif isinstance(found, Fixed) and found.values.size == 1:
            self.known[base, number] = sum_of(self.weights[number]) * numbers(int(found.values.reshape(-1)[0]))
        elif isinstance(found, Fixed):
            self.known[base, number] = apply(self.weights[number], numbers(found.values.reshape(-1)))
        return (base, number) in self.known

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
        counts, entries = [], []
        filled = {number: sum_of(self.weights[number]) for number in by_shape.values()}
        for lookup in made.lookups:
            key, (_, number) = next(found)
            entries.append(key + apart * numbers(lookup.table + 1))
            if lookup.value is not None:
                entries[-1] = entries[-1] + multiply(square, next(found)[0])
            counts.append(filled[number])
        for t, table in enumerate(made.tables):
            count, (_, number) = next(found)
            entries.append(apply(self.weights[number], numbers(range(table.size))) + apart * numbers(t + 1))
            if table.values.size:
                entries[-1] = entries[-1] + multiply(square, apply(self.weights[number], numbers(table.values)))
            counts.append(-count)
        places = self._places(point, sizes, offsets)
        tops = dot(places, np.stack(counts))
        bottoms = self.one - total(places) + dot(places, alpha - np.stack(entries))
        if not (same(tops, numerator) and same(bottoms, denominator)):
            raise Refused("a value that is looked up is not the one in the sum of fractions")

    def _pairing(self, beta: Elements) -> tuple[Elements, Elements]:
        """What a table's number is multiplied with, and what a value is, to be an entry together with a key."""
        return beta, multiply(beta, beta)

    def _places(self, point: Elements, sizes: list[int], offsets: list[int]) -> Elements:
        """For each cube of 2^size leaves at its offset, eq of the point's other coordinates."""
        made: list[Elements] = [None] * len(sizes)
        for size in set(sizes):
            own = [i for i in range(len(sizes)) if sizes[i] == size]
            for i, value in zip(own, equality_at(point[size:], [offsets[i] >> size for i in own]), strict=True):
                made[i] = value
        return np.stack(made)

    def _tree(self, depth: int) -> tuple[Elements, Elements, Elements]:
        """From the root 0 / d, d != 0, of a tree of fractions to numerator and denominator of its leaves at a point."""
        transcript = self.transcript
        (denominator,) = transcript.elements("fractions.root", 1)
        if same(denominator, self.zero):
            raise Refused("the denominator of the sum of fractions is zero")
        numerator, point = self.zero, np.stack([self.zero])[:0]
        for level in range(depth):
            mix = transcript.challenge("fractions.combine")
            claim = numerator + multiply(mix, denominator)
            claim, below = sumcheck(transcript, "fractions.sum", 3, level, claim)
            ends = transcript.elements("fractions.ends", 4)
            n0, n1, d0, d1 = ends
            crossed = dot(ends[:2], ends[:1:-1])
            sums = crossed + multiply(mix, multiply(d0, d1))
            if not same(multiply(equality_of(point, below), sums), claim):
                raise Refused("the sum of fractions of the lookups does not hold")
            r = transcript.challenge("fractions.line")
            numerator, denominator = line(n0, n1, r), line(d0, d1, r)
            point = np.concatenate([below, r[None]])
        return numerator, denominator, point

    def _zeros(self) -> None:
        shapes = [self.plan.forms[form].shape for form in self.plan.zeros]
        drawn = [self.transcript.challenge("zeros") for _ in range(max(map(padded_bits, shapes)))]
        point = np.stack([self.zero, *drawn])[1:]
        weights = {shape: self._number(at_point(shape, point[: padded_bits(shape)])) for shape in dict.fromkeys(shapes)}
        wanted = [(form, weights[shape]) for form, shape in zip(self.plan.zeros, shapes, strict=True)]
        if any(value.any() for value in self._settle("zeros", wanted)):
            raise Refused("an equation of the program does not hold")

    def _product(self, claim: Claim) -> None:
        """A claim on sums of products, reduced to one on each operand."""
        base, number, value = claim
        found, weights = self.plan.bases[base], self.weights[number]
        assert isinstance(found, Product)
        if isinstance(weights, Dense):
            left, point = sumcheck(self.transcript, "dense", 2, padded_bits(found.shape), value)
            (value,) = self.transcript.elements("dense.value", 1)
            if not same(multiply(extension(weights, at_point(found.shape, point)), value), left):
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
        if not same(product(np.stack([factor, *operands])), left):
            raise Refused("a claim on a product does not hold")

    def _opening(self, commitment: int, variables: int, root: bytes) -> None:
        gamma = self.transcript.challenge("openings")
        claim, factor = self.zero, self.one
        mine: list[tuple[Elements, Column, int]] = []
        for base, number, value in self.openings:
            column = self.plan.bases[base]
            assert isinstance(column, Column)
            if column.commitment == commitment:
                claim = claim + multiply(factor, value)
                mine.append((factor, column, number))
                factor = multiply(factor, gamma)

        def root_of(top: bytes) -> bytes:
            return published(self.plan, commitment, top)

        check_opening(self.transcript, variables, root, root_of, claim, lambda point: self._weight(mine, point))

    def _weight(self, mine: list[tuple[Elements, Column, int]], point: Elements) -> Elements:
        """The extension of the weights of all claims on a commitment, each at its column's place."""
        if not mine:
            return self.zero
        points: dict[tuple[int, ...], Separable] = {}
        for _, column, _ in mine:
            if column.shape not in points:
                points[column.shape] = at_point(column.shape, point[: padded_bits(column.shape)])
        places = self._places(point, [padded_bits(c.shape) for _, c, _ in mine], [c.offset for _, c, _ in mine])
        values = np.stack([extension(self.weights[number], points[column.shape]) for _, column, number in mine])
        return dot(multiply(np.stack([factor for factor, _, _ in mine]), places), values)
