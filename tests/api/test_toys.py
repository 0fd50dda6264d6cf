"""Operations that are defined in a folder of tests: every target has them, and nothing else was touched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from agreement import Vector, check_agreement
from operations.real import Case, Source
from quantized_cases import drawn, program
from tensor_proofs import committed_inputs, proved
from toys.operations import Middle, SoftShrink

from circuitize import IntegerProgram, Port, Visibility, load, save
from circuitize.backends.verilog import folded, parallel
from circuitize.circuits.builder import Builder, generator
from circuitize.circuits.differentiate import reverse_derivative
from circuitize.circuits.encode import program_digest
from circuitize.circuits.hypergraph import evaluate
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import raw
from circuitize.sims import integer
from circuitize.sims.agree import agree
from circuitize.sims.plonkish import Plonkish
from circuitize.sims.rtl import check_design

SHRINK = Case(SoftShrink(0.5), (Source((3, 2)),))
NUMBERS = Fixed((4,), 3, -20, 19)


def middle() -> IntegerProgram:
    """The middle of three public inputs."""
    builder = Builder()
    wires = builder.inputs([NUMBERS] * 3)
    arrow = builder.build([builder.add(Middle(), *wires)])
    inputs = tuple(Port(name, Visibility.PUBLIC, NUMBERS) for name in "xyz")
    return IntegerProgram(arrow, inputs, (Port("y", Visibility.PUBLIC, NUMBERS),))


def vectors_of_middle() -> list[Vector]:
    random = np.random.default_rng(0)
    return [{name: random.integers(-20, 20, 4) for name in "xyz"} for _ in range(6)]


GIVEN: dict[str, Callable[[], tuple[IntegerProgram, Sequence[Vector]]]] = {
    "real": lambda: (program(SHRINK), drawn(SHRINK)),
    "integer": lambda: (middle(), vectors_of_middle()),
}


@pytest.mark.proof
@pytest.mark.parametrize("language", GIVEN)
def test_circuits_and_proofs_are_the_integers(language: str) -> None:
    made, vectors = GIVEN[language]()
    assert check_agreement(made, vectors).undefined == 0
    assert agree(made, vectors, [Plonkish(made)]).mismatches == 0
    proved(committed_inputs(made), vectors[0])


@pytest.mark.rtl
@pytest.mark.parametrize("language", GIVEN)
def test_hardware_is_the_integers(language: str) -> None:
    made, vectors = GIVEN[language]()
    frames = {name: np.stack([vector[name] for vector in vectors]) for name in vectors[0]}
    for schedule in (parallel.schedule, folded.schedule):
        assert check_design(schedule(made), made, frames, backpressure=1).mismatches == 0


def test_the_middle_is_neither_end() -> None:
    inputs = {"x": [1, 5, 0, -3], "y": [2, 4, 0, 7], "z": [3, 3, 1, -3]}
    found = integer.run(middle(), raw({name: np.array(row) for name, row in inputs.items()}))
    assert found["y"].tolist() == [2, 4, 0, -3]


def test_the_derivative_is_the_slope() -> None:
    arrow = generator(SoftShrink(0.5), SHRINK.sources[0].array)
    x = np.array([[-2.0, -0.25], [0.25, 0.75], [1.5, -0.625]])
    (found,) = evaluate(reverse_derivative(arrow), [x, np.ones_like(x)])
    assert np.array_equal(found, np.abs(x) > 0.5)


def test_saved_programs_hold_them(tmp_path: Path) -> None:
    for made in (program(SHRINK), middle()):
        save(made, tmp_path / "program.arrow")
        assert program_digest(load(tmp_path / "program.arrow", integer=True)) == program_digest(made)
