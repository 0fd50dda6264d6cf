"""Files of a gigabyte, all of it written: what a verifier takes is that of the honest one, and little more."""

from __future__ import annotations

from pathlib import Path

import pytest
from dense_files import PLACES, Cost, Place, prepare, spent

MORE_BYTES, MORE_SECONDS = 300 << 20, 5.0
"""Beside those of the honest file of the same program."""

UNBOUNDED = {("circuit.r1cs", "constraints"), ("circuit.r1cs, audit", "constraints"), ("circuit.plonkish", "columns")}
"""Sound circuits of a gigabyte: no program says how large one is, and reading it takes what its size does."""

EVERY = [
    (name, content) for name, place in PLACES.items() for content in place.contents if (name, content) not in UNBOUNDED
]
CHEAP = {
    ("proof.halo2", "continued"): 25,
    ("statement.json", "numbers"): 25,
    ("program.arrow, keys", "used"): 27,
    ("steps/*.proof, all", "stated"): 25,
}
"""How long each is: the power of two. One of each kind of file; in the deep tier every one is a gigabyte."""


OTHERS = ("program.arrow, keys", "proof.halo2")
"""In the deep tier: programs, as the statement one file of JSON; and proofs of another length than their key allows."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dense")
    prepare(folder)
    return folder


@pytest.fixture(scope="module")
def honest() -> dict[tuple[str, ...], Cost]:
    """What commands take of honest files, by command."""
    return {}


def judged(root: Path, honest: dict[tuple[str, ...], Cost], place: Place, content: str, size: int) -> None:
    """What a command with such a file in its place ends with, says and takes."""
    if place.command not in honest:
        honest[place.command] = spent(root, place)
        assert honest[place.command].status == 0, honest[place.command]
    found = spent(root, place, place.contents[content], size)
    told = [line for line in found.told if not line.startswith("circuitize: the ")]
    assert found.status in (0, 1, 2) and (found.status == 0 or len(told) == 1), found
    assert not any("internal error" in line or "Traceback" in line for line in told), found
    assert found.bytes - honest[place.command].bytes <= MORE_BYTES, found
    assert found.seconds - honest[place.command].seconds <= MORE_SECONDS, found


@pytest.mark.proof
@pytest.mark.parametrize(
    ("name", "content"),
    [pytest.param(*one, marks=pytest.mark.deep if one[0] in OTHERS else ()) for one in CHEAP],
)
def test_a_dense_file(root: Path, honest: dict[tuple[str, ...], Cost], name: str, content: str) -> None:
    judged(root, honest, PLACES[name], content, 1 << CHEAP[name, content])


@pytest.mark.deep
@pytest.mark.parametrize(("name", "content"), EVERY)
def test_a_dense_gigabyte(root: Path, honest: dict[tuple[str, ...], Cost], name: str, content: str) -> None:
    judged(root, honest, PLACES[name], content, 1 << 30)
