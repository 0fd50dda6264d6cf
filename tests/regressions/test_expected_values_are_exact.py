"""`--expect` rounded: through a float for scales above one, in silence for all, and a name given twice was taken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_programs import STEP, keys, no, proof, refused, run

from circuitize import IntegerProgram, Port, Visibility
from circuitize.api.expectations import read_expectation
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import identity
from circuitize.circuits.types import Fixed
from circuitize.provers.statement import Statement, Unproved


def check(format: Fixed, stated: int, text: str) -> None:
    """Raise Unproved or CircuitizeError unless a proof that states an integer meets an expectation of `y`."""
    public = (Port("x", Visibility.PUBLIC, format),), (Port("y", Visibility.PUBLIC, format),)
    statement = Statement("groth16", "", {("input", "x"): (stated,), ("output", "y"): (stated,)}, {})
    read_expectation(text, IntegerProgram(identity(format), *public)).check(statement)


def test_large_values_are_not_rounded_to_doubles() -> None:
    coarse = Fixed((), -3, 0, 2**62 - 1)
    check(coarse, 288230376151711744, "y=2305843009213693952")
    with pytest.raises(Unproved, match="the proof states 2305843009213693952"):
        check(coarse, 288230376151711744, "y=2305843009213694000")


def test_a_value_between_two_of_the_format_is_refused() -> None:
    with pytest.raises(CircuitizeError, match=r"found '1/2'; the nearest: give 0 or 1$"):
        check(Fixed((), 0, -9, 9), 0, "y=0.5")
    line = refused("verify", proof(), "--keys", keys(), "--expect", "x=[0.51, -1.25]")
    assert "found '51/100' at element [0]; the nearest: give 8/2^4 or 9/2^4" in line
    assert run("verify", proof(), "--keys", keys(), "--expect", "x=[8/2^4, -1.25]").status == 0


@pytest.mark.parametrize(
    ("array", "status"), [([8, -20], 2), ([0.5, -1.25], 0), ([0.5, -1.5], 1), ([1, -1], 1), ([0.51, -1.25], 2)]
)
def test_arrays_of_a_file_are_real_values(tmp_path: Path, array: list[Any], status: int) -> None:
    np.savez(tmp_path / "x.npz", x=np.array(array))
    for given in (f"x={tmp_path / 'x.npz'}", f"x={array}"):
        assert run("verify", proof(), "--keys", keys(), "--expect", given).status == status


def test_raw_units_are_asked_for(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", x=np.array([8, -20]))
    for given in ("x=raw:[8, -20]", f"input:x=raw:{tmp_path / 'x.npz'}"):
        assert run("verify", proof(), "--keys", keys(), "--expect", given).status == 0
    assert "expected x = 9/2^4" in no(proof(), "--keys", keys(), "--expect", "x=raw:[9, -20]")
    for given, said in (("[0.5, 1]", "give raw:0 or raw:1"), ("[200, 1]", "give raw:127"), ("[1/2, 1]", "raw units")):
        assert said in refused("verify", proof(), "--keys", keys(), "--expect", f"x=raw:{given}")
    np.savez(tmp_path / "x.npz", x=np.array([8.0, -20.0]))
    assert "convert it" in refused("verify", proof(), "--keys", keys(), "--expect", f"x=raw:{tmp_path / 'x.npz'}")


def test_a_name_is_given_once() -> None:
    """By whatever of its names."""
    for names in (("x", "x"), ("x", "input:x"), ("input:x", "x")):
        given = [part for name in names for part in ("--expect", f"{name}=[0.5, -1.25]")]
        assert "expected each port once" in refused("verify", proof(), "--keys", keys(), *given)
    twice = ("--expect", "input:w=0x1", "--expect", "input:w=0x2")
    assert "expected each port once" in refused("verify", proof(), "--keys", keys(), *twice)


def test_a_name_is_of_one_port() -> None:
    format = Fixed((), 0, -9, 9)
    ports = (Port("x", Visibility.PUBLIC, format),), (Port("input:x", Visibility.PUBLIC, format),)
    program = IntegerProgram(identity(format), *ports)
    assert read_expectation("input:x=0", program).key == ("input", "x")
    assert read_expectation("output:input:x=0", program).key == ("output", "input:x")


@pytest.mark.parametrize("root", ["0x", "0x_1", " 1", "1_0", "٣", "-1", "0x1" + "0" * 64, "0" * 79, str(2**256), "ff"])
def test_roots_are_digits(root: str) -> None:
    assert "expected a commitment's root" in refused("verify", proof(), "--keys", keys(), "--expect", f"input:w={root}")


def test_the_case_and_leading_zeros_of_a_root_mean_nothing() -> None:
    root = run("verify", proof(), "--keys", keys(), "--program", STEP).out.split("input:w is committed to by 0x")[1]
    digits = root.split()[0]
    for text in (f"0x{digits.upper()}", f"0X{digits.zfill(64)}", str(int(digits, 16))):
        assert run("verify", proof(), "--keys", keys(), "--expect", f"input:w={text}").status == 0
