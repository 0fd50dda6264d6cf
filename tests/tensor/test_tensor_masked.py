"""Masked messages: a verifier that sees them padded knows what must hold of the pads, and nothing else fulfils it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from example_programs import example
from independent_verifier.arithmetic import PRIME, Elements, multiply, numbers, one, same, zero
from tensor_attack import built, publics_of
from tensor_proofs import example_inputs, refusals
from tensor_victims import OF_LOOKUPS, OF_PRODUCTS, seen_by_all
from tiers import TIER

from circuitize import _native
from circuitize.circuits import integers
from circuitize.circuits.integers import View
from circuitize.circuits.program import Program
from circuitize.circuits.types import Fixed
from circuitize.provers.tensor.plan import Plan, plan
from circuitize.provers.tensor.proof import Proof
from circuitize.provers.tensor.statement import Statement

MASKED = OF_LOOKUPS | OF_PRODUCTS | {"zeros"}
"""All messages before openings but the root of columns."""

FEW, GRID = Fixed((4,), 0, -8, 7), Fixed((2, 3), 0, 0, 3)
SQUARES = integers.Lookup(-8, np.arange(16) ** 2, 0)
TIMES = integers.Multiply()
PROGRAMS = {
    "lookup": built([FEW], (SQUARES, (0,))),
    "step": built([FEW, FEW], (TIMES, (0, 1)), (integers.Shift(1), (2,)), (integers.ReLU(), (3,))),
    "dense": seen_by_all(
        built(
            [GRID, GRID],
            *((TIMES, (0, 1)), (integers.Reindex(View.reshape((2, 3), (3, 2))), (2,)), (integers.Shift(1), (3,))),
        )
    ),
    "iris": example("iris.py:step").integer,
}
CASES = [(name, degree) for name in PROGRAMS for degree in (2, 3) if (name, degree) != ("iris", 3) or TIER == "deep"]
Affine = tuple[list[int], list[tuple[int, list[int]]]]
Hook = Callable[[str, list[int]], Sequence[int]]


@dataclass
class Masked:
    """A proof whose messages before openings were padded, the pads, and what a verifier says must hold of them."""

    degree: int
    labels: list[str]
    pads: Elements
    places: list[int]
    linear: list[Affine]
    products: list[list[Affine]]

    def holds(self, pads: Elements) -> bool:
        """Whether all equations hold of these pads, each product and inverse being what its own equation makes it."""
        unknowns: dict[int, Elements] = dict(zip(self.places, pads, strict=True))

        def value(form: Affine) -> Elements:
            found = numbers(form[0])
            if form[1]:
                factors = np.stack([numbers(factor) for _, factor in form[1]])
                given = np.stack([unknowns[number] for number, _ in form[1]])
                found = found + np.add.reduce(multiply(factors, given), axis=0)
            return found

        for x, y, z in self.products:
            if not z[1]:
                ((inverse, _),) = y[1]
                unknowns[inverse] = power(value(x), PRIME**self.degree - 2)
            else:
                ((made, _),) = z[1]
                unknowns[made] = multiply(value(x), value(y))
        products = all(same(multiply(value(x), value(y)), value(z)) for x, y, z in self.products)
        return products and all(same(value(form), zero(self.degree)) for form in self.linear)


def power(x: Elements, exponent: int) -> Elements:
    made = one(x.shape[-1])
    for bit in format(exponent, "b"):
        made = multiply(made, made)
        made = multiply(made, x) if bit == "1" else made
    return made


def inputs_of(program: Program) -> dict[str, Any]:
    if program.examples:
        return example_inputs(program)
    random = np.random.default_rng(3)
    return {
        p.name: random.integers(p.format.low, p.format.high + 1, p.format.shape) for p in program.inputs if p.format
    }


def masked(program: Program, made: Plan, hook: Hook | None = None, change: Any = None) -> Masked:
    """The proof of a run, with random pads; `hook` forges true messages, `change` the values of all bases."""
    random, pads, labels = np.random.default_rng(7), list[int](), list[str]()

    def mask(label: str, words: list[int]) -> list[int]:
        if label not in MASKED:
            return words
        own = [int(pad) % PRIME for pad in random.integers(0, 1 << 63, len(words)) * 2 + 1]
        pads.extend(own)
        labels.extend([label] * (len(words) // made.degree))
        return [(word + pad) % PRIME for word, pad in zip(words, own, strict=True)]

    trace = made.trace(inputs_of(program))
    values = [np.array(x) for x in made.values(trace)]
    if change is not None:
        change(values)
    secrets = [bytes([number] * 32) for number in range(len(made.commitments))]
    messages, commitments, _ = _native.tensor_prove(
        made.native, made.digest, b"", values, secrets, [None] * len(secrets), hook, None, mask
    )
    roots, publics = [own.root for own in commitments], publics_of(made, trace)
    statement = Statement(publics, dict(zip(made.groups, roots, strict=True)))
    assert all(refusals(program, statement, Proof(made.program, messages), made))
    places, linear, products = _native.tensor_equations(
        made.native, made.digest, b"", roots, made.public_values(publics), messages
    )
    return Masked(made.degree, labels, numbers(pads).reshape(-1, made.degree), places, linear, products)


@pytest.mark.parametrize(("name", "degree"), CASES)
def test_equations_hold_of_the_pads_and_of_no_others(name: str, degree: int) -> None:
    program = PROGRAMS[name]
    found = masked(program, plan(program, degree=degree))
    assert len(found.places) == len(found.labels) and found.holds(found.pads)
    random = np.random.default_rng(degree)
    chosen = {found.labels.index(label) for label in found.labels} | set(
        random.integers(0, len(found.pads), 10).tolist()
    )
    for place in sorted(chosen):
        other = found.pads.copy()
        other[place, int(random.integers(degree))] += numbers(1)
        assert not found.holds(other), found.labels[place]


def test_every_kind_of_message_is_masked() -> None:
    assert {label for name in PROGRAMS for label in masked(PROGRAMS[name], plan(PROGRAMS[name])).labels} == MASKED


@pytest.mark.parametrize("label", sorted(MASKED))
def test_a_forged_message_has_no_pads(label: str) -> None:
    """One more in the last message of this kind, then masked as an honest one."""
    program = PROGRAMS["dense" if label in ("dense", "dense.value") else "step"]
    if label == "lookups.values":
        program = PROGRAMS["lookup"]
    made, sent = plan(program), [0, 0]

    def counted(own: str, words: list[int]) -> list[int]:
        sent[0] += own == label
        return words

    def forging(own: str, words: list[int]) -> list[int]:
        sent[1] += own == label
        return [(words[0] + 1) % PRIME, *words[1:]] if own == label and sent[1] == sent[0] else words

    assert masked(program, made, counted).holds(masked(program, made, lambda _, words: words).pads) and sent[0]
    forged = masked(program, made, forging)
    assert not forged.holds(forged.pads)


@pytest.mark.parametrize("degree", [2, 3])
def test_a_forged_run_has_no_pads(degree: int) -> None:
    program = PROGRAMS["step"]
    made = plan(program, degree=degree)
    for base, recipe in enumerate(base.recipe for base in made.bases):
        if recipe is None:
            continue

        def change(values: list[Any], base: int = base) -> None:
            values[base].reshape(-1)[0] += 1

        forged = masked(program, made, change=change)
        assert not forged.holds(forged.pads), made.bases[base]
