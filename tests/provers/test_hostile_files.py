"""A verifier is handed files of any size and content: what it reads of them is bounded by its own program."""

from __future__ import annotations

import io
import json
import os
import re
import struct
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from cli_programs import EXAMPLES, STEP, Outcome, copied, keys, proof, run, step
from hostile_files import Kind, checked, peak, tried
from hostile_kinds import kinds, training
from tiers import count

from circuitize import load, program_digest, quantize, save
from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.circuits.reading import parse_json

GIGABYTE = 1 << 30
MORE = 300 << 20
"""Bytes beyond those of the honest file that a hostile one may take."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders of proofs, keys and a run, and the files beside them; whoever changes one mends it."""
    return tmp_path_factory.mktemp("hostile")


@pytest.fixture(scope="module")
def every(root: Path) -> dict[str, Kind]:
    return {kind.name: kind for kind in kinds(root)}


def judged(*arguments: str | Path) -> Outcome:
    """What a command says; it takes a few seconds and few bytes at most, whatever it is given."""
    before, start = peak(), time.process_time()
    outcome = run(*arguments)
    assert peak() - before < MORE and time.process_time() - start < 5
    assert outcome.status in (1, 2) and "internal error" not in outcome.err and len(outcome.err.splitlines()) <= 1
    return outcome


NAMES = (
    *(
        "proof.groth16",
        "proof.mirage",
        "proof.halo2",
        "statement.json",
        "verifying.key, groth16",
        "verifying.key, halo2",
    ),
    *("program.arrow, keys", "proof.tensor", "statement.json, tensor", "program.arrow, tensor", "PROOF.openings.json"),
    *("run.json", "steps/*.proof", "formats.proof", "program.arrow, run", "--inputs", "--expect", "circuit.sym"),
)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("filled", [b"", b"["], ids=["holes", "continued"])
def test_a_gigabyte_in_place_of_any_file(every: dict[str, Kind], name: str, filled: bytes) -> None:
    """Of nothing, and after what an honest file begins with: refused before it is read."""
    kind = every[name]
    try:
        with kind.path.open("wb") as file:
            file.write(kind.honest[:-40] + filled if filled else b"")
            file.truncate(GIGABYTE)
        before, start = peak(), time.process_time()
        try:
            assert not kind.judge(kind.path)
        except CircuitizeError as error:
            assert len(str(error).splitlines()) == 1
        assert peak() - before < MORE and time.process_time() - start < 5
    finally:
        kind.path.write_bytes(kind.honest)


CIRCUITS = ("circuit.sym", "circuit.r1cs", "witness.wtns", "circuit.plonkish", "witness.cells")
DEAR = {"proof.halo2", "verifying.key, halo2", "steps/*.proof", "formats.proof"}
"""Kinds of which one takes a hundredth of a second to judge, as one of a circuit's files takes several."""


@pytest.mark.parametrize("name", [*NAMES, *CIRCUITS[1:]])
def test_mutated_files(every: dict[str, Kind], name: str) -> None:
    """Nothing is raised but what a user is told, nothing imported, nothing opened elsewhere."""
    mutants = count(2 if name in CIRCUITS else 6 if name in DEAR else 12, deep=400 if name in CIRCUITS else 2000)
    tally = tried(every[name], np.random.default_rng(3), mutants)
    assert not tally.wrong, tally.wrong[:5]
    assert tally.longest < 5 and tally.more_bytes < MORE, str(tally)
    assert tally.ends.total() == mutants


@pytest.mark.parametrize("name", ["statement.json", "statement.json, tensor"])
def test_a_statement_of_many_values_is_refused_before_they_are_made(every: dict[str, Kind], name: str) -> None:
    """Twenty-four megabytes of text were objects of six hundred."""
    kind = every[name]
    before = peak()
    try:
        kind.path.write_bytes(b'{"ports": [' + b"{}," * (8 << 20) + b'{}],\n "prover": "tensor"\n}\n')
        with pytest.raises(FormatError) as raised:
            kind.judge(kind.path)
        assert peak() - before < 100 << 20
        assert "expected a proof's statement about this program of at most" in str(raised.value)
    finally:
        kind.path.write_bytes(kind.honest)


@pytest.mark.parametrize("name", ["prover", "digest"])
@pytest.mark.parametrize("value", [["groth16"], {}, 1, None])
def test_a_statement_whose_names_are_no_text(every: dict[str, Kind], root: Path, name: str, value: object) -> None:
    kind = every["statement.json"]
    try:
        content = json.loads(kind.honest) | {name: value}
        kind.path.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")
        line = judged("verify", kind.path.parent, "--keys", root / "keys-groth16").err
        assert "expected a proof's statement of version" in line
    finally:
        kind.path.write_bytes(kind.honest)


@pytest.mark.parametrize("name", ["program", "plans"])
@pytest.mark.parametrize("value", [["0" * 64], {}, 1, None, "0" * 63])
def test_a_run_whose_digests_are_no_text(every: dict[str, Kind], root: Path, name: str, value: object) -> None:
    kind = every["run.json"]
    try:
        content = json.loads(kind.honest) | {name: value}
        kind.path.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")
        line = judged("verify-run", kind.path.parent, "--program", root / "trained.arrow").err
        assert f"{name} " in line and "expected 64 hexadecimal digits" in line
    finally:
        kind.path.write_bytes(kind.honest)


def test_many_long_steps_are_refused_before_any_is_read(every: dict[str, Kind], root: Path) -> None:
    folder = copied(root / "run", root / "long")
    for number in range(1, 21):
        (folder / "steps" / f"{number:06d}.proof").touch()
        os.truncate(folder / "steps" / f"{number:06d}.proof", 1 << 28)
    outcome = judged("verify-run", folder, "--program", root / "trained.arrow")
    assert outcome.status == 1 and "expected a proof of at most" in outcome.out


def claimed(root: Path, to: str, **more: int) -> Path:
    folder = copied(root / "run", root / to)
    content = json.loads((folder / "run.json").read_text()) | more
    (folder / "run.json").write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")
    return folder


def test_examples_that_nobody_confirmed_are_not_put_in_order(every: dict[str, Kind], root: Path) -> None:
    folder = claimed(root, "examples", examples=2 * 10**8)
    outcome = judged("verify-run", folder, "--program", root / "trained.arrow")
    assert "give --examples N" in outcome.err
    outcome = judged("verify-run", folder, "--program", root / "trained.arrow", "--examples", "4")
    assert "expected 2 steps on 4 examples" in outcome.out
    outcome = judged("verify-run", claimed(root, "million", examples=1 << 20), "--program", root / "trained.arrow")
    assert outcome.status == 1


def test_how_many_steps_a_proof_has_is_the_verifiers_to_say(every: dict[str, Kind], root: Path) -> None:
    folder = claimed(root, "many", per_proof=1 << 17, steps=1 << 17)
    line = judged("verify-run", folder, "--program", root / "trained.arrow").err
    assert "found a claim of 131,072; give --per-proof 131072" in line
    outcome = judged("verify-run", folder, "--program", root / "trained.arrow", "--per-proof", "1")
    assert "the run has 131072 steps in a proof, expected 1" in outcome.out
    given = ("--not-zero-knowledge", "--seed", "5eed", "--steps", "2", "--per-proof", "2", "-o", root / "two")
    assert run("prove-run", root / "trained.arrow", *given).status == 0
    assert run("verify-run", root / "two", "--program", root / "trained.arrow").status == 0
    assert run("verify-run", root / "two", "--program", root / "trained.arrow", "--per-proof", "2").status == 0
    outcome = judged("verify-run", root / "two", "--program", root / "trained.arrow", "--per-proof", "1")
    assert "the run has 2 steps in a proof, expected 1" in outcome.out


def described(path: Path, change: Callable[[bytes], bytes]) -> Path:
    """A saved program whose description is changed, with its length and checksum mended."""
    save(training(), path, examples=True)
    content = path.read_bytes()
    (length,) = struct.unpack_from("<Q", content, 8)
    text = change(content[16 : 16 + length])
    path.write_bytes(checked(content[:8] + struct.pack("<Q", len(text)) + text + content[16 + length :]))
    return path


CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "deep nesting": lambda text: b"[" * 100_000 + b"]" * 100_000,
    "deep parameters": lambda text: text.replace(b'"precision":{', b'"precision":' + b'{"tuple":[' * 5000 + b"{", 1),
    "a dtype that is no Python": lambda text: text.replace(b'"<i4"', b'",i4"', 1),
    "a dtype of objects": lambda text: text.replace(b'"<i4"', b'"|O"', 1),
    "a dtype of structures": lambda text: text.replace(b'"<i4"', b'"i4,(1000000,)i8"', 1),
    "negative extents": lambda text: text.replace(b'"shape":[', b'"shape":[-1,-', 1),
    "extents whose product wraps": lambda text: text.replace(b'"shape":[', b'"shape":[4611686018427387904,4,', 1),
    "no elements of endless rows": lambda text: text.replace(b'"shape":[', b'"shape":[0,4611686018427387904,', 1),
    "another class": lambda text: text.replace(b'"integer.', b'"os.', 1),
    "a class of numpy": lambda text: text.replace(b'"class":"Fixed"', b'"class":"np"', 1),
    "a function of the package": lambda text: text.replace(b'"class":"Fixed"', b'"class":"expand"', 1),
    "an annotation": lambda text: text.replace(b'"class":"Fixed"', b'"class":"Any"', 1),
    "an array twice": lambda text: re.sub(rb'"w":(\d+),"x":\d+', rb'"w":\1,"x":\1', text),
    "fraction bits that are text": lambda text: text.replace(b'"fraction_bits":', b'"fraction_bits":"4","x":', 1),
    "extents past all memory": lambda text: text.replace(
        b'"shape":{"tuple":[2]}', b'"shape":{"tuple":[1152921504606846976]}'
    ),
    "a million axes": lambda text: text.replace(b'"tuple":[2]', b'"tuple":[' + b"1," * 200_000 + b"2]", 1),
    "another encoding": lambda text: text.decode().encode("utf-16"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_hostile_programs(tmp_path: Path, every: dict[str, Kind], root: Path, name: str) -> None:
    path = described(tmp_path / "program.arrow", CHANGES[name])
    before, start = peak(), time.process_time()
    with pytest.raises(FormatError, match="save it again") as raised:
        load(path)
    assert len(str(raised.value).splitlines()) == 1
    assert peak() - before < MORE and time.process_time() - start < 5
    assert "save it again" in judged("verify-run", root / "run", "--program", path).err


def test_a_verifiers_saved_program_is_of_the_integer_language(tmp_path: Path) -> None:
    """A real one would be run in floats, with sizes and examples that its file says, before any digest is known."""
    save(step(), tmp_path / "real.arrow", examples=True)
    outcome = run("verify", proof(), "--keys", keys(), "--program", tmp_path / "real.arrow")
    assert outcome.status == 2 and "a verifier's own program is what quantize made" in outcome.line


def test_examples_stay_behind_unless_asked_for(tmp_path: Path) -> None:
    save(step(), tmp_path / "open.arrow")
    save(step(), tmp_path / "private.arrow", examples=True)
    assert load(tmp_path / "open.arrow").examples == ()
    assert (tmp_path / "open.arrow").stat().st_mode & 0o044
    assert (tmp_path / "private.arrow").stat().st_mode & 0o777 == 0o600
    assert len(load(tmp_path / "private.arrow").examples) == len(EXAMPLES)
    line = run("estimate", tmp_path / "open.arrow").line
    assert "expected example inputs to calibrate the program with" in line and "examples=True" in line
    save(quantize(step()), tmp_path / "integer.arrow")
    assert program_digest(load(tmp_path / "integer.arrow")) == program_digest(quantize(step()))
    outcome = run(
        "prove", tmp_path / "integer.arrow", "--prover", "tensor", "--not-zero-knowledge", "-o", tmp_path / "p"
    )
    assert outcome.status == 2 and "give --inputs FILE.npz" in outcome.err


def archive(**entries: bytes) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for name, data in entries.items():
            file.writestr(f"{name}.npy", data)
    return content.getvalue()


def array(header: str, data: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    text = header.encode() + b"\n"
    return b"\x93NUMPY" + version + len(text).to_bytes(2 if version[0] == 1 else 4, "little") + text + data


SHAPE = "{{'descr': '<f8', 'fortran_order': False, 'shape': {}, }}"
BOMBS: dict[str, Callable[[], bytes]] = {
    "zeros in place of x": lambda: archive(x=array(SHAPE.format("(134217728,)"), bytes(1 << 26))),
    "an unknown name": lambda: archive(z=array(SHAPE.format("(8388608,)"), bytes(1 << 26))),
    "a description without end": lambda: archive(x=array("{" + " " * (1 << 26), version=b"\x02\x00")),
    "a dtype that is no Python": lambda: archive(x=array(SHAPE.format("(2,)").replace("<f8", ",i4"))),
    "extents whose product wraps": lambda: archive(x=array(SHAPE.format("(4611686018427387904, 4)"))),
    "text of great width": lambda: archive(x=array(SHAPE.format("(2,)").replace("<f8", "<U999999999"))),
    "many entries": lambda: archive(**{f"n{number}": b"" for number in range(5000)}),
}


@pytest.mark.parametrize("name", BOMBS)
def test_archives_that_grow(tmp_path: Path, name: str) -> None:
    path = tmp_path / "in.npz"
    path.write_bytes(BOMBS[name]())
    before, start = peak(), time.process_time()
    outcome = run("compile", STEP, "--target", "r1cs", "-o", tmp_path / "c", "--inputs", path)
    assert outcome.status == 2 and str(path) in outcome.err and "internal error" not in outcome.err
    assert peak() - before < 100 << 20 and time.process_time() - start < 5


def test_values_are_counted_before_they_are_made() -> None:
    assert parse_json(b'{"a": [1, 2]}', 4) == {"a": [1, 2]}
    for text in (b'{"a": [1, 2, 3, 4, 5]}', b"[" * 100, "[1]".encode("utf-16"), b"[" * 4 + b"1", b"9" * 5000):
        with pytest.raises(ValueError):
            parse_json(text, 4)
