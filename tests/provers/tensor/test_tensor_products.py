"""Products with several claims: by elements, weights taken one by one, or first reduced to a point's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from independent_verifier.verifier import Verifier
from r1cs_programs import program as program_of
from tensor_forgery import answer
from tensor_proofs import committed_inputs, proved

from circuitize.backends.tensor.forms import Product
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import View
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.provers.tensor.config import DEGREES
from circuitize.provers.tensor.plan import plan
from circuitize.provers.tensor.prover import prove

BY_ELEMENTS = ("ij,ij->ij", (3, 4), (3, 4))
APART = ("i,j->ij", (3,), (4,))
SUMMED_APART = ("bik,bkj->bij", (2, 3, 1), (2, 1, 5))
TO_A_POINT = ("ik,kj->ij", (3, 9), (9, 4))
SQUARE = ("ij,ij->ij", (3, 4), None)


def read_three_times(equation: str, left: tuple[int, ...], right: tuple[int, ...] | None) -> IntegerProgram:
    """A product, of which all, one slice and a transposed one are halved, so that each has lookups of its own."""
    builder = Builder()
    x = builder.input(Fixed(left, 0, -5, 9))
    y = x if right is None else builder.input(Fixed(right, 0, -3, 12))
    made = builder.add(integers.Contract(equation), x, y)
    shape = builder.type(made).shape
    starts, stops = [0] * len(shape), list(shape)
    starts[-1], stops[0] = 1, 1
    turned = View.transpose(shape, range(len(shape))[::-1])
    part = View.slice(shape, starts, stops)
    read = [made, *(builder.add(integers.Reindex(view), made) for view in (turned, part))]
    return committed_inputs(program_of(builder.build([builder.add(integers.Shift(2), wire) for wire in read])))


def drawn(program: IntegerProgram) -> dict[str, np.ndarray]:
    random = np.random.default_rng(5)
    return {
        p.name: random.integers(p.format.low, p.format.high + 1, p.format.shape) for p in program.inputs if p.format
    }


@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("case", [BY_ELEMENTS, APART, SUMMED_APART, TO_A_POINT, SQUARE], ids=lambda case: case[0])
def test_a_product_is_reduced_once(case: tuple[str, tuple[int, ...], tuple[int, ...] | None], degree: int) -> None:
    """Whoever reads it: and both verifiers accept it, of both kinds, and read as many numbers as are counted."""
    program = read_three_times(*case)
    inputs, labels = drawn(program), []
    made = plan(program, degree=degree)

    def hook(label: str, words: list[int]) -> list[int]:
        labels.extend([label] * bool(words))
        return words

    proved(program, inputs, made, hook=hook)
    assert labels.count("operands") == 1
    assert ("dense" in labels) == (case is TO_A_POINT)
    assert made.claimed.claims <= 3 * len(made.bases)
    hiding = replace(made.hiding(1), degree=degree)
    hidden = prove(program, inputs, made=hiding)
    checked = Verifier(hiding, hidden.statement, hidden.proof.messages)
    checked.check(b"")
    depth = (made.fractions - 1).bit_length()
    of_lookups = 2 + sum(3 * level + 4 for level in range(depth))
    assert checked.checks.counts[0] == of_lookups + made.claimed.elements  # type: ignore[attr-defined]


@pytest.mark.parametrize("case", [BY_ELEMENTS, APART, TO_A_POINT], ids=lambda case: case[0])
def test_another_product_is_refused(case: tuple[str, tuple[int, ...], tuple[int, ...] | None]) -> None:
    program = read_three_times(*case)
    made = plan(program)
    inputs = drawn(program)
    trace = made.trace(inputs)
    values = made.values(trace)
    (base,) = (n for n, found in enumerate(made.bases) if isinstance(found, Product))
    values[base] = values[base].copy()
    values[base].reshape(-1)[-1] += 4
    assert answer(program, made, trace, values) is not None


def test_weights_that_are_a_sum_of_many_products_are_kept_one_by_one() -> None:
    """Axes of 37 and 34 that are regrouped across each other."""
    builder = Builder()
    x = builder.input(Fixed((37, 34), 0, 0, 3))
    turned = builder.add(integers.Reindex(View.reshape((37, 34), (34, 37))), x)
    program = committed_inputs(program_of(builder.build([builder.add(integers.Shift(1), turned)])))
    made = plan(program)
    assert made.claimed.dense >= 37 * 34
    proved(program, drawn(program), made)
