"""Commitments in an R1CS circuit: a public digest binds the elements of a handle, together with a private salt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.types import Fixed

from ...field import BN254, Limbs
from ...forms import Integers
from ...values import Elements, Trace, Value
from ..commitments import CAPACITY, PACKED, Chain, Layout, chain, layout, pack, permutation, tag
from ..system import Rows
from .assembly import Assembly, Handle, Recipe
from .packing import Packing
from .products import LONG


@dataclass(frozen=True, slots=True, eq=False)
class Commitment:
    """A commitment in a circuit: the value that is committed to, its format, and the name of its salt."""

    value: Value
    format: Fixed
    salt: str

    def run(self, trace: Trace) -> Chain:
        """Return the wires of each permutation of the commitment, and the digest after each permutation, computed once
        per trace.
        """
        found: Chain | None = trace.memory.get(self)
        if found is None:
            found = trace.memory[self] = chain(self.value.read(trace), self.format, trace.number(self.salt))
        return found


@dataclass(frozen=True, slots=True)
class Digests(Elements):
    """The digests after the permutations start, ..., stop - 1 of a commitment."""

    commitment: Commitment
    start: int
    stop: int

    def limbs(self, trace: Trace) -> Limbs:
        return trace.field.from_integers(self.commitment.run(trace)[1][self.start : self.stop])


@dataclass(frozen=True, slots=True)
class PermutationWires(Elements):
    """The wires inside the Poseidon permutations of a commitment."""

    commitment: Commitment

    def limbs(self, trace: Trace) -> Limbs:
        return trace.field.from_integers(np.concatenate(self.commitment.run(trace)[0]).tolist())


@dataclass(frozen=True, slots=True)
class PackedElements(Elements):
    """The packed elements of a commitment."""

    commitment: Commitment

    def limbs(self, trace: Trace) -> Limbs:
        value = self.commitment.value.read(trace)
        return trace.field.from_integers(pack(value, self.commitment.format))


def emit_commitment(
    assembly: Assembly, commitment: Commitment, handle: Handle, salt: int, digest: int, role: str
) -> None:
    """Constrain the wire `digest` to be the commitment to the handle's elements, which are in the format; `salt` is a
    wire too.

    A commitment takes 612 rows and one digest per permutation; it also takes a row per packed element if the elements'
    forms are long, and a row per element if two elements of a packed one share a wire.

    Soundness: each element minus the least value of its format is in [0, 2^width), so that packing is injective, and a
    packed element is at most 2^253 - 1, below the prime. The rows of a permutation determine its wires (see
    PoseidonTemplate), and the row of each digest determines the digest.
    """
    format = commitment.format
    if assembly.field.prime != BN254.prime:
        raise CircuitizeError(
            "expected BN254's scalar field for commitments, found another; make every port public or private"
        )
    plan = layout(format)
    packed = _packed_rows(assembly, commitment, handle, plan, role)
    inner = assembly.wires(Digests(commitment, 0, plan.permutations - 1), plan.permutations - 1, f"{role} digest")
    digests = np.append(np.arange(inner, inner + plan.permutations - 1), digest)
    entering = np.concatenate([[salt], digests[:-1]])
    inputs = with_heads(entering, assembly.builder.large_constant(tag(format)), packed, plan.permutations)
    template = permutation()
    first, outputs = template.emit(assembly.builder, inputs, assembly.edge, role)
    assembly.recipes.append(Recipe(first, plan.permutations * template.wires, PermutationWires(commitment)))
    one, results = Rows.constant(np.ones(plan.permutations, np.int64)), Rows.wire(digests)
    assembly.builder.rows(outputs, one, results, assembly.edge, f"{role} digest")


def _packed_rows(assembly: Assembly, commitment: Commitment, handle: Handle, plan: Layout, role: str) -> Rows:
    """Return a linear combination of wires for each packed element of a commitment."""
    if not plan.elements:
        return Rows.zero(0)
    packing = Packing.consecutive(len(handle.forms), plan.width, CAPACITY)
    rows = packing.combine(assembly.builder, handle.forms, -commitment.format.low)
    if len(rows.wires) <= LONG * len(handle.forms):
        return rows
    return single(assembly, rows, PackedElements(commitment), f"{role} packed")


def single(assembly: Assembly, rows: Rows, content: Elements, role: str) -> Rows:
    """Return a wire for each linear combination; each wire takes a row.

    Soundness: the row combination * 1 = wire is linear, so that the wire equals the combination.
    """
    wire = Rows.wire(np.arange(rows.count) + assembly.wires(content, rows.count, role))
    assembly.builder.rows(rows, Rows.constant(np.ones(rows.count, np.int64)), wire, assembly.edge, role)
    return wire


def with_heads(chain: Integers, lane: int, packed: Rows, permutations: int) -> Rows:
    """Return the inputs of all permutations of a commitment: the tag, the chaining wire and the packed elements, with
    nothing after the last element.
    """
    lengths = np.zeros(permutations * PACKED, np.int64)
    lengths[: packed.count] = np.diff(packed.offsets)
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    starts = ends[:-1:PACKED]
    heads = np.stack([np.zeros(permutations, np.int64), chain], axis=1)
    codes = np.stack([np.full(permutations, lane), np.ones(permutations, np.int64)], axis=1)
    at = np.repeat(starts, 2)
    every = np.concatenate([np.ones((permutations, 2), np.int64), lengths.reshape(-1, PACKED)], axis=1)
    return Rows(
        np.concatenate([np.zeros(1, np.int64), np.cumsum(every)]),
        np.insert(packed.wires.astype(np.int64), at, heads.reshape(-1)),
        np.insert(packed.coefficients, at, codes.reshape(-1)),
    )
