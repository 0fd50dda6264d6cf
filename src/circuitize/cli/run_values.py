"""What a run is proved or checked with besides its program: a seed, a dataset, and scalars out of a schedule."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from circuitize.api.values import given_values, require_values, rounded
from circuitize.circuits.archives import Wanted, read_npz
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.exact import exact_number, units, written
from circuitize.circuits.program import Port, Program, Role
from circuitize.frontends.datasets import Recipe

from .loading import run_file
from .output import remark

if TYPE_CHECKING:
    from circuitize.provers.tensor.runs.setting import Scalars

Integers = NDArray[np.int64]


def seed_bytes(text: str) -> bytes:
    """The seed of --seed HEX. Raises CircuitizeError for anything else."""
    digits = text.removeprefix("0x")
    if not re.fullmatch(r"([0-9a-fA-F]{2}){1,64}", digits):
        raise CircuitizeError(f"--seed: expected 1 to 64 bytes in hexadecimal, found {text!r}; take 32 from a beacon")
    return bytes.fromhex(digits)


def from_step(first: int) -> str:
    """What is said beside a number of steps, where they are not the first of a training."""
    return f", from step {first:,} on," if first > 1 else ""


def dataset(program: Program, path: Path | None) -> dict[str, Integers]:
    """The tensors of a dataset by the names of data inputs: out of an .npz file, or all examples of the program.

    A file holds for each data input an array whose first axis is the example, in place of the batch: real values.
    """
    from circuitize.provers.tensor.dataset import batch_ports, whole

    ports = batch_ports(program)
    given: Mapping[str, Any]
    if path is not None:
        given, where = read_npz(path, rows_of(ports)), str(path)
    elif program.examples:
        where = "the program's examples"
        given = {p.name: np.concatenate([np.asarray(batch[p.name]) for batch in program.examples]) for p in ports}
    else:
        raise CircuitizeError("expected a dataset, found none and a program without examples; give --dataset FILE.npz")
    missing = [port.name for port in ports if port.name not in given]
    if missing:
        raise CircuitizeError(f"{where}: expected an array {missing[0]!r}, found {sorted(given)}; add it")
    counts = {port.name: np.asarray(given[port.name]).shape[:1] for port in ports}
    if len(set(counts.values())) != 1 or () in counts.values() or (0,) in counts.values():
        raise CircuitizeError(
            f"{where}: expected as many examples in every array, found {counts}; give each its own row"
        )
    size = counts[ports[0].name][0]
    return rounded([whole(port, size) for port in ports], given, where, remark)


def rows_of(ports: Sequence[Port]) -> Wanted:
    """Which arrays of a file may be datasets of these ports: any number of rows of their shape."""
    shapes = {port.name: port.format.shape[1:] for port in ports if port.format is not None}
    return lambda name, shape: len(shape) > 0 and shapes.get(name) == shape[1:]


def initial_values(program: Program, paths: Sequence[Path] | None, raw: bool = False) -> dict[str, Integers]:
    """What a run begins with: everything held, out of .npz files, or of the program's first example."""
    where, given = given_values(program, paths, remark, raw)
    ports = [port for port in program.inputs if port.held]
    return rounded(ports, require_values(ports, given, where), where, remark)


def scalars(program: Program, schedule: str | None, constants: Sequence[str]) -> Scalars:
    """The scalars that a run is proved with: by a schedule, by constants, or as all examples of the program have them.

    `remark` tells which constants are rounded to their formats.
    """
    fixed = _constants(program, constants)
    for port in _scalar_ports(program):
        if port.name in fixed:
            _say_rounded(port, fixed[port.name])
        elif schedule is None:
            name = port.name
            found = {float(np.asarray(batch[name])) for batch in program.examples}
            if len(found) != 1:
                raise CircuitizeError(
                    f"expected the scalar {name!r} for each step, found {len(found)} values in the examples; give "
                    f"--scalar {name}=VALUE, or --schedule FILE.py:NAME"
                )
            fixed[name] = Fraction(found.pop())
    return _by_step(schedule, fixed)


def required_scalars(
    program: Program, schedule: str | None, constants: Sequence[str]
) -> tuple[Scalars, frozenset[str]]:
    """The scalars that a verifier requires, and the names of those of which it says nothing: the run states them.

    A schedule says all that constants do not. Never out of the program's examples, which its author chose. Raises
    CircuitizeError for a constant that is no value of its format.
    """
    fixed = _constants(program, constants)
    ports = {port.name: port for port in _scalar_ports(program)}
    for name, number in fixed.items():
        if (format := ports[name].format) is not None:
            units(f"--scalar {name}", format, np.array(number, dtype=object))
    left = frozenset() if schedule is not None else frozenset(ports) - set(fixed)
    return _by_step(schedule, fixed), left


def _by_step(schedule: str | None, fixed: Mapping[str, Fraction]) -> Scalars:
    follow = _schedule(schedule) if schedule is not None else None
    return lambda step: {**(follow(step) if follow is not None else {}), **fixed}


def _scalar_ports(program: Program) -> list[Port]:
    return [port for port in program.inputs if port.role is Role.SCALAR]


def _constants(program: Program, texts: Sequence[str]) -> dict[str, Fraction]:
    """What --scalar NAME=VALUE says, by name."""
    names = [port.name for port in _scalar_ports(program)]
    found: dict[str, Fraction] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or name not in names:
            raise CircuitizeError(f"--scalar: expected NAME=VALUE with a name among {names}, found {text!r}")
        if name in found:
            raise CircuitizeError(f"--scalar: expected each scalar once, found {name} twice; give it once")
        found[name] = exact_number(f"--scalar {name}", value)
    return found


def _say_rounded(port: Port, number: Fraction) -> None:
    bits = port.format.fraction_bits if port.format is not None else 0
    scaled = number * Fraction(2) ** bits
    if scaled.denominator != 1:
        remark(f"--scalar {port.name}: {number} was rounded, once, to its format: it is {written(round(scaled), bits)}")


def _schedule(text: str) -> Callable[[int], Mapping[str, Fraction]]:
    """FILE.py:NAME: a Recipe, or a function from the step 1, 2, ... to the scalars by name; NAME.KEY out of a dict."""
    path, _, name = text.rpartition(":")
    if not path.endswith(".py"):
        raise CircuitizeError(f"--schedule: expected FILE.py:NAME, found {text!r}")
    name, _, key = name.partition(".")
    found = getattr(run_file(Path(path)), name, None)
    if key:
        found = found.get(key) if isinstance(found, Mapping) else None
    if isinstance(found, Recipe):
        recipe = replace(found)

        def of_recipe(step: int) -> Mapping[str, Fraction]:
            rate = recipe.learning_rate(step) if callable(recipe.learning_rate) else recipe.learning_rate
            return {name: Fraction(value) for name, value in recipe.optimizer.values(step, rate).items()}

        return of_recipe
    if callable(found):
        called = found

        def of_function(step: int) -> Mapping[str, Fraction]:
            try:
                return {str(name): Fraction(value) for name, value in called(step).items()}
            except (AttributeError, TypeError, ValueError) as error:
                raise CircuitizeError(f"{text}: expected numbers by name for step {step}, found {error}") from None

        return of_function
    raise CircuitizeError(f"{text}: expected a Recipe, or a function of the step, found {type(found).__name__}")
