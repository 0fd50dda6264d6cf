"""The scalars of a run's steps: constants, and the scalars that a schedule changes from step to step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from circuitize.circuits.errors import CircuitizeError, excerpt
from circuitize.circuits.exact import units, written
from circuitize.circuits.phases import Progress
from circuitize.circuits.port import Port, Role
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import Given, Raw
from circuitize.frontends.datasets import Recipe
from circuitize.provers.tensor.runs.scalars import Scalars

from .spelling import Spelling

Schedule = Recipe | Callable[[int], Mapping[str, Given]]
"""A schedule gives the scalars of step 1, 2, ...: it is a recipe, or a function from the step to numbers by name."""


def by_step(schedule: object, where: str = "schedule") -> Scalars:
    """Return the scalars that a schedule gives for each step, as exact numbers. Raise CircuitizeError, naming `where`
    and the step, if the schedule gives something other than scalars.
    """
    if isinstance(schedule, Recipe):
        recipe = replace(schedule)

        def of_recipe(step: int) -> Mapping[str, Fraction]:
            rate = recipe.learning_rate(step) if callable(recipe.learning_rate) else recipe.learning_rate
            return {name: Fraction(value) for name, value in recipe.optimizer.values(step, rate).items()}

        return of_recipe
    if callable(schedule):
        called = schedule

        def of_function(step: int) -> Mapping[str, Fraction]:
            try:
                return {str(name): Fraction(value) for name, value in called(step).items()}
            except (AttributeError, TypeError, ValueError) as error:
                raise CircuitizeError(f"{where}: expected numbers by name for step {step}, found {error}") from None

        return of_function
    raise CircuitizeError(f"{where}: expected a Recipe, or a function of the step, found {type(schedule).__name__}")


def proved_scalars(
    program: IntegerProgram,
    given: Mapping[str, Given] | None,
    schedule: Schedule | None,
    say: Progress,
    spelling: Spelling,
) -> Scalars:
    """Return the scalars with which a run is proved: the given constants, the scalars of the schedule, and for the rest
    the values that all examples share.

    The callback `say` receives a remark about each given scalar that is rounded to its format.
    """
    fixed = _exact_numbers(program, given, spelling)
    for name, port in _ports(program).items():
        if name in fixed:
            bits = _format(port).fraction_bits
            scaled = fixed[name] * Fraction(2) ** bits
            if scaled.denominator != 1:
                now = written(round(scaled), bits)
                say(f"{spelling.scalar(name)}: {fixed[name]} was rounded, once, to its format: it is {now}")
        elif schedule is None:
            found = {float(np.asarray(batch[name])) for batch in program.examples}
            if len(found) != 1:
                raise CircuitizeError(
                    f"expected the scalar {name!r} for each step, found {len(found)} values in the examples; give "
                    f"{spelling.scalar(name, 'VALUE')}, or {spelling.schedule}"
                )
            fixed[name] = Fraction(found.pop())
    return _together(schedule, fixed)


def required_scalars(
    program: IntegerProgram, given: Mapping[str, Given] | None, schedule: Schedule | None, spelling: Spelling
) -> tuple[Scalars, frozenset[str]]:
    """Return the scalars that a verifier requires of a run, and the names of the scalars for which the verifier accepts
    what the run states.

    A schedule determines every scalar for which no constant is given. The scalars that a verifier requires never come
    from the program's examples, because the program's author chose these. Raise CircuitizeError for a number that the
    scalar's format cannot represent.
    """
    fixed, ports = _exact_numbers(program, given, spelling), _ports(program)
    for name, number in fixed.items():
        units(spelling.scalar(name), _format(ports[name]), np.array(number, dtype=object))
    left = frozenset() if schedule is not None else frozenset(ports) - set(fixed)
    return _together(schedule, fixed), left


def _together(schedule: Schedule | None, fixed: Mapping[str, Fraction]) -> Scalars:
    follow = by_step(schedule) if schedule is not None else None
    return lambda step: {**(follow(step) if follow is not None else {}), **fixed}


def _ports(program: IntegerProgram) -> dict[str, Port[Fixed]]:
    return {port.name: port for port in program.inputs if port.role is Role.SCALAR}


def _format(port: Port[Fixed]) -> Fixed:
    return port.format


def _exact_numbers(
    program: IntegerProgram, given: Mapping[str, Given] | None, spelling: Spelling
) -> dict[str, Fraction]:
    """Return the given scalars by name, as exact fractions."""
    ports = _ports(program)
    if not isinstance(given, Mapping | None):
        raise CircuitizeError(
            f"scalars: expected numbers by name, found {type(given).__name__}; a function of the step, or a Recipe, is "
            "a schedule"
        )
    unknown = next((name for name in given or {} if name not in ports), None)
    if unknown is not None:
        raise CircuitizeError(f"scalars: expected names among {list(ports)}, found {excerpt(unknown)}; rename it")
    return {name: _exact_number(spelling.scalar(name), ports[name], value) for name, value in (given or {}).items()}


def _exact_number(where: str, port: Port[Fixed], value: Any) -> Fraction:
    try:
        if isinstance(value, Raw):
            return Fraction(value.array.item()) / Fraction(2) ** _format(port).fraction_bits
        return Fraction(value.item() if isinstance(value, np.ndarray | np.generic) else value)
    except (TypeError, ValueError, ArithmeticError):
        raise CircuitizeError(f"{where}: expected a finite number, found {excerpt(value)}; give one") from None
