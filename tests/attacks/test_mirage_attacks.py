"""Every way to get a false statement past a commitment, or to tamper with a proof that has one, is refused."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from attacks.groth16_curves import add, minus, multiply, negative, pack, twist_points
from attacks.mirage_prover import ONE, Parts, Prover, holds_with, secrets, split
from groth16_cases import DIGEST, R, damage, limbs, random_system
from mirage_cases import Permutation, random_case

from circuitize import _native
from circuitize.circuits.errors import FormatError
from circuitize.provers.groth16 import keys as plain_keys
from circuitize.provers.groth16.config import COORDINATE_PRIME as Q
from circuitize.provers.groth16.proof import Proof as PlainProof
from circuitize.provers.groth16.prover import prove as plain_prove
from circuitize.provers.groth16.prover import public_values as plain_public_values
from circuitize.provers.groth16.verifier import refusal as plain_refusal
from circuitize.provers.mirage.keys import ProvingKey, VerifyingKey, committing, setup
from circuitize.provers.mirage.proof import Proof
from circuitize.provers.mirage.prover import prove, public_values
from circuitize.provers.mirage.verifier import refusal, verify

SEED = b"everybody knows"
UNEQUAL = "the pairing equation does not hold"
CASE = Permutation(3, first=42)
TRUE, FALSE = [42, 7, 9], [1, 7, 9]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("keys")


@pytest.fixture(scope="module")
def forger(folder: Path) -> Prover:
    key = setup(CASE.system, DIGEST, folder, seed=SEED)
    return Prover((folder / "proving.key").read_bytes(), key.verifying_key, CASE.system)


@pytest.fixture(scope="module")
def proved(tmp_path_factory: pytest.TempPathFactory):
    """(system, witness function, proving key, proof, publics)"""
    system, witness = random_case(1)
    key = setup(system, DIGEST, tmp_path_factory.mktemp("random"))
    publics = public_values(system, witness(lambda first: 0))
    return system, witness, key, prove(system, witness, key, DIGEST), publics


def integers(whole: np.ndarray) -> list[int]:
    return [int.from_bytes(value.tobytes(), "little") for value in whole]


def values(x: list[int], y: list[int], challenge: int) -> list[int]:
    return integers(CASE.whole(x, y, challenge))


def fitting(y: list[int], challenge: int) -> list[int]:
    """An x that begins with 42 and passes for this challenge, whatever y is."""
    product = 1
    for value in y:
        product = product * (value + challenge) % R
    rest = product * pow((42 + challenge) * (5 + challenge), -1, R)
    return [42, 5, (rest - challenge) % R]


def honest(forger: Prover, extra=None, kappa: int = 17) -> tuple[list[int], Parts]:
    """A true statement, with a point added to D before the challenge is drawn; all values, and the proof."""
    x = [42, 9, 7]
    d = add(forger.commit(values(x, TRUE, 0), kappa), extra)
    whole = values(x, TRUE, forger.challenge(values(x, TRUE, 0), d))
    return whole, forger.prove(whole, d, kappa)


@pytest.fixture(scope="module")
def second(forger: Prover) -> tuple[list[int], Parts]:
    return honest(forger)


def test_two_provers_agree(forger: Prover, second) -> None:
    """What the Python prover makes honestly passes, so its forgeries fail for their own sake."""
    known = secrets(SEED)
    assert multiply(ONE, known["committed"]) == forger.committed_delta
    whole, parts = second
    assert verify(parts.proof(), forger.verifying, TRUE)
    assert holds_with(parts, forger.verifying, whole[1:5], SEED)
    assert not holds_with(parts, forger.verifying, [*whole[1:4], whole[4] ^ 1], SEED)


def test_a_challenge_that_the_prover_chose(forger: Prover) -> None:
    """All rows hold and the equation does, for a false statement: only the hash is in the way."""
    x = fitting(FALSE, 5)
    d = forger.commit(values(x, FALSE, 0), 17)
    parts = forger.prove(values(x, FALSE, 5), d, 17)
    assert holds_with(parts, forger.verifying, [*FALSE, 5], SEED)
    assert refusal(parts.proof(), forger.verifying, FALSE) == UNEQUAL


def test_committed_wires_chosen_after_the_challenge(forger: Prover) -> None:
    """With the old D the equation fails; with the new one it holds for the old challenge, and there is another."""
    before = [42, 5, 6]
    d = forger.commit(values(before, FALSE, 0), 17)
    drawn = forger.challenge(values(before, FALSE, 0), d)
    x = fitting(FALSE, drawn)
    old = forger.prove(values(x, FALSE, drawn), d, 17)
    new = replace(old, d=forger.commit(values(x, FALSE, 0), 17))
    assert not holds_with(old, forger.verifying, [*FALSE, drawn], SEED)
    assert holds_with(new, forger.verifying, [*FALSE, drawn], SEED)
    for parts in (old, new):
        assert refusal(parts.proof(), forger.verifying, FALSE) == UNEQUAL


def test_points_that_a_commitment_must_not_hold(forger: Prover) -> None:
    """Publics, wires of the second phase and H, put into D before the challenge, with C paying or not."""
    for point in (forger.inputs[0], forger.inputs[4], next(iter(forger.private.values())), forger.h[3]):
        extra = multiply(point, 3)
        whole, parts = honest(forger, extra)
        paying = replace(parts, c=add(parts.c, negative(extra)))
        for made in (parts, paying):
            assert not holds_with(made, forger.verifying, whole[1:5], SEED)
            assert refusal(made.proof(), forger.verifying, TRUE) == UNEQUAL


def test_what_re_randomises_and_what_does_not(forger: Prover, second) -> None:
    """A, B and C are malleable as in Groth16; whoever changes D has changed the challenge."""
    _, parts = second
    s, t = 0x1234567890ABCDEF, 0xFEDCBA0987654321
    for same in (
        replace(parts, a=negative(parts.a), b=negative(parts.b)),
        replace(parts, a=multiply(parts.a, pow(s, -1, R)), b=multiply(parts.b, s)),
        replace(parts, b=add(parts.b, multiply(forger.delta_g2, t)), c=add(parts.c, multiply(parts.a, t))),
    ):
        assert refusal(same.proof(), forger.verifying, TRUE) is None
    blinded = replace(
        parts,
        d=add(parts.d, multiply(forger.delta, t)),
        c=add(parts.c, negative(multiply(forger.committed_delta, t))),
    )
    moved = replace(parts, b=add(parts.b, multiply(forger.committed_g2, t)), d=add(parts.d, multiply(parts.a, t)))
    drawn = forger.challenge([1, *TRUE, 0], parts.d)
    for allowed_by_the_algebra in (blinded, moved):
        assert holds_with(allowed_by_the_algebra, forger.verifying, [*TRUE, drawn], SEED)
    for other in (
        blinded,
        moved,
        replace(parts, d=negative(parts.d)),
        replace(parts, d=add(parts.d, ONE)),
        replace(parts, d=ONE),
        replace(parts, c=parts.d, d=parts.c),
        replace(parts, a=parts.d),
        replace(parts, c=add(parts.c, ONE)),
        replace(parts, a=negative(parts.a)),
        replace(parts, b=negative(parts.b)),
    ):
        assert refusal(other.proof(), forger.verifying, TRUE) == UNEQUAL


def test_who_knows_the_secrets_simulates(forger: Prover) -> None:
    """Zero knowledge: a proof with A, B and D drawn at random, made without any witness, is one like every other."""
    known = secrets(SEED)
    random = np.random.default_rng(1)
    for y in (TRUE, FALSE):
        a, b, d = (int.from_bytes(random.bytes(32), "little") % R for _ in range(3))
        point = multiply(ONE, d)
        drawn = forger.challenge([1, *y, 0], point)
        publics = None
        for value, entry in zip([1, *y, drawn], forger.inputs, strict=True):
            publics = add(publics, multiply(entry, value))
        exponent = (a * b - known["alpha"] * known["beta"] - d * known["committed"]) % R
        paid = add(multiply(ONE, exponent), negative(multiply(publics, known["gamma"])))
        c = multiply(paid, pow(known["delta"], -1, R))
        g2 = multiply(forger.gamma_g2, pow(known["gamma"], -1, R) * b % R)
        assert verify(Parts(multiply(ONE, a), g2, c, point).proof(), forger.verifying, y)


def test_a_commitment_serves_one_proof(proved) -> None:
    system, witness, key, _, _ = proved
    arguments = committing(system)
    for spoil in (False, True):
        held = []

        def draw(first, held=held):
            held.append(_native.mirage_commit(key.native, first))
            return int.from_bytes(held[0].challenge, "little")

        whole = witness(draw)
        if spoil:
            wrong = whole.copy()
            wrong[-1] = limbs([integers(whole[-1:])[0] + 1])[0]
            with pytest.raises(_native.Unsatisfied):
                _native.mirage_prove(key.native, *arguments, wrong, held[0])
        else:
            _native.mirage_prove(key.native, *arguments, whole, held[0])
        with pytest.raises(ValueError, match="has served a proof already"):
            _native.mirage_prove(key.native, *arguments, whole, held[0])


def test_a_witness_other_than_the_one_committed_to(proved, tmp_path: Path) -> None:
    """Each wire of the first part, publics and the challenge included."""
    system, witness, key, _, _ = proved
    arguments = committing(system)
    public = system.public
    for wire in range(1, 1 + public + system.committed):
        held = _commit(key, witness)
        whole = witness(lambda first, held=held: int.from_bytes(held.challenge, "little"))
        whole[wire] = limbs([integers(whole[wire : wire + 1])[0] + 1])[0]
        reason = "expected the one that follows" if wire == public else "differs from what was committed to"
        with pytest.raises(ValueError, match=reason):
            _native.mirage_prove(key.native, *arguments, whole, held)
    other = setup(system, DIGEST, tmp_path)
    held = _commit(key, witness)
    whole = witness(lambda first: int.from_bytes(held.challenge, "little"))
    with pytest.raises(ValueError, match="made with another key"):
        _native.mirage_prove(other.native, *arguments, whole, held)


def _commit(key: ProvingKey, witness) -> _native.MirageCommitment:
    held = []

    def draw(first):
        held.append(_native.mirage_commit(key.native, first))
        return 0

    witness(draw)
    return held[0]


def test_the_challenge_of_another_proof_or_key(proved, tmp_path: Path) -> None:
    system, witness, key, proof, publics = proved
    again = prove(system, witness, key, DIGEST)
    for one, two in ((proof, again), (again, proof)):
        mixed = Proof(DIGEST, one.points[:256] + two.points[256:])
        assert refusal(mixed, key.verifying_key, publics) == UNEQUAL
    other = setup(system, DIGEST, tmp_path).verifying_key
    assert refusal(proof, other, publics) == UNEQUAL
    # The same points for another circuit are another key, and draw another challenge.
    digest = "00" * 32
    renamed = _native.Groth16VerifyingKey.build("development", bytes(32), key.verifying_key.native.points(), 6)
    assert refusal(Proof(digest, proof.points), VerifyingKey(renamed), publics) == UNEQUAL


def test_changed_publics(proved) -> None:
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


def test_points_at_infinity_off_the_curve_or_outside_their_group(proved) -> None:
    _, _, key, proof, publics = proved
    whole = split(proof)
    for name, point, size, start in (
        ("A", whole.a, 64, 0),
        ("B", whole.b, 128, 64),
        ("C", whole.c, 64, 192),
        ("D", whole.d, 64, 256),
    ):

        def told(content: bytes, start=start, size=size) -> str | None:
            changed = Proof(DIGEST, proof.points[:start] + content + proof.points[start + size :])
            return refusal(changed, key.verifying_key, publics)

        assert told(bytes(size)) == f"{name} is the point at infinity"
        (x, y) = point
        for wrong in ((x, minus(y, (1, 0))), (y, x), (x, (0, 0)), ((0, 0), y)):
            assert told(pack(wrong, size)) == f"{name} is not on the curve"
        content = pack(point, size)
        for at in range(0, size, 32):
            value = int.from_bytes(content[at : at + 32], "little") + Q
            changed = content[:at] + value.to_bytes(32, "little") + content[at + 32 :]
            assert told(changed) == f"a coordinate of {name} is not below the prime"
    outside = next(twist_points())
    changed = replace(whole, b=outside).proof()
    assert refusal(changed, key.verifying_key, publics) == "B is on the curve but not in its group of order r"
    for points in (b"", proof.points[:-1], proof.points + b"\0", proof.points[:256], proof.points * 2):
        assert "320 bytes" in str(refusal(Proof(DIGEST, points), key.verifying_key, publics))


def test_two_thousand_mutated_proofs(proved) -> None:
    _, _, key, proof, publics = proved
    random = np.random.default_rng(2)
    content = proof.encode()
    reasons = set()
    for _ in range(2000):
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


def test_each_prover_refuses_what_the_other_made(proved, folder: Path, forger: Prover, tmp_path: Path) -> None:
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
        _native.groth16_prove(key.native, *committing(proved[0])[:-1], limbs([1] * proved[0].wires))


@pytest.mark.parametrize(("name", "read"), [("proving.key", ProvingKey.read), ("verifying.key", VerifyingKey.read)])
def test_damaged_key_files(folder: Path, forger: Prover, tmp_path: Path, name: str, read) -> None:
    for damaged in damage((folder / name).read_bytes()):
        (tmp_path / name).write_bytes(damaged)
        with pytest.raises(FormatError, match=r"^\S+ is not a sound \w+ key: [^\n]+$"):
            read(tmp_path / name)


@pytest.mark.parametrize(("name", "read"), [("proving.key", ProvingKey.read), ("verifying.key", VerifyingKey.read)])
def test_key_files_that_lie_about_their_sizes(folder: Path, forger: Prover, tmp_path: Path, name: str, read) -> None:
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
