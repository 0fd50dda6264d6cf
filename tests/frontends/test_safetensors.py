"""Safetensors files: every kind of number, bytes that come back, files that the package wrote, and faults."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from every_case import every_case
from mutated_json import mutated
from tiers import seeds

import circuitize as cz
from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.frontends.checkpoint import INDEX, WHOLE, load_safetensors, save_safetensors
from circuitize.frontends.stored_numbers import KINDS, decoded, encoded

WRITTEN = Path(__file__).parents[1] / "golden" / "safetensors"
"""Files that the package safetensors wrote, and how, in the script beside them."""


def written(header: Any, data: bytes = b"", length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def entry(dtype: Any = "F32", shape: Any = (2,), offsets: Any = (0, 8)) -> dict[str, Any]:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", seeds(2, deep=50))
def test_any_bytes_come_back(kind: str, seed: int, tmp_path: Path) -> None:
    """Also those of NaNs, of infinities and of numbers below the least normal one."""
    random, dtype = np.random.default_rng(seed), KINDS[kind]
    count = int(random.integers(0, 200))
    stored = random.integers(0, 2, count) if kind == "BOOL" else random.integers(0, 256, count * dtype.itemsize)
    data = stored.astype(np.uint8).tobytes()
    header = {"b": entry("U8", (1,), (0, 1)), "a": entry(kind, (count,), (1, 1 + len(data)))}
    content = written(json.dumps(header, indent=1).encode() + b"   ", b"\x07" + data)
    (tmp_path / WHOLE).write_bytes(content)
    found = load_safetensors(tmp_path)
    assert found.kinds == {"b": "U8", "a": kind} and found["a"].shape == (count,)
    save_safetensors(tmp_path / "again.safetensors", dict(found), like=found)
    assert (tmp_path / "again.safetensors").read_bytes() == content


def test_sixteen_bits_are_the_nearest_half_to_even() -> None:
    """All of BF16, what lies in the middle between two, and just beside that, from float64: rounded once."""
    bits = np.arange(0x7F80, dtype=np.uint16)
    values = decoded("BF16", bits).astype(np.float64)
    assert values[1] == 2.0**-133 and values[-1] == (2 - 2.0**-7) * 2.0**127
    np.testing.assert_array_equal(encoded("BF16", values, ""), bits)
    np.testing.assert_array_equal(encoded("BF16", -values, ""), bits | 0x8000)
    middle = (values[1:] + values[:-1]) / 2
    np.testing.assert_array_equal(encoded("BF16", middle, ""), bits[:-1] + (bits[:-1] & 1))
    np.testing.assert_array_equal(encoded("BF16", np.nextafter(middle, np.inf), ""), bits[1:])
    np.testing.assert_array_equal(encoded("BF16", np.nextafter(middle, -np.inf), ""), bits[:-1])
    with pytest.raises(CircuitizeError, match=r"here: expected numbers that BF16 holds, found 3.4e"):
        encoded("BF16", np.array([1.0, 3.4e38]), "here")
    assert np.isnan(decoded("BF16", encoded("BF16", np.array([np.nan]), "")))[0]


@every_case([("F16", 65520.0), ("F32", 1e39), ("I8", 128), ("U16", -1), ("I32", 0.5), ("BOOL", 2)])
def test_numbers_that_a_kind_does_not_hold_are_refused(kind: str, value: float) -> None:
    for shape in ((), (3,)):
        with pytest.raises(
            CircuitizeError, match=re.escape(f"here: expected numbers that {kind} holds, found {value}")
        ):
            encoded(kind, np.full(shape, value), "here")


def test_files_of_the_package_are_read_and_written_again(tmp_path: Path) -> None:
    """Byte for byte, also from the arrays alone."""
    expected = json.loads((WRITTEN / "expected.json").read_text())
    for path in sorted(WRITTEN.glob("*.safetensors")):
        found = load_safetensors(path)
        assert found.kinds == {name: kind for name, (kind, _) in expected[path.name].items()}
        for name, (_, values) in expected[path.name].items():
            np.testing.assert_array_equal(found[name].tolist(), values)
        kinds = {kind for kind in found.kinds.values() if kind == "BF16"}
        metadata = next(iter(found.files.values())).metadata
        save_safetensors(tmp_path / path.name, dict(found), kind=next(iter(kinds), None), metadata=metadata)
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()


def test_shards_hold_as_much_as_is_asked_for(tmp_path: Path) -> None:
    arrays = {f"layer{n}": np.full((n + 1, 4), n, np.float32) for n in range(5)}
    save_safetensors(tmp_path, arrays, most_bytes=100)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *(f"model-{number:05}-of-00003.safetensors" for number in (1, 2, 3)),
        INDEX,
    ]
    index = json.loads((tmp_path / INDEX).read_text())
    assert index["metadata"]["total_size"] == sum(array.nbytes for array in arrays.values())
    for path in (tmp_path, tmp_path / INDEX):
        found = load_safetensors(path)
        assert found.keys() == arrays.keys() and repr(found).startswith("Tensors of 5 names in model-00001")
        assert all(np.array_equal(found[name], array) for name, array in arrays.items())
    save_safetensors(tmp_path / "again", {"layer4": arrays["layer4"]}, like=found)
    for path in tmp_path.glob("*.*"):
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()
    with pytest.raises(CircuitizeError, match=r"expected a folder for 3 files, found the name of one"):
        save_safetensors(tmp_path / "one.safetensors", {}, like=found)


OTHER_BYTES = b"\x00" * 8
FAULTS: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "expected a safetensors file, found 0 bytes"),
    "cut in the length": (b"\x10\x00\x00", "expected a safetensors file, found 3 bytes"),
    "cut in the header": (
        written({"a": entry()}, OTHER_BYTES)[:30],
        "expected a header of at most 22 bytes, found one of",
    ),
    "cut in the data": (written({"a": entry()}, OTHER_BYTES[:-1]), "expected 8 bytes of tensors, found 7"),
    "more data": (written({"a": entry()}, OTHER_BYTES + b"x"), "expected 8 bytes of tensors, found 9"),
    "a gigantic header": (
        written({"a": entry()}, OTHER_BYTES, (1 << 64) - 1),
        "expected a header of at most .* found one of 18,446,744,073,709,551,615",
    ),
    "no JSON": (written(b"hello   "), "expected a header in JSON, found another"),
    "spaces first": (written(b"  {}"), "expected a header in JSON, found another .one that begins with b' {}'"),
    "no text": (written(b'{"\xff": 1}'), "expected a header in JSON"),
    "nested": (written(b'{"a":' + b"[" * 100000), "expected a header in JSON, found another .nested too deep"),
    "a name twice": (
        written(b'{"a":%s,"a":%s}' % ((json.dumps(entry()).encode(),) * 2), OTHER_BYTES),
        "found another .'a' twice",
    ),
    "a word twice": (
        written(b'{"a":{"dtype":"F32","dtype":"F64","shape":[2],"data_offsets":[0,8]}}', OTHER_BYTES),
        "found another .'dtype' twice",
    ),
    "overlap": (
        written({"a": entry(), "b": entry(offsets=(4, 12))}, OTHER_BYTES + OTHER_BYTES[:4]),
        "expected tensor 'b' at byte 8, where 'a' ends, found it at 4",
    ),
    "one place for two": (
        written({"a": entry(), "b": entry()}, OTHER_BYTES),
        "expected tensor 'b' at byte 8, where 'a' ends, found it at 0",
    ),
    "a gap": (written({"a": entry(offsets=(4, 12))}, OTHER_BYTES * 2), "at byte 0, where the header ends, found it at"),
    "past the end": (written({"a": entry(offsets=(0, 8))}), "expected 8 bytes of tensors, found 0"),
    "backwards": (written({"a": entry(offsets=(8, 0))}, OTHER_BYTES), r"expected 8 bytes of F32\[2\], found -8"),
    "a wrong size": (written({"a": entry("F64")}, OTHER_BYTES), r"expected 16 bytes of F64\[2\], found 8"),
    "endless shape": (
        written({"a": entry(shape=(1 << 61, 1 << 61))}, OTHER_BYTES),
        "expected 21,267,647,932,558,653,966,460,912,964,485,513,216 bytes",
    ),
    "a wrong kind": (written({"a": entry("F8_E4M3")}, OTHER_BYTES), "expected numbers among BOOL, .*'F8_E4M3'"),
    "a kind that is none": (written({"a": entry(["F32"])}, OTHER_BYTES), "expected numbers among"),
    "a negative extent": (written({"a": entry(shape=(-2,))}, OTHER_BYTES), r"expected a shape of .*found \[-2\]"),
    "a fraction": (written({"a": entry(shape=(2.0,))}, OTHER_BYTES), r"expected a shape of .*found \[2.0\]"),
    "a truth": (written({"a": entry("F64", (True,))}, OTHER_BYTES), r"expected a shape of .*found \[True\]"),
    "many axes": (written({"a": entry(shape=(1,) * 40 + (2,))}, OTHER_BYTES), "a shape of at most 32 axes"),
    "three places": (written({"a": entry(offsets=(0, 4, 8))}, OTHER_BYTES), "expected two places in data_offsets"),
    "another word": (written({"a": {**entry(), "scale": 2}}, OTHER_BYTES), "expected dtype, shape and data_offsets"),
    "no entry": (written({"a": 3}, OTHER_BYTES), "expected dtype, shape and data_offsets, found 3"),
    "a name on two lines": (written({"a\nb": entry()}, OTHER_BYTES), r"tensor 'a\\nb': expected a name of printable"),
    "metadata": (written({"__metadata__": {"a": 1}}), "expected __metadata__ that maps names to text"),
}


@every_case(FAULTS.values())
def test_other_files_are_refused_in_one_line(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=message) as raised:
        cz.load_safetensors(path)
    assert "\n" not in str(raised.value) and str(path) in str(raised.value) and "; " in str(raised.value)


def test_a_damaged_file_is_refused_in_one_line_or_read(tmp_path: Path) -> None:
    path = tmp_path / WHOLE
    save_safetensors(path, {"a": np.arange(6.0), "b": np.ones((2, 3), np.float16)}, metadata={"format": "pt"})
    whole = path.read_bytes()
    for seed in seeds(40, deep=5000):
        random, content = np.random.default_rng(seed), bytearray(whole)
        for _ in range(int(random.integers(1, 4))):
            content[int(random.integers(len(content)))] = int(random.integers(256))
        path.write_bytes(content[: int(random.integers(len(content) + 1))] if random.random() < 0.3 else content)
        try:
            load_safetensors(path)
        except CircuitizeError as error:
            assert re.fullmatch(r"[^\n]*: .*expected [^\n]*; [^\n]*", str(error)), seed


NAMES = ["../a.safetensors", "/etc/a.safetensors", "b/a.safetensors", "..", "a\\b.safetensors", "C:a.safetensors"]
INDICES: dict[str, tuple[Any, str]] = {
    **{name: ({"weight_map": {"a": name}}, "expected the name of a .safetensors file beside it") for name in NAMES},
    "a hidden one": ({"weight_map": {"a": ".safetensors"}}, "expected the name of a .safetensors file beside it"),
    "another file": ({"weight_map": {"a": "secret.txt"}}, "expected the name of a .safetensors file beside it"),
    "a number": ({"weight_map": {"a": 3}}, "expected the name of a .safetensors file beside it .* found 3"),
    "a zero": ({"weight_map": {"a": "a\0.safetensors"}}, r"found 'a\\x00.safetensors'"),
    "no file": ({"weight_map": {"a": "gone.safetensors"}}, "gone.safetensors: expected a safetensors file, found No"),
    "a folder": ({"weight_map": {"a": "folder.safetensors"}}, "expected a safetensors file, found Is a directory"),
    "nothing": ({"weight_map": {}}, "expected a weight_map of tensors to files, found none"),
    "no map": ({}, "expected a weight_map of tensors to files, found none"),
    "a list": ([], "expected a weight_map of tensors to files, found none"),
    "not there": ({"weight_map": {"a": "one.safetensors", "z": "one.safetensors"}}, "'z' in one.*, found none there"),
    "left out": ({"weight_map": {"z": "one.safetensors"}}, "tensor 'a' in one.safetensors, where it is, found no word"),
    "elsewhere": (
        {"weight_map": {"a": "two.safetensors", "b": "two.safetensors", "z": "one.safetensors"}},
        "tensor 'a' in one.safetensors, where it is, found it in two.safetensors",
    ),
    "no JSON": (b"hello", "expected an index in JSON"),
    "twice": (b'{"weight_map":{"a":"one.safetensors","a":"two.safetensors"}}', "expected an index in JSON.*'a' twice"),
}


@pytest.mark.parametrize(("index", "message"), INDICES.values(), ids=INDICES)
def test_other_indices_are_refused_in_one_line(index: Any, message: str, tmp_path: Path) -> None:
    save_safetensors(tmp_path / "one.safetensors", {"a": np.ones(2)})
    save_safetensors(tmp_path / "two.safetensors", {"b": np.ones(2)})
    (tmp_path / "folder.safetensors").mkdir()
    (tmp_path / INDEX).write_bytes(index if isinstance(index, bytes) else json.dumps(index).encode())
    with pytest.raises(CircuitizeError, match=message) as raised:
        load_safetensors(tmp_path)
    assert "\n" not in str(raised.value) and str(tmp_path) in str(raised.value) and "; " in str(raised.value)


def test_what_a_caller_gives_is_checked(tmp_path: Path) -> None:
    with pytest.raises(CircuitizeError, match=r"model.safetensors: expected a safetensors file, found No such file"):
        load_safetensors(tmp_path)
    for arrays, message in (
        ({"": np.ones(1)}, "tensor '': expected a name of printable characters"),
        ({"__metadata__": np.ones(1)}, "expected a name of printable characters of its own"),
        ({"a": np.ones(1, complex)}, "tensor 'a': expected numbers of BOOL, .* found dtype complex128; convert it"),
    ):
        with pytest.raises(CircuitizeError, match=message):
            save_safetensors(tmp_path, arrays)
    with pytest.raises(CircuitizeError, match="expected a kind among F16, BF16, F32, F64, found 'I8'"):
        save_safetensors(tmp_path, {"a": np.ones(1)}, kind="I8")
    save_safetensors(tmp_path, {"a": np.ones((2, 3))})
    like = load_safetensors(tmp_path)
    with pytest.raises(CircuitizeError, match="expected names among the 1 of like, found 'b'; rename it"):
        save_safetensors(tmp_path, {"b": np.ones(1)}, like=like)
    with pytest.raises(CircuitizeError, match=r"expected shape \[2, 3\], found \[3, 2\]; torch keeps \[out, in\]"):
        save_safetensors(tmp_path, {"a": np.ones((3, 2))}, like=like)
    with pytest.raises(CircuitizeError, match="expected like alone"):
        save_safetensors(tmp_path, {}, like=like, kind="F32")
    assert not list(tmp_path.glob(".*.part"))


def test_a_header_of_other_values_is_refused_in_one_line_or_read(tmp_path: Path) -> None:
    path = tmp_path / WHOLE
    header = {"__metadata__": {"format": "pt"}, "a": entry(), "b": entry("I8", (2, 4), (8, 16))}
    for seed in seeds(20, deep=3000):
        random = np.random.default_rng(seed)
        path.write_bytes(written(mutated(header, random), OTHER_BYTES * 2))
        (tmp_path / INDEX).write_text(json.dumps(mutated({"weight_map": {"a": WHOLE, "b": WHOLE}}, random)))
        for given in (path, tmp_path / INDEX):
            try:
                load_safetensors(given)
            except CircuitizeError as error:
                assert "\n" not in str(error) and ";" in str(error), seed
