"""Commitments in a circuit: a public digest that binds the elements of a handle, under a private salt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from circuitize.backends.r1cs.commitments import PACKED, Chain, Layout, chain, layout, pack, permutation, tag, weights
from circuitize.backends.r1cs.field import BN254, Limbs
from circuitize.backends.r1cs.system import Rows
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.types import Fixed

from .assembly import Assembly, Handle, Recipe
from .forms import Integers, LinearForms
from .products import LONG
from .values import Elements, Trace, Value


@dataclass(frozen=True, slots=True, eq=False)
class Commitment:
    """A commitment that a circuit makes: the value committed to, its format, the salt's name."""

    value: Value
    format: Fixed
    salt: str

    def run(self, trace: Trace) -> Chain:
        """The wires of each permutation, and the digest after each; computed once per trace."""
        found: Chain | None = trace.memory.get(self)
        if found is None:
            found = trace.memory[self] = chain(self.value.read(trace), self.format, trace.number(self.salt))
        return found


@dataclass(frozen=True, slots=True)
class Digests(Elements):
    """The digests after permutations start, ..., stop - 1 of a commitment."""

    commitment: Commitment
    start: int
    stop: int

    def limbs(self, trace: Trace) -> Limbs:
        return trace.field.from_integers(self.commitment.run(trace)[1][self.start : self.stop])


@dataclass(frozen=True, slots=True)
class PermutationWires(Elements):
    """The wires inside the permutations of a commitment."""

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
    """Constrains wire `digest` to be the commitment to the handle's elements, which are in the format; `salt` is a
    wire.

    612 rows and one digest per permutation; where the elements' forms are long, a row per packed element; where two of
    a packed element share a wire, a row per element.

    Soundness: elements less low are in [0, 2^width), so packing is injective: at most 2^253 - 1, below the prime. The
    permutation's rows determine its wires (PoseidonTemplate), and each digest's row determines that digest.
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
    inputs = _with_heads(entering, assembly.builder.large_constant(tag(format)), packed, plan)
    template = permutation()
    first, outputs = template.emit(assembly.builder, inputs, assembly.edge, role)
    assembly.recipes.append(Recipe(first, plan.permutations * template.wires, PermutationWires(commitment)))
    one, results = Rows.constant(np.ones(plan.permutations, np.int64)), Rows.wire(digests)
    assembly.builder.rows(outputs, one, results, assembly.edge, f"{role} digest")


def _packed_rows(assembly: Assembly, commitment: Commitment, handle: Handle, plan: Layout, role: str) -> Rows:
    """One combination per packed element."""
    if not plan.elements:
        return Rows.zero(0)
    rows = _combine(assembly, handle.forms, commitment.format, plan)
    if rows is None:
        rows = _combine(assembly, assembly.apart(handle, f"{role} value"), commitment.format, plan)
        assert rows is not None, "each element has a wire of its own"
    if len(rows.wires) <= LONG * len(handle.forms):
        return rows
    first = assembly.wires(PackedElements(commitment), plan.elements, f"{role} packed")
    one, packed = Rows.constant(np.ones(plan.elements, np.int64)), Rows.wire(np.arange(first, first + plan.elements))
    assembly.builder.rows(rows, one, packed, assembly.edge, f"{role} packed")
    return packed


def _combine(assembly: Assembly, forms: LinearForms, format: Fixed, plan: Layout) -> Rows | None:
    """The sums of (form - low) * 2^(width * place) over each packed element's forms; None where two share a wire."""
    builder = assembly.builder
    naturals = np.zeros(plan.elements * plan.per_element, dtype=object)
    naturals[: len(forms)] = forms.constants().astype(object) - format.low
    constants = naturals.reshape(plan.elements, plan.per_element) @ weights(plan)
    element = np.repeat(np.arange(len(forms)), forms.lengths)
    kept = np.flatnonzero(forms.wires)
    element, wire, coefficient = element[kept], forms.wires[kept], forms.coefficients[kept]
    group, place = np.divmod(element, plan.per_element)
    order = np.lexsort((wire, group))
    group, place, wire, coefficient = group[order], place[order], wire[order], coefficient[order]
    if ((wire[1:] == wire[:-1]) & (group[1:] == group[:-1])).any():
        return None
    distinct, which = np.unique(coefficient, return_inverse=True)
    keys, which = np.unique(which * plan.per_element + place, return_inverse=True)
    codes = np.array(
        [
            builder.large_constant(int(distinct[key // plan.per_element]) << (plan.width * (key % plan.per_element)))
            for key in keys.tolist()
        ],
        np.int64,
    )
    sizes = np.bincount(group, minlength=plan.elements)
    heads = Rows.constant([builder.large_constant(int(amount)) for amount in constants])
    return _side_by_side(heads, Rows(np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]), wire, codes[which]))


def _with_heads(chain: Integers, lane: int, packed: Rows, plan: Layout) -> Rows:
    """The inputs of all permutations: tag, chaining wire, packed elements, nothing past the end."""
    lengths = np.zeros(plan.permutations * PACKED, np.int64)
    lengths[: packed.count] = np.diff(packed.offsets)
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    starts = ends[:-1:PACKED]
    heads = np.stack([np.zeros(plan.permutations, np.int64), chain], axis=1)
    codes = np.stack([np.full(plan.permutations, lane), np.ones(plan.permutations, np.int64)], axis=1)
    at = np.repeat(starts, 2)
    every = np.concatenate([np.ones((plan.permutations, 2), np.int64), lengths.reshape(-1, PACKED)], axis=1)
    return Rows(
        np.concatenate([np.zeros(1, np.int64), np.cumsum(every)]),
        np.insert(packed.wires.astype(np.int64), at, heads.reshape(-1)),
        np.insert(packed.coefficients, at, codes.reshape(-1)),
    )


def _side_by_side(left: Rows, right: Rows) -> Rows:
    """Each left combination plus the right one, whose wires are higher. The left ones have one term each."""
    return Rows(
        right.offsets + np.arange(right.count + 1),
        np.insert(right.wires.astype(np.int64), right.offsets[:-1], left.wires),
        np.insert(right.coefficients, right.offsets[:-1], left.coefficients),
    )
