"""Headers keep a flag for zero knowledge and a count of chunks: 0 and 1 today, and refused otherwise."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tensor_proofs import planned
from tensor_runs import Folder, copied

from circuitize.circuits.errors import FormatError
from circuitize.provers.statement import FILE, Statement, read_statement
from circuitize.provers.tensor import plan as planning
from circuitize.provers.tensor.proof import HEADER_BYTES, Proof
from circuitize.provers.tensor.runs.files import HEADER, StepProof, read_manifest

FLAGS, CHUNKS = 20, HEADER_BYTES - 16
"""Places in a proof: behind magic and version, and behind the digest."""


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return copied(tmp_path)


def changed(content: bytes, at: int, number: int) -> bytes:
    return content[:at] + bytes([number]) + content[at + 1 :]


def test_a_proof_of_before_is_refused_by_its_version(folder: Folder) -> None:
    """Those whose claims were one for each term, and one in zero knowledge of before."""
    content = folder.step(1).proof.encode()
    for flags, before, now in ((0, 4, 5), (1, 6, 8), (1, 7, 8)):
        old = content[:16] + b"".join(number.to_bytes(4, "little") for number in (before, flags)) + content[24:]
        with pytest.raises(
            FormatError, match=f"expected .* version {now} with flags {flags}.*, found version {before}"
        ):
            Proof.decode(old)


@pytest.mark.parametrize("number", [0, 1, 2, 255])
def test_proofs_and_steps_have_a_flag_and_a_count(folder: Folder, number: int) -> None:
    step = folder.step_path(1).read_bytes()
    proof = folder.step(1).proof.encode()
    cases: list[tuple[Callable[[bytes], Any], bytes, int, int]] = [
        (Proof.decode, proof, FLAGS, 1),
        (Proof.decode, proof, CHUNKS, 1),
        (StepProof.decode, step, FLAGS, 1),
        (StepProof.decode, step, HEADER - 16, 1),
    ]
    for decode, content, at, usual in cases:
        assert content[at] == usual
        if number == usual:
            decode(changed(content, at, number))
        else:
            with pytest.raises(FormatError):
                decode(changed(content, at, number))


@pytest.mark.parametrize("change", [{"zero_knowledge": False}, {"chunks": 2}, {"chunks": 0}, {"circuitize": 1}])
def test_runs_and_statements_have_both(folder: Folder, change: dict[str, object], tmp_path: Path) -> None:
    read_manifest(folder.path)
    folder.restate(**change)
    with pytest.raises(FormatError):
        read_manifest(folder.path)
    Statement("tensor", "0" * 64, {("input", "x"): (1,)}, {}).write(tmp_path)
    assert read_statement(tmp_path).prover == "tensor"
    if "zero_knowledge" in change:
        change = {"zero_knowledge": 1}
    content = {**json.loads((tmp_path / FILE).read_text()), **change}
    (tmp_path / FILE).write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")
    with pytest.raises(FormatError):
        read_statement(tmp_path)


def test_the_statement_is_of_both(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan's digest, which each transcript begins with, is another where either is another."""
    _, made = planned("iris.py:step")
    digests = {made.digest}
    for name, value in (("FLAGS", 1), ("CHUNKS", 2)):
        with monkeypatch.context() as patch:
            patch.setattr(planning, name, value)
            digests.add(replace(made).digest)
    assert len(digests) == 3
