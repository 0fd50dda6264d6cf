"""Keys from snarkjs' ceremony: our proofs with them verify there, theirs verify here, and wrong keys are refused."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from ceremony_files import PROGRAM, call, compiled, powers
from cli_programs import refused, run
from groth16_cases import DIGEST, R, random_system
from groth16_curves import pack, twist_points
from halo2_systems import cells, squares

from circuitize.backends.r1cs.r1cs_file import write_r1cs
from circuitize.circuits.errors import FormatError
from circuitize.provers.groth16 import snarkjs_files as files
from circuitize.provers.groth16.config import COORDINATE_PRIME as Q
from circuitize.provers.groth16.keys import SNARKJS_FILE, VerifyingKey
from circuitize.provers.groth16.prover import prove as prove_system
from circuitize.provers.groth16.prover import public_values
from circuitize.provers.groth16.verifier import refusal, verify
from circuitize.provers.groth16.zkey import import_zkey
from circuitize.provers.halo2 import keys as halo2_keys
from circuitize.provers.halo2 import prover as halo2_prover
from circuitize.provers.halo2 import verifier as halo2_verifier

pytestmark = pytest.mark.interop

OTHER = PROGRAM.replace(":product", ":difference")
SECTIONS = {"the publics": 3, "A": 5, "B in G1": 6, "B in G2": 7, "C": 8, "H": 9}


@pytest.fixture(scope="module")
def ceremony(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """powers.ptau; circuit/, circuit.zkey and keys/ of the small program; system.zkey of a random system."""
    folder = tmp_path_factory.mktemp("ceremony")
    powers(folder, 6)
    compiled(folder / "circuit")
    write_r1cs(folder / "system.r1cs", random_system(5)[0])
    for name, circuit in (("circuit", folder / "circuit" / "circuit.r1cs"), ("system", folder / "system.r1cs")):
        call("zKey.newZKey", circuit, folder / "powers.ptau", folder / f"{name}.first")
        call("zKey.contribute", folder / f"{name}.first", folder / f"{name}.zkey", "one", "entropy")
    assert run(*setup(folder / "circuit.zkey", folder / "powers.ptau", folder / "keys")).status == 0
    return folder


def setup(zkey: Path, ptau: Path, output: Path, program: str = PROGRAM) -> tuple[str | Path, ...]:
    return "setup", program, "--prover", "groth16", "--zkey", zkey, "--ptau", ptau, "-o", output


def sections(content: bytes | bytearray) -> dict[int, tuple[int, int]]:
    """Type -> where its payload begins and ends."""
    places, at = {}, 12
    while at < len(content):
        size = int.from_bytes(content[at + 4 : at + 12], "little")
        places[int.from_bytes(content[at : at + 4], "little")] = (at + 12, at + 12 + size)
        at += 12 + size
    return places


def test_our_proof_verifies_in_snarkjs_with_its_key(ceremony: Path, tmp_path: Path) -> None:
    key = call("zKey.exportVerificationKey", ceremony / "circuit.zkey")
    assert key == json.loads((ceremony / "keys" / SNARKJS_FILE).read_text())
    proof = tmp_path / "proof"
    outcome = run("prove", PROGRAM, "--prover", "groth16", "--keys", ceremony / "keys", "-o", proof)
    assert outcome.status == 0 and "INSECURE" not in outcome.err
    values, points = (json.loads((proof / name).read_text()) for name in ("public.json", "proof.json"))
    assert call("groth16.verify", key, values, points) is True
    assert call("groth16.verify", key, [str((int(values[0]) + 1) % R), *values[1:]], points) is False
    verdict = json.loads(run("verify", proof, "--keys", ceremony / "keys", "--json").out)
    assert (verdict["valid"], verdict["setup"]) == (True, "ceremony")


def test_their_proof_verifies_here(ceremony: Path, tmp_path: Path) -> None:
    proof, public = tmp_path / "proof.json", tmp_path / "public.json"
    made = call("groth16.prove", ceremony / "circuit.zkey", ceremony / "circuit" / "witness.wtns")
    proof.write_text(json.dumps(made["proof"], indent=1))
    public.write_text(json.dumps(made["publicSignals"], indent=1))
    key = VerifyingKey.read(ceremony / "keys")
    values = files.read_public(public)
    theirs = files.read_proof(proof, key.digest)
    assert refusal(theirs, key, values, key.digest) is None
    assert not verify(theirs, key, [*values[:-1], (values[-1] + 1) % R])
    a, c = theirs.points[:64], theirs.points[192:]
    assert not verify(replace(theirs, points=c + theirs.points[64:192] + a), key, values)


def test_a_random_system_is_proved_with_a_ceremonys_key(ceremony: Path, tmp_path: Path) -> None:
    system, witness = random_system(5)
    key = import_zkey(system, DIGEST, ceremony / "system.zkey", ceremony / "powers.ptau")
    proof = prove_system(system, witness, key, DIGEST)
    assert verify(proof, key.verifying_key, public_values(system, witness), DIGEST)
    assert key.verifying_key.setup == "ceremony"
    key.write(tmp_path / "proving.key")
    assert key.read(tmp_path).verifying_key.native.encode() == key.verifying_key.native.encode()


@pytest.mark.parametrize("matrix", ["a", "b", "c"])
def test_another_circuit_of_the_same_size_is_refused(ceremony: Path, matrix: str) -> None:
    """C stands nowhere in a .zkey: only its points can tell."""
    system, _ = random_system(5)
    changed = getattr(system, matrix)
    private = np.flatnonzero(changed.wires > system.public)[-1]
    coefficients = changed.coefficients.copy()
    coefficients[private] = 3 if coefficients[private] != 3 else 5
    system = replace(system, **{matrix: replace(changed, coefficients=coefficients)})
    name = {"a": "A", "b": "B in G1", "c": "C"}[matrix]
    with pytest.raises(FormatError, match=f"its points for {name} are not those of this program"):
        import_zkey(system, DIGEST, ceremony / "system.zkey", ceremony / "powers.ptau")


@pytest.mark.parametrize("name", SECTIONS)
def test_a_wrong_point_is_refused(ceremony: Path, tmp_path: Path, name: str) -> None:
    """The last point of a section becomes its first."""
    content = bytearray((ceremony / "system.zkey").read_bytes())
    start, end = sections(content)[SECTIONS[name]]
    size = 128 if name == "B in G2" else 64
    places = [at for at in range(start, end, size) if any(content[at : at + size])]
    content[places[-1] : places[-1] + size] = content[places[0] : places[0] + size]
    (tmp_path / "wrong.zkey").write_bytes(content)
    with pytest.raises(FormatError, match=f"found (its points for )?{name} "):
        import_zkey(random_system(5)[0], DIGEST, tmp_path / "wrong.zkey", ceremony / "powers.ptau")


@pytest.mark.parametrize(
    ("at", "size", "reason"),
    [
        (0, 64, "alpha is not that of the powers of tau"),
        (64, 64, "beta is not that of the powers of tau"),
        (128, 128, "beta differs between G1 and G2"),
        (256, 128, "gamma is not the generator"),
        (384, 64, "delta differs between G1 and G2"),
        (448, 128, "delta differs between G1 and G2"),
    ],
)
def test_another_point_in_the_header_is_refused(
    ceremony: Path, tmp_path: Path, at: int, size: int, reason: str
) -> None:
    content = bytearray((ceremony / "system.zkey").read_bytes())
    places = sections(content)
    start = places[9 if size == 64 else 7][0]
    at += places[2][0] + 84
    content[at : at + size] = next(
        point for i in range(start, len(content), size) if any(point := content[i : i + size])
    )
    (tmp_path / "wrong.zkey").write_bytes(content)
    with pytest.raises(FormatError, match=reason):
        import_zkey(random_system(5)[0], DIGEST, tmp_path / "wrong.zkey", ceremony / "powers.ptau")


def test_points_outside_the_groups_are_refused(ceremony: Path, tmp_path: Path) -> None:
    content = (ceremony / "system.zkey").read_bytes()
    wrong_g1 = (1).to_bytes(64, "little")
    for kind, point in ((3, wrong_g1), (5, wrong_g1), (9, wrong_g1), (7, montgomery(pack(next(twist_points()), 128)))):
        start, end = sections(content)[kind]
        at = next(at for at in range(start, end, len(point)) if any(content[at : at + len(point)]))
        (tmp_path / "wrong.zkey").write_bytes(content[:at] + point + content[at + len(point) :])
        with pytest.raises(FormatError, match=r"wrong.zkey: .*(not on the curve|group of order r)"):
            import_zkey(random_system(5)[0], DIGEST, tmp_path / "wrong.zkey", ceremony / "powers.ptau")


def montgomery(content: bytes) -> bytes:
    values = [int.from_bytes(content[at : at + 32], "little") for at in range(0, len(content), 32)]
    return b"".join(((value << 256) % Q).to_bytes(32, "little") for value in values)


def test_every_mismatch_is_one_clear_line(ceremony: Path, tmp_path: Path) -> None:
    zkey, ptau, keys = ceremony / "circuit.zkey", ceremony / "powers.ptau", tmp_path / "keys"
    content = zkey.read_bytes()
    wrong = tmp_path / "wrong.zkey"

    def line(changed: bytes) -> str:
        wrong.write_bytes(changed)
        return refused(*setup(wrong, ptau, keys))

    assert "its points for A are not those of this program" in refused(*setup(zkey, ptau, keys, OTHER))
    assert "expected the key of this program: 19 wires" in refused(*setup(ceremony / "system.zkey", ptau, keys))
    assert "nobody has contributed" in refused(*setup(ceremony / "circuit.first", ptau, keys))
    assert "prepare phase2" in refused(*setup(zkey, ceremony / "second.ptau", keys))
    assert "--zkey: expected --ptau" in refused("setup", PROGRAM, "--prover", "groth16", "--zkey", zkey, "-o", keys)
    assert 'expected the magic word "zkey"' in refused(*setup(ptau, ptau, keys))
    assert "found no such file" in refused(*setup(tmp_path / "none.zkey", ptau, keys))
    assert "up to the end of the file" in line(content[:-100])
    assert "expected at least 12 bytes" in line(content[:10])
    header = sections(content)[2][0]
    assert "the curve BN254" in line(content[: header + 4] + bytes(32) + content[header + 36 :])
    protocol = sections(content)[1][0]
    assert "found one for PLONK" in line(content[:protocol] + b"\2" + content[protocol + 1 :])
    assert "alpha is not that of the powers of tau" in refused(*setup(zkey, powers(tmp_path, 5), keys))
    assert not keys.exists()


def test_halo2_takes_the_powers_alone(ceremony: Path, tmp_path: Path) -> None:
    key = halo2_keys.setup(squares(), DIGEST, tmp_path, ptau=ceremony / "powers.ptau")
    proof = halo2_prover.prove(squares(), cells(), key, DIGEST)
    assert key.verifying_key.setup == "ceremony"
    assert halo2_verifier.refusal(proof, key.verifying_key, cells().publics) is None
