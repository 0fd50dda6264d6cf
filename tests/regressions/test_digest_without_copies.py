"""The digest of a program was made of three copies of its constants, of which a saved program may have 128 MiB."""

import hashlib
import tracemalloc

import numpy as np
from r1cs_programs import integer_type

from circuitize.circuits.builder import Builder
from circuitize.circuits.encode import digest, encode, program_digest
from circuitize.circuits.integers import Constant
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import Program

MEBIBYTE = 1 << 20


def test_constants_are_hashed_where_they_lie() -> None:
    builder = Builder()
    wire = builder.add(Constant.of(np.arange(4 * MEBIBYTE)))
    arrow = builder.build([wire])
    program = Program(arrow, (), (Port("y", Visibility.PUBLIC, integer_type(arrow.types[0])),))
    expected = hashlib.sha256(encode(arrow)).hexdigest()
    tracemalloc.start()
    try:
        assert digest(arrow) == expected
        program_digest(program)
        assert tracemalloc.get_traced_memory()[1] < MEBIBYTE
    finally:
        tracemalloc.stop()
