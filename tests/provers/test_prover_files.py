"""What every prover with keys promises of its files: they hold what was written, for one circuit, and are whole."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from groth16_cases import DIGEST, random_system
from halo2_systems import cells, squares
from mirage_cases import random_case

from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.provers.binding import KeyMismatch
from circuitize.provers.groth16 import keys as groth16_keys
from circuitize.provers.groth16 import prover as groth16_prover
from circuitize.provers.groth16 import verifier as groth16_verifier
from circuitize.provers.groth16.proof import Proof as Groth16Proof
from circuitize.provers.halo2 import cost
from circuitize.provers.halo2 import keys as halo2_keys
from circuitize.provers.halo2 import prover as halo2_prover
from circuitize.provers.halo2 import verifier as halo2_verifier
from circuitize.provers.halo2.proof import Proof as Halo2Proof
from circuitize.provers.keys import PROVING_FILE, VERIFYING_FILE, WARNING_FILE
from circuitize.provers.mirage import keys as mirage_keys
from circuitize.provers.mirage import prover as mirage_prover
from circuitize.provers.mirage import verifier as mirage_verifier
from circuitize.provers.mirage.proof import Proof as MirageProof

GROTH16, MIRAGE = random_system(1), random_case(1)


@dataclass(frozen=True)
class Prover:
    """One prover, a system it proves, a witness of that, and its public values."""

    keys: ModuleType
    prover: ModuleType
    verifier: ModuleType
    proof: Any
    system: Any
    witness: Any
    publics: Sequence[int]
    proof_bytes: int

    def prove(self, key: Any, digest: str = DIGEST, progress: Callable[[str], object] | None = None) -> Any:
        return self.prover.prove(self.system, self.witness, key, digest, progress=progress)


PROVERS = {
    "groth16": Prover(
        *(groth16_keys, groth16_prover, groth16_verifier, Groth16Proof),
        *(*GROTH16, groth16_prover.public_values(*GROTH16), 184),
    ),
    "mirage": Prover(
        *(mirage_keys, mirage_prover, mirage_verifier, MirageProof),
        *(*MIRAGE, mirage_prover.public_values(MIRAGE[0], MIRAGE[1](lambda first: 0)), 216),
    ),
    "halo2": Prover(
        *(halo2_keys, halo2_prover, halo2_verifier, Halo2Proof),
        *(squares(), cells(), cells().publics, cost.sizes(squares())["proof_bytes"]),
    ),
}

Made = tuple[Prover, Path, Any, Any]


@pytest.fixture(scope="module", params=PROVERS)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """(prover, folder of keys, proving key, proof)"""
    prover = PROVERS[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    key = prover.keys.setup(prover.system, DIGEST, folder)
    return prover, folder, key, prover.prove(key)


def test_seeded_keys_are_the_same_and_others_are_not(made: Made, tmp_path: Path) -> None:
    prover = made[0]
    files = []
    for name, seed in (("a", b"seed"), ("b", b"seed"), ("c", b"other"), ("d", None), ("e", None)):
        prover.keys.setup(prover.system, DIGEST, tmp_path / name, seed=seed)
        files.append((tmp_path / name / PROVING_FILE).read_bytes())
    assert files[0] == files[1]
    assert len(set(files)) == 4


def test_development_keys_say_so(made: Made) -> None:
    prover, folder, key, _ = made
    assert key.verifying_key.setup == prover.keys.VerifyingKey.read(folder).setup == "development"
    assert (folder / WARNING_FILE).read_text().startswith("Insecure development keys")


def test_files_hold_what_was_written(made: Made, tmp_path: Path) -> None:
    prover, folder, key, proof = made
    read, verifying = prover.keys.ProvingKey.read(folder), prover.keys.VerifyingKey.read(folder / VERIFYING_FILE)
    for one in (key, read):
        one.write(tmp_path / PROVING_FILE)
        assert (tmp_path / PROVING_FILE).read_bytes() == (folder / PROVING_FILE).read_bytes()
    for one in (key.verifying_key, read.verifying_key, verifying):
        one.write(tmp_path / VERIFYING_FILE)
        assert (tmp_path / VERIFYING_FILE).read_bytes() == (folder / VERIFYING_FILE).read_bytes()
    assert (verifying.digest, verifying.public) == (DIGEST, len(prover.publics))
    assert prover.verifier.refusal(prover.prove(read), verifying, prover.publics, DIGEST) is None
    proof.write(tmp_path / "proof")
    assert prover.proof.read(tmp_path / "proof") == proof
    assert (tmp_path / "proof").stat().st_size == prover.proof_bytes


def test_the_checksum_of_a_key_is_sha256_of_everything_before_it(made: Made) -> None:
    for name in (PROVING_FILE, VERIFYING_FILE):
        content = (made[1] / name).read_bytes()
        assert hashlib.sha256(content[:-32]).digest() == content[-32:]


def test_missing_and_empty_files(made: Made, tmp_path: Path) -> None:
    prover = made[0]
    kinds = {
        PROVING_FILE: prover.keys.ProvingKey.read,
        VERIFYING_FILE: prover.keys.VerifyingKey.read,
        "proof": prover.proof.read,
    }
    for name, read in kinds.items():
        with pytest.raises(CircuitizeError, match="No such file"):
            read(tmp_path / "nothing")
        with pytest.raises(CircuitizeError, match="cannot read"):
            read(tmp_path)
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(FormatError, match=name):
            read(tmp_path / name)


def test_keys_are_for_one_digest(made: Made, tmp_path: Path) -> None:
    prover, _, key, _ = made
    other = hashlib.sha256(b"another").hexdigest()
    with pytest.raises(KeyMismatch, match=f"for the circuit {DIGEST}, found {other}; remedy: run setup"):
        prover.prove(key, other)
    for digest in ("", "00", "zz" * 32, DIGEST + "00"):
        with pytest.raises(CircuitizeError, match="64 hexadecimal digits"):
            prover.keys.setup(prover.system, digest, tmp_path)


def test_what_is_proved_is_refused_of_anything_else(made: Made) -> None:
    prover, _, key, proof = made
    verifying, publics, other = key.verifying_key, prover.publics, "cd" * 32

    def refusal(publics: Sequence[int], digest: str | None = None, proof: Any = proof) -> Any:
        return prover.verifier.refusal(proof, verifying, publics, digest)

    assert refusal(publics) is None and refusal(publics, DIGEST.upper()) is None
    assert refusal(publics, other) == f"the verifying key is for the circuit {DIGEST}, expected {other}"
    renamed = prover.proof.decode(proof.encode().replace(bytes.fromhex(DIGEST), bytes.fromhex(other)))
    assert refusal(publics, proof=renamed) == f"the proof is for the circuit {other}, expected {DIGEST}"
    assert refusal(publics[1:]) == f"found {len(publics) - 1} public values, the key expects {len(publics)}"
    assert refusal([*publics[:-1], -1]) == f"public value {len(publics) - 1} is not in [0, r)"


def test_progress_may_interrupt(made: Made) -> None:
    prover, _, key, _ = made
    names: list[str] = []
    prover.prove(key, progress=names.append)
    assert names and len(names) == len(set(names))

    def interrupt(phase: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prover.prove(key, progress=interrupt)
