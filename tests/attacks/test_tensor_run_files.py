"""Attacks on runs: their files are damaged, or hold what no step has."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from tensor_proofs import refused
from tensor_runs import OUT, PROOF, Folder, honest, run_of
from tiers import count

from circuitize.backends.tensor.groups import OUTPUT
from circuitize.provers.tensor.runs.files import read_manifest


def test_damaged_files_are_a_no(attacked: Folder) -> None:
    path = attacked.step_path(3)
    content, draw = path.read_bytes(), np.random.default_rng(7)
    for length in (0, 10, 27, 28, 100, len(content) - 1):
        path.write_bytes(content[:length])
        assert "step 3" in attacked.verdict()
    path.write_bytes(content + b"\0")
    assert "step 3" in attacked.verdict()
    limit = content[:20] + (2**63).to_bytes(8, "little") + content[28:]
    path.write_bytes(limit)
    assert "step 3" in attacked.verdict()
    for _ in range(count(6, deep=60)):
        damaged = bytearray(content)
        damaged[int(draw.integers(len(content)))] ^= 1 << int(draw.integers(8))
        path.write_bytes(damaged)
        assert "step " in attacked.verdict()
    for text in (b'{"run": 1}', b"[]", b"[" * 5000, b"\xff"):
        path.write_bytes(content[:20] + len(text).to_bytes(8, "little") + text + honest().step(3).proof.encode())
        assert "step 3" in attacked.verdict()


def test_a_manifest_that_counts_what_cannot_be_counted(attacked: Folder) -> None:
    for name in ("first", "steps", "per_proof", "examples"):
        for value in (0, -1, 2**64, 10**30, True, 1.0, "1", None):
            attacked.restate(**{name: value})
            assert "damaged" in refused(lambda: read_manifest(attacked.path))
        attacked.restate(**{name: getattr(run_of(), name, 120)})


def test_numbers_that_no_port_has(attacked: Folder) -> None:
    own = attacked.step(2)
    loss = (OUTPUT, "loss")
    changes: list[Mapping[tuple[str, str], tuple[int, ...]]] = [
        {loss: (10**30,)},
        {loss: (-1, 2)},
        {loss: ()},
        {(OUTPUT, "other"): (1,)},
        {loss: (own.publics[loss][0] + 1,)},
    ]
    for change in changes:
        attacked.put(2, own, publics={**own.publics, **change})
        assert "step 2" in attacked.verdict()
    attacked.put(2, own, publics={key: value for key, value in own.publics.items() if key != loss})
    assert "step 2: expected integers of shape [1] for output loss" in attacked.verdict()


def test_the_proof_and_the_root_of_another_run(tmp_path: Path) -> None:
    """Of one step, with the same program, data, seed and beginning."""
    run, folder = run_of(steps=1), Folder(tmp_path / "run")
    folder.prove(run)
    Folder(tmp_path / "other").prove(run)
    own, other = folder.step(1), Folder(tmp_path / "other").step(1)
    for changed in ({"proof": other.proof}, {"roots": {**own.roots, OUT: other.roots[OUT]}}):
        folder.put(1, own, **changed)
        assert f"step 1: {PROOF}" in folder.verdict(run)
