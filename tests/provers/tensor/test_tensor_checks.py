"""Range checks and signs of tensor proofs: limbs, tables, pairs, and one sign for a ReLU and its derivative."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from r1cs_programs import chain, program, single
from tensor_assignments import Bench
from tensor_forgery import answer, column, without_lookup
from tensor_proofs import committed_inputs, proved

from circuitize.backends.tensor import checks, limbs
from circuitize.backends.tensor.forms import PRIME, Column
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import Undefined
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.provers.tensor.plan import Plan, plan
from circuitize.sims import integer

NUMBER = Fixed((), 0, -5, 6)


def relu_and_derivative(source: Fixed, *shifts: int) -> IntegerProgram:
    """ReLU of a number, and whether it is positive, as a derivative asks for it: 0 - relu(x) < 0."""
    builder = Builder()
    wire = builder.input(source)
    for bits in shifts:
        wire = builder.add(integers.Check(-3, 2), builder.add(integers.Shift(bits), wire))
    activated = builder.add(integers.ReLU(), wire)
    zero = builder.add(integers.Constant(np.array(0), source.shape, -sum(shifts)))
    mask = builder.add(integers.IsNegative(), builder.add(integers.Subtract(), zero, activated))
    return program(builder.build([activated, mask]))


def signs(made: Plan) -> list[str]:
    return [base.name for base in made.bases if isinstance(base, Column) and "sign" in base.name]


@contextmanager
def tables(monkeypatch: pytest.MonkeyPatch, *widths: int) -> Iterator[None]:
    """Limbs of just these widths are to be had, and no table of another size."""
    with monkeypatch.context() as changed:
        changed.setattr(checks, "uniform", lambda bits, sizes: limbs.Limbs(frozenset(widths)))
        yield


@pytest.mark.parametrize("bits", [4, 2])
def test_one_witness_for_a_relu_and_its_derivative(bits: int) -> None:
    given = committed_inputs(relu_and_derivative(NUMBER))
    made = plan(given, bits)
    assert len(signs(made)) == 1
    for x in range(-6, 8):
        inside = -5 <= x <= 6
        assert Bench(made, {"in0": x}).solutions() == ([[max(x, 0), int(x > 0)]] if inside else []), x


def test_one_witness_for_a_checked_relu() -> None:
    """The pair of number and sign is also the quotient's range check: nothing else looks it up."""
    given = committed_inputs(relu_and_derivative(Fixed((), 0, -8, 7), 1))
    made = plan(given, 4)
    assert len(signs(made)) == 1
    assert sum(made.tables[lookup.table].values.size > 0 for lookup in made.lookups) == 1
    assert len([one for one in made.lookups if made.tables[one.table].size == 6]) == 1
    for x in range(-9, 9):
        q = x // 2
        inside = -8 <= x <= 7 and -3 <= q <= 2
        assert Bench(made, {"in0": x}).solutions() == ([[max(q, 0), int(q > 0)]] if inside else []), x


@pytest.mark.parametrize(
    "widths", [pytest.param((3, 1), marks=pytest.mark.deep), (2, 1), pytest.param((1,), marks=pytest.mark.deep)]
)
def test_limbs_of_different_widths_leave_one_witness(monkeypatch: pytest.MonkeyPatch, widths: tuple[int, ...]) -> None:
    given = committed_inputs(chain(Fixed((), 0, -8, 7), integers.Shift(2), integers.Check(-1, 2)))
    with tables(monkeypatch, *widths):
        made = plan(given, max(widths))
    assert {table.size for table in made.tables} <= {1 << width for width in widths}
    for x in (-9, -5, -4, 3, 8):
        expected = [[x // 4 % PRIME]] if -8 <= x <= 7 and -1 <= x // 4 <= 2 else []
        found = {tuple(outputs) for outputs in Bench(made, {"in0": x}).solutions()}
        assert [list(outputs) for outputs in found] == expected, x


def test_without_the_pair_a_sign_is_free() -> None:
    given = committed_inputs(single(integers.ReLU(), Fixed((2,), 0, -127, 127)))
    made = plan(given, 8)
    source = np.array([5, -7])
    honest = made.trace({"in0": source})
    wire = made.arrow.rows[0][2][0]
    for bit in (np.array([0, 0]), np.array([1, 1])):
        trace = [source * (1 - bit) if i == wire else v for i, v in enumerate(honest)]
        values = made.values(trace)
        values[column(made, "sign")] = bit
        values[next(i for i, base in enumerate(made.bases) if type(base).__name__ == "Product")] = source * (1 - bit)
        assert answer(given, made, trace, values)
    # A negative result would be outside of the format of what is public; a result of 0 is not.
    weak = [without_lookup(made, index) for index in range(len(made.lookups))]
    assert sum(answer(given, one, trace, values) is None for one in weak) == 1


def test_a_function_of_a_checked_number_checks_it() -> None:
    """A Check whose interval a function's table covers costs no lookup, and still holds."""
    table = np.array([3, 1, 4, 1, 5, 9])
    lookup, check = integers.Lookup(-2, table, 0), integers.Check(-2, 3)
    given = committed_inputs(chain(Fixed((3,), 0, -40, 40), integers.Shift(3), check, lookup))
    made = plan(given)
    asked = [lookup for lookup in made.lookups if lookup.value is not None]
    assert len(asked) == 1 and not any(made.tables[one.table].size == 6 for one in made.lookups if one.value is None)
    proved(given, {"in0": np.array([-16, 0, 31])}, made)
    with pytest.raises(Undefined):
        integer.run(given, {"in0": np.array([-17, 0, 31])})
    honest = made.trace({"in0": np.array([-16, 0, 31])})
    shifted = made.arrow.rows[0][2][0]
    trace = [np.array([-3, 0, 3]) if i in (shifted, shifted + 1) else v for i, v in enumerate(honest)]
    trace[0] = np.array([-17, 0, 31])
    assert answer(given, made, trace)


@pytest.mark.parametrize("bits", [4, 2, pytest.param(1, marks=pytest.mark.deep)])
def test_one_witness_for_a_checked_relu_whose_sign_says_the_range(bits: int) -> None:
    """Without a derivative the sign is that of x itself, whose distance from 0 says all that the Check does."""
    given = committed_inputs(chain(Fixed((), 0, -8, 7), integers.Shift(1), integers.Check(-2, 1), integers.ReLU()))
    made = plan(given, bits)
    assert len([one for one in made.lookups if "shift" in one.part]) == 1, "the remainder alone"
    for x in (-9, -5, -4, -1, 0, 3, 4, 8):
        q = x // 2
        expected = {(max(q, 0),)} if -8 <= x <= 7 and -2 <= q <= 1 else set()
        assert {tuple(found) for found in Bench(made, {"in0": x}).solutions()} == expected, x


def test_the_root_needs_no_range_of_its_own() -> None:
    """Whatever r is: rest and 2 r - rest add up to some t, so all r are t / 2; of those, one passes, where x allows."""
    for low, high in ((0, 12), (3, 40)):
        made = plan(committed_inputs(single(integers.SquareRoot(), Fixed((), 0, low, high))), 6)
        root = next(i for i, base in enumerate(made.bases) if isinstance(base, Column) and "square_root" in base.name)
        bounds = [made.tables[lookup.table].size for lookup in made.lookups if "square_root" in lookup.part]
        assert len(bounds) == 2
        for x in range(low, high + 1):
            bench = Bench(made, {"in0": x})
            roots = [t * pow(2, -1, PRIME) % PRIME for t in range(sum(bounds))]
            found = [out for r in roots if (out := bench.outputs({root: np.array(r, object)})) is not None]
            assert found == [[math.isqrt(x)]]


@pytest.mark.parametrize("check", [integers.Check(-2, 1), integers.Check(0, 3)])
def test_one_witness_for_a_checked_quotient(check: integers.Check) -> None:
    """The Check that alone reads a quotient is its range; an equal quotient outside has no witness."""
    builder = Builder()
    x, y = builder.input(Fixed((), 0, -7, 8)), builder.input(Fixed((), 0, 1, 4))
    given = committed_inputs(program(builder.build([builder.add(check, builder.add(integers.Divide(), x, y))])))
    made = plan(given, 4)
    assert len([one for one in made.lookups if "divide" in one.part]) == 3
    for a, b in ((8, 4), (-7, 4), (8, 2), (-7, 3), (0, 1), (3, 1), (-1, 1), (8, 1)):
        q = a // b
        expected = [[q % PRIME]] if check.low <= q <= check.high else []
        assert Bench(made, {"in0": a, "in1": b}).solutions() == expected, (a, b)


def test_limbs_add_up_and_are_never_dearer_than_uniform_ones() -> None:
    random = np.random.default_rng(5)
    for _ in range(40):
        widths = frozenset(random.integers(1, 9, random.integers(1, 4)).tolist()) | {1}
        made = limbs.Limbs(widths)
        for bits in range(1, 40):
            cut = made.cut(bits)
            assert sum(cut) == bits and set(cut) <= widths and len(cut) == made.count(bits)
    for _ in range(10):
        sizes = {int(size): int(10 ** random.uniform(1, 7)) for size in random.integers(2, 1 << 40, 5)}
        sizes |= {1 << int(bits): int(10 ** random.uniform(1, 7)) for bits in random.integers(1, 45, 4)}
        demand = limbs.Demand(sizes)
        found, chosen = limbs.cheapest(demand)
        assert demand.cost(chosen.widths)[0] == found == limbs.cheapest(demand, chosen)[0]
        assert all(found <= demand.cost(limbs.uniform(bits, sizes).widths)[0] for bits in range(1, 20))
        assert limbs.cheapest(limbs.Demand({}))[1].widths <= {1}
