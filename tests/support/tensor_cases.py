"""Cases of every integer operation as programs that are proved, whole."""

from __future__ import annotations

import numpy as np
from integers_cases import cases
from operations.integer import Case, Integers
from r1cs_programs import single
from tensor_proofs import committed_inputs

from circuitize.circuits.program import IntegerProgram

SMALL = [case for case in cases() if sum(source.size for source in case.sources) <= 2000]
"""The larger contractions would take a verifier in plain Python too long."""


def program_of(case: Case) -> IntegerProgram:
    program = single(case.operation, *case.sources)
    return committed_inputs(program) if case.sources else program


def inputs_of(case: Case, program: IntegerProgram, random: np.random.Generator) -> dict[str, Integers]:
    drawn = case.draw(random) if case.sources else [np.array(1)]
    return dict(zip((port.name for port in program.inputs), drawn, strict=True))
