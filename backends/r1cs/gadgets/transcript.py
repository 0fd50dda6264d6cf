"""A challenge that the circuit itself computes: a Poseidon hash of all values that determine what the challenge
tests.
"""

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
    """Integers in [0, 2^width) for a transcript to absorb, with as many packed into one element as fit: they are given
    as forms plus `offset`, with their value.
    """

    forms: LinearForms
    value: Value
    offset: int
    width: int

    @property
    def packing(self) -> Packing:
        """Return the packing of the integers: neighbours together, as many as fit into CAPACITY bits."""
        return Packing.consecutive(len(self.forms), self.width, CAPACITY)

    @property
    def count(self) -> int:
        """Return the number of field elements that the packed integers take in a transcript."""
        return self.packing.groups

    def integers(self, trace: Trace) -> Numbers:
        """Return the packed integers that a transcript absorbs in a run, each of which is below 2^CAPACITY."""
        return self.packing.integers(self.value.read(trace) + np.int64(self.offset))

    def limbs(self, trace: Trace) -> Limbs:
        return trace.field.from_integers(self.integers(trace).tolist())

    def rows(self, assembly: Assembly) -> Rows:
        """Return a linear combination of wires for each packed element that the transcript absorbs."""
        rows = self.packing.combine(assembly.builder, self.forms, self.offset)
        return rows if len(rows.wires) <= LONG * len(self.forms) else single(assembly, rows, self, "absorbed")


@dataclass(frozen=True, slots=True)
class Element(Elements):
    """A wire, which is a digest, for a transcript to absorb without packing, with its value."""

    wire: int
    content: Elements

    @property
    def count(self) -> int:
        """Return 1, since a digest is absorbed as a single element."""
        return 1

    def integers(self, trace: Trace) -> Numbers:
        """Return the digest that a transcript absorbs in a run, which is below the prime, as an array of one
        element.
        """
        return np.array(trace.field.to_integers(self.content.limbs(trace)), dtype=object)

    def limbs(self, trace: Trace) -> Limbs:
        return self.content.limbs(trace)

    def rows(self, assembly: Assembly) -> Rows:
        """Return the wire of the digest as a linear combination."""
        return Rows.wire(self.wire)


@dataclass(slots=True, eq=False)
class Transcript:
    """The transcript of a challenge: the values on which the challenge depends, in the order in which they are
    absorbed.
    """

    absorbed: list[Naturals | Element] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Return the number of field elements that the transcript absorbs."""
        return sum(item.count for item in self.absorbed)

    @property
    def permutations(self) -> int:
        """Return the number of Poseidon permutations of the transcript, which is at least one; each absorbs up to
        PACKED elements.
        """
        return max(1, -(-self.count // PACKED))

    @property
    def tag(self) -> int:
        """Return the tag with which the lane that absorbs nothing begins, a number below 2^CAPACITY; transcripts of
        different lengths have different tags.
        """
        text = f"{DOMAIN}|{self.count}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big") >> (256 - CAPACITY)

    def run(self, trace: Trace) -> Chain:
        """Return the wires of each permutation of the transcript, and the digest after each permutation, computed once
        per trace.
        """
        found: Chain | None = trace.memory.get(self)
        if found is None:
            elements = [number for item in self.absorbed for number in item.integers(trace).tolist()]
            found = trace.memory[self] = absorb(self.tag, 1, elements)
        return found

    def challenge(self, trace: Trace) -> int:
        """Return the challenge in a run, which is the output of the transcript's last permutation."""
        return self.run(trace)[1][-1]


@dataclass(frozen=True, slots=True)
class TranscriptDigests(Elements):
    """The digests after each permutation of a transcript, of which the last is the challenge."""

    transcript: Transcript

    def limbs(self, trace: Trace) -> Limbs:
        return trace.field.from_integers(self.transcript.run(trace)[1])


@dataclass(frozen=True, slots=True)
class TranscriptWires(Elements):
    """The wires inside the Poseidon permutations of a transcript."""

    transcript: Transcript

    def limbs(self, trace: Trace) -> Limbs:
        return trace.field.from_integers(np.concatenate(self.transcript.run(trace)[0]).tolist())


def absorption(elements: int) -> int:
    """Return the approximate number of rows that it takes to absorb packed elements, including a row for the wire of
    each.
    """
    return elements + -(-elements * (permutation().wires + 1) // PACKED)


def emit_challenge(assembly: Assembly, transcript: Transcript) -> int:
    """Return the wire of a challenge that the circuit computes as a hash; this takes 612 rows and one digest for every
    15 absorbed elements.

    The challenge of a transcript is the end of a chain of Poseidon permutations of width 17, as in a commitment: lane 0
    starts as the tag of the domain, and lane 1 starts as 1 in the first permutation and as the previous digest in later
    ones.

    Soundness: the rows of a transcript determine every wire of its chain of Poseidon permutations (see
    PoseidonTemplate). The integers that a transcript absorbs are range-checked, so that packing is injective and the
    absorbed elements are a function of the integers; the number of elements and the place of each depend only on the
    program. Two transcripts that differ in an absorbed value differ in an element, and their challenges are
    independent, as far as Poseidon behaves like a random oracle.
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
