"""Files and encodings of keys and proofs with a commitment: damaged, lying, or the other prover's."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from groth16_cases import DIGEST, R, damage, limbs, random_system
from groth16_curves import minus, negative, pack, twist_points
from mirage_keys import Proved
from mirage_prover import Prover, split
from tiers import count

from circuitize import _native
from circuitize.circuits.errors import FormatError
from circuitize.provers.binding import KeyMismatch
from circuitize.provers.groth16 import keys as plain_keys
from circuitize.provers.groth16.config import COORDINATE_PRIME as Q
from circuitize.provers.groth16.proof import Proof as PlainProof
from circuitize.provers.groth16.prover import prove as plain_prove
from circuitize.provers.groth16.prover import public_values as plain_public_values
from circuitize.provers.groth16.snarkjs import proof_text, verifying_key_text
from circuitize.provers.groth16.solidity import verifier_contract as plain_contract
from circuitize.provers.groth16.verifier import refusal as plain_refusal
from circuitize.provers.mirage.keys import ProvingKey, VerifyingKey, committing
from circuitize.provers.mirage.proof import Proof
from circuitize.provers.mirage.solidity import verifier_contract
from circuitize.provers.mirage.verifier import refusal, verify


def test_changed_publics(proved: Proved) -> None:
    _, _, key, proof, publics = proved
    for place, value in enumerate(publics):
        for changed in (value + 1, value - 1, value ^ 1, -value - 1, 0 if value else 1):
            assert not verify(proof, key.verifying_key, [*publics[:place], changed % R, *publics[place + 1 :]])
        for changed in (value + R, value - R, value + (1 << 256)):
            reason = refusal(proof, key.verifying_key, [*publics[:place], changed, *publics[place + 1 :]])
            assert reason == f"public value {place} is not in [0, r)"
    drawn = int.from_bytes(
        _native.mirage_challenge(key.verifying_key.native, limbs(publics), proof.points[256:]), "little"
    )
    for wrong in ([], publics[:-1], [*publics, 0], [*publics, drawn], [0, *publics]):
        assert "public values, the key expects 4" in str(refusal(proof, key.verifying_key, wrong))


def test_points_at_infinity_off_the_curve_or_outside_their_group(proved: Proved) -> None:
    _, _, key, proof, publics = proved
    whole = split(proof)
    for name, point, size, start in (
        ("A", whole.a, 64, 0),
        ("B", whole.b, 128, 64),
        ("C", whole.c, 64, 192),
        ("D", whole.d, 64, 256),
    ):

        def told(content: bytes, start: int = start, size: int = size) -> str | None:
            changed = Proof(DIGEST, proof.points[:start] + content + proof.points[start + size :])
            return refusal(changed, key.verifying_key, publics)

        assert told(bytes(size)) == f"{name} is the point at infinity"
        assert point is not None
        (x, y) = point
        for wrong in ((x, minus(y, (1, 0))), (y, x), (x, (0, 0)), ((0, 0), y)):
            assert told(pack(wrong, size)) == f"{name} is not on the curve"
        content = pack(point, size)
        for at in range(0, size, 32):
            value = int.from_bytes(content[at : at + 32], "little") + Q
            changed = content[:at] + value.to_bytes(32, "little") + content[at + 32 :]
            assert told(changed) == f"a coordinate of {name} is not below the prime"
    outside = next(twist_points())
    moved = replace(whole, b=outside).proof()
    assert refusal(moved, key.verifying_key, publics) == "B is on the curve but not in its group of order r"
    for points in (b"", proof.points[:-1], proof.points + b"\0", proof.points[:256], proof.points * 2):
        assert "320 bytes" in str(refusal(Proof(DIGEST, points), key.verifying_key, publics))


def test_mutated_proofs(proved: Proved) -> None:
    _, _, key, proof, publics = proved
    random = np.random.default_rng(2)
    content = proof.encode()
    reasons = set()
    for _ in range(count(600, deep=2000)):
        damaged = bytearray(content)
        for place in random.integers(0, len(content), random.integers(1, 4)):
            damaged[place] ^= int(random.integers(1, 256))
        if random.integers(4) == 0:
            damaged = damaged[: random.integers(len(damaged))] + random.bytes(int(random.integers(3)))
        if damaged == content:
            continue
        try:
            reason = refusal(Proof.decode(bytes(damaged)), key.verifying_key, publics)
        except FormatError as error:
            reason = str(error)
        assert reason is not None and "\n" not in reason
        reasons.add(reason[:20])
    assert len(reasons) > 8


def test_each_prover_refuses_what_the_other_made(proved: Proved, folder: Path, forger: Prover, tmp_path: Path) -> None:
    _, _, key, proof, publics = proved
    plain, witness = random_system(1)
    plain_key = plain_keys.setup(plain, DIGEST, tmp_path)
    plain_proof = plain_prove(plain, witness, plain_key, DIGEST)
    (tmp_path / "plain").write_bytes(plain_proof.encode())
    (tmp_path / "mirage").write_bytes(proof.encode())
    line = "a key for the prover {0}, expected one for {1}; remedy: use --prover {0}, or make keys for {1}"
    for read in (plain_keys.ProvingKey.read, plain_keys.VerifyingKey.read):
        with pytest.raises(FormatError, match=line.format("mirage", "groth16")):
            read(folder)
    for read in (ProvingKey.read, VerifyingKey.read):
        with pytest.raises(FormatError, match=line.format("groth16", "mirage")):
            read(tmp_path)
    with pytest.raises(FormatError, match="a proof of the prover groth16, expected one of mirage"):
        Proof.read(tmp_path / "plain")
    with pytest.raises(FormatError, match="a proof of the prover mirage, expected one of groth16"):
        PlainProof.read(tmp_path / "mirage")
    misuses: tuple[Callable[[], object], ...] = (
        lambda: proof_text(proof),
        lambda: verifying_key_text(key.verifying_key),
        lambda: plain_contract(key.verifying_key),
        lambda: verifier_contract(plain_key.verifying_key),  # type: ignore[arg-type]
    )
    for misused in misuses:
        with pytest.raises(KeyMismatch, match=r"of the prover (groth16|mirage), expected one of (groth16|mirage)"):
            misused()
    # Past the files: the native functions themselves.
    plain_publics = plain_public_values(plain, witness)
    assert "a key for the prover groth16" in str(
        _native.mirage_verify(plain_key.verifying_key.native, limbs(plain_publics), plain_proof.points)
    )
    assert "a key for the prover mirage" in str(
        _native.groth16_verify(key.verifying_key.native, limbs([*publics, 0]), proof.points[:256])
    )
    assert plain_refusal(PlainProof(DIGEST, proof.points), plain_key.verifying_key, plain_publics) == (
        "a proof has 256 bytes, found 320"
    )
    with pytest.raises(ValueError, match="a key for the prover groth16"):
        _native.mirage_commit(plain_key.native, limbs([1]))
    with pytest.raises(ValueError, match="a key for the prover mirage, expected one for groth16"):
        _native.groth16_prove(key.native, (*committing(proved[0])[:-1], 0), limbs([1] * proved[0].wires))


@pytest.mark.parametrize(("name", "read"), [("proving.key", ProvingKey.read), ("verifying.key", VerifyingKey.read)])
def test_damaged_key_files(
    folder: Path, forger: Prover, tmp_path: Path, name: str, read: Callable[[Path], Any]
) -> None:
    for damaged in damage((folder / name).read_bytes()):
        (tmp_path / name).write_bytes(damaged)
        with pytest.raises(FormatError, match=r"^\S+ is not a sound \w+ key: [^\n]+$"):
            read(tmp_path / name)


@pytest.mark.parametrize(("name", "read"), [("proving.key", ProvingKey.read), ("verifying.key", VerifyingKey.read)])
def test_key_files_that_lie_about_their_sizes(
    folder: Path, forger: Prover, tmp_path: Path, name: str, read: Callable[[Path], Any]
) -> None:
    """The checksum is right again each time: only the content can give them away, before memory is claimed."""
    content = (folder / name).read_bytes()
    for at in [56, 64, 72, 80, 88, 96, 104, 112] if name == "proving.key" else [56, 64]:
        true = int.from_bytes(content[at : at + 8], "little")
        for size in {0, 1, true - 1, true + 1, 1 << 20, 1 << 31, 1 << 32, 1 << 58, 1 << 62, 1 << 63, (1 << 64) - 1}:
            if size == true:
                continue
            lying = bytearray(content[:-32])
            lying[at : at + 8] = size.to_bytes(8, "little")
            (tmp_path / name).write_bytes(bytes(lying) + hashlib.sha256(lying).digest())
            try:
                key = read(tmp_path / name)
            except FormatError as error:
                assert "\n" not in str(error)
                continue
            if name == "verifying.key":
                # How many wires are committed is the prover's matter; in the key it only makes other challenges.
                assert at == 64 and key.native.encode()[-32:] != content[-32:]
            else:
                # The numbers of wires and rows are checked when proving, where the sizes fit.
                assert at in (72, 80)
                assert (key.native.wires, key.native.rows) != (forger.wires, forger.rows)


def test_keys_that_everyone_can_forge_for_are_refused(forger: Prover) -> None:
    """Were D paired with gamma or with delta it could hold publics or all private wires, drawn after the challenge."""
    points = forger.verifying.native.points()
    assert points[448:576] == pack(forger.committed_g2, 128)
    for name, weak in (("gamma", forger.gamma_g2), ("delta", forger.delta_g2)):
        for point in (weak, negative(weak)):
            content = points[:448] + pack(point, 128) + points[576:]
            with pytest.raises(ValueError, match=f"delta of the committed wires is {name} up to its sign"):
                _native.Groth16VerifyingKey.build("ceremony", bytes(32), content, 3)
    content = points[:320] + pack(forger.gamma_g2, 128) + points[448:]
    with pytest.raises(ValueError, match="delta is gamma up to its sign"):
        _native.Groth16VerifyingKey.build("ceremony", bytes(32), content, 3)
    for committed, content in ((0, points), (3, points[: 576 + 64])):
        with pytest.raises(ValueError, match="commits to nothing"):
            _native.Groth16VerifyingKey.build("ceremony", bytes(32), content, committed)
