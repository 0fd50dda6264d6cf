"""Commitments in R1CS circuits: a salted Poseidon hash of an integer array, computed in the same way natively and in a
circuit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.operation import Values
from circuitize.circuits.types import Fixed

from ..field import BN254
from ..forms import Integers
from ..poseidon_constants import poseidon_parameters
from .gadgets.poseidon_template import PoseidonTemplate, poseidon_template

SCHEME = "circuitize poseidon commitment 1"
"""The name and version of the commitment scheme, which enter the tag of every format."""

WIDTH = 17
PACKED = 15
"""Packed field elements per permutation, beside the tag and the chaining value."""

Chain = tuple[list[NDArray[np.object_]], list[int]]
"""The wires inside each permutation of a commitment, and the digest after each permutation."""

CAPACITY = 253
"""The number of bits that every element of the field can hold."""


def commit(values: Values, format: Fixed, salt: int) -> int:
    """Return the commitment to an integer array in a format, which is a number in [0, r), where r is the size of
    BN254's scalar field.

    The values minus the least value of the format are packed, as many as fit into 253 bits, the first value at the
    lowest place. The digest is computed by a chain of Poseidon permutations of width 17: lane 0 starts as the format's
    tag, lane 1 is the salt or, in later permutations, the previous digest (the final lane 0), and the other 15 lanes
    are packed elements, or 0 past the end. The layout of a commitment depends only on shape and format, and the tag
    binds both: equal digests mean equal format and values, except for collisions of Poseidon (about 127 bits). The salt
    hides the values if it is drawn uniformly at random. Raise CircuitizeError for values outside the format, and for a
    salt outside [0, r).
    """
    flat = np.asarray(values, np.int64).reshape(-1)
    if np.shape(values) != format.shape or flat.min() < format.low or flat.max() > format.high:
        raise CircuitizeError(f"expected values of {format} to commit to, found others; give them in that format")
    check_salt(salt, "a commitment")
    return chain(flat, format, salt)[1][-1]


def check_salt(salt: int, where: str) -> None:
    """Raise CircuitizeError if a salt is not an element of the field; `where` names the salt's port."""
    if not 0 <= salt < BN254.prime:
        raise CircuitizeError(f"expected a salt in [0, {BN254.prime}) for {where}, found {salt}; draw a random one")


def tag(format: Fixed) -> int:
    """Return the tag of commitments to arrays of a format: 253 bits of a SHA-256 of the scheme, the shape, the fraction
    bits and the interval.
    """
    shape = "x".join(map(str, format.shape))
    text = f"{SCHEME}|{shape}|{format.fraction_bits}|{format.low}|{format.high}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big") >> (256 - CAPACITY)


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a commitment: how the values of a format fill the inputs of the Poseidon permutations."""

    width: int
    per_element: int
    elements: int
    permutations: int


def layout(format: Fixed) -> Layout:
    """Return the layout of a commitment to values of a format; it has at least one permutation, so that the salt always
    enters.
    """
    width = (format.high - format.low).bit_length()
    if width == 0:
        return Layout(0, 1, 0, 1)
    per_element = CAPACITY // width
    elements = -(-format.size // per_element)
    return Layout(width, per_element, elements, -(-elements // PACKED))


def permutation() -> PoseidonTemplate:
    """Return the Poseidon permutation of one block of a commitment, whose inputs include the tag and the chaining
    value.
    """
    return poseidon_template(poseidon_parameters(WIDTH), None)


def chain(values: Integers, format: Fixed, salt: int) -> Chain:
    """Return the chain of all Poseidon permutations of a commitment, of which the last digest is the commitment."""
    return absorb(tag(format), salt, pack(values, format))


def absorb(lane: int, start: int, elements: Sequence[int]) -> Chain:
    """Return a chain of at least one Poseidon permutation: lane 0 always starts as `lane`, and lane 1 starts as `start`
    in the first permutation and as the previous digest in later ones.
    """
    template = permutation()
    padded = [*elements, *[0] * (-len(elements) % PACKED if elements else PACKED)]
    inside, digests = [], []
    previous = start
    for first in range(0, len(padded), PACKED):
        made, lanes = template.trace(np.array([[lane, previous, *padded[first : first + PACKED]]], dtype=object))
        previous = int(lanes[0])
        inside.append(made[0])
        digests.append(previous)
    return inside, digests


def pack(values: Integers, format: Fixed) -> list[int]:
    """Return the packed elements of a commitment: the flat values minus the least value of the format, with the first
    value at the lowest place.
    """
    plan = layout(format)
    if not plan.elements:
        return []
    natural = np.zeros(plan.elements * plan.per_element, dtype=object)
    natural[: len(values)] = (values - np.int64(format.low)).tolist()
    return list(natural.reshape(plan.elements, plan.per_element) @ weights(plan))


def weights(plan: Layout) -> NDArray[np.object_]:
    """Return the weight of each value in a packed element of a commitment."""
    return np.array([1 << (plan.width * place) for place in range(plan.per_element)], dtype=object)
