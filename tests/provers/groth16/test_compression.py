"""Compressed proofs: arkworks' own bytes, half the size, and nothing else decompresses."""

from __future__ import annotations

import pytest
from golden_files import GOLDEN

from circuitize.circuits.errors import FormatError
from circuitize.provers.groth16.compression import compress, decompress
from circuitize.provers.groth16.config import COORDINATE_PRIME as Q

GOLDEN_POINTS = bytes.fromhex((GOLDEN / "compressed_points.hex").read_text())
"""3 and 5 times the generators, each with its negative, G1 before G2, as arkworks writes them (a Rust test says so)."""


def points() -> tuple[list[bytes], list[bytes]]:
    """The compressed points of G1 and of G2."""
    first, second, at = [], [], 0
    for _ in range(2):
        first += [GOLDEN_POINTS[at : at + 32], GOLDEN_POINTS[at + 32 : at + 64]]
        second += [GOLDEN_POINTS[at + 64 : at + 128], GOLDEN_POINTS[at + 128 : at + 192]]
        at += 192
    return first, second


def proofs() -> list[bytes]:
    (g, minus_g, h, _), (p, minus_p, _, r) = points()
    return [g + p + h, minus_g + minus_p + g, h + r + minus_g, g + p + h + minus_g]


def test_points_of_arkworks_come_back_as_they_were() -> None:
    for content in proofs():
        found = decompress(content)
        assert len(found) == 2 * len(content)
        assert compress(found) == content


def test_decompressed_points_are_on_their_curves_and_negatives_differ_in_y() -> None:
    plain, negated = (decompress(content) for content in proofs()[:2])
    x, y = (int.from_bytes(plain[at : at + 32], "little") for at in (0, 32))
    assert y * y % Q == (x**3 + 3) % Q
    assert negated[:32] == plain[:32]
    assert int.from_bytes(negated[32:64], "little") == Q - y
    a0, a1, b0, b1 = (int.from_bytes(plain[at : at + 32], "little") for at in range(64, 192, 32))
    # y^2 (9 + u) = x^3 (9 + u) + 3
    square = ((b0 * b0 - b1 * b1) % Q, 2 * b0 * b1 % Q)
    cube = ((a0**3 - 3 * a0 * a1 * a1) % Q, (3 * a0 * a0 * a1 - a1**3) % Q)
    left = ((9 * square[0] - square[1]) % Q, (square[0] + 9 * square[1]) % Q)
    assert left == ((9 * cube[0] - cube[1] + 3) % Q, (cube[0] + 9 * cube[1]) % Q)


def test_what_is_no_point_is_refused() -> None:
    content = proofs()[0]
    with pytest.raises(FormatError, match="cut short"):
        decompress(content[:-1])
    with pytest.raises(FormatError, match="infinity"):
        decompress(content[:31] + bytes([content[31] | 0x40]) + content[32:])
    with pytest.raises(FormatError, match="below the prime"):
        decompress(Q.to_bytes(32, "little") + content[32:])
    refused = 0
    for step in range(1, 40):
        x = int.from_bytes(content[:31] + bytes([content[31] & 0x3F]), "little") + step
        for changed in (
            x.to_bytes(32, "little") + content[32:],
            content[:32] + x.to_bytes(32, "little") + content[64:],
        ):
            try:
                assert compress(decompress(changed)) == changed
            except FormatError as error:
                assert "on the curve" in str(error)
                refused += 1
    assert 20 < refused < 60, "about half of all coordinates are those of no point"
