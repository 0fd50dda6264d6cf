"""gnark reads our constraint systems and witnesses: it proves and verifies what we accept, and solves nothing else."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ceremony_files import compiled
from groth16_cases import limbs, random_system
from node_tools import FOLDER

from circuitize.backends.field import BN254
from circuitize.backends.r1cs.checker import failing_rows
from circuitize.backends.r1cs.r1cs_file import write_r1cs
from circuitize.backends.r1cs.wtns_file import write_wtns

pytestmark = [pytest.mark.interop, pytest.mark.slow]

Gnark = Callable[[Path, Path], dict[str, Any]]


@pytest.fixture(scope="module")
def gnark(tmp_path_factory: pytest.TempPathFactory) -> Gnark:
    """Asks the program in gnark/, built once: a link, since .ci/golang has compiled what it is made of."""
    if shutil.which("go") is None:
        pytest.skip("Go is missing: install Go 1.24 or newer to test against gnark")
    told = subprocess.run(["go", "env", "GOVERSION"], capture_output=True, text=True, check=False).stdout
    found = re.match(r"go(\d+)\.(\d+)", told)
    if found is None or (int(found[1]), int(found[2])) < (1, 24):
        pytest.skip(
            f"Go {told.strip() or 'of an unknown version'} is too old: install 1.24 or newer to test against gnark"
        )
    program = tmp_path_factory.mktemp("gnark") / "gnark"
    built = subprocess.run(
        ["go", "build", "-mod=readonly", "-buildvcs=false", "-o", program, "."],
        cwd=FOLDER / "gnark",
        env=os.environ | {"CGO_ENABLED": "0"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert built.returncode == 0, built.stderr

    def ask(circuit: Path, witness: Path) -> dict[str, Any]:
        done = subprocess.run([program, circuit, witness], capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    return ask


def valid(constraints: int, publics: int) -> dict[str, int]:
    told = {"constraints": constraints, "publics": publics}
    return told | {"solved": True, "verified": True, "tampered_verified": False}


def test_gnark_proves_a_compiled_program(gnark: Gnark, tmp_path: Path) -> None:
    folder = compiled(tmp_path / "circuit")
    assert gnark(folder / "circuit.r1cs", folder / "witness.wtns") == valid(18, 4)


@pytest.mark.parametrize("seed", [1, 2])
def test_gnark_agrees_on_random_systems(gnark: Gnark, tmp_path: Path, seed: int) -> None:
    """With coefficients of every size; each of twenty changed wires is refused, as our checker refuses it."""
    system, witness = random_system(seed)
    write_r1cs(tmp_path / "a.r1cs", system)
    write_wtns(tmp_path / "a.wtns", BN254, witness)
    assert gnark(tmp_path / "a.r1cs", tmp_path / "a.wtns") == valid(system.constraints, system.public)
    values = BN254.to_integers(witness)
    for wire in range(system.wires - 20, system.wires):
        changed = witness.copy()
        changed[wire] = limbs([values[wire] + 1])[0]
        write_wtns(tmp_path / "b.wtns", BN254, changed)
        told = gnark(tmp_path / "a.r1cs", tmp_path / "b.wtns")
        assert told["solved"] == (len(failing_rows(system, changed)) == 0)
        assert not told["solved"]
