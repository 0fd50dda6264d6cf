"""Files of halo2: proofs and keys changed, cut short or exchanged are refused in one line, and nothing panics."""

import hashlib
from pathlib import Path

import numpy as np
import pytest
from halo2_systems import DIGEST, cells, squares
from tiers import count

from circuitize.backends.field import BN254
from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.provers.framing import HEADER_BYTES
from circuitize.provers.groth16.config import COORDINATE_PRIME
from circuitize.provers.halo2 import keys, prover, verifier
from circuitize.provers.halo2.proof import Proof

MUTATIONS = count(100, deep=300)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("keys")
    key = keys.setup(squares(), DIGEST, folder, seed=b"squares")
    prover.prove(squares(), cells(), key, DIGEST).write(folder / "proof.halo2")
    return folder


@pytest.fixture(scope="module")
def key(folder: Path) -> keys.VerifyingKey:
    return keys.VerifyingKey.read(folder)


@pytest.fixture(scope="module")
def content(folder: Path) -> bytes:
    return (folder / "proof.halo2").read_bytes()


def refused(key: keys.VerifyingKey, content: bytes) -> bool:
    """Whether a proof's file is refused; by its framing, or by the verifier."""
    try:
        proof = Proof.decode(content)
    except FormatError as error:
        assert "\n" not in str(error)
        return True
    reason = verifier.refusal(proof, key, cells().publics)
    assert reason is None or "\n" not in reason
    return reason is not None


def mutated(content: bytes, random: np.random.Generator) -> bytes:
    """A file like this one: bits flipped, words exchanged, repeated, zeroed or random, cut short or lengthened."""
    made = bytearray(content)
    kind, at = random.integers(8), int(random.integers(len(made)))
    word = HEADER_BYTES + 32 * int(random.integers((len(made) - HEADER_BYTES) // 32))
    other = HEADER_BYTES + 32 * int(random.integers((len(made) - HEADER_BYTES) // 32))
    if kind == 0:
        made[at] ^= 1 << int(random.integers(8))
    elif kind == 1:
        made[word : word + 32], made[other : other + 32] = made[other : other + 32], made[word : word + 32]
    elif kind == 2:
        made[word : word + 32] = made[other : other + 32]
    elif kind == 3:
        made[word : word + 32] = bytes(32)
    elif kind == 4:
        made[word : word + 32] = random.bytes(32)
    elif kind == 5:
        made = made[:at]
    elif kind == 6:
        made += random.bytes(1 + int(random.integers(64)))
    else:
        value = int.from_bytes(made[word : word + 32], "big") + int(random.choice([1, BN254.prime, COORDINATE_PRIME]))
        made[word : word + 32] = (value % (1 << 256)).to_bytes(32, "big")
    return bytes(made)


def test_mutated_proofs_are_refused(key: keys.VerifyingKey, content: bytes) -> None:
    assert not refused(key, content)
    random = np.random.default_rng(0)
    for _ in range(MUTATIONS):
        made = mutated(content, random)
        assert made == content or refused(key, made)


def test_every_byte_of_a_proof_counts(key: keys.VerifyingKey, content: bytes) -> None:
    for at in range(0, len(content), count(21, deep=1)):
        made = bytearray(content)
        made[at] ^= 0x10
        assert refused(key, bytes(made)), at


def test_words_have_one_form(key: keys.VerifyingKey, content: bytes) -> None:
    """Values above r, coordinates above q, points off the curve, and the identity where there is none."""
    words = range(HEADER_BYTES, len(content), 32)
    for place, at in enumerate(words):
        value = int.from_bytes(content[at : at + 32], "big")
        for prime in (BN254.prime, COORDINATE_PRIME):
            if value + prime < 1 << 256:
                assert refused(key, content[:at] + (value + prime).to_bytes(32, "big") + content[at + 32 :]), place
    at = HEADER_BYTES
    assert refused(key, content[:at] + bytes(64) + content[at + 64 :])
    assert refused(key, content[:at] + (1).to_bytes(32, "big") * 2 + content[at + 64 :])
    negated = COORDINATE_PRIME - int.from_bytes(content[at + 32 : at + 64], "big")
    assert refused(key, content[: at + 32] + negated.to_bytes(32, "big") + content[at + 64 :])


def test_proofs_of_other_lengths_are_refused(key: keys.VerifyingKey, content: bytes) -> None:
    for length in (*range(0, HEADER_BYTES + 65, 8), len(content) - 32, len(content) - 1):
        assert refused(key, content[:length])
    assert refused(key, content + b"\0")
    assert refused(key, content + content[HEADER_BYTES:])


def resealed(content: bytes) -> bytes:
    """A key's file with the checksum of what it now holds."""
    return content[:-32] + hashlib.sha256(content[:-32]).digest()


@pytest.mark.parametrize("name, kind", [("verifying.key", keys.VerifyingKey), ("proving.key", keys.ProvingKey)])
def test_damaged_keys_are_refused(
    folder: Path, tmp_path: Path, name: str, kind: type[keys.VerifyingKey | keys.ProvingKey]
) -> None:
    content = (folder / name).read_bytes()
    path = tmp_path / name
    cuts = [content[:length] for length in (0, 10, 20, 60, 100, len(content) // 2, len(content) - 1)]
    flips = []
    for at in range(0, len(content), len(content) // 40):
        made = bytearray(content)
        made[at] ^= 1
        flips.append(bytes(made))
    for damaged in (*cuts, *flips, content + b"\0"):
        path.write_bytes(damaged)
        with pytest.raises(FormatError) as raised:
            kind.read(path)
        assert "\n" not in str(raised.value)
    with pytest.raises(FormatError, match="not a"):
        keys.VerifyingKey.read(folder / "proving.key")
    with pytest.raises(FormatError, match="not a"):
        keys.ProvingKey.read(folder / "verifying.key")
    with pytest.raises(CircuitizeError, match="cannot read"):
        kind.read(tmp_path / "nowhere" / name)


def test_resealed_keys_are_refused_or_are_other_keys(folder: Path, tmp_path: Path, content: bytes) -> None:
    """Whoever can compute a checksum changes a verifying key: it is refused, or it refuses old proofs."""
    original = (folder / "verifying.key").read_bytes()
    path = tmp_path / "verifying.key"
    random = np.random.default_rng(1)
    read = 0
    for at in random.permutation(len(original) - 32)[:150].tolist():
        if 64 <= at < 68:
            continue  # The number of rows: a key of millions is read, and takes as long as it says.
        made = bytearray(original)
        made[at] ^= 1 << int(random.integers(8))
        path.write_bytes(resealed(bytes(made)))
        try:
            other = keys.VerifyingKey.read(path)
        except FormatError as error:
            assert "\n" not in str(error)
            continue
        read += 1
        assert verifier.refusal(Proof.decode(content), other, cells().publics) is not None, at
    assert read, "some changes leave a key that can be read"


def test_files_are_canonical(folder: Path, key: keys.VerifyingKey, content: bytes) -> None:
    assert key.native.encode() == (folder / "verifying.key").read_bytes()
    assert Proof.decode(content).encode() == content
