"""Numbers are real values; integers of a format are asked for: `Raw`, `--raw-inputs`, `--raw-outputs`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cli_programs import STEP, refused, run
from doubling import RATE, doubled, port

from circuitize.circuits.archives import read_npz
from circuitize.circuits.errors import CircuitizeError, TypingError
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import Raw, raw, to_integers
from circuitize.sims import integer, real

TENSOR = ("prove", STEP, "--prover", "tensor", "--not-zero-knowledge")


def test_raw_units_are_asked_for() -> None:
    assert to_integers(port(RATE), Raw(np.array(3)), "here") == 3
    out = integer.run(doubled(), {"x": Raw(np.array(3))})
    assert out["y"] == 6 and integer.run(doubled(Fixed((), 16, 0, 99)), raw({"x": out["y"]}))["y"] == 12
    assert real.to_floats(port(RATE), Raw(np.array(1 << 15))) == 0.5
    assert np.asarray(Raw(np.array(3))).dtype == object, "no array, so that nothing takes it for real values"


def test_raw_units_are_integers_of_the_format() -> None:
    with pytest.raises(CircuitizeError, match="expected integers, found dtype float64"):
        Raw(np.array(1.0))
    with pytest.raises(CircuitizeError, match="past 64 bits"):
        Raw(np.array(1 << 63, np.uint64))
    with pytest.raises(CircuitizeError, match=r"'x' as integers in \[0, 65536\], found 65537"):
        to_integers(port(RATE), Raw(np.array(65537)), "here")
    with pytest.raises(TypingError, match="expected real values of 'x', found Raw"):
        IntegerProgram(doubled().arrow, doubled().inputs, doubled().outputs, ({"x": Raw(np.array(1))},))  # type: ignore[dict-item]


def test_integers_outside_the_format_name_both_remedies() -> None:
    with pytest.raises(CircuitizeError, match=r"in \[0, 1\], found 65536 at element .* Raw\(array\), --raw-inputs"):
        to_integers(port(RATE), np.array(65536), "here")


def test_files_of_integers_are_real_values_unless_asked_otherwise(tmp_path: Path) -> None:
    made = run(*TENSOR, "-o", tmp_path / "p", "--outputs", tmp_path / "reals.npz")
    assert made.status == 0, made
    assert run(*TENSOR, "-o", tmp_path / "r", "--outputs", tmp_path / "raw.npz", "--raw-outputs").status == 0
    reals, units = read_npz(tmp_path / "reals.npz"), read_npz(tmp_path / "raw.npz")
    assert {array.dtype.kind for array in reals.values()} == {"f"}
    assert {array.dtype for array in units.values()} == {np.dtype(np.int64)}
    np.savez(tmp_path / "in.npz", x=np.array([0.5, 1.0]), w=np.array([1, 2]))
    line = refused(*TENSOR, "-o", tmp_path / "q", "--inputs", tmp_path / "in.npz", "--raw-inputs")
    assert "for input 'x' with --raw-inputs, found dtype float64" in line
    assert "--raw-inputs: expected --inputs" in refused(*TENSOR, "-o", tmp_path / "q", "--raw-inputs")
    assert "--raw-outputs: expected --outputs" in refused(*TENSOR, "-o", tmp_path / "q", "--raw-outputs")


def test_a_trace_is_of_integers_and_refuses_real_values() -> None:
    with pytest.raises(CircuitizeError, match="expected integers, found dtype float64"):
        integer.trace(doubled(), {"x": np.array(0.75)})
    assert integer.rounded(doubled(), {"x": 0.75})["x"] == 3 << 14
    assert [value.tolist() for value in integer.trace(doubled(), {"x": np.array(3)})] == [3, 6]
