"""Small constraint systems to audit: those of gadgets, and random ones."""

from __future__ import annotations

import numpy as np

from circuitize.backends.field import Field
from circuitize.backends.r1cs.builder import Kind, SystemBuilder
from circuitize.backends.r1cs.system import ConstraintSystem, Rows
from circuitize.circuits import integers
from circuitize.circuits.integers import IntegerOperation
from circuitize.circuits.types import Fixed

Form = dict[int, int]


def fixed(low: int, high: int, *shape: int) -> Fixed:
    return Fixed(shape, 0, low, high)


GADGETS: list[tuple[int, IntegerOperation, tuple[Fixed, ...]]] = [
    (67, integers.Check(-2, 3), (fixed(-7, 8),)),
    (97, integers.Shift(2), (fixed(-6, 9),)),
    (131, integers.Divide(), (fixed(-5, 9), fixed(1, 3))),
    (131, integers.Divide(), (fixed(0, 5), fixed(2, 3))),
    (97, integers.SquareRoot(), (fixed(0, 10),)),
    (61, integers.IsNegative(), (fixed(-9, 0),)),
    (61, integers.ReLU(), (fixed(-1, 4),)),
    (37, integers.Multiply(), (fixed(-1, 2), fixed(-2, 1))),
    (13, integers.ArgMax(0), (fixed(0, 1, 3),)),
    (31, integers.ArgMax(0), (fixed(-1, 2, 2),)),
]
WIDE_DIVIDE = 2
"""The place of the gadget that takes longest to enumerate: a division, as the next one is."""


def rows(forms: list[Form]) -> Rows:
    """Combinations of wires, coefficients by wire."""
    kept = [sorted((wire, value) for wire, value in form.items() if value) for form in forms]
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(form) for form in kept])]).astype(np.int64)
    terms = np.array([term for form in kept for term in form], np.int64).reshape(-1, 2)
    return Rows(offsets, terms[:, 0].astype(np.uint32), terms[:, 1])


def built(prime: int, inputs: int, internal: int, constraints: list[tuple[Form, Form, Form]]) -> ConstraintSystem:
    """A system of wires 1, inputs, internal ones."""
    builder = SystemBuilder(Field(prime))
    builder.wires(inputs, -1, "input", kind=Kind.PRIVATE_INPUT)
    builder.wires(internal, -1, "internal")
    a, b, c = (rows([constraint[side] for constraint in constraints]) for side in range(3))
    builder.rows(a, b, c, -1, "row")
    return builder.system()


def random_system(random: np.random.Generator) -> ConstraintSystem:
    """Bits, sums of bits, products, zero tests and equations at random, so that the rules' conditions nearly hold."""
    prime = int(random.choice([3, 5, 7, 11, 13, 17]))
    internal = int(random.integers(2, 6 if prime < 11 else 5))
    inputs = int(random.integers(1, 3))
    made = []

    def form(terms: int) -> Form:
        chosen = random.choice(1 + inputs + internal, terms, replace=False).tolist()
        return {wire: int(random.choice([1, -1, 2, -2, 4, 3])) for wire in chosen}

    for _ in range(random.integers(internal, 2 * internal + 3)):
        wire, other = (1 + inputs + random.integers(0, internal, 2)).tolist()
        known = int(1 + random.integers(inputs))
        kind = random.integers(7)
        if kind == 0:
            made.append(({wire: 1}, {wire: 1}, {wire: 1}))
        elif kind == 1:
            sums = form(int(random.integers(1, 4)))
            made.append((sums, sums | {0: sums.get(0, 0) + int(random.choice([-1, 1, 2]))}, {}))
        elif kind == 2:
            made.append((form(2), form(1), {wire: int(random.choice([1, -1]))}))
        elif kind == 3:
            made += [({known: 1}, {wire: 1}, {other: 1}), ({known: 1}, {0: 1, other: -1}, {})]
            made += [({wire: 1}, {0: 1, other: -1}, {})] if random.random() < 0.6 else []
        elif kind == 6:
            rest = {0: 1, wire: -1} | ({other: -1} if other != wire else {})
            made += [({each: 1}, {each: 1}, {each: 1}) for each in {wire, other}]
            made.append((rest, rest | {0: 0}, {}))
            made.append(({wire: 1}, form(2), form(2)))
        elif kind == 4:
            made.append((form(int(random.integers(1, 4))), {0: 1}, {wire: 1}))
        else:
            made.append((form(1), form(2), form(2)))
    return built(prime, inputs, internal, made)
