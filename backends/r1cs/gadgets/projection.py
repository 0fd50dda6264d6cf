"""Contractions that are tested at one random point: their sums are fixed first, and then a challenge folds the columns
into one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...field import Limbs
from ...forms import LinearForms, wires
from ...values import Drawn, Elements, Sum, Trace
from ..commitments import CAPACITY
from ..system import Order, Rows
from .accumulation import Blocks, Contraction, PackedProducts, PackedValue, Pin, blocks, equate
from .assembly import Assembly, Handle
from .packing import Numbers, beside, choose
from .transcript import Element, Naturals, Transcript, absorption, emit_challenge


@dataclass(frozen=True, slots=True, eq=False)
class Folded:
    """The sums over g of packed[i, g] * r^g for the challenge r, computed by Horner's rule."""

    packed: PackedValue
    wide: int
    source: Transcript | Drawn

    def steps(self, trace: Trace) -> Numbers:
        """Return the steps [n, wide - 1] of Horner's rule in a run: (packed[i, g + 1] + step[i, g + 1]) * r."""
        found: Numbers | None = trace.memory.get(self)
        if found is None:
            prime, r = trace.field.prime, self.source.challenge(trace)
            table = self.packed.numbers(trace).reshape(-1, self.wide)
            found = np.zeros((len(table), self.wide), dtype=object)
            for place in reversed(range(self.wide - 1)):
                found[:, place] = (table[:, place + 1] + found[:, place + 1]) * r % prime
            trace.memory[self] = found
        return found[:, :-1]

    def numbers(self, trace: Trace) -> Numbers:
        """Return the values of the folded sums in a run, one for each row of `packed`."""
        first = self.packed.numbers(trace).reshape(-1, self.wide)[:, 0]
        return first + self.steps(trace)[:, 0] if self.wide > 1 else first


@dataclass(frozen=True, slots=True)
class Steps(Elements):
    """The wires of the steps of Horner's rule by which columns are folded."""

    folded: Folded

    def limbs(self, trace: Trace) -> Limbs:
        return trace.field.from_integers(self.folded.steps(trace).reshape(-1).tolist())


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """A contraction whose test waits for the challenge; `sums` are the wires of its sums."""

    edge: int
    plan: Blocks
    contraction: Contraction
    sums: Handle

    @property
    def degree(self) -> int:
        """Return the degree, in the challenge, of the identity that tests the contraction."""
        return self.plan.shape[2] - 1


@dataclass(slots=True, eq=False)
class Challenges:
    """The contractions that a program's challenge tests, and the values of which the challenge is a hash, unless it is
    drawn outside the circuit.

    The field `overhead` is the number of rows that the challenge of a program costs in any case; `bound` has the wires
    that the program's commitments bind.
    """

    overhead: int = 0
    bound: frozenset[int] = frozenset()
    source: Transcript | Drawn = field(default_factory=Transcript)
    projections: list[Projection] = field(default_factory=list)
    awaited: set[Pin] = field(default_factory=set)

    @property
    def degree(self) -> int:
        """Return the sum of the degrees of all projections."""
        return sum(projection.degree for projection in self.projections)

    def postpone(self, assembly: Assembly, contraction: Contraction, pin: Pin, most: int) -> Handle | None:
        """Return the sums of a contraction as wires whose rows are emitted once the challenge is known, or None unless
        the test takes fewer than `most` rows.

        The rows of the test are those of the cheapest projection, plus the rows that absorb its sums, plus the
        overhead; rows of hashes count twice, since they have about three times as many non-zero coefficients as other
        rows.
        """
        prime, type = assembly.field.prime, contraction.type
        ways = (contraction, contraction.turned)
        choices = [(plan, way) for way in ways for plan in blocks(way, pin, prime)]
        if not choices:
            return None
        plan, chosen = min(choices, key=lambda choice: choice[0].projected)
        hashed = 0
        if isinstance(self.source, Transcript):
            hashed = self.overhead + absorption(-(-type.size // (CAPACITY // pin.bits)))
        if plan.projected + 2 * hashed >= most:
            return None
        forms = wires(assembly.wires(contraction.value, type.size, "accumulator", type.shape), type.size)
        sums = Handle(forms, contraction.value, type)
        self.awaited.add(pin)
        self.projections.append(Projection(assembly.edge, plan, chosen, sums))
        return sums

    def bind(self, pin: Pin, by: int, x: Handle, quotient: Handle) -> None:
        """Absorb into the transcript the values that determine x, whose Shift by `by` gave the quotient, if a
        projection needs them.

        Soundness: for a dividend x, x - offset is in [0, 2^total) by the bits of the Shift, and the remainder is in [0,
        2^by); if only the remainder is absorbed, the quotient is in a commitment whose digest is absorbed, at places
        that are no narrower than the window of the Shift. A challenge that is drawn outside the circuit is drawn after
        all wires of which the tested sums are made are fixed.
        """
        if pin not in self.awaited:
            return
        self.awaited.remove(pin)
        if isinstance(self.source, Drawn):
            return
        bits = quotient.bits
        assert bits is not None, "a pinned Shift has bits of its own"
        if pin.bound:
            forms = x.forms - quotient.forms.scale(1 << by)
            item = Naturals(forms, Sum(x.value, quotient.value, other=-(1 << by)), 0, by)
        else:
            offset = bits.low << by
            item = Naturals(x.forms, x.value, -offset, bits.total)
        self.source.absorbed.append(item)

    def hash(self, assembly: Assembly, known: list[Naturals | Element]) -> int:
        """Return the wire of the challenge, which the circuit computes as a hash; `known` are numbers and elements that
        determine the program's inputs and its committed outputs.
        """
        assert isinstance(self.source, Transcript)
        self.source.absorbed[:0] = known
        return emit_challenge(assembly, self.source)

    def emit(self, assembly: Assembly, challenge: int) -> None:
        """Emit the rows of every projection; `challenge` is the number of the challenge's wire."""
        assert not self.awaited, "each projected contraction's Shift has been lowered"
        outer = assembly.edge
        for projection in self.projections:
            assembly.edge = projection.edge
            project(assembly, projection, self.source, challenge)
        assembly.edge = outer


def project(assembly: Assembly, projection: Projection, source: Transcript | Drawn, challenge: int) -> None:
    """Constrain the sums of a projection to be those of its contraction, up to a small error; `challenge` is the number
    of the challenge's wire.

    If P[i, g] are the packed sums and A[i, k] and B[k, g] the packed operands, the rows say, for each i (and each index
    that both operands and the target have), that the sum over g of P[i, g] r^g equals the sum over k of A[i, k] * (sum
    over g of B[k, g] r^g). The sums over g of packed[i, g] * r^g are computed by Horner's rule, with a row for each g
    except the last.

    Soundness: every input and every sum is fixed before r is known, as integers that range checks bound; the operands
    are then fixed too, since rows alone determine them from inputs and sums. For each row i of the contraction, the
    difference between the two sides of the tested identity is a polynomial in r of degree `projection.degree`, whose
    coefficients are the differences that `accumulate` shows to be 0 only if every sum is right. If some sum of a tested
    contraction is wrong, some coefficient of the polynomial in r is not 0 modulo p, and at most `degree` of the p
    values of r pass the test. The challenge r counts as uniform, and as drawn after the values are fixed, by the
    assumption that Poseidon (or the hash from which a prover draws it after a commitment) is a random oracle: a prover
    who evaluates the hash q times succeeds with probability at most (q + 1) * degree / p for each projection.
    """
    plan, letters, sums = projection.plan, projection.contraction.letters, projection.sums
    left, right = projection.contraction.left, projection.contraction.right
    first, second = PackedValue(left.value, plan.left(letters[0])), PackedValue(right.value, plan.right(letters[1]))
    third = PackedValue(sums.value, plan.sums(letters[2]))
    both, high, wide, depth = plan.shape
    columns, totals = Folded(second, wide, source), Folded(third, wide, source)
    a = first.packing.combine(assembly.builder, left.forms)
    b = _fold(assembly, columns, right.forms, challenge, "folded operand")
    c = _fold(assembly, totals, sums.forms, challenge, "folded sum")
    grid = np.indices((both, high, depth)).reshape(3, -1)
    content = PackedProducts(first, columns, (grid[0] * high + grid[1]) * depth + grid[2], grid[0] * depth + grid[2])
    places = third.packing.members[::wide, 0]
    equate(assembly, a, b, c, content, depth, places, sums.type.size, "projected product")


def _fold(assembly: Assembly, folded: Folded, forms: LinearForms, challenge: int, role: str) -> Rows:
    """Return the sums over g of packed[i, g] * r^g; each takes wide - 1 rows.

    Soundness: each row (packed[i, g + 1] + step[i, g + 1]) * r = step[i, g] of a fold determines its wire step[i, g].
    """
    packed = folded.packed.packing.combine(assembly.builder, forms)
    wide = folded.wide
    count = packed.count // wide
    if wide == 1:
        return packed
    first = assembly.wires(Steps(folded), count * (wide - 1), role, (count, wide - 1))
    steps = first + np.arange(count * (wide - 1)).reshape(count, wide - 1)
    at = np.arange(count * wide).reshape(count, wide)
    later = np.zeros((count, wide - 1), np.int64)
    later[:, :-1] = steps[:, 1:]
    present = (later > 0).reshape(-1)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(present)])
    chosen = later.reshape(-1)[present]
    carried = Rows(offsets, chosen, np.ones(len(chosen), np.int64))
    inner = beside(choose(packed, at[:, 1:].reshape(-1)), carried)
    r = Rows.wire(np.full(count * (wide - 1), challenge))
    assembly.builder.rows(inner, r, Rows.wire(steps), assembly.edge, role, Order(count, wide - 1))
    return beside(choose(packed, at[:, 0]), Rows.wire(steps[:, 0]))
