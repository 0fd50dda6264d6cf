"""The start of a run: a program that checks that the initial values are in format, or that they are those of a public
start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from circuitize.backends.tensor.forms import Integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.integers.arithmetic import Subtract
from circuitize.circuits.integers.check import Check
from circuitize.circuits.integers.constant import Constant
from circuitize.circuits.port import Port
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed

MOST_SEED = 64
"""The most bytes of a seed, enough for the output of any hash."""


@dataclass(frozen=True)
class Start:
    """The public start of a run: the values of all held ports, which prover and verifier each draw from a public
    seed.
    """

    seed: bytes
    values: Mapping[str, Integers]

    def __post_init__(self) -> None:
        if not 1 <= len(self.seed) <= MOST_SEED:
            raise CircuitizeError(
                f"expected an initial seed of 1 to {MOST_SEED} bytes, found {len(self.seed)}; take 32 from a beacon"
            )


def formats_program(held: Sequence[Port[Fixed]], tensors: Sequence[Port[Fixed]], start: Start | None) -> IntegerProgram:
    """Return the program whose proof shows that the initial values of a run and its dataset are in format.

    For a public start, the program also checks that each held value equals the value of the start.
    """
    ports = (*held, *tensors)
    builder = Builder()
    for port in ports:
        wire = builder.input(port.format)
        if start is not None and port in held:
            known = builder.add(Constant.of(start.values[port.name], port.format.fraction_bits))
            builder.add(Check(0, 0), builder.add(Subtract(), wire, known))
    return IntegerProgram(builder.build([]), ports, ())
