"""Pins: one file checks a run again, refuses any other, and is refused in one line where it is damaged."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest
from public_starts import MODEL, START, prove, step

import circuitize as cz
from circuitize.api.runs.pin import SETTING, read_pin
from circuitize.api.runs.proving import ProvedRun
from circuitize.circuits.errors import CircuitizeError, FormatError


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> ProvedRun:
    return prove(tmp_path_factory.mktemp("pinned") / "run", losses="ends")


@pytest.fixture(scope="module")
def pin(made: ProvedRun, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pins") / "run.pin"
    assert cz.verify_run(step(), made.folder, initial_seed=START, model=MODEL, pin=path)
    return path


def test_a_pin_says_all_that_a_run_is(made: ProvedRun, pin: Path) -> None:
    verdict = cz.verify_pinned(made.folder, pin)
    assert verdict.valid and verdict.roots == made.roots and verdict.final == made.final, verdict.reason
    assert all(scalar.required for scalar in verdict.scalars.values()) and verdict.initial_seed == START.hex()
    held = read_pin(pin)
    assert held.run.digest == made.digest and held.run.steps == made.steps
    again = pin.with_name("again.pin")
    held.write(again)
    assert cz.verify_pinned(made.folder, again).valid and again.stat().st_size < 30_000


def test_another_run_is_refused(made: ProvedRun, pin: Path, tmp_path: Path) -> None:
    """Of the same program and seeds, but with secrets of its own, or another end."""
    other = prove(tmp_path / "other", losses="ends")
    assert "expected data committed to by" in str(cz.verify_pinned(other.folder, pin).reason)
    longer = prove(tmp_path / "longer", losses="ends", steps=3)
    assert "the run is of steps 3, expected 2" in str(cz.verify_pinned(longer.folder, pin).reason)
    untold = prove(tmp_path / "untold")
    assert "told results none, expected ends" in str(cz.verify_pinned(untold.folder, pin).reason)
    changed = Path(copytree(made.folder, tmp_path / "changed"))
    (changed / "steps" / "000001.proof").unlink()
    assert "step 1 is missing" in str(cz.verify_pinned(changed, pin).reason)


def test_no_pin_of_a_run_that_does_not_hold(made: ProvedRun, tmp_path: Path) -> None:
    given: dict[str, Any] = {"initial_seed": START, "model": MODEL, "pin": tmp_path / "pin"}
    assert not cz.verify_run(step(), made.folder, **given, steps=9)
    assert not list(tmp_path.iterdir())


def restated(pin: Path, to: Path, **changed: object) -> Path:
    with zipfile.ZipFile(pin) as archive, zipfile.ZipFile(to, "w") as other:
        for name in archive.namelist():
            content = archive.read(name)
            if name == SETTING:
                content = json.dumps({**json.loads(content), **changed}).encode()
            other.writestr(name, content)
    return to


def test_a_pin_says_whether_a_run_is_in_zero_knowledge(made: ProvedRun, pin: Path, tmp_path: Path) -> None:
    """By true or false alone, which have the plans of a run of their kind, and no number that equals them."""
    for kind in (1, 1.0):
        with pytest.raises(FormatError, match="kind or plans of no run"):
            cz.verify_pinned(made.folder, restated(pin, tmp_path / "number", zero_knowledge=kind))
    plain = restated(pin, tmp_path / "plain", zero_knowledge=False)
    with pytest.raises(CircuitizeError, match="as this version makes them"):
        cz.verify_pinned(made.folder, plain)
    planned = restated(plain, tmp_path / "planned", plans=read_pin(plain).run.plans_digest)
    said = str(cz.verify_pinned(made.folder, planned).reason)
    assert "the run is of zero knowledge True, expected False" in said


def test_pins_that_say_otherwise(made: ProvedRun, pin: Path, tmp_path: Path) -> None:
    roots = json.loads(zipfile.ZipFile(pin).read(SETTING))["roots"]
    other = restated(pin, tmp_path / "other", roots={**roots, "data": "00" * 32})
    assert "expected data committed to by 0x00" in str(cz.verify_pinned(made.folder, other).reason)
    with pytest.raises(CircuitizeError, match="as this version makes them"):
        cz.verify_pinned(made.folder, restated(pin, tmp_path / "plans", plans="0" * 64))
    for changed in ({"circuitize pin": 2}, {"steps": "2"}, {"seed": 3}, {"losses": "most"}, {"roots": 5}):
        with pytest.raises(CircuitizeError) as caught:
            cz.verify_pinned(made.folder, restated(pin, tmp_path / "bad", **changed))
        assert "\n" not in str(caught.value)


def test_damaged_pins(made: ProvedRun, pin: Path, tmp_path: Path) -> None:
    honest, random = pin.read_bytes(), np.random.default_rng(3)
    accepted = 0
    for number in range(60):
        damaged = bytearray(honest if number % 3 else honest[: random.integers(len(honest))])
        if number % 3:
            damaged[random.integers(len(damaged))] ^= 1 << random.integers(8)
        (tmp_path / "pin").write_bytes(bytes(damaged))
        try:
            accepted += bool(cz.verify_pinned(made.folder, tmp_path / "pin")) and bytes(damaged) != honest
        except CircuitizeError as error:
            assert "\n" not in str(error), error
    # A bit of a date or of an attribute of an entry changes nothing that a pin says.
    assert accepted < 20
    with pytest.raises(FormatError, match="expected a pin, found"):
        cz.verify_pinned(made.folder, tmp_path / "absent")
