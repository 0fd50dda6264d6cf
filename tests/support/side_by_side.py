"""Small programs side by side in one: one design, one simulation, one proof tries them all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.hypergraph import tensor
from circuitize.circuits.port import Port
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed

Integers = NDArray[np.int64]


def side_by_side(programs: Sequence[IntegerProgram]) -> IntegerProgram:
    """Port x of program k becomes x_k, so that a difference names the program."""

    def named(ports: Sequence[Port[Fixed]], k: int) -> list[Port[Fixed]]:
        return [replace(port, name=f"{port.name}_{k}") for port in ports]

    return IntegerProgram(
        tensor(*(program.arrow for program in programs)),
        tuple(port for k, program in enumerate(programs) for port in named(program.inputs, k)),
        tuple(port for k, program in enumerate(programs) for port in named(program.outputs, k)),
    )


def values_of(each: Sequence[Mapping[str, Integers]]) -> dict[str, Integers]:
    """Values by port, or frames of them, of every program: those of all, side by side."""
    return {f"{name}_{k}": values for k, given in enumerate(each) for name, values in given.items()}
