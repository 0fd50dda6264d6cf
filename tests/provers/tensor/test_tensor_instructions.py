"""Proofs do not depend on the vector instructions that they are computed with, which the environment caps."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cli_programs import STEP
from example_programs import example
from tensor_proofs import example_inputs

from circuitize import save

SUPPORT = Path(__file__).resolve().parents[2] / "support"
WIDTHS = ("portable", "avx2", "avx512")

# The same secrets each time: token_bytes gives zeros.
SCRIPT = """
import hashlib, json, secrets, sys
import numpy as np
from pathlib import Path
from circuitize import load
from circuitize.provers.tensor.instructions import instructions
from circuitize.provers.tensor.plan import plan
from circuitize.provers.tensor.prover import prove
from circuitize.provers.tensor.verifier import verify

secrets.token_bytes = bytes
folder = Path(sys.argv[1])
program = load(folder / "step.arrow", integer=True)
made = plan(program)
found = prove(program, dict(np.load(folder / "inputs.npz")), not_zero_knowledge=True, made=made)
proof = hashlib.sha256(found.proof.encode()).hexdigest()
print(json.dumps([instructions(), proof, verify(program, found.statement, found.proof, made)]))
"""


def under(cap: str | None, *command: str) -> subprocess.CompletedProcess[str]:
    """A process whose vectors are at most as wide as that."""
    environment = {name: value for name, value in os.environ.items() if name != "CIRCUITIZE_SIMD"}
    environment |= {"PYTHONPATH": str(SUPPORT)} | ({} if cap is None else {"CIRCUITIZE_SIMD": cap})
    return subprocess.run(
        [sys.executable, *command], env=environment, cwd=SUPPORT, capture_output=True, text=True, check=False
    )


def test_a_proof_is_the_same_byte_for_byte_whatever_it_is_computed_with(tmp_path: Path) -> None:
    program = example("digits.py:step").integer
    save(program, tmp_path / "step.arrow")
    np.savez(tmp_path / "inputs.npz", allow_pickle=False, **example_inputs(program))
    outcomes = {cap: under(cap, "-W", "error", "-c", SCRIPT, str(tmp_path)) for cap in WIDTHS}
    assert all(outcome.returncode == 0 for outcome in outcomes.values()), outcomes
    found = {cap: json.loads(outcome.stdout) for cap, outcome in outcomes.items()}
    used = [WIDTHS.index(found[cap][0]) for cap in WIDTHS]
    assert used[0] == 0 and used == sorted(used) and all(width <= cap for cap, width in enumerate(used))
    assert len({proof for _, proof, _ in found.values()}) == 1
    assert all(valid is True for _, _, valid in found.values())


def test_without_a_cap_the_widest_are_used() -> None:
    script = "from circuitize.provers.tensor.instructions import instructions; print(instructions())"
    assert under(None, "-c", script).stdout == under("avx512", "-c", script).stdout != ""


@pytest.mark.parametrize(
    "cap", [pytest.param("", marks=pytest.mark.deep), "sse2", pytest.param("AVX2", marks=pytest.mark.deep)]
)
def test_a_cap_that_names_no_width_is_refused_in_one_line(cap: str, tmp_path: Path) -> None:
    command = ("prove", STEP, "--prover", "tensor", "--not-zero-knowledge", "-o", str(tmp_path / "proof"))
    outcome = under(cap, "-c", "import sys; from circuitize.cli import main; sys.exit(main(sys.argv[1:]))", *command)
    assert outcome.returncode == 2
    assert f'CIRCUITIZE_SIMD, found "{cap}"; set one of them' in outcome.stderr.splitlines()[-1]
    assert "Traceback" not in outcome.stderr and not (tmp_path / "proof").exists()
