"""Attacks on runs: their files are damaged, or hold what no step has."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from tensor_runs import OUT, PROOF, honest, prove_into, put, run_of, step_of, verdict

from circuitize.provers.tensor.groups import OUTPUT
from circuitize.provers.tensor.runs.files import step_path


def test_damaged_files_are_a_no(attacked: Path) -> None:
    path = step_path(attacked, 3)
    content, draw = path.read_bytes(), np.random.default_rng(7)
    for length in (0, 10, 27, 28, 100, len(content) - 1):
        path.write_bytes(content[:length])
        assert "step 3" in verdict(attacked)
    path.write_bytes(content + b"\0")
    assert "step 3" in verdict(attacked)
    limit = content[:20] + (2**63).to_bytes(8, "little") + content[28:]
    path.write_bytes(limit)
    assert "step 3" in verdict(attacked)
    for _ in range(16):
        damaged = bytearray(content)
        damaged[int(draw.integers(len(content)))] ^= 1 << int(draw.integers(8))
        path.write_bytes(damaged)
        assert "step " in verdict(attacked)
    for text in (b'{"run": 1}', b"[]", b"[" * 5000, b"\xff"):
        path.write_bytes(content[:20] + len(text).to_bytes(8, "little") + text + step_of(honest(), 3).proof.encode())
        assert "step 3" in verdict(attacked)


def test_numbers_that_no_port_has(attacked: Path) -> None:
    own = step_of(attacked, 2)
    loss = (OUTPUT, "loss")
    changes: list[Mapping[tuple[str, str], tuple[int, ...]]] = [
        {loss: (10**30,)},
        {loss: (-1, 2)},
        {loss: ()},
        {(OUTPUT, "other"): (1,)},
        {loss: (own.publics[loss][0] + 1,)},
    ]
    for change in changes:
        put(attacked, 2, own, publics={**own.publics, **change})
        assert "step 2" in verdict(attacked)
    put(attacked, 2, own, publics={key: value for key, value in own.publics.items() if key != loss})
    assert "step 2: expected integers of shape [] for output loss" in verdict(attacked)


def test_the_proof_and_the_root_of_another_run(tmp_path: Path) -> None:
    """Of one step, with the same program, data, seed and beginning."""
    run = run_of(steps=1)
    prove_into(tmp_path / "run", run)
    prove_into(tmp_path / "other", run)
    own, other = step_of(tmp_path / "run", 1), step_of(tmp_path / "other", 1)
    for changed in ({"proof": other.proof}, {"roots": {**own.roots, OUT: other.roots[OUT]}}):
        put(tmp_path / "run", 1, own, **changed)
        assert f"step 1: {PROOF}" in verdict(tmp_path / "run", run)
