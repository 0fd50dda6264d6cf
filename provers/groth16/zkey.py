"""Proving keys from a public ceremony: a .zkey file of snarkjs is checked against the powers of tau from which it was
made.
"""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from struct import pack, unpack_from
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from circuitize._native import groth16_ceremony_refusal
from circuitize.backends.r1cs.sections import SectionFile
from circuitize.backends.r1cs.system import ConstraintSystem
from circuitize.circuits.errors import FormatError
from circuitize.circuits.files import write_whole
from circuitize.provers.binding import digest_bytes
from circuitize.provers.keys import PROVING_FILE

from .config import COORDINATE_PRIME, SCALAR_PRIME, matrices
from .keys import ProvingKey

Bytes = NDArray[np.uint8]

CEREMONY = 2
G1, G2, WIDTH = 64, 128, 32
FROM_MONTGOMERY = pow(1 << 256, -1, COORDINATE_PRIME)
HEADER = 4 + WIDTH + 4 + WIDTH + 3 * 4
POINTS = {"alpha": G1, "beta in G1": G1, "beta": G2, "gamma": G2, "delta in G1": G1, "delta": G2}


class _Zkey(NamedTuple):
    """The sections of a .zkey file, whose lengths are checked; its points are in Montgomery form, and the point at
    infinity is stored as zeros.
    """

    file: SectionFile
    domain: int
    verifying: dict[str, bytes]
    inputs: Bytes
    a: Bytes
    b_g1: Bytes
    b_g2: Bytes
    c: Bytes
    h: Bytes


def import_zkey(system: ConstraintSystem, digest: str, zkey: Path, ptau: Path) -> ProvingKey:
    """Return the proving key in a Groth16 `.zkey` file of snarkjs, bound to `digest` and marked as the key of a
    ceremony.

    The argument `ptau` is the path of the prepared powers of tau (`snarkjs powersoftau prepare phase2`) with which the
    ceremony began. Every point of the key is compared, by random linear combinations, with the point that follows from
    `system` and the powers of tau, since a .zkey file does not contain the matrix C and names no program; a key for
    another program passes with probability 1 / r. Raise FormatError, with a message of one line, for a damaged file,
    another curve or proof system, another program, other powers of tau, or a key to which nobody has contributed.

    Soundness: the key of a ceremony is sound if in each phase at least one contributor destroyed its secret. Neither
    the powers of tau nor the key can show that a contributor destroyed its secret: check both files first, as `snarkjs
    powersoftau verify` and `snarkjs zkey verify` do, or by a published hash.
    """
    binding = digest_bytes(digest)
    arrays = matrices(system)
    rows, wires, public = len(arrays[0][0]) - 1, arrays[4], arrays[5]
    found = _read_zkey(zkey, rows, wires, public)
    powers = _read_powers(ptau, found.domain)
    header = pack("<16sII32sQ", b"circuitize-g16pk", 1, CEREMONY, binding, public)
    content = _proving_file(found, header, wires, rows, public)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / PROVING_FILE
        write_whole(path, [*content, _checksum(content)])
        try:
            key = ProvingKey.read(path)
        except FormatError as error:
            _refuse(zkey, "the key of this program", str(error).rpartition(" key: ")[2])
    reason = groth16_ceremony_refusal(key.native, arrays, powers)
    if reason is not None:
        _refuse(zkey, f"the key of this program and of {ptau}", reason)
    return key


def _refuse(path: Path, expected: str, found: str) -> NoReturn:
    raise FormatError(
        f"{path}: expected {expected}, found {found}; remedy: hold the ceremony for the circuit.r1cs that `circuitize "
        "compile` writes of this program, and give the .zkey and the prepared .ptau of that ceremony"
    )


def _read_zkey(path: Path, rows: int, wires: int, public: int) -> _Zkey:
    file = SectionFile(path, b"zkey", 1)
    protocol = int.from_bytes(file.section(1, 4).tobytes(), "little")
    if protocol != 1:
        _refuse(
            path, "a key for Groth16", {2: "one for PLONK", 10: "one for FFLONK"}.get(protocol, f"protocol {protocol}")
        )
    header = file.section(2).tobytes()
    _check_curve(file, header)
    if len(header) != HEADER + sum(POINTS.values()):
        file.fail(f"{HEADER + sum(POINTS.values())} bytes in section 2", f"{len(header)}")
    counts = unpack_from("<3I", header, HEADER - 12)
    domain = 1 << (rows + public).bit_length()
    if counts != (wires, public, domain):
        _refuse(
            path,
            f"the key of this program: {wires} wires, {public} publics, a domain of {domain}",
            f"{counts[0]} wires, {counts[1]} publics, a domain of {counts[2]}",
        )
    verifying, at = {}, HEADER
    for name, size in POINTS.items():
        verifying[name] = header[at : at + size]
        at += size
    return _Zkey(
        file,
        domain,
        verifying,
        file.section(3, G1 * (public + 1)),
        file.section(5, G1 * wires),
        file.section(6, G1 * wires),
        file.section(7, G2 * wires),
        file.section(8, G1 * (wires - public - 1)),
        file.section(9, G1 * domain),
    )


def _check_curve(file: SectionFile, header: bytes) -> None:
    """Raise FormatError unless a file states the primes of BN254, each after the number of bytes that it takes, 32."""
    for name, at, prime in (("q", 0, COORDINATE_PRIME), ("r", 4 + WIDTH, SCALAR_PRIME)):
        width = int.from_bytes(header[at : at + 4], "little")
        found = int.from_bytes(header[at + 4 : at + 4 + width], "little")
        if width != WIDTH or found != prime:
            _refuse(file.path, f"the curve BN254, its prime {name} {prime}", f"another curve, {found}")


def _read_powers(path: Path, domain: int) -> tuple[Bytes, Bytes, Bytes, Bytes, Bytes]:
    """Return the following points for a domain of powers: the powers of tau in G1 and in G2, these powers times alpha
    and times beta in G1, and the powers of tau in G1 over twice as many points.
    """
    file = SectionFile(path, b"ptau", 1)
    header = file.section(1).tobytes()
    if len(header) != 4 + WIDTH + 8 or header[: 4 + WIDTH] != pack("<I", WIDTH) + COORDINATE_PRIME.to_bytes(
        32, "little"
    ):
        _refuse(path, "powers of tau over the curve BN254", "another curve")
    power = unpack_from("<I", header, 4 + WIDTH)[0]
    if not domain.bit_length() - 1 <= power <= 28:
        _refuse(path, f"powers of tau for at least 2^{domain.bit_length() - 1} rows", f"for 2^{power}")
    if 12 not in file.sections:
        _refuse(path, "powers of tau after `snarkjs powersoftau prepare phase2`", "those before it")
    least = 2 << power
    tau_g1 = file.section(12, G1 * (2 * least - 1))
    others = [file.section(kind, size * (least - 1)) for kind, size in ((13, G2), (14, G1), (15, G1))]
    parts = [(tau_g1, G1), *zip(others, (G2, G1, G1), strict=True)]
    tau, tau_g2, alpha, beta = (part[(domain - 1) * size : (2 * domain - 1) * size] for part, size in parts)
    return tau, tau_g2, alpha, beta, tau_g1[(2 * domain - 1) * G1 : (4 * domain - 1) * G1]


def _proving_file(zkey: _Zkey, header: bytes, wires: int, rows: int, public: int) -> list[bytes]:
    """Return the content of a proving key's file up to its checksum, in pieces and without points at infinity."""
    a, b, c = (_present(points, G1) for points in (zkey.a, zkey.b_g1, zkey.c))
    verifying = zkey.verifying
    normal = b"".join(_normal_form(verifying[name]) for name in ("alpha", "beta", "gamma", "delta"))
    ends = _normal_form(verifying["beta in G1"]) + _normal_form(verifying["delta in G1"])
    return [
        header,
        pack("<5Q", wires, rows, len(a), len(b), len(c)),
        normal + _normal_form(zkey.inputs.tobytes()) + ends,
        a.tobytes(),
        _selected(zkey.a, G1, a),
        b.tobytes(),
        _selected(zkey.b_g1, G1, b),
        _selected(zkey.b_g2, G2, b),
        (c + np.uint32(public + 1)).tobytes(),
        _selected(zkey.c, G1, c),
        zkey.h.tobytes(),
    ]


def _checksum(content: list[bytes]) -> bytes:
    hasher = hashlib.sha256()
    for part in content:
        hasher.update(part)
    return hasher.digest()


def _present(points: Bytes, size: int) -> NDArray[np.uint32]:
    """Return the places of those points that are not at infinity."""
    return np.flatnonzero(points.reshape(-1, size).any(axis=1)).astype("<u4")


def _selected(points: Bytes, size: int, chosen: NDArray[np.uint32]) -> bytes:
    return points.reshape(-1, size)[chosen].tobytes()


def _normal_form(points: bytes) -> bytes:
    """Return coordinates converted out of Montgomery form; a coordinate that is not below the prime stays unchanged and
    is refused later.
    """
    coordinates = (int.from_bytes(points[at : at + WIDTH], "little") for at in range(0, len(points), WIDTH))
    return b"".join(
        (value * FROM_MONTGOMERY % COORDINATE_PRIME if value < COORDINATE_PRIME else value).to_bytes(WIDTH, "little")
        for value in coordinates
    )
