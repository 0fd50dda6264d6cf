"""Fixed vectors of every use of the hash; the crate's `merkle.rs` has the same, computed by its own code."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from blake3 import blake3
from independent_verifier.transcript import Transcript, hashed

from circuitize import _native

USES = ("transcript", "leaf", "folded leaf", "node", "salt", "ports", "root", "columns")
SECRET, TOP_NODE = bytes(range(32)), bytes([9] * 32)
VECTORS = {
    "salt": "3b44e6109f5d4719bedb72bdac1c2d5b",
    "top": "44a9cd320ba3daf477e6a1d7ec9781ff103b92390e1a6ea03928148ebefad14c",
    "folded": "8d44f0c4af69ba888b698a15140d619a4dca24dcbf9b690b09279ed05e118345",
    "root": "f82e16a9b8924757628bfd49d674ff79da512c3ddd3ef4ddecc57e7161f5d8b4",
    "columns": "e2ed5df4eafda97375e981ff71abf6d385bb04a0c272a408ad488c35e7829b43",
    "challenge": "665f90d9c283985b2f8445eb39a9fccf",
    "places": "[83, 129, 650, 1013]",
}
RUST = Path(__file__).parents[3] / "provers" / "native" / "tensor" / "src" / "merkle.rs"


def top(leaves: list[bytes]) -> bytes:
    while len(leaves) > 1:
        leaves = [hashed("node", leaves[i] + leaves[i + 1]) for i in range(0, len(leaves), 2)]
    return leaves[0]


def salt(place: int) -> bytes:
    return hashed("salt", SECRET + struct.pack("<Q", place))[:16]


def tree(symbols: int, salted: bool) -> bytes:
    contents = [struct.pack(f"<{symbols}Q", *range(first, first + symbols)) for first in range(0, 64, symbols)]
    if not salted:
        return top([hashed("folded leaf", content) for content in contents])
    return top([hashed("leaf", content + salt(place)) for place, content in enumerate(contents)])


def found() -> dict[str, str]:
    transcript = Transcript(b"", 2)
    transcript.absorb("statement", b"circuitize")
    drawn = "".join(f"{int(number):016x}" for number in transcript.challenge("point"))
    return {
        "salt": salt((1 << 32) + 7).hex(),
        "top": tree(16, salted=True).hex(),
        "folded": tree(32, salted=False).hex(),
        "root": hashed("root", hashed("ports", b"list") + TOP_NODE).hex(),
        "columns": hashed("columns", TOP_NODE).hex(),
        "challenge": drawn,
        "places": str(transcript.positions("places", 4, 10)),
    }


@pytest.mark.parametrize("name", VECTORS)
def test_each_hash_is_what_it_was(name: str) -> None:
    assert found()[name] == VECTORS[name]
    assert f'"{VECTORS[name]}"' in RUST.read_text()


def test_each_use_has_a_context_of_its_own() -> None:
    """BLAKE3's own way to name a context, and no plain hash among them."""
    made = {hashed(use, b"x") for use in USES}
    assert len(made) == len(USES) and blake3(b"x").digest() not in made
    for use in USES:
        assert hashed(use, b"x") == blake3(b"x", derive_key_context=f"circuitize 2026 tensor {use} 2").digest()


def test_a_small_commitment_has_the_root_of_the_vectors() -> None:
    """A constant polynomial: every symbol of its word is the constant, so that no transform is needed here."""
    values = np.zeros(256, np.int64)
    values[0] = 5
    made = _native.tensor_commit(8, [((256,), 0, values)], SECRET, b"list")
    leaves = [hashed("leaf", struct.pack("<Q", 5) * 16 + salt(place)) for place in range(2 * 256 // 16)]
    assert made.root == hashed("root", hashed("ports", b"list") + top(leaves))
