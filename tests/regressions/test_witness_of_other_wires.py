"""A witness of more wires than its circuit has was read whole before it was refused: a gigabyte took two."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
from cli_programs import STEP, Outcome, run

from circuitize.backends.field import BN254
from circuitize.backends.r1cs.wtns_file import write_wtns

WIRES = 1 << 20


def checked(folder: Path) -> tuple[Outcome, int]:
    """What `check` says, and the most memory that Python and numpy held meanwhile."""
    tracemalloc.start()
    try:
        outcome = run("check", folder)
        return outcome, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_witness_of_another_number_of_wires_is_not_read(tmp_path: Path) -> None:
    made = tmp_path / "made"
    assert run("compile", STEP, "--target", "r1cs", "--witness", "-o", made).status == 0
    honest, least = checked(made)
    assert honest.status == 0
    values = np.zeros((WIRES, 4), np.uint64)
    values[0, 0] = 1
    write_wtns(made / "witness.wtns", BN254, values)
    outcome, most = checked(made)
    assert most - least < values.nbytes // 8
    assert outcome.status == 2 and f"wires, found one of {WIRES}" in outcome.line
