"""Constraint systems in the JSON format of `snarkjs r1cs export json`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from circuitize.circuits.files import write_whole

from .system import ConstraintSystem, Matrix

CHUNK = 1 << 12
"""How many constraints are written to a JSON file at a time."""


def write_json(path: Path, system: ConstraintSystem) -> None:
    """Write a constraint system to a file as JSON, with one constraint per line; the file appears complete or not at
    all.

    The JSON of a constraint system is meant for reading and for small tools, and takes up to a hundred bytes per term.
    In the JSON of a constraint system, coefficients are in [0, prime) and are written as strings, like every number of
    the field.
    """
    write_whole(path, _chunks(system))


def _chunks(system: ConstraintSystem) -> Iterator[bytes]:
    head = {
        "n8": system.field.bytes,
        "prime": str(system.field.prime),
        "nVars": system.wires,
        "nOutputs": system.public_outputs,
        "nPubInputs": system.public_inputs,
        "nPrvInputs": system.private_inputs,
        "nLabels": system.wires,
        "nConstraints": system.constraints,
        "useCustomGates": False,
    }
    yield json.dumps(head)[:-1].encode() + b', "constraints": ['
    for first in range(0, system.constraints, CHUNK):
        last = min(first + CHUNK, system.constraints)
        columns = [_combinations(system, matrix, first, last) for matrix in (system.a, system.b, system.c)]
        lines = (f"\n[{a},{b},{c}]" for a, b, c in zip(*columns, strict=True))
        yield ("," if first else "").encode() + ",".join(lines).encode()
    yield b'],\n"map": ['
    for first in range(0, system.wires, CHUNK):
        labels = ",".join(map(str, range(first, min(first + CHUNK, system.wires))))
        yield ("," if first else "").encode() + labels.encode()
    yield b'], "customGates": [], "customGatesUses": []}\n'


def _combinations(system: ConstraintSystem, matrix: Matrix, first: int, last: int) -> Iterator[str]:
    """Yield each row of a matrix as a JSON object from wires to coefficients."""
    offsets = matrix.offsets[first : last + 1]
    codes, inverse = np.unique(matrix.coefficients[offsets[0] : offsets[-1]], return_inverse=True)
    texts = [f'"{number}"' for number in system.field.to_integers(system.coefficient_limbs(codes))]
    wires = matrix.wires[offsets[0] : offsets[-1]].tolist()
    terms = [f'"{wire}":{texts[place]}' for wire, place in zip(wires, inverse.tolist(), strict=True)]
    bounds = (offsets - offsets[0]).tolist()
    return (f"{{{','.join(terms[begin:end])}}}" for begin, end in pairwise(bounds))
