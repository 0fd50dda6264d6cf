"""What is common to programs of other systems: formats, visibilities and models of them."""

from typing import Any

import numpy as np
import pytest

import circuitize as cz
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.port import Role, Visibility
from circuitize.circuits.types import Array
from circuitize.frontends.formats import Format
from circuitize.frontends.imported import Imported, format_for, model
from circuitize.frontends.trace import trace

WEIGHT = np.random.default_rng(0).normal(size=(3, 2))


def product(batch: Array) -> Imported:
    made = trace(lambda x, weight: x @ weight, batch, Array((3, 2)))
    return Imported(made, ("x", "weight"), ("y",), {"weight": WEIGHT})


def test_a_program_says_role_format_and_visibility_of_each_wire() -> None:
    wide = Format.signed(20, 10)
    made = product(Array((4, 3))).program({"x": wide}, visibility={"x": "private"}, examples=[{"x": np.ones((4, 3))}])
    x, weight = made.inputs
    assert (x.format, x.visibility, x.role) == (wide.of((4, 3)), Visibility.PRIVATE, Role.DATA)
    assert (weight.format, weight.visibility, weight.role) == (
        format_for(WEIGHT).of((3, 2)),
        Visibility.COMMITTED,
        Role.PARAMETER,
    )
    assert made.outputs[0].visibility is Visibility.PUBLIC and made.examples[0]["weight"] is WEIGHT


def test_what_is_renewed_leaves_as_it_enters() -> None:
    made = Imported(trace(lambda w, x: w - x, Array((2,)), Array((2,))), ("w", "x"), ("w",), {"w": np.ones(2)})
    program = made.program()
    assert program.outputs[0] == program.inputs[0]


def test_a_model_finds_its_parameters_wherever_they_enter_and_starts_from_their_values() -> None:
    ours = model({"weight": WEIGHT}, product, (3,), "product")
    assert np.abs(ours.initial(0)["weight"] - WEIGHT).max() <= 2.0**-15
    step = cz.training_step(ours, cz.mean_squared_error, cz.SGD(), 4)
    assert [port.name for port in step.inputs] == ["weight", "inputs", "targets", "learning_rate"]


@pytest.mark.parametrize("what", ["formats", "visibility"])
def test_a_name_of_no_wire_is_refused(what: str) -> None:
    given: dict[str, Any] = {what: {"z": Format.signed(8, 4) if what == "formats" else "public"}}
    with pytest.raises(CircuitizeError, match=rf"{what}: expected names among \['weight', 'x'.*found 'z'; correct it"):
        product(Array((4, 3))).program(**given)


def test_a_model_has_one_input_and_one_output() -> None:
    twice = Imported(trace(lambda x, y: x + y, Array((2, 3)), Array((2, 3))), ("x", "y"), ("z",))
    with pytest.raises(CircuitizeError, match="expected one input besides parameters and one output, found 2 and 1"):
        model({}, lambda batch: twice, (3,), "sum").arrow(Array((2, 3)))


@pytest.mark.parametrize(("values", "bits"), [([0.0], 17), ([1.0], 17), ([1.5, -3.0], 18), ([100.0], 23)])
def test_a_format_holds_twice_the_values(values: list[float], bits: int) -> None:
    assert format_for(values) == Format.signed(bits, 14)
    assert 2 * max(map(abs, values)) * 2**14 <= format_for(values).high + 1
