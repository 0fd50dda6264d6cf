"""snarkjs sets up, proves and verifies PLONK and FFLONK on our constraint systems and witnesses."""

import json
from pathlib import Path

import pytest
from groth16_cases import R
from interop.ceremony_files import PROGRAM, compiled, powers, told
from interop.node_tools import snarkjs

from circuitize.backends.r1cs.field import BN254
from circuitize.backends.r1cs.wtns_file import read_wtns

pytestmark = [pytest.mark.interop, pytest.mark.slow]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("plonk")
    powers(folder, 8)
    return compiled(folder / "circuit", PROGRAM.replace(":product", ":single")), folder / "powers.ptau"


@pytest.mark.parametrize("protocol", ["plonk", "fflonk"])
def test_snarkjs_proves_and_verifies(files: tuple[Path, Path], tmp_path: Path, protocol: str) -> None:
    circuit, tau = files
    key, verification_key = tmp_path / "circuit.zkey", tmp_path / "verification_key.json"
    proof, public = tmp_path / "proof.json", tmp_path / "public.json"
    told(protocol, "setup", circuit / "circuit.r1cs", tau, key)
    told("zkey", "export", "verificationkey", key, verification_key)
    told(protocol, "prove", key, circuit / "witness.wtns", proof, public)
    values = json.loads(public.read_text())
    witness = BN254.to_integers(read_wtns(circuit / "witness.wtns"))
    assert values == [str(value) for value in witness[1 : 1 + len(values)]]
    told(protocol, "verify", verification_key, public, proof)
    public.write_text(json.dumps([str((int(values[0]) + 1) % R), *values[1:]]))
    assert snarkjs(protocol, "verify", verification_key, public, proof)[0] == 1
