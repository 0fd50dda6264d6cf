"""Arrays of integers were raw units and arrays of floats real values: a rate of np.int64(1) was proved as 1.5e-05."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_programs import STEP, run
from doubling import RATE, doubled, port
from every_case import every_case

from circuitize.circuits.bind import bind
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.integers import Constant
from circuitize.circuits.types import LIMIT, Fixed, signed
from circuitize.circuits.values import to_integers
from circuitize.provers.statement import read_statement
from circuitize.provers.tensor.prover import prove
from circuitize.sims import integer, real


@pytest.mark.parametrize("one", [1, 1.0, True, np.int64(1), np.uint8(1), np.float32(1), np.array(1, np.int8)])
def test_one_is_one_whatever_its_type(one: Any) -> None:
    assert to_integers(port(RATE), one, "here") == 1 << 16
    assert integer.run(doubled(), {"x": one})["y"] == 2 << 16
    assert isinstance(bind(doubled(), {"x": one}).arrow.operations[0], Constant)
    assert integer.run(bind(doubled(), {"x": one}), {})["y"] == 2 << 16
    assert real.to_floats(port(RATE), one) == 1.0


def exactly(value: int, bits: int) -> int:
    """The value times 2^bits, rounded half to even by exact fractions."""
    return round(Fraction(value) * Fraction(2) ** bits)


@every_case(
    product(
        [np.int64, np.uint64, np.int8],
        [-70, -65, -64, -63, -62, -31, -10, -3, -2, -1, 0, 1, 5, 40, 61, 62, 63, 70],
    )
)
def test_integers_are_real_values_exactly(dtype: type[np.integer[Any]], bits: int) -> None:
    ends = np.iinfo(dtype)
    random = np.random.default_rng(abs(bits))
    near = [k + d for k in (0, ends.min, ends.max, *(1 << i for i in range(0, 64, 3))) for d in (-2, -1, 0, 1, 2, 3)]
    values = [v for v in near + [-v for v in near] if ends.min <= v <= ends.max]
    values += random.integers(ends.min, ends.max, 200, dtype, endpoint=True).tolist()
    inside = [v for v in values if abs(exactly(v, bits)) < LIMIT]
    format = Fixed((len(inside),), bits, -LIMIT + 1, LIMIT - 1)
    found = to_integers(port(format), np.array(inside, dtype), "here")
    assert found.dtype == np.int64 and found.tolist() == [exactly(v, bits) for v in inside]
    for value in sorted({v for v in values if v not in inside})[::20]:
        with pytest.raises(CircuitizeError, match="expected input 'x' in"):
            to_integers(port(format.with_shape(())), np.array(value, dtype), "here")


def test_floats_wider_than_a_double_are_rounded_once() -> None:
    """1/2 + 2^-60 is above the tie, its nearest double is the tie."""
    wide = np.longdouble(0.5) + np.ldexp(np.longdouble(1), -60)
    if wide == 0.5:
        pytest.skip("long doubles are doubles here")
    assert to_integers(port(signed((), 8, 0)), wide, "here") == 1


def test_provers_refuse_what_is_no_integer_of_a_format() -> None:
    """It was cut off, without a word."""
    with pytest.raises(CircuitizeError, match="expected integers of its format for input 'x'"):
        prove(doubled(), {"x": np.array(0.75)}, not_zero_knowledge=True)


TENSOR = ("prove", STEP, "--prover", "tensor", "--not-zero-knowledge")


def test_integers_of_a_file_are_the_numbers_that_they_are(tmp_path: Path) -> None:
    """The fault itself: the statement said 1/16 and 2/16."""
    np.savez(tmp_path / "in.npz", x=np.array([1, 2]), w=np.array([3, -4]))
    assert run(*TENSOR, "-o", tmp_path / "p", "--inputs", tmp_path / "in.npz").status == 0
    assert read_statement(tmp_path / "p").publics["input", "x"] == (16, 32)
    assert run(*TENSOR, "-o", tmp_path / "r", "--inputs", tmp_path / "in.npz", "--raw-inputs").status == 0
    assert read_statement(tmp_path / "r").publics["input", "x"] == (1, 2)
