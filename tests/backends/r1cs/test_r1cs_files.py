"""Constraint systems and witnesses survive their files, and damaged files are refused in one line."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from struct import pack

import numpy as np
import pytest
from tiers import count

from circuitize.backends.field import BN254, Field
from circuitize.backends.r1cs.builder import Kind, SystemBuilder
from circuitize.backends.r1cs.json_file import write_json
from circuitize.backends.r1cs.r1cs_file import read_r1cs, write_r1cs
from circuitize.backends.r1cs.sym_file import write_sym
from circuitize.backends.r1cs.system import ConstraintSystem, Rows
from circuitize.backends.r1cs.wtns_file import read_wtns, write_wtns
from circuitize.circuits.errors import CircuitizeError, FormatError

VALUES = [1, -1, 2, 1 << 61, -(1 << 61), (1 << 62) - 1, 1 << 62, -(1 << 63), 1 << 253, BN254.prime // 2, -3]
FIELDS = [Field(101), Field((1 << 61) - 1), Field((1 << 127) - 1), BN254]


def names(field: Field) -> str:
    return f"p{field.prime.bit_length()}"


def build(field: Field, rows: int = 30, internal: int = 20, seed: int = 0) -> ConstraintSystem:
    """A random system, its combinations between empty and all wires."""
    random = np.random.default_rng(seed)
    builder = SystemBuilder(field)
    builder.wires(2, -1, "output", (2, 1), kind=Kind.PUBLIC_OUTPUT)
    builder.wires(3, -1, "input", kind=Kind.PUBLIC_INPUT)
    builder.wires(1, -1, "input", (), kind=Kind.PRIVATE_INPUT)
    builder.wires(internal, 4, "product", (internal // 2, 2))
    matrices = []
    for _ in range(3):
        chosen = random.random((rows, builder.wire_count)) < random.random((rows, 1)) ** 3
        codes = np.array([builder.large_constant(value) for value in VALUES])
        offsets = np.concatenate([[0], np.cumsum(chosen.sum(axis=1))])
        wires = np.nonzero(chosen)[1]
        matrices.append(Rows(offsets, wires, codes[random.integers(0, len(codes), len(wires))]))
    a, b, c = matrices
    builder.rows(a, b, c, 4, "product")
    return builder.system()


def equal(left: ConstraintSystem, right: ConstraintSystem) -> bool:
    counts = ("field", "wires", "public_outputs", "public_inputs", "private_inputs")
    if any(getattr(left, name) != getattr(right, name) for name in counts):
        return False
    pairs = [(left.large, right.large)]
    for name in ("a", "b", "c"):
        one, other = getattr(left, name), getattr(right, name)
        pairs += [(one.offsets, other.offsets), (one.wires, other.wires), (one.coefficients, other.coefficients)]
    return all(np.array_equal(one, other) for one, other in pairs)


def parsed(data: bytes) -> list[tuple[int, bytes]]:
    """The sections of a file, by the format's description: [(type, payload)]."""
    count = int.from_bytes(data[8:12], "little")
    at, sections = 12, []
    for _ in range(count):
        kind, size = int.from_bytes(data[at : at + 4], "little"), int.from_bytes(data[at + 4 : at + 12], "little")
        sections.append((kind, data[at + 12 : at + 12 + size]))
        at += 12 + size
    assert at == len(data)
    return sections


def joined(magic: bytes, version: int, sections: Sequence[tuple[int, bytes]]) -> bytes:
    parts = [pack("<IQ", kind, len(payload)) + payload for kind, payload in sections]
    return magic + pack("<II", version, len(sections)) + b"".join(parts)


@pytest.mark.parametrize("field", FIELDS, ids=names)
def test_a_system_survives_its_file(tmp_path: Path, field: Field, monkeypatch: pytest.MonkeyPatch) -> None:
    for words in (1 << 22, 50):
        monkeypatch.setattr("circuitize.backends.r1cs.r1cs_file.CHUNK_WORDS", words)
        system = build(field)
        write_r1cs(tmp_path / "a.r1cs", system)
        back, labels = read_r1cs(tmp_path / "a.r1cs", field)
        assert equal(system, back)
        assert labels.tolist() == list(range(system.wires))


@pytest.mark.parametrize("field", FIELDS, ids=names)
def test_the_bytes_are_those_of_the_format(tmp_path: Path, field: Field) -> None:
    system = build(field, rows=5)
    write_r1cs(tmp_path / "a.r1cs", system)
    data = (tmp_path / "a.r1cs").read_bytes()
    width = field.bytes
    header = pack("<I", width) + field.prime.to_bytes(width, "little")
    header += pack("<IIIIQI", 27, 2, 3, 1, 27, 5)
    rows = b""
    for row in range(5):
        for matrix in (system.a, system.b, system.c):
            terms = range(int(matrix.offsets[row]), int(matrix.offsets[row + 1]))
            values = field.to_integers(system.coefficient_limbs(matrix.coefficients))
            rows += pack("<I", len(terms))
            for term in terms:
                rows += pack("<I", matrix.wires[term]) + values[term].to_bytes(width, "little")
    labels = b"".join(pack("<Q", wire) for wire in range(27))
    assert data == joined(b"r1cs", 1, [(1, header), (2, rows), (3, labels)])


def test_sections_come_in_any_order(tmp_path: Path) -> None:
    system = build(BN254)
    path = tmp_path / "a.r1cs"
    write_r1cs(path, system)
    one, two, three = parsed(path.read_bytes())
    odd = (9, b"unknown")
    for sections in (
        [two, one, three],
        [three, two, one],
        [odd, three, one, two],
        [one, odd, two, three],
    ):
        path.write_bytes(joined(b"r1cs", 1, sections))
        assert equal(read_r1cs(path)[0], system)


def test_empty_systems(tmp_path: Path) -> None:
    builder = SystemBuilder(BN254)
    path = tmp_path / "a.r1cs"
    write_r1cs(path, builder.system())
    assert equal(read_r1cs(path)[0], builder.system())
    builder.rows(Rows.zero(3), Rows.zero(3), Rows.zero(3), 0, "product")
    write_r1cs(path, builder.system())
    assert equal(read_r1cs(path)[0], builder.system())


@pytest.mark.parametrize("field", FIELDS, ids=names)
def test_a_witness_survives_its_file(tmp_path: Path, field: Field, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("circuitize.backends.r1cs.wtns_file.CHUNK", 4)
    witness = field.from_integers([1, 0, *VALUES])
    write_wtns(tmp_path / "a.wtns", field, witness)
    assert np.array_equal(read_wtns(tmp_path / "a.wtns", field), witness)
    header = pack("<I", field.bytes) + field.prime.to_bytes(field.bytes, "little") + pack("<I", len(witness))
    values = b"".join(value.to_bytes(field.bytes, "little") for value in field.to_integers(witness))
    assert (tmp_path / "a.wtns").read_bytes() == joined(b"wtns", 2, [(1, header), (2, values)])


def refused(read: Callable[..., object], path: Path, *also: Field) -> str:
    """Reading raises a FormatError of one line that names the file."""
    with pytest.raises(FormatError) as caught:
        read(path, *also)
    message = str(caught.value)
    assert "\n" not in message and str(path) in message and "expected" in message and "remedy" in message
    return message


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_r1cs(path, build(BN254, rows=3, internal=4))
    write_wtns(tmp_path / "b", BN254, BN254.from_integers([1, 2, 3]))
    for read, data in ((read_r1cs, path.read_bytes()), (read_wtns, (tmp_path / "b").read_bytes())):
        for length in range(0, len(data), count(3, deep=1)):
            path.write_bytes(data[:length])
            refused(read, path)
        path.write_bytes(data + b"\0")
        refused(read, path)


def test_every_flipped_bit_is_refused_or_read_as_something_else(tmp_path: Path) -> None:
    """Formats without checksums cannot tell another valid system; but nothing else may come of a damaged file."""
    path = tmp_path / "a"
    system = build(BN254, rows=2, internal=2, seed=3)
    write_r1cs(path, system)
    witness = BN254.from_integers([1, 5, -1])
    write_wtns(tmp_path / "b", BN254, witness)
    data = path.read_bytes()
    for bit in range(0, 8 * len(data), count(23, deep=3)):
        path.write_bytes(flipped(data, bit))
        try:
            other, labels = read_r1cs(path)
        except FormatError as error:
            assert "\n" not in str(error)
            continue
        assert not equal(other, system) or labels.tolist() != list(range(system.wires)) or in_label_count(data, bit)
    data = (tmp_path / "b").read_bytes()
    for bit in range(0, 8 * len(data), count(5, deep=1)):
        path.write_bytes(flipped(data, bit))
        try:
            assert not np.array_equal(read_wtns(path), witness)
        except FormatError as error:
            assert "\n" not in str(error)


def flipped(data: bytes, bit: int) -> bytes:
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def in_label_count(data: bytes, bit: int) -> bool:
    """The header's number of labels may be larger than any label."""
    return 24 + 4 + 32 + 16 <= bit // 8 < 24 + 4 + 32 + 16 + 8


def test_wrong_kinds_of_files(tmp_path: Path) -> None:
    path = tmp_path / "a"
    system = build(BN254)
    write_r1cs(path, system)
    data = path.read_bytes()
    assert "magic" in refused(read_wtns, path)
    assert "prime" in refused(read_r1cs, path, Field((1 << 255) - 19))
    assert "bytes per field element" in refused(read_r1cs, path, Field(101))
    path.write_bytes(data[:4] + pack("<I", 2) + data[8:])
    assert "version 1, found version 2" in refused(read_r1cs, path)
    path.write_bytes(b"")
    refused(read_r1cs, path)
    sections = parsed(data)
    path.write_bytes(joined(b"r1cs", 1, sections[:2]))
    assert "section of type 3" in refused(read_r1cs, path)
    path.write_bytes(joined(b"r1cs", 1, [*sections, sections[1]]))
    assert "one section of type 2" in refused(read_r1cs, path)
    path.write_bytes(joined(b"r1cs", 1, [*sections, (4, b""), (5, b"")]))
    assert "custom gates" in refused(read_r1cs, path)


def entry(wire: int, value: int) -> bytes:
    return pack("<I", wire) + (value % (1 << 256)).to_bytes(32, "little")


@pytest.mark.parametrize(
    ("combination", "words"),
    [
        (pack("<I", 1) + entry(3, 1), "wires below 3"),
        (pack("<I", 2) + entry(2, 1) + entry(1, 1), "ascend"),
        (pack("<I", 2) + entry(2, 1) + entry(2, 1), "ascend"),
        (pack("<I", 1) + entry(1, 0), "other than 0"),
        (pack("<I", 1) + entry(1, BN254.prime), "below the prime"),
        (pack("<I", 1) + entry(1, -1), "below the prime"),
        (pack("<I", 0xFFFFFFFF) + entry(1, 1), "passes its end"),
        (pack("<I", 3) + entry(1, 1), "passes its end"),
        (pack("<I", 0) + entry(1, 1), "section 2"),
    ],
)
def test_bad_combinations(tmp_path: Path, combination: bytes, words: str) -> None:
    path = tmp_path / "a"
    fine = pack("<I", 1) + entry(0, 1)
    header = pack("<I", 32) + BN254.prime.to_bytes(32, "little") + pack("<IIIIQI", 3, 0, 0, 0, 3, 2)
    labels = pack("<QQQ", 0, 1, 2)
    good = 4 * fine + fine + fine
    path.write_bytes(joined(b"r1cs", 1, [(1, header), (2, good), (3, labels)]))
    assert read_r1cs(path)[0].constraints == 2
    path.write_bytes(joined(b"r1cs", 1, [(1, header), (2, 4 * fine + combination + fine), (3, labels)]))
    message = refused(read_r1cs, path)
    assert words in message
    assert "constraint 1" in message or "section 2" in message


@pytest.mark.parametrize(
    "counts", [(1 << 31, 0, 0, 0, 3, 0), (3, 2, 1, 0, 3, 0), (3, 0, 0, 0, 2, 0), (3, 0, 0, 0, 3, 1 << 31)]
)
def test_headers_that_promise_too_much(tmp_path: Path, counts: tuple[int, ...]) -> None:
    path = tmp_path / "a"
    header = pack("<I", 32) + BN254.prime.to_bytes(32, "little") + pack("<IIIIQI", *counts)
    path.write_bytes(joined(b"r1cs", 1, [(1, header), (2, b""), (3, pack("<QQQ", 0, 1, 2))]))
    refused(read_r1cs, path)
    header = pack("<I", 32) + BN254.prime.to_bytes(32, "little") + pack("<I", counts[0])
    path.write_bytes(joined(b"wtns", 2, [(1, header), (2, b"")]))
    refused(read_wtns, path)


def test_bad_witness_values(tmp_path: Path) -> None:
    path = tmp_path / "a"
    header = pack("<I", 32) + BN254.prime.to_bytes(32, "little")
    for values, words in (([1, BN254.prime], "below the prime"), ([2, 1], "constant 1"), ([], "constant 1")):
        payload = b"".join(value.to_bytes(32, "little") for value in values)
        path.write_bytes(joined(b"wtns", 2, [(1, header + pack("<I", len(values))), (2, payload)]))
        assert words in refused(read_wtns, path)


def test_missing_files_and_folders(tmp_path: Path) -> None:
    for path in (tmp_path / "none.r1cs", tmp_path):
        with pytest.raises(CircuitizeError, match="cannot read"):
            read_r1cs(path)


def test_a_full_disk_leaves_no_file(tmp_path: Path) -> None:
    """In a process of its own, because a limit on file sizes cannot be raised again."""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    program = f"""
import resource, signal, pathlib
import numpy as np
from circuitize.backends.field import BN254
from circuitize.backends.r1cs.wtns_file import write_wtns
from circuitize.circuits.errors import CircuitizeError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, {limit}))
try:
    write_wtns(pathlib.Path("a.wtns"), BN254, BN254.from_int64(np.ones(1 << 14, np.int64)))
except CircuitizeError as error:
    print(error)
"""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert "cannot write a.wtns" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_names_of_wires(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for lines in (1 << 16, 3):
        monkeypatch.setattr("circuitize.backends.r1cs.sym_file.CHUNK", lines)
        write_sym(tmp_path / "a.sym", build(BN254), lambda edge: "dense,\n1" if edge == 4 else "step")
        text = (tmp_path / "a.sym").read_text().splitlines()
        assert text[:6] == [
            "1,1,0,main.step.output[0][0]",
            "2,2,0,main.step.output[1][0]",
            "3,3,0,main.step.input[0]",
            "4,4,0,main.step.input[1]",
            "5,5,0,main.step.input[2]",
            "6,6,0,main.step.input",
        ]
        assert text[6:] == [f"{7 + i},{7 + i},5,main.dense  1.product[{i // 2}][{i % 2}]" for i in range(20)]


def test_names_of_wires_without_blocks(tmp_path: Path) -> None:
    write_r1cs(tmp_path / "a.r1cs", build(BN254))
    write_sym(tmp_path / "a.sym", read_r1cs(tmp_path / "a.r1cs")[0], str)
    assert (tmp_path / "a.sym").read_text() == "".join(f"{w},{w},0,main.wire[{w}]\n" for w in range(1, 27))


def test_json_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("circuitize.backends.r1cs.json_file.CHUNK", 7)
    system = build(BN254)
    write_json(tmp_path / "a.json", system)
    told = json.loads((tmp_path / "a.json").read_text())
    assert (told["nVars"], told["nOutputs"], told["nPubInputs"], told["nPrvInputs"]) == (27, 2, 3, 1)
    assert told["map"] == list(range(27)) and int(told["prime"]) == BN254.prime
    for row, line in enumerate(told["constraints"]):
        for matrix, combination in zip((system.a, system.b, system.c), line, strict=True):
            terms = slice(int(matrix.offsets[row]), int(matrix.offsets[row + 1]))
            values = BN254.to_integers(system.coefficient_limbs(matrix.coefficients[terms]))
            assert combination == {str(w): str(v) for w, v in zip(matrix.wires[terms], values, strict=True)}
