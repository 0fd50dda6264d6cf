"""A program's circuit and its witnesses, as every command that needs them makes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from circuitize.api.exact import Exact
from circuitize.circuits.program import Program
from circuitize.provers.statement import Key

from .output import Phases

if TYPE_CHECKING:
    from circuitize.backends.r1cs.emit import Emission

CIRCUIT_FILE = "circuit.r1cs"
WITNESS_FILE = "witness.wtns"
Integers = NDArray[np.int64]


def emit(loaded: Exact, phases: Phases) -> Emission:
    """Emit the constraint system . Raises CircuitizeError for a program that binds nothing."""
    from circuitize.backends.r1cs.emit import emit

    with phases.phase("circuit", "emitting constraints"):
        return emit(loaded.integer)


def trace(program: Program, inputs: Mapping[str, Integers]) -> list[Integers]:
    """The integer of every element of every wire; inputs are integers of their formats, as `program_inputs` gives them.

    Raises Undefined where the program has no value.
    """
    from circuitize.sims.integer import trace

    return trace(program, inputs)


def named_outputs(program: Program, values: Sequence[Integers]) -> dict[str, Integers]:
    """The outputs of a trace, by name."""
    wires = program.arrow.outputs.tolist()
    return {port.name: values[wire] for port, wire in zip(program.outputs, wires, strict=True)}


def witness(emission: Emission, values: Sequence[Integers], salts: Mapping[Key, int]) -> NDArray[np.uint64]:
    """The witness of a run, `uint64[wires, 4]`."""
    from circuitize.backends.r1cs.witness import random_challenge, witness

    return witness(emission.plan, values, named_salts(salts), random_challenge)


def named_salts(salts: Mapping[Key, int]) -> dict[str, int]:
    """Salts by the names that witness plans give them."""
    return {f"{side} {name}": salt for (side, name), salt in salts.items()}


def part_names(program: Program) -> list[str]:
    """What each operation of the integer arrow is called in .sym files: its part of the model and its name."""
    arrow = program.arrow
    return [f"{edge.provenance.part or 'unnamed'}.{edge.operation.name}.{edge.index}" for edge in arrow.edges()]
