"""Every gadget over a small prime, ALL assignments enumerated: one witness per input, none where it is undefined."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from enumeration import check_all_assignments, every_input, solutions, without
from every_case import every_case
from r1cs_programs import chain, program, single

from circuitize.backends.field import Field
from circuitize.backends.r1cs.emit import emit
from circuitize.backends.r1cs.witness import witness
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import OverflowRisk, TypingError
from circuitize.circuits.port import Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.sims import integer

CHECK, SHIFT = integers.Check, integers.Shift


def fixed(low: int, high: int, *shape: int) -> Fixed:
    return Fixed(shape, 0, low, high)


INTERVALS = [
    (0, 0), (3, 3), (0, 1), (-1, 0), (-1, 1), (0, 2), (-3, 2), (0, 5), (-4, 3), (0, 7), (-5, 6), (0, 10), (3, 12),
    (0, 16), (-8, 1), (0, 18), (2, 21), (-16, 5),
]  # fmt: skip


@every_case(INTERVALS)
def test_input_ranges_are_exact(low: int, high: int) -> None:
    check_all_assignments(chain(fixed(low, high), integers.Scale(1, 0)), 97)


@pytest.mark.parametrize("interval", [(-2, 3), (0, 8), (-7, 2), (-7, -7), (5, 8), (-3, 4), (-9, 9), (0, 0)], ids=str)
def test_checks_are_exact(interval: tuple[int, int]) -> None:
    check_all_assignments(chain(fixed(-7, 8), CHECK(*interval)), 67)


@every_case(product([(-6, 9), (0, 11), (-8, 7), (-3, -1)], [0, 1, 2, 3, 6]))
def test_shifts_alone(source: tuple[int, int], by: int) -> None:
    check_all_assignments(chain(fixed(*source), SHIFT(by)), 257)


@every_case(product([(-1, 2), (0, 1), (-2, 2), (-1, 1), (-9, 9), (-3, 1), (-1, 9)], [1, 2]))
def test_shifts_fused_with_checks(interval: tuple[int, int], by: int) -> None:
    """x - 1 has no known bits; the shift's bits serve the check, and the sign of what passes."""
    builder = Builder()
    x = builder.input(fixed(-7, 11))
    shifted = builder.add(SHIFT(by), builder.add(integers.Scale(1, 0), builder.add(integers.Add(), x, x)))
    checked = builder.add(CHECK(*interval), shifted)
    check_all_assignments(program(builder.build([checked, builder.add(integers.ReLU(), checked)])), 257)


def test_a_shift_that_others_read_is_checked_apart() -> None:
    builder = Builder()
    x = builder.input(fixed(-7, 11))
    shifted = builder.add(SHIFT(1), builder.add(integers.Scale(3, 0), x))
    check_all_assignments(program(builder.build([builder.add(CHECK(-2, 9), shifted), shifted])), 257)


@every_case(
    product(
        [integers.IsNegative(), integers.ReLU()],
        [(-4, 3), (-5, 0), (-9, 0), (-1, 9), (-1, 6), (-1, 0), (-1, 1), (1, 4), (-4, -2), (-5, 9)],
    )
)
def test_signs(operation: integers.IntegerOperation, interval: tuple[int, int]) -> None:
    """Of 2x + 1 - 1, whose bits are not those of an input; interval is that of x."""
    builder = Builder()
    x = builder.input(fixed(*interval))
    doubled = builder.add(integers.Add(), x, x)
    check_all_assignments(program(builder.build([builder.add(operation, w) for w in (x, doubled, doubled)])), 131)


def test_products_of_wires_and_of_constants() -> None:
    builder = Builder()
    x, y = builder.inputs([fixed(-3, 4, 2), fixed(0, 2, 2)])
    padded = builder.add(integers.Reindex(integers.View.pad((2,), (0,), (1,))), y)
    weights = builder.add(integers.Constant.of(np.array([0, 3, -2])))
    other = builder.add(integers.Concatenate(0), x, builder.add(integers.Constant.of(np.array([5]))))
    outputs = [
        builder.add(integers.Multiply(), x, y),
        builder.add(integers.Multiply(), padded, other),
        builder.add(integers.Multiply(), weights, other),
        builder.add(integers.Contract("i,i->"), padded, weights),
    ]
    check_all_assignments(program(builder.build(outputs)), 97)


@pytest.mark.parametrize("equation", ["i,i->", "i,j->ij", "i,j->j", "i,i->i"])
def test_contractions(equation: str) -> None:
    check_all_assignments(single(integers.Contract(equation), fixed(-1, 2, 2), fixed(-2, 1, 2)), 37)


def test_long_forms_get_wires() -> None:
    """A contraction whose operand is a sum of bits, in many products."""
    builder = Builder()
    x, y = builder.inputs([fixed(-30, 31), fixed(0, 1, 40)])
    shifted = builder.add(SHIFT(1), builder.add(integers.Add(), x, x))
    made = program(builder.build([builder.add(integers.Contract(",j->j"), shifted, y)]))
    system = emit(made).system
    assert [block.rows for block in system.blocks if block.role == "sum"] == [1]


@every_case(product([(-4, 5), (0, 7), (-6, -2)], [(1, 1), (3, 3), (1, 3), (2, 4)]))
def test_division(dividend: tuple[int, int], divisor: tuple[int, int]) -> None:
    check_all_assignments(single(integers.Divide(), fixed(*dividend), fixed(*divisor)), 131)


@pytest.mark.parametrize("interval", [(0, 0), (0, 1), (0, 10), (5, 17), (9, 9)], ids=str)
def test_square_roots(interval: tuple[int, int]) -> None:
    check_all_assignments(single(integers.SquareRoot(), fixed(*interval)), 257)


@pytest.mark.parametrize("interval", [(2, 2), (0, 1), (-3, 4), (-3, 2), (-2, 7), (0, 15), (-3, 12)], ids=str)
def test_lookups(interval: tuple[int, int]) -> None:
    table = np.array([3, -7, 0, 4, 4, 9, -2, 1, 8, -8, 5, 5, 6, -1, 7, 2])
    low = min(interval[0], interval[1] - 15)
    check_all_assignments(single(integers.Lookup(low, table, 0), fixed(*interval)), 67)


def test_lookup_of_a_shift_uses_its_bits() -> None:
    operations = [SHIFT(1), integers.Lookup(0, np.array([3, -7, 0, 4, 4, 9, -2, 1]), 0)]
    given = chain(fixed(0, 15), *operations)
    check_all_assignments(given, 67)
    assert emit(given).system.constraints == 4 + 1 + 1 + 1


SELECTIONS = [
    (integers.Select(), (fixed(0, 1), fixed(-3, 2), fixed(0, 4))),
    (integers.Maximum(), (fixed(-3, 2), fixed(-1, 4))),
    (integers.Maximum(), (fixed(-3, -2), fixed(0, 2))),
    (integers.Clamp(-2, 3), (fixed(-6, 6),)),
    (integers.Clamp(-2, 9), (fixed(-6, 6),)),
    (integers.Clamp(7, 9), (fixed(-6, 6),)),
    (integers.ArgMax(0), (fixed(-1, 2, 3),)),
    (integers.ArgMax(0), (fixed(0, 1, 4),)),
    (integers.ArgMaxOneHot(0), (fixed(-1, 2, 3),)),
    (integers.Gather(0), (fixed(-1, 2, 3), fixed(-1, 3))),
    (integers.Gather(0), (fixed(-1, 1, 2), fixed(0, 1, 2))),
    (integers.ScatterAdd(0, 3), (fixed(-1, 2, 1), fixed(-1, 4, 1))),
    (integers.ScatterAdd(0, 2), (fixed(-1, 2, 2), fixed(0, 2, 2))),
]


@pytest.mark.parametrize("case", SELECTIONS, ids=lambda c: c[0].name)
def test_selections_and_dynamic_indices(case: tuple[integers.IntegerOperation, tuple[Fixed, ...]]) -> None:
    check_all_assignments(single(case[0], *case[1]), 97)


def test_wiring() -> None:
    builder = Builder()
    x = builder.input(fixed(-2, 1, 3))
    view = integers.View.window((3,), (0,), (2,))
    outputs = [builder.add(integers.Reindex(view), x)]
    outputs.append(builder.add(integers.Sum(view), outputs[0]))
    outputs.append(builder.add(integers.Subtract(), x, outputs[1]))
    check_all_assignments(program(builder.build(outputs)), 31)


def test_galois_agrees_that_the_witnesses_satisfy() -> None:
    import galois

    given = single(integers.Divide(), fixed(-4, 5), fixed(1, 3))
    emission = emit(given, Field(97))
    field = galois.GF(97, compile="python-calculate")  # Compiling takes longer than what is calculated.
    dense = []
    for matrix in (emission.system.a, emission.system.b, emission.system.c):
        table = np.zeros((matrix.rows, emission.system.wires), np.int64)
        table[np.repeat(np.arange(matrix.rows), np.diff(matrix.offsets)), matrix.wires] = matrix.coefficients % 97
        dense.append(field(table))
    for inputs in every_input(given):
        found = field(witness(emission.plan, integer.trace(given, inputs))[:, 0].astype(np.int64))
        a, b, c = (matrix @ found for matrix in dense)
        assert np.array_equal(a * b, c)


@pytest.mark.parametrize(
    ("given", "prime"),
    [
        (chain(fixed(-4, 3), integers.Scale(1, 0)), 13),
        (chain(fixed(0, 7), SHIFT(1)), 13),
        (chain(fixed(-1, 1), integers.Scale(5, 0), SHIFT(1)), 13),
        (single(integers.Divide(), fixed(0, 7), fixed(1, 3)), 31),
        (single(integers.SquareRoot(), fixed(0, 15)), 31),
        (chain(fixed(-4, 7), integers.Scale(5, 0), integers.IsNegative()), 61),
        (chain(fixed(-9, 0), integers.Scale(3, 0), integers.IsNegative()), 37),
    ],
)
def test_fields_too_small_for_a_gadget_are_refused(given: IntegerProgram, prime: int) -> None:
    with pytest.raises(OverflowRisk, match="prime"):
        emit(given, Field(prime))


def test_checks_that_nothing_passes_are_refused() -> None:
    with pytest.raises(TypingError, match="Check"):
        emit(chain(fixed(0, 7), CHECK(9, 12)))


def test_private_inputs_are_checked_too() -> None:
    given = single(integers.Multiply(), fixed(-2, 2), fixed(0, 3))
    check_all_assignments(given.with_visibility(in0=Visibility.PRIVATE), 67)


@pytest.mark.parametrize(
    ("given", "prime"),
    [
        (chain(fixed(0, 18), integers.Scale(1, 0)), 67),
        (chain(fixed(-7, 8), CHECK(-2, 3)), 67),
        (chain(fixed(0, 7), integers.Scale(3, 0), SHIFT(1), CHECK(0, 5)), 67),
        (chain(fixed(-9, 0), integers.Scale(2, 0), integers.IsNegative()), 67),
        (chain(fixed(-5, 4), integers.Scale(2, 0), integers.ReLU()), 67),
        (single(integers.Divide(), fixed(-3, 4), fixed(1, 3)), 67),
        (single(integers.SquareRoot(), fixed(0, 10)), 67),
        (chain(fixed(0, 7), integers.Lookup(0, np.arange(8) ** 3 % 11, 0)), 67),
        (single(integers.Gather(0), fixed(0, 1, 3), fixed(0, 2)), 67),
    ],
)
def test_no_row_can_be_left_out(given: IntegerProgram, prime: int) -> None:
    """Without any one row there are more assignments: the enumeration above would notice its loss."""
    system = emit(given, Field(prime)).system
    witnesses = len(solutions(system))
    for row in range(system.constraints):
        assert len(solutions(without(system, row))) > witnesses, f"row {row}"
