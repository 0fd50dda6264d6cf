"""Every way to tamper with a Groth16 proof, its publics, its key or its files is refused, with one line."""

import copy
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from groth16_cases import DIGEST, R, damage, random_system
from groth16_curves import Point, Sum, add, minus, multiply, negative, pack, twist_points, unpack

from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.provers.groth16.config import COORDINATE_PRIME as Q
from circuitize.provers.groth16.keys import ProvingKey, VerifyingKey, setup
from circuitize.provers.groth16.proof import Proof
from circuitize.provers.groth16.prover import prove, public_values
from circuitize.provers.groth16.snarkjs import proof_text, public_text
from circuitize.provers.groth16.snarkjs_files import read_proof, read_public, read_verifying_key
from circuitize.provers.groth16.verifier import refusal, verify

Proved = tuple[ProvingKey, VerifyingKey, Proof, list[int]]
WRONG: tuple[object, ...] = (None, [], {}, "1", -1, ["1", "2", "3"], [["1", "2"], ["3"], ["1", "0"]], ["a", "b", "1"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("keys")


@pytest.fixture(scope="module")
def proved(folder: Path) -> Proved:
    """(proving key, verifying key, proof, publics)"""
    system, witness = random_system(1)
    key = setup(system, DIGEST, folder)
    return key, key.verifying_key, prove(system, witness, key, DIGEST), public_values(system, witness)


def split(proof: Proof) -> tuple[Point, Point, Point]:
    return unpack(proof.points[:64]), unpack(proof.points[64:192]), unpack(proof.points[192:])


def joined(a: Sum, b: Sum, c: Sum) -> Proof:
    return Proof(DIGEST, pack(a, 64) + pack(b, 128) + pack(c, 64))


def test_the_curves_in_python_are_those_of_the_proof(proved: Proved) -> None:
    _, key, proof, publics = proved
    a, b, c = split(proof)
    for point in (a, b, c):
        assert multiply(point, R) is None
    assert multiply(b, R - 1) == negative(b)
    assert verify(joined(a, b, c), key, publics)


def test_changed_publics(proved: Proved) -> None:
    _, key, proof, publics = proved
    for place, value in enumerate(publics):
        for changed in (value + 1, value - 1, value ^ 1, -value - 1, 0 if value else 1, R - 1 - value):
            assert not verify(proof, key, [*publics[:place], changed % R, *publics[place + 1 :]])
    assert len(set(publics)) > 1
    assert not verify(proof, key, publics[1:] + publics[:1])


def test_publics_are_not_reduced(proved: Proved) -> None:
    _, key, proof, publics = proved
    for place, value in enumerate(publics):
        for changed in (value + R, value - R, value + 2 * R, value + (1 << 256), value + R * (1 << 300)):
            reason = refusal(proof, key, [*publics[:place], changed, *publics[place + 1 :]])
            assert reason == f"public value {place} is not in [0, r)"


def test_the_number_of_publics_counts(proved: Proved) -> None:
    _, key, proof, publics = proved
    for changed in ([], publics[:-1], [*publics, 0], [0, *publics]):
        assert "public values" in str(refusal(proof, key, changed))


def test_other_digests(proved: Proved) -> None:
    _, key, proof, publics = proved
    other = hashlib.sha256(b"another").hexdigest()
    assert refusal(proof, key, publics, DIGEST) is None
    assert "verifying key is for the circuit" in str(refusal(proof, key, publics, other))
    assert "proof is for the circuit" in str(refusal(Proof(other, proof.points), key, publics))
    assert "proof is for the circuit" in str(refusal(Proof(other, proof.points), key, publics, DIGEST))


def test_other_keys(proved: Proved, tmp_path: Path) -> None:
    _, _, proof, publics = proved
    again = setup(random_system(1)[0], DIGEST, tmp_path).verifying_key
    assert not verify(proof, again, publics)
    easier = setup(random_system(2, rows=1)[0], DIGEST, tmp_path).verifying_key
    assert not verify(proof, easier, publics)


def test_moved_points(proved: Proved) -> None:
    _, key, proof, publics = proved
    a, b, c = split(proof)
    one = ((1, 0), (2, 0))
    for changed in (
        (c, b, a),
        (a, b, a),
        (negative(a), b, c),
        (a, negative(b), c),
        (a, b, negative(c)),
        (negative(a), b, negative(c)),
        (add(a, a), b, c),
        (a, add(b, b), c),
        (a, b, add(c, one)),
        (one, b, c),
    ):
        assert refusal(joined(*changed), key, publics) == "the pairing equation does not hold"


def test_re_randomised_proofs_pass_by_design(proved: Proved) -> None:
    """Groth16 is malleable: that is why the documentation forbids the hash of a proof as an identifier."""
    _, key, proof, publics = proved
    a, b, c = split(proof)
    delta = unpack(key.native.points()[320:448])
    s, t = 0x1234567890ABCDEF, 0xFEDCBA0987654321
    for changed in (
        (negative(a), negative(b), c),
        (multiply(a, pow(s, -1, R)), multiply(b, s), c),
        (a, add(b, multiply(delta, t)), add(c, multiply(a, t))),
    ):
        assert joined(*changed) != proof
        assert verify(joined(*changed), key, publics)


def test_points_at_infinity_or_off_the_curve(proved: Proved) -> None:
    _, key, proof, publics = proved
    points = split(proof)
    for place, (name, size) in enumerate((("A", 64), ("B", 128), ("C", 64))):
        start = (0, 64, 192)[place]

        def changed(content: bytes, start: int = start, size: int = size) -> Proof:
            return Proof(DIGEST, proof.points[:start] + content + proof.points[start + size :])

        assert refusal(changed(bytes(size)), key, publics) == f"{name} is the point at infinity"
        (x, y) = points[place]
        for wrong in ((x, minus(y, (1, 0))), (y, x), (x, (0, 0)), ((0, 0), y)):
            assert refusal(changed(pack(wrong, size)), key, publics) == f"{name} is not on the curve"
        for at in range(0, size, 32):
            content = pack(points[place], size)
            for shift in (Q, 2 * Q, 4 * Q):
                value = int.from_bytes(content[at : at + 32], "little") + shift
                other = content[:at] + value.to_bytes(32, "little") + content[at + 32 :]
                assert refusal(changed(other), key, publics) == f"a coordinate of {name} is not below the prime"


def test_points_outside_the_group_of_order_r(proved: Proved) -> None:
    _, key, proof, publics = proved
    a, b, c = split(proof)
    outside = list(twist_points())
    assert len(outside) > 10
    for point in outside:
        for changed in (point, add(b, multiply(point, R))):
            reason = refusal(joined(a, changed, c), key, publics)
            assert reason == "B is on the curve but not in its group of order r"


def test_proofs_of_another_length(proved: Proved) -> None:
    _, key, proof, publics = proved
    for points in (b"", proof.points[:-1], proof.points + b"\0", proof.points[:192], proof.points * 2):
        assert "256 bytes" in str(refusal(Proof(DIGEST, points), key, publics))


def test_damaged_proof_files(proved: Proved, tmp_path: Path) -> None:
    _, key, proof, publics = proved
    content = proof.encode()
    path = tmp_path / "proof"
    for length in range(len(content)):
        path.write_bytes(content[:length])
        with pytest.raises(FormatError, match="184 bytes"):
            Proof.read(path)
    path.write_bytes(content + b"\0")
    with pytest.raises(FormatError, match="184 bytes"):
        Proof.read(path)
    for bit in [*range(56 * 8), *range(56 * 8, len(content) * 8, 11)]:
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        try:
            assert not verify(Proof.decode(bytes(damaged)), key, publics)
        except FormatError as error:
            assert "\n" not in str(error)


@pytest.mark.parametrize(("name", "read"), [("proving.key", ProvingKey.read), ("verifying.key", VerifyingKey.read)])
def test_damaged_key_files(
    proved: Proved, folder: Path, tmp_path: Path, name: str, read: Callable[[Path], Any]
) -> None:
    content = (folder / name).read_bytes()
    for damaged in damage(content):
        (tmp_path / name).write_bytes(damaged)
        with pytest.raises(FormatError, match=r"^\S+ is not a sound \w+ key: [^\n]+$"):
            read(tmp_path / name)


@pytest.mark.parametrize(("name", "read"), [("proving.key", ProvingKey.read), ("verifying.key", VerifyingKey.read)])
def test_key_files_that_lie_about_their_sizes(
    proved: Proved, folder: Path, tmp_path: Path, name: str, read: Callable[[Path], Any]
) -> None:
    """The checksum is right again each time: only the content can give them away, before memory is claimed."""
    content = (folder / name).read_bytes()
    fields = [56, 64, 72, 80, 88, 96] if name == "proving.key" else [56]
    for at in fields:
        true = int.from_bytes(content[at : at + 8], "little")
        for size in {0, 1, true - 1, true + 1, 1 << 20, 1 << 31, 1 << 32, 1 << 58, 1 << 62, 1 << 63, (1 << 64) - 1}:
            if not size >= 0 or size == true:
                continue
            lying = bytearray(content[:-32])
            lying[at : at + 8] = size.to_bytes(8, "little")
            (tmp_path / name).write_bytes(bytes(lying) + hashlib.sha256(lying).digest())
            try:
                key = read(tmp_path / name)
            except FormatError as error:
                assert "\n" not in str(error)
            else:
                # Only the number of wires or rows may pass, where the sizes still fit; it is checked when proving.
                assert at in (64, 72)
                assert (key.native.wires, key.native.rows) != (proved[0].native.wires, proved[0].native.rows)


def test_key_files_with_points_that_are_not_in_their_groups(proved: Proved, folder: Path, tmp_path: Path) -> None:
    content = (folder / "verifying.key").read_bytes()
    path = tmp_path / "verifying.key"
    outside = pack(next(twist_points()), 128)
    changes = [(64, bytes(64), "alpha is the point at infinity"), (64, b"\1" + bytes(63), "alpha is not on the curve")]
    changes += [(128 + 128 * i, outside, "not in its group") for i in range(3)]
    changes += [(128 + 128 * i, bytes(128), "infinity") for i in range(3)]
    changes += [(512 + 64 * i, bytes(64), f"input {i} is the point at infinity") for i in range(6)]
    for at, points, reason in changes:
        changed = content[:at] + points + content[at + len(points) : -32]
        path.write_bytes(changed + hashlib.sha256(changed).digest())
        with pytest.raises(FormatError, match=reason):
            VerifyingKey.read(path)


def test_a_key_with_swapped_kinds_is_no_key(proved: Proved, folder: Path) -> None:
    with pytest.raises(FormatError, match="not a proving key"):
        ProvingKey.read(folder / "verifying.key")
    with pytest.raises(FormatError, match="not a verifying key"):
        VerifyingKey.read(folder / "proving.key")


def test_malformed_snarkjs_files(proved: Proved, folder: Path, tmp_path: Path) -> None:
    _, key, proof, publics = proved
    path = tmp_path / "file.json"
    texts = ["", "{", "[]", "null", "3", '"x"', "[" * 100_000, '{"protocol": "groth16", "curve": "bn128"}', "\0"]
    readers: dict[str, Callable[[], object]] = {
        proof_text(proof): lambda: read_proof(path, DIGEST),
        (folder / "verification_key.json").read_text(): lambda: read_verifying_key(path, DIGEST, "development"),
    }
    for text, read in readers.items():
        content = json.loads(text)
        changes = [*texts, text[:-2]]
        for name in set(content) - {"vk_alphabeta_12"}:
            missing = copy.deepcopy(content)
            del missing[name]
            changes.append(json.dumps(missing))
            changes.extend(json.dumps(content | {name: value}) for value in WRONG)
        for change in changes:
            path.write_text(change)
            with pytest.raises(FormatError, match=r"^[^\n]+$"):
                read()
    numbers = ['["-1"]', "[1]", f'["{R}"]', '["1e3"]', '[" 1"]', '["٣"]', '["1", ""]']
    no_lists = ['"12"', '{"12": 0}', '{"1": "2"}']
    for text in [*texts[:2], *texts[3:], *numbers, *no_lists]:
        path.write_text(text)
        with pytest.raises(FormatError, match=r"^[^\n]+$"):
            read_public(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(CircuitizeError):
        read_public(path)
    path.write_text(public_text(publics))
    assert verify(proof, key, read_public(path))


def test_a_snarkjs_proof_with_non_canonical_coordinates_is_refused(proved: Proved, tmp_path: Path) -> None:
    _, _, proof, _ = proved
    content = json.loads(proof_text(proof))
    content["pi_a"][0] = str(int(content["pi_a"][0]) + Q)
    (tmp_path / "proof.json").write_text(json.dumps(content))
    with pytest.raises(FormatError, match="not below"):
        read_proof(tmp_path / "proof.json", DIGEST)


@pytest.mark.parametrize(
    ("name", "point"),
    [("pi_a", "121"), ("pi_a", {"3": 0, "2": 0, "1": 0}), ("pi_b", ["12", "34", ["1", "0"]])],
)
def test_a_snarkjs_point_is_a_list(name: str, point: object, proved: Proved, tmp_path: Path) -> None:
    """Texts and objects also have parts one after the other, which are not taken for coordinates."""
    _, _, proof, _ = proved
    (tmp_path / "proof.json").write_text(json.dumps(json.loads(proof_text(proof)) | {name: point}))
    with pytest.raises(FormatError, match=r"^[^\n]+expected a list[^\n]+$"):
        read_proof(tmp_path / "proof.json", DIGEST)
