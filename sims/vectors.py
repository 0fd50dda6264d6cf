"""Inputs for trying a program: its examples, values near them, ends of the intervals, and uniform values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.values import to_integers

Vector = dict[str, NDArray[np.int64]]


def inputs_to_try(
    program: IntegerProgram, count: int, random: np.random.Generator, examples: Sequence[Vector] | None = None
) -> Iterator[Vector]:
    """Yield `count` inputs, integers by name: examples, values near them, ends of the intervals and uniform values in
    turn, or only the last two kinds if there are no examples.

    The argument `examples` gives the program's own examples, or integers that are used in their place.
    """
    examples = integer_examples(program) if examples is None else examples
    kinds = [_example, _near, _near, _ends, _uniform] if examples else [_ends, _uniform]
    for number in range(count):
        example = examples[number // len(kinds) % len(examples)] if examples else {}
        yield kinds[number % len(kinds)](program, example, random)


def integer_examples(program: IntegerProgram, held: Mapping[str, NDArray[np.int64]] | None = None) -> list[Vector]:
    """Return the program's examples as integers, where inputs in `held` have the values given there."""
    known = held or {}
    return [
        {
            port.name: known[port.name] if port.name in known else to_integers(port, batch[port.name], f"example {n}")
            for port in program.inputs
        }
        for n, batch in enumerate(program.examples)
    ]


def _example(program: IntegerProgram, example: Vector, random: np.random.Generator) -> Vector:
    return example


def _near(program: IntegerProgram, example: Vector, random: np.random.Generator) -> Vector:
    """Return an example with about one value in thirty-two moved, by at most a sixteenth of itself or by one unit."""
    moved = {}
    for name, low, high in _intervals(program):
        reach = np.maximum(np.abs(example[name]) >> 4, 1)
        chosen = random.integers(32, size=reach.shape) == 0
        moved[name] = np.clip(example[name] + chosen * random.integers(-reach, reach + 1), low, high)
    return moved


def _ends(program: IntegerProgram, example: Vector, random: np.random.Generator) -> Vector:
    """Return the ends of the intervals and their neighbours, 0 and 1 and -1, chosen at random."""
    made: Vector = {}
    shapes = {port.name: port.format.shape for port in program.inputs if port.format is not None}
    for name, low, high in _intervals(program):
        awkward = [value for value in (low, low + 1, -1, 0, 1, high - 1, high) if low <= value <= high]
        made[name] = random.choice(np.array(awkward, np.int64), size=shapes[name])
    return made


def _uniform(program: IntegerProgram, example: Vector, random: np.random.Generator) -> Vector:
    shapes = {port.name: port.format.shape for port in program.inputs if port.format is not None}
    return {
        name: np.asarray(random.integers(low, high, size=shapes[name], endpoint=True))
        for name, low, high in _intervals(program)
    }


def _intervals(program: IntegerProgram) -> list[tuple[str, int, int]]:
    return [(port.name, port.format.low, port.format.high) for port in program.inputs if port.format is not None]
