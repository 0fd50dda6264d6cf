"""A program together with the one integer program that gives it its exact meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.encode import program_digest
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.phases import Phases
from circuitize.circuits.port import Port
from circuitize.circuits.program import IntegerProgram, Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import Given, to_integers, to_reals

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Exact:
    """A program as its author wrote it, the integer program to which it is quantized, and the digest of the integer
    program.
    """

    given: Program
    integer: IntegerProgram
    digest: str


def exact(program: Program | Exact, phases: Phases) -> Exact:
    """Quantize a program of the real language; a program of the integer language stays unchanged.

    Raise CircuitizeError for an object that is not a program, and for the reasons for which `quantize` raises it.
    """
    if isinstance(program, Exact):
        return program
    if not isinstance(program, Program):
        raise CircuitizeError(f"expected a Program, found {type(program).__name__}; see training_step")
    with phases.phase("quantize", "quantizing"):
        integer = quantize(program)
        return Exact(program, integer, program_digest(integer))


def integers_of(
    program: Program, inputs: Mapping[str, Given] | None, wanted: Sequence[Port[Fixed]] | None = None
) -> dict[str, Integers]:
    """Return input values as integers of the inputs' formats, each rounded once; the default values are those of the
    first example.

    The returned integers are those of all inputs, or only of the inputs named in `wanted`. Raise CircuitizeError for a
    missing or an unknown input name, and for values that do not fit the input's format.
    """
    if inputs is None and not program.examples:
        raise CircuitizeError("expected inputs, found none and a program without examples; give inputs by name")
    given = program.examples[0] if inputs is None else inputs
    names = [port.name for port in program.inputs]
    unknown = sorted(set(given) - set(names)) if inputs is not None else []
    if unknown:
        raise CircuitizeError(f"expected inputs among {names}, found {unknown[0]!r}; remove or rename it")
    ports = program.inputs if wanted is None else wanted
    missing = [port.name for port in ports if port.name not in given]
    if missing:
        raise CircuitizeError(f"expected a value for input {missing[0]!r}, found {sorted(given)}; add it")
    return {port.name: to_integers(port, given[port.name], "inputs") for port in ports}


def reals_of(ports: tuple[Port[Fixed], ...], values: Mapping[str, Integers]) -> dict[str, Reals]:
    """Return, by port name, the real numbers that the ports' integers stand for."""
    return {port.name: np.asarray(to_reals(port.format, values[port.name])) for port in ports}
