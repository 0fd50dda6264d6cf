"""A product of two private matrices, 256 x 256 x 256, with eight-bit entries and an exact result; proofs show
commitments to all three matrices.

circuitize compile examples/matmul.py:product --target plonkish -o circuit
circuitize prove    examples/matmul.py:product --prover halo2 --keys keys -o proof
"""

import numpy as np

from circuitize.circuits.builder import generator
from circuitize.circuits.integers import Contract
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed, signed

SIZE = 256
ENTRIES = signed((SIZE, SIZE), bits=8, fraction_bits=7)


def product() -> IntegerProgram:
    """Return a program for C = A B, whose proofs show nothing but commitments."""
    arrow = generator(Contract("ij,jk->ik"), ENTRIES, ENTRIES)
    (target,) = arrow.target
    assert isinstance(target, Fixed)
    inputs = tuple(Port(name, Visibility.COMMITTED, ENTRIES) for name in ("left", "right"))
    random = np.random.default_rng(0)
    example = {port.name: random.integers(-128, 128, (SIZE, SIZE)) / 128.0 for port in inputs}
    return IntegerProgram(arrow, inputs, (Port("product", Visibility.COMMITTED, target),), (example,))
