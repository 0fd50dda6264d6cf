"""Programs of the two languages are two types: which one is made, what each refuses, and what keeps the type."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from circuitize.backends.r1cs.emit import emit
from circuitize.backends.verilog.folded import schedule
from circuitize.circuits.builder import generator
from circuitize.circuits.encode import program_digest
from circuitize.circuits.errors import CircuitizeError, FormatError, TypingError
from circuitize.circuits.integers import Scale
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram, Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.saved import load, save
from circuitize.circuits.types import Fixed, signed
from circuitize.circuits.unroll import compose_steps
from circuitize.frontends.trace import trace
from circuitize.sims import integer

FORMAT = signed((2,), 8, 0)
TRIPLED = Fixed((2,), 0, -384, 381)
PUBLIC = Visibility.PUBLIC
X = Port("x", PUBLIC, FORMAT)


def tripled() -> IntegerProgram:
    return IntegerProgram(generator(Scale(3, 0), FORMAT), (X,), (Port("y", PUBLIC, TRIPLED),))


def real() -> Program:
    return Program(trace(lambda x: x * 3.0, (2,)), (X,), (Port("y", PUBLIC),), ({"x": np.ones(2)},))


def test_quantize_makes_integers_of_either_language() -> None:
    assert type(quantize(real())) is IntegerProgram
    program = tripled()
    assert quantize(program) is program


def test_an_output_of_integers_without_a_format_has_that_of_its_wire() -> None:
    given = Program(tripled().arrow, (X,), (Port("y", PUBLIC),))
    made = quantize(given)
    assert type(made) is IntegerProgram and made.outputs == tripled().outputs
    assert program_digest(made) == program_digest(tripled())


def test_reals_and_open_outputs_are_no_integer_program() -> None:
    with pytest.raises(TypingError, match=r"expected integers for input 'x', found real\[2\]; quantize the program"):
        IntegerProgram(real().arrow, (X,), (Port("y", PUBLIC, FORMAT),))
    open_output: Any = Port("y", PUBLIC)
    with pytest.raises(TypingError, match="expected a format for output 'y', found none; give fixed"):
        IntegerProgram(tripled().arrow, (X,), (open_output,))


@pytest.mark.parametrize("takes", [lambda p: integer.run(p, {"x": np.ones(2)}), emit, schedule])
def test_what_takes_integers_refuses_reals(takes: Any) -> None:
    with pytest.raises(CircuitizeError, match="expected an integer program, found a real one; quantize it first"):
        takes(real())


def test_what_is_no_program_is_refused() -> None:
    number: Any = 3
    with pytest.raises(TypingError, match="quantize: expected a Program, found int"):
        quantize(number)


def test_the_type_is_kept(tmp_path: Path) -> None:
    kept = Program(tripled().arrow, (X,), tripled().outputs)
    for name, program in (("integers", tripled()), ("kept", kept)):
        save(program, tmp_path / name)
        assert type(load(tmp_path / name)) is IntegerProgram
    save(real(), tmp_path / "real")
    assert type(load(tmp_path / "real")) is Program
    assert type(tripled().with_visibility(y=Visibility.COMMITTED)) is IntegerProgram
    assert type(compose_steps(tripled(), tripled())) is IntegerProgram
    assert type(compose_steps(real(), real())) is Program


def test_a_port_says_by_its_type_whether_it_has_a_format() -> None:
    assert Port("y", PUBLIC).of(FORMAT) == Port("y", PUBLIC, FORMAT) == Port[Fixed]("y", "public", FORMAT)
    assert hash(X) == hash(Port("x", "public", FORMAT, "data"))


def test_a_saved_program_claims_no_format_by_leaving_it_out(tmp_path: Path) -> None:
    """Who hands on a file cannot have it read as another program than the one whose digest is agreed on."""
    save(Program(tripled().arrow, (X,), (Port("y", PUBLIC),)), tmp_path / "open")
    found = load(tmp_path / "open", integer=True)
    assert found.outputs == tripled().outputs and program_digest(found) == program_digest(tripled())
    lacking = Program(tripled().arrow, (Port("x", PUBLIC, FORMAT),), tripled().outputs)
    object.__setattr__(lacking.inputs[0], "format", None)
    save(lacking, tmp_path / "lacking")
    with pytest.raises(FormatError, match="does not decode"):
        load(tmp_path / "lacking")
