"""A visibility given as a word was taken as it was, bound nothing, and the proof of nothing was valid."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from circuitize.backends.r1cs.challenge import Challenge
from circuitize.backends.r1cs.emit import emit
from circuitize.backends.r1cs.system import ConstraintSystem
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError, TypingError
from circuitize.circuits.integers import Scale
from circuitize.circuits.port import Port, Role, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import signed
from circuitize.provers.groth16 import keys as groth16
from circuitize.provers.mirage import keys as mirage

FORMAT = signed((2,), 8, 0)
PUBLIC: Any = "public"
DIGEST = "00" * 32


def program(visibility: Any, role: Any = Role.DATA) -> IntegerProgram:
    builder = Builder()
    out = builder.add(Scale(3, 0), builder.input(FORMAT))
    format = builder.format(out)
    return IntegerProgram(
        builder.build([out]), (Port("x", visibility, FORMAT, role),), (Port("y", visibility, format),), ()
    )


def test_a_word_binds_as_the_visibility_that_it_names() -> None:
    made = program(PUBLIC)
    assert made.inputs == program(Visibility.PUBLIC).inputs
    assert emit(made).system.public_outputs == 2 and emit(made).system.public_inputs == 2


def test_a_word_changes_a_visibility_too() -> None:
    made = program(Visibility.PUBLIC).with_visibility(x=PUBLIC, y="committed")
    assert made.inputs[0].visibility is Visibility.PUBLIC and made.outputs[0].visibility is Visibility.COMMITTED
    assert not program(Visibility.PUBLIC).with_visibility(x="private").binds()


def test_a_word_names_a_role() -> None:
    held: Any = "parameter"
    assert program(Visibility.PUBLIC, held).inputs[0].held


@pytest.mark.parametrize("given", ["secret", "PUBLIC", True, 1, None])
def test_any_other_visibility_is_refused_with_the_choices(given: Any) -> None:
    with pytest.raises(TypingError, match=r"visibility of 'x' among \['public', 'private', 'committed'\]"):
        program(given)
    with pytest.raises(TypingError, match="the visibility of 'y' among"):
        program(Visibility.PUBLIC).with_visibility(y=given)


def test_any_other_role_is_refused_with_the_choices() -> None:
    held: Any = "weight"
    with pytest.raises(TypingError, match=r"the role of 'x' among .*'parameter'.* found 'weight'"):
        program(Visibility.PUBLIC, held)


def hidden(system: ConstraintSystem, challenges: int) -> ConstraintSystem:
    """A circuit whose public wires are hidden, as the words hid them."""
    return replace(system, public_inputs=challenges, public_outputs=0)


def test_groth16_refuses_a_circuit_without_public_values(tmp_path: Path) -> None:
    with pytest.raises(CircuitizeError, match="expected a circuit with public values, found none"):
        groth16.setup(hidden(emit(program(Visibility.PUBLIC)).system, 0), DIGEST, tmp_path)
    assert not list(tmp_path.iterdir())


def test_mirage_refuses_a_circuit_whose_only_public_value_is_its_challenge(tmp_path: Path) -> None:
    builder = Builder()
    x = builder.input(signed((40,), 16, 0))
    ports = (Port("x", Visibility.PUBLIC, signed((40,), 16, 0)),)
    wide = IntegerProgram(builder.build([x]), ports, (Port("y", Visibility.PUBLIC, signed((40,), 16, 0)),))
    system = emit(wide, challenge=Challenge.COMMITTED).system
    assert system.committed
    with pytest.raises(CircuitizeError, match="expected a circuit with public values, found none"):
        mirage.setup(hidden(system, 1), DIGEST, tmp_path)
    assert not list(tmp_path.iterdir())
