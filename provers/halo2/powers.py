"""The powers of tau of a ceremony, from a prepared .ptau file of snarkjs: halo2 needs only the first powers, and tau in
G2.
"""

from __future__ import annotations

from pathlib import Path
from struct import pack, unpack_from

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.r1cs.sections import SectionFile
from circuitize.circuits.errors import FormatError
from circuitize.provers.groth16.config import COORDINATE_PRIME

Bytes = NDArray[np.uint8]

G1, G2, WIDTH = 64, 128, 32
TAU_G1, TAU_G2, LAGRANGE = 2, 3, 12


def read_powers(path: Path, k: int) -> tuple[Bytes, Bytes, Bytes]:
    """Return the first 2^k powers of tau in G1, the Lagrange basis for 2^k points, and tau in G2, in Montgomery form.

    The argument `path` is the path of a file that `snarkjs powersoftau prepare phase2` wrote, for 2^k or more rows.
    Raise FormatError, with a message of one line, for a damaged file, another curve, too few powers of tau, or a file
    that is not prepared. The points of a .ptau file are checked when keys are made from it: each point must be in its
    group, the powers must be those of a single secret, and the Lagrange basis must belong to them.

    Soundness: the powers of tau are sound if at least one contributor destroyed its secret, which no file can show:
    check the file first, as `snarkjs powersoftau verify` does, or by a published hash.
    """
    file = SectionFile(path, b"ptau", 1)
    header = file.section(1).tobytes()
    curve = pack("<I", WIDTH) + COORDINATE_PRIME.to_bytes(WIDTH, "little")
    if len(header) != len(curve) + 8 or not header.startswith(curve):
        _refuse(path, "powers of tau over the curve BN254", "another curve")
    power = unpack_from("<I", header, len(curve))[0]
    if not k <= power <= 28:
        _refuse(path, f"powers of tau for at least 2^{k} rows", f"for 2^{power}")
    if LAGRANGE not in file.sections:
        _refuse(path, "powers of tau after `snarkjs powersoftau prepare phase2`", "those before it")
    size = 1 << k
    powers = file.section(TAU_G1, G1 * ((2 << power) - 1))[: G1 * size]
    tau = file.section(TAU_G2, G2 * (1 << power))[G2 : 2 * G2]
    basis = file.section(LAGRANGE, G1 * ((4 << power) - 1))[G1 * (size - 1) : G1 * (2 * size - 1)]
    return powers, basis, tau


def _refuse(path: Path, expected: str, found: str) -> None:
    raise FormatError(
        f"{path}: expected {expected}, found {found}; remedy: give the prepared .ptau of a ceremony with more powers"
    )
