"""Pins that somebody made to harm: refused in one line, and before what they claim is unpacked or planned for."""

from __future__ import annotations

import io
import json
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from public_starts import MODEL, START, prove, step
from tiers import count

import circuitize as cz
from circuitize.api.runs.pin import SCALARS, SETTING, STARTS, STEP, read_pin
from circuitize.api.runs.proving import ProvedRun
from circuitize.circuits.errors import CircuitizeError, FormatError

RATE, WEIGHT = f"{SCALARS}learning_rate.npy", f"{STARTS}dense1.weight.npy"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> ProvedRun:
    return prove(tmp_path_factory.mktemp("pinned") / "run", steps=1, not_zero_knowledge=True)


@pytest.fixture(scope="module")
def pin(made: ProvedRun) -> dict[str, bytes]:
    """The entries of an honest pin, by name."""
    path = made.folder.parent / "run.pin"
    assert cz.verify_run(step(), made.folder, initial_seed=START, model=MODEL, pin=path)
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def refusal(made: ProvedRun, entries: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> str:
    """Why a pin of these entries is refused."""
    path = made.folder.parent / "hostile.pin"
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    try:
        verdict = cz.verify_pinned(made.folder, path)
        assert not verdict.valid
        return str(verdict.reason)
    except CircuitizeError as error:
        assert "\n" not in str(error) and len(str(error)) < 700
        return str(error)


def set_to(pin: dict[str, bytes], **changed: Any) -> dict[str, bytes]:
    return {**pin, SETTING: json.dumps({**json.loads(pin[SETTING]), **changed}).encode()}


HOSTILE: list[Any] = [None, True, 1.0, "x", [], {"a": "00"}, 2**70]


def test_a_pin_says_each_thing_in_its_kind(made: ProvedRun, pin: dict[str, bytes]) -> None:
    """Whatever else stands in any place is refused, and so is a place that is left out."""
    setting, apart = json.loads(pin[SETTING]), count(3, deep=1)
    for number, (key, honest) in enumerate(setting.items()):
        for value in HOSTILE[number % apart :: apart]:
            if json.dumps(value) != json.dumps(honest):
                assert refusal(made, set_to(pin, **{key: value})), (key, value)
        left = {name: value for name, value in setting.items() if name != key}
        assert "expected a pin" in refusal(made, {**pin, SETTING: json.dumps(left).encode()}), key


def test_a_pin_leaves_no_root_to_the_run(made: ProvedRun, pin: dict[str, bytes]) -> None:
    setting = json.loads(pin[SETTING])
    for key in ("roots", "final"):
        for name, root in setting[key].items():
            fewer = {other: value for other, value in setting[key].items() if other != name}
            for roots in (fewer, {**fewer, name: ""}, {**fewer, name: root + "00"}, {**setting[key], "test": root}):
                assert "roots of" in refusal(made, set_to(pin, **{key: roots}))
            flipped = f"{int(root[0], 16) ^ 1:x}{root[1:]}"
            assert "committed to by 0x" in refusal(made, set_to(pin, **{key: {**fewer, name: flipped}}))


def test_a_seed_is_not_pinned_for_other_values(made: ProvedRun, pin: dict[str, bytes]) -> None:
    """Nor other values for the seed: the run's plans are of both."""
    assert "initial seed" in refusal(made, set_to(pin, initial_seed="00"))
    assert "initial seed" in refusal(made, set_to(pin, initial_seed=START.hex() + "00"))
    values = np.load(io.BytesIO(pin[WEIGHT])).copy()
    values.flat[0] += 1
    changed = {**pin, WEIGHT: written(values)}
    found = refusal(made, changed)
    assert "expected plans" in found
    plans = found.partition("expected plans ")[2].partition(",")[0]
    assert "the run is of plans" in refusal(made, set_to(changed, plans=plans))


def written(values: Any, **more: Any) -> bytes:
    content = io.BytesIO()
    np.save(content, values, **more)
    return content.getvalue()


def headed(header: str, content: bytes = b"") -> bytes:
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + content


@cache
def arrays() -> list[bytes]:
    """In place of an array of one number or of some."""
    described = "{'descr': '<i8', 'fortran_order': False, 'shape': (%s,), }"
    return [
        b"",
        b"\x93NUMPY",
        written(np.zeros((), "<i8")),
        written(np.zeros(0, "<i8")),
        written(np.zeros(1, ">i8")),
        written(np.zeros(1, "<f8")),
        written(np.array([{}]), allow_pickle=True),
        written(np.zeros(1, "<i8")) + b"0",
        headed(described % 1),
        headed(described % 10**12, bytes(64)),
        headed(described % 10**30, bytes(64)),
        headed(described % -1, bytes(64)),
        headed("{'descr': '<i8', 'fortran_order': False, 'shape': ((", bytes(8)),
        headed("[" * 60000, bytes(8)),
        headed("{'descr': '<i8', 'fortran_order': False, 'shape': (1L,'", bytes(8)),
        headed("__import__('os').abort()", bytes(8)),
    ]


@pytest.mark.parametrize("name", [RATE, WEIGHT])
def test_arrays_of_another_kind(made: ProvedRun, pin: dict[str, bytes], name: str) -> None:
    for content in arrays():
        assert "expected a pin" in refusal(made, {**pin, name: content}), content[:80]
    beyond = np.load(io.BytesIO(pin[name])).copy()
    beyond.flat[0] = np.iinfo(np.int64).max
    assert refusal(made, {**pin, name: written(beyond)})


def test_entries_that_no_pin_has(made: ProvedRun, pin: dict[str, bytes]) -> None:
    for name in pin:
        left = {other: content for other, content in pin.items() if other != name}
        assert "expected a pin" in refusal(made, left), name
    for name in ("more", "evaluation.arrow", f"{SCALARS}more.npy", f"{STARTS}more.npy", "/pin.json", "../pin.json"):
        assert "expected a pin" in refusal(made, {**pin, name: pin[STEP]}), name
    path = made.folder.parent / "twice.pin"
    with zipfile.ZipFile(path, "w") as archive, pytest.warns(UserWarning, match="Duplicate"):
        for name in (*pin, SETTING):
            archive.writestr(name, pin[name])
    with pytest.raises(FormatError):
        read_pin(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_few_bytes_do_not_unpack_to_many(made: ProvedRun, pin: dict[str, bytes], method: int) -> None:
    """Forty bytes may be forty million zeros."""
    assert "compressed in another way" in refusal(made, pin, method)


def longer(path: Path, name: str, size: int) -> None:
    """Let an archive claim, in both places, that an entry is so long."""
    content = bytearray(path.read_bytes())
    for magic, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = -1
        while (place := content.find(magic, place + 1)) >= 0:
            start = place + (30 if at == 22 else 46)
            if content[start : start + len(name)] == name.encode():
                content[place + at : place + at + 4] = size.to_bytes(4, "little")
    path.write_bytes(bytes(content))


@pytest.mark.parametrize(("name", "size"), [(SETTING, 1 << 17), (STEP, 1 << 28), (RATE, (1 << 32) - 2)])
def test_entries_that_claim_to_be_long(made: ProvedRun, pin: dict[str, bytes], name: str, size: int) -> None:
    path = made.folder.parent / "long.pin"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, content in pin.items():
            archive.writestr(entry, content)
    longer(path, name, size)
    with pytest.raises(FormatError) as caught:
        read_pin(path)
    assert "\n" not in str(caught.value)
