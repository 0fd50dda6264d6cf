"""The first decision about a design: the number formats, which fix the integer program and its errors against the real
program.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.calibrate import example_inputs
from circuitize.circuits.encode import program_digest
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.program import IntegerProgram, Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.values import Given, to_reals
from circuitize.sims import integer, real

from .design import Design
from .quantities import ERROR, SHARE, WORST

BITS = range(4, 19)
"""The numbers of fraction bits that are tried, each with fewer, as many and more significant bits"""

APART = (0, 3, -3)

Examples = Sequence[Mapping[str, Given]]
Reals = dict[str, NDArray[np.float64]]


def errors(program: IntegerProgram, examples: Examples, exact: Sequence[Reals]) -> dict[str, float]:
    """Return the errors of an integer program's outputs against float64 on examples, by quantity: for all outputs
    together, and for each output.

    The quantity `worst` is the greatest difference on any example, which is a measurement; `error` is the bound that
    nine examples in ten do not exceed, which predicts the error on similar examples. Raise Undefined if the integer
    program has no value on an example.
    """
    names = [port.name for port in program.outputs]
    found = np.zeros((len(examples), len(names)))
    for row, (batch, wanted) in enumerate(zip(examples, exact, strict=True)):
        made = integer.run(program, {port.name: batch[port.name] for port in program.inputs})
        for column, port in enumerate(program.outputs):
            difference = np.abs(to_reals(port.format, made[port.name]) - wanted[port.name])
            found[row, column] = difference.max(initial=0.0)
    columns = {"": found.max(axis=1), **{f":{name}": found[:, column] for column, name in enumerate(names)}}
    within = {ERROR + name: np.quantile(own, SHARE, method="higher") for name, own in columns.items()}
    return {name: float(value) for name, value in within.items()} | {
        WORST + name: float(own.max()) for name, own in columns.items()
    }


def exact_outputs(program: Program, examples: Examples) -> list[Reals]:
    """Return the outputs of a program in float64 on examples whose inputs are rounded once to their formats, as the
    integer program rounds them.
    """
    names = [port.name for port in program.inputs]
    entering = (example_inputs(program, batch, f"example {number}") for number, batch in enumerate(examples))
    return [real.run(program, dict(zip(names, values, strict=True))) for values in entering]


def widths(bits: Sequence[int]) -> list[tuple[int, int]]:
    """Return the numbers of fraction bits and significant bits to try, the middle ones of each range first, so that the
    first few already show most of the trade-off.
    """
    order: list[int] = []
    parts = [list(bits)]
    while parts:
        part = parts.pop(0)
        if part:
            middle = len(part) // 2
            order.append(part[middle])
            parts += [part[:middle], part[middle + 1 :]]
    return [(count, count + apart) for apart in APART for count in order if count + apart > 0]


class Formats:
    """The design problem of formats: the integer programs that a real program becomes with more and with fewer bits,
    each listed once.

    If the program to plan is already an integer program, its formats are fixed, and no error is measured.
    """

    def __init__(self, program: Program, bits: Sequence[int], examples: Examples) -> None:
        self.program, self.bits, self.examples = program, bits, examples
        self.refused: dict[str, int] = {}
        """The reasons why some formats are impossible for this program, and how many of them."""
        self._made: list[Design] | None = None

    def __iter__(self) -> Iterator[Design]:
        if isinstance(self.program, IntegerProgram):
            yield Design(self.program)
            return
        if self._made is not None:
            yield from self._made
            return
        made: list[Design] = []
        exact, seen = exact_outputs(self.program, self.examples), set[str]()
        given = self.program.precision
        for fraction, significant in [(given.fraction_bits, given.significant_bits), *widths(self.bits)]:
            precision = replace(given, fraction_bits=fraction, significant_bits=significant)
            try:
                integers = quantize(replace(self.program, precision=precision))
                digest = program_digest(integers)
                if digest in seen:
                    continue
                seen.add(digest)
                takes = errors(integers, self.examples, exact)
            except CircuitizeError as error:
                self.refused[str(error)] = self.refused.get(str(error), 0) + 1
                continue
            choices = {"fraction_bits": fraction, "significant_bits": significant}
            made.append(Design(integers).decided(choices, takes))
            yield made[-1]
        self._made = made
