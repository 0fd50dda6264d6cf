"""A challenge made inside a circuit: a Poseidon hash of all values that determine what the challenge tests."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import numpy as np

from ...field import Limbs
from ...forms import LinearForms
from ...values import Elements, Trace, Value
from ..commitments import CAPACITY, PACKED, Chain, absorb, permutation
from ..system import Rows
from .assembly import Assembly, Recipe
from .commitment import single, with_heads
from .packing import Numbers, Packing, join
from .products import LONG

DOMAIN = "circuitize poseidon challenge 1"
"""The name and version of the transcript scheme, which enter the first lane, with the number of elements absorbed."""


@dataclass(frozen=True, slots=True, eq=False)
class Naturals(Elements):
    """Integers in [0, 2^width) to absorb, as many packed together as fit in an element: forms plus `offset`, and their
    value.
    """

    forms: LinearForms
    value: Value
    offset: int
    width: int

    @property
    def packing(self) -> Packing:
        """Return how the integers are packed: neighbours together, as many as CAPACITY bits hold."""
        return Packing.consecutive(len(self.forms), self.width, CAPACITY)

    @property
    def count(self) -> int:
        """Return the number of field elements that this item of a transcript takes."""
        return self.packing.groups

    def integers(self, trace: Trace) -> Numbers:
        """Return the integers that a transcript absorbs in a run, packed, below 2^CAPACITY each."""
        return self.packing.integers(self.value.read(trace) + np.int64(self.offset))

    def limbs(self, trace: Trace) -> Limbs:
        return trace.field.from_integers(self.integers(trace).tolist())

    def rows(self, assembly: Assembly) -> Rows:
        """Return a linear combination of wires for each packed element of a transcript."""
        rows = self.packing.combine(assembly.builder, self.forms, self.offset)
        return rows if len(rows.wires) <= LONG * len(self.forms) else single(assembly, rows, self, "absorbed")


@dataclass(frozen=True, slots=True)
class Element(Elements):
    """A wire to absorb as it is (a digest), and its value."""

    wire: int
    content: Elements

    @property
    def count(self) -> int:
        """Return 1: a digest is absorbed as it is."""
        return 1

    def integers(self, trace: Trace) -> Numbers:
        """Return the digest of a run, below the prime, as an array of one element."""
        return np.array(trace.field.to_integers(self.content.limbs(trace)), dtype=object)

    def limbs(self, trace: Trace) -> Limbs:
        return self.content.limbs(trace)

    def rows(self, assembly: Assembly) -> Rows:
        """Return the wire of an absorbed digest as a linear combination."""
        return Rows.wire(self.wire)


@dataclass(slots=True, eq=False)
class Transcript:
    """The transcript of a challenge: the values on which it depends, in the order of absorption."""

    absorbed: list[Naturals | Element] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Return the number of field elements that are absorbed."""
        return sum(item.count for item in self.absorbed)

    @property
    def permutations(self) -> int:
        """Return the number of Poseidon permutations, at least one; each takes in PACKED elements."""
        return max(1, -(-self.count // PACKED))

    @property
    def tag(self) -> int:
        """Return the tag with which the lane that absorbs nothing begins, below 2^CAPACITY; transcripts of different
        lengths have different tags.
        """
        text = f"{DOMAIN}|{self.count}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big") >> (256 - CAPACITY)

    def run(self, trace: Trace) -> Chain:
        """Return the wires of each permutation of a transcript and the digest after each permutation, computed once per
        trace.
        """
        found: Chain | None = trace.memory.get(self)
        if found is None:
            elements = [number for item in self.absorbed for number in item.integers(trace).tolist()]
            found = trace.memory[self] = absorb(self.tag, 1, elements)
        return found

    def challenge(self, trace: Trace) -> int:
        """Return the challenge of a run: the last permutation's output."""
        return self.run(trace)[1][-1]


@dataclass(frozen=True, slots=True)
class TranscriptDigests(Elements):
    """The digest after each permutation of a transcript; the last one is the challenge."""

    transcript: Transcript

    def limbs(self, trace: Trace) -> Limbs:
        return trace.field.from_integers(self.transcript.run(trace)[1])


@dataclass(frozen=True, slots=True)
class TranscriptWires(Elements):
    """The wires inside the permutations of a transcript."""

    transcript: Transcript

    def limbs(self, trace: Trace) -> Limbs:
        return trace.field.from_integers(np.concatenate(self.transcript.run(trace)[0]).tolist())


def absorption(elements: int) -> int:
    """Return the approximate number of rows for absorbing packed elements, including a wire for each."""
    return elements + -(-elements * (permutation().wires + 1) // PACKED)


def emit_challenge(assembly: Assembly, transcript: Transcript) -> int:
    """Return the wire of a challenge that the circuit hashes: this takes 612 rows and one digest for every 15 elements
    absorbed.

    The challenge is the end of a chain of permutations of width 17 as in a commitment: lane 0 starts as the domain's
    tag, lane 1 as 1 and later as the last digest.

    Soundness: the rows of a transcript determine every wire of its chain of permutations (PoseidonTemplate). The
    integers that a transcript absorbs are range-checked, so that packing is injective and the absorbed elements are one
    function of the integers; how many there are and where each stands depend on the program alone. Two transcripts that
    differ in an absorbed value differ in an element, and their challenges are independent, as those of a random oracle,
    as far as Poseidon is one.
    """
    packed = [item.rows(assembly) for item in transcript.absorbed]
    count = transcript.permutations
    first_digest = assembly.wires(TranscriptDigests(transcript), count, "challenge")
    digests = np.arange(first_digest, first_digest + count)
    entering = np.concatenate([np.zeros(1, np.int64), digests[:-1]])
    inputs = with_heads(entering, assembly.builder.large_constant(transcript.tag), join(packed), count)
    template = permutation()
    first, outputs = template.emit(assembly.builder, inputs, assembly.edge, "challenge")
    assembly.recipes.append(Recipe(first, count * template.wires, TranscriptWires(transcript)))
    one = Rows.constant(np.ones(count, np.int64))
    assembly.builder.rows(outputs, one, Rows.wire(digests), assembly.edge, "challenge")
    return first_digest + count - 1
