"""Attacks on a referee: journals and testimony that lie, damaged and hostile folders, a fault moved elsewhere."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trained_programs
from faulty import Fault, flipped, machine
from tiers import count

import circuitize as cz
from circuitize.api.disputes import testimony
from circuitize.api.disputes.dispute import dispute
from circuitize.api.disputes.side import read_side
from circuitize.api.exact import exact
from circuitize.api.training.chunks import Layout
from circuitize.api.training.journal import ENTRY, Entry, beginning
from circuitize.api.training.train import train
from circuitize.api.values import write_npz
from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.circuits.phases import Phases

STEP = exact(trained_programs.step(), Phases())
PARTS = Layout(STEP.integer).parts
LAST = len(PARTS) - 1
FAULT = Fault("input", 5, 0, (1, 2), 1)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """An honest training, and one that errs in step 5 and testifies so."""
    a, b = (tmp_path_factory.mktemp("trained") / name for name in "ab")
    given: dict[str, Any] = {"seed": "5eed", "steps": 8, "every": 2, "dataset": trained_programs.data()}
    train(STEP, a, roots=False, record=True, **given)
    with machine(FAULT, STEP.integer):
        train(STEP, b, roots=False, **given)
        assert testimony.testify(b, 5)
    return a, b


@pytest.fixture
def pair(folders: tuple[Path, Path], tmp_path: Path) -> tuple[Path, Path]:
    """Copies, to change."""
    for name, folder in zip("ab", folders, strict=True):
        shutil.copytree(folder, tmp_path / name)
    return tmp_path / "a", tmp_path / "b"


def lie(folder: Path, changed: dict[int, Any]) -> None:
    side = read_side("B", folder)
    told = testimony.read(side, 5)
    assert told is not None
    values = {str(k): changed.get(k, value) for k, value in told.items()}
    write_npz(testimony.path_of(side, 5), values)


def honest_wires(a: Path, folder: Path) -> dict[int, Any]:
    """What an honest machine says of step 5, but for what the journal of the other binds it to."""
    made = testimony.testify(a, 5)
    assert made.path is not None
    told = testimony.read(read_side("A", a), 5)
    assert told is not None
    return {k: value for k, value in told.items() if PARTS[k].kind != "kept"}


def test_a_fault_cannot_be_hidden_only_moved(pair: tuple[Path, Path]) -> None:
    a, b = pair
    found = dispute(a, b, prover=None)
    assert found.right == ("A",) and found.places["B"].port == "dense1.weight"
    lie(b, honest_wires(a, b))  # All wires as they should be: then it is in what was kept.
    moved = dispute(a, b, prover=None)
    assert moved.step == 5 and moved.right == ("A",) and moved.places["B"].kind == "kept"


@pytest.mark.parametrize("part", [next(k for k, p in enumerate(PARTS) if p.name == "targets"), LAST])
def test_testimony_must_begin_and_end_as_the_journal_says(part: int, pair: tuple[Path, Path]) -> None:
    a, b = pair
    told = testimony.read(read_side("B", b), 5)
    assert told is not None
    lie(b, {part: flipped(told[part], (0,) * told[part].ndim, 0)})
    with pytest.raises(FormatError, match="expected what entered step 5 and what it left as the journal has them"):
        dispute(a, b, prover=None)


def chained(folder: Path, changed: dict[int, bytes]) -> None:
    """Write a journal that follows, of which some steps left something else."""
    side = read_side("B", folder)
    chain, entries = beginning(side.course.digest), []
    for step, old in enumerate(side.entries, 1):
        entries.append(Entry.after(chain, step, old.entered, changed.get(step, old.left)))
        chain = entries[-1].chain
    (folder / "journal.bin").write_bytes(b"".join(entry.encode() for entry in entries))


def test_a_journal_that_lies_of_an_earlier_step_is_wrong_there(pair: tuple[Path, Path]) -> None:
    a, b = pair
    chained(b, {3: b"\1" * 32})
    found = dispute(a, b, prover=None)
    assert (found.step, found.right, found.testify) == (3, ("A",), ("B",))


def test_a_journal_of_another_s_training_fits_no_checkpoint(pair: tuple[Path, Path]) -> None:
    a, b = pair
    shutil.copy(a / "journal.bin", b / "journal.bin")  # As if it had made no mistake.
    found = dispute(a, b, prover=None)
    assert (found.step, found.right) == (6, ("A",)) and found.places["B"].kind == "checkpoint"


def test_the_proof_states_the_step_for_whoever_has_the_program(pair: tuple[Path, Path], tmp_path: Path) -> None:
    a, b = pair
    found = dispute(b, a, proof=tmp_path / "proof")
    assert found.proof is not None and found.right == ("B",)
    names = {port.name for port in (*STEP.integer.inputs, *STEP.integer.outputs)}
    public = STEP.integer.with_visibility(**dict.fromkeys(names, "public"))
    verdict = cz.verifier(public).check(tmp_path / "proof")
    assert verdict and verdict.digest == found.proof.digest and not verdict.hidden
    layout, side = Layout(STEP.integer), read_side("A", a)
    held = {name: verdict.stated[f"output:{name}"].integers for name in layout.held}
    assert layout.left(held) == side.left(5) != read_side("B", b).left(5)
    before = {name: verdict.stated[f"input:{name}"].integers for name in layout.held}
    assert layout.left(before) == side.left(4) == read_side("B", b).left(4)
    statement = tmp_path / "proof" / "statement.json"
    said = statement.read_text()
    number = str(int(held["dense2.bias"][0]))
    assert number in said
    statement.write_text(said.replace(number, str(int(number) + 1)))
    assert not cz.verifier(public).check(tmp_path / "proof")


READ = ("training.json", "program.arrow", "data.npz", "initial.npz", "scalars.npz", "journal.bin")


@pytest.mark.parametrize("name", [*READ, "checkpoints-integer/00000004.safetensors", "testimony/00000005.npz"])
def test_damage_is_one_line_or_changes_nothing(name: str, pair: tuple[Path, Path]) -> None:
    a, b = pair
    path, random = b / name, np.random.default_rng(len(name))
    whole = path.read_bytes()
    for case in range(count(5, deep=400)):
        content = bytearray(whole)
        if case == 0:
            content = content[:-1]
        elif case == 1:
            content += b"\0"
        elif case == 2:
            content = bytearray()
        else:
            content[int(random.integers(len(content)))] ^= 1 << int(random.integers(8))
        path.write_bytes(content)
        try:
            found = dispute(a, b, prover=None)
        except CircuitizeError as error:
            assert "\n" not in str(error)
        else:
            assert found.step == 5 and found.right == ("A",)


@pytest.mark.parametrize("name", [*READ, "testimony/00000005.npz", "checkpoints-integer/00000008.safetensors"])
def test_what_is_no_file_is_refused(name: str, pair: tuple[Path, Path]) -> None:
    a, b = pair
    for content in ("/dev/zero", "/absent", str(b)):
        (b / name).unlink()
        (b / name).symlink_to(content)
        try:
            assert dispute(a, b, prover=None).step == 5
        except CircuitizeError as error:
            assert "\n" not in str(error)


@pytest.mark.parametrize(
    "changed",
    [{"seed": 5}, {"seed": "x"}, {"seed": None}, {"steps": "8"}, {"steps": 1 << 70}, {"executor": []}, {"course": "0"}],
)
def test_a_manifest_that_says_something_else(changed: dict[str, Any], pair: tuple[Path, Path]) -> None:
    a, b = pair
    said = json.loads((b / "training.json").read_text())
    (b / "training.json").write_text(json.dumps(said | changed))
    with pytest.raises(CircuitizeError, match="expected"):
        dispute(a, b, prover=None)


def test_who_hides_a_journal_is_wrong_at_a_checkpoint(pair: tuple[Path, Path]) -> None:
    a, b = pair
    said = json.loads((b / "training.json").read_text())
    (b / "training.json").write_text(json.dumps(said | {"journal": False}))
    found = dispute(a, b)
    assert (found.since, found.step, found.right, found.bare) == (4, 6, ("A",), ("B",)) and found.proof is None


def test_a_journal_of_too_few_or_too_many_steps(pair: tuple[Path, Path]) -> None:
    a, b = pair
    whole = (b / "journal.bin").read_bytes()
    for content in (whole[:-ENTRY], whole[: 4 * ENTRY], b"", whole + whole[:ENTRY], whole[:-5]):
        (b / "journal.bin").write_bytes(content)
        with pytest.raises(FormatError, match="expected"):
            dispute(a, b, prover=None)
    side = read_side("A", a)
    more = Entry.after(side.entries[-1].chain, 9, b"\0" * 32, b"\0" * 32)
    (b / "journal.bin").write_bytes((a / "journal.bin").read_bytes() + more.encode())
    with pytest.raises(FormatError, match="expected an entry for each of 8 steps, found 9"):
        dispute(a, b, prover=None)
