"""snarkjs sets up, proves and verifies PLONK and FFLONK on our constraint systems and witnesses.

It reads the same files for Groth16, which test_zkey_snarkjs.py tests.
"""

from pathlib import Path

import pytest
from ceremony_files import PROGRAM, call, compiled, powers
from groth16_cases import R

from circuitize.backends.field import BN254
from circuitize.backends.r1cs.wtns_file import read_wtns

pytestmark = [pytest.mark.interop, pytest.mark.slow, pytest.mark.deep]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("plonk")
    powers(folder, 7)
    return compiled(folder / "circuit", PROGRAM.replace(":product", ":single")), folder / "powers.ptau"


@pytest.mark.parametrize("protocol", ["plonk", "fflonk"])
def test_snarkjs_proves_and_verifies(files: tuple[Path, Path], tmp_path: Path, protocol: str) -> None:
    circuit, tau = files
    key = tmp_path / "circuit.zkey"
    call(f"{protocol}.setup", circuit / "circuit.r1cs", tau, key)
    verification_key = call("zKey.exportVerificationKey", key)
    made = call(f"{protocol}.prove", key, circuit / "witness.wtns")
    proof, values = made["proof"], made["publicSignals"]
    witness = BN254.to_integers(read_wtns(circuit / "witness.wtns"))
    assert values == [str(value) for value in witness[1 : 1 + len(values)]]
    assert call(f"{protocol}.verify", verification_key, values, proof) is True
    wrong = [str((int(values[0]) + 1) % R), *values[1:]]
    assert call(f"{protocol}.verify", verification_key, wrong, proof) is False
