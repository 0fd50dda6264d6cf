"""Commitments: a salted Poseidon hash of an integer array, the same natively and in a circuit."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.gadgets.assembly import Assembly, Handle, Recipe
from circuitize.backends.gadgets.forms import Integers, LinearForms
from circuitize.backends.gadgets.poseidon_constants import poseidon_parameters
from circuitize.backends.gadgets.poseidon_template import PoseidonTemplate, poseidon_template
from circuitize.backends.gadgets.products import LONG
from circuitize.backends.gadgets.values import Elements, Trace, Value
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.types import Fixed

from .field import BN254, Limbs
from .system import Rows

SCHEME = "circuitize poseidon commitment 1"
"""The scheme's name and version; it enters every tag."""

WIDTH = 17
PACKED = 15
"""Packed field elements per permutation, beside the tag and the chaining value."""

Chain = tuple[list[NDArray[np.object_]], list[int]]
"""The wires inside each permutation, and the digest after each."""

CAPACITY = 253
"""Bits that every element of the field can hold."""


def commit(values: NDArray[Any], format: Fixed, salt: int) -> int:
    """The commitment to an integer array of a format, in [0, r) for BN254's scalar field of r elements.

    Values less the format's low are packed, as many as fit 253 bits, first value lowest. The digest is a chain of
    Poseidon permutations of width 17: lane 0 starts as the format's tag, lane 1 as the salt or, later, the previous
    digest (the final lane 0), the others as 15 packed elements, 0 past the end. Shape and format alone decide the
    layout, and the tag binds both: equal digests mean equal format and values, up to collisions of Poseidon (about
    127 bits). A uniform salt hides the values. Raises CircuitizeError for values outside the format or a salt outside
    [0, r).
    """
    flat = np.asarray(values, np.int64).reshape(-1)
    if np.shape(values) != format.shape or flat.min() < format.low or flat.max() > format.high:
        raise CircuitizeError(f"expected values of {format} to commit to, found others; give them in that format")
    check_salt(salt, "a commitment")
    return _chain(flat, format, salt)[1][-1]


def check_salt(salt: int, where: str) -> None:
    if not 0 <= salt < BN254.prime:
        raise CircuitizeError(f"expected a salt in [0, {BN254.prime}) for {where}, found {salt}; draw a random one")


def tag(format: Fixed) -> int:
    """The domain of commitments to arrays of a format: 253 bits of a SHA-256 of scheme, shape, fraction bits and
    interval.
    """
    shape = "x".join(map(str, format.shape))
    text = f"{SCHEME}|{shape}|{format.fraction_bits}|{format.low}|{format.high}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big") >> (256 - CAPACITY)


@dataclass(frozen=True, slots=True)
class Layout:
    """How a format's values fill permutations."""

    width: int
    per_element: int
    elements: int
    permutations: int


def layout(format: Fixed) -> Layout:
    width = (format.high - format.low).bit_length()
    if width == 0:
        return Layout(0, 1, 0, 1)
    per_element = CAPACITY // width
    elements = -(-format.size // per_element)
    return Layout(width, per_element, elements, -(-elements // PACKED))


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
            found = trace.memory[self] = _chain(self.value.read(trace), self.format, trace.number(self.salt))
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
        return trace.field.from_integers(_pack(value, self.commitment.format))


def emit_commitment(
    assembly: Assembly, commitment: Commitment, handle: Handle, salt: int, digest: int, role: str
) -> None:
    """Constrains wire `digest` to be the commitment to the handle's elements, which are in the format; `salt` is a
    wire.

    612 rows and one digest per permutation; where the elements' forms are long, a row per packed element.

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
    chain = np.append(np.arange(inner, inner + plan.permutations - 1), digest)
    entering = np.concatenate([[salt], chain[:-1]])
    inputs = _with_heads(entering, assembly.builder.large_constant(tag(format)), packed, plan)
    template = _template()
    first, outputs = template.emit(assembly.builder, inputs, assembly.edge, role)
    assembly.recipes.append(Recipe(first, plan.permutations * template.wires, PermutationWires(commitment)))
    one, results = Rows.constant(np.ones(plan.permutations, np.int64)), Rows.wire(chain)
    assembly.builder.rows(outputs, one, results, assembly.edge, f"{role} digest")


def _template() -> PoseidonTemplate:
    return poseidon_template(poseidon_parameters(WIDTH), None)


def _chain(values: Integers, format: Fixed, salt: int) -> Chain:
    plan, template, lane = layout(format), _template(), tag(format)
    packed = _pack(values, format)
    packed += [0] * (plan.permutations * PACKED - len(packed))
    inside, digests = [], []
    previous = salt
    for start in range(0, len(packed), PACKED):
        made, lanes = template.trace(np.array([[lane, previous, *packed[start : start + PACKED]]], dtype=object))
        previous = int(lanes[0])
        inside.append(made[0])
        digests.append(previous)
    return inside, digests


def _pack(values: Integers, format: Fixed) -> list[int]:
    plan = layout(format)
    if not plan.elements:
        return []
    natural = np.zeros(plan.elements * plan.per_element, dtype=object)
    natural[: len(values)] = (values - np.int64(format.low)).tolist()
    return list(natural.reshape(plan.elements, plan.per_element) @ _weights(plan))


def _weights(plan: Layout) -> NDArray[np.object_]:
    return np.array([1 << (plan.width * place) for place in range(plan.per_element)], dtype=object)


def _packed_rows(assembly: Assembly, commitment: Commitment, handle: Handle, plan: Layout, role: str) -> Rows:
    """One combination per packed element."""
    if not plan.elements:
        return Rows.zero(0)
    handle = Handle(handle.forms, handle.value, handle.type)
    rows = _combine(assembly, handle.forms, commitment.format, plan)
    if rows is None:
        assembly.materialise(handle, f"{role} value")
        rows = _combine(assembly, handle.forms, commitment.format, plan)
        assert rows is not None, "single wires are distinct"
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
    constants = naturals.reshape(plan.elements, plan.per_element) @ _weights(plan)
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
