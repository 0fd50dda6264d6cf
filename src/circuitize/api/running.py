"""Running a program once, in exact integers or in float64, with real numbers in and out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.phases import Phases
from circuitize.circuits.program import Program, as_integers
from circuitize.circuits.values import Given, raw
from circuitize.sims import integer, real

from .exact import Reals, exact, integers_of, reals_of

EXECUTORS = ("integer", "real")


def run(
    program: Program, inputs: Mapping[str, Given] | None = None, executor: Literal["integer", "real"] = "integer"
) -> dict[str, Reals]:
    """Return a program's outputs by name, as the real numbers that they stand for; without `inputs`, the program runs
    on its first example.

    The executor named `integer` computes exactly what every target computes; the executor `real` computes in float64,
    with inputs that are rounded to their formats in the same way. Raise Undefined if the integer program has no value
    on the inputs.
    """
    if executor not in EXECUTORS:
        raise CircuitizeError(f"expected an executor among {', '.join(EXECUTORS)}, found {executor!r}; choose one")
    if executor == "integer":
        made = exact(program, Phases()).integer
        return reals_of(made.outputs, integer.run(made, raw(integers_of(made, inputs))))
    given = integers_of(program, inputs)
    if as_integers(program) is not None:
        raise CircuitizeError("expected a program of reals to run in float64, found one of integers; quantize it later")
    return real.run(program, reals_of(program.inputs, given))
