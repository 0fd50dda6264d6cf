"""Held files: the Rust verifier says of an honest folder what Python said, and refuses every other folder by one."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path
from shutil import copytree

import pytest
import tiers
from cli_programs import STEP, keys, proof, refused, run
from held_folders import KINDS, PROVERS, files, folder, given, held, mutants
from native_verifier import verifier
from public_starts import prove

pytestmark = pytest.mark.proof


def verdict(own: Path, of: Path) -> tuple[bool, str]:
    """Whether the folder holds by a held file, and what is said."""
    command = [str(verifier()), "held", str(own), str(of)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode in (0, 1) and not (done.stdout and done.stderr), done
    return done.returncode == 0, done.stdout or done.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_an_honest_folder_holds_in_the_words_of_the_command_line(kind: str) -> None:
    holds, text = verdict(held(kind), folder(kind))
    assert holds and text.startswith("valid: it proves "), text
    said = run("verify-run" if kind == "run" else "verify", folder(kind), *given(kind)).out
    own = [line for line in text.splitlines() if "INSECURE" not in line]
    assert [line.split("; ")[0] for line in said.replace(str(folder(kind)), "it").splitlines()] == [
        line.split("; ")[0] for line in own
    ]
    assert ("INSECURE" in text) == (kind in PROVERS[:3])


@pytest.mark.parametrize("kind", KINDS)
def test_changed_folders_are_refused(kind: str, tmp_path: Path) -> None:
    for what, changed in mutants(kind, tiers.count(5, deep=100), 7, tmp_path):
        holds, text = verdict(held(kind), changed)
        assert not holds and text.startswith("the proof does not hold: "), (what, text)


def test_folders_of_others_are_refused() -> None:
    """Of other provers, and of another program with the same interface by the same prover."""
    for number, kind in enumerate(KINDS):
        others = [*KINDS[number + 1 :], *KINDS[:number]]
        for other in others[: tiers.count(1, deep=len(others))]:
            assert not verdict(held(kind), folder(other))[0], (kind, other)
    for prover in PROVERS[:3]:
        assert not verdict(held(prover), proof("other", prover))[0]


def test_a_run_with_other_secrets_is_refused(tmp_path: Path) -> None:
    other = prove(tmp_path / "other", losses="ends", steps=3, per_proof=2).folder
    assert verdict(held("run"), other)[1].startswith("the proof does not hold: ")


def test_proofs_of_a_run_in_other_places_are_refused(tmp_path: Path) -> None:
    """Swapped, one twice, with the header of the other, and one too many."""
    first, second = ((folder("run") / "steps" / f"00000{step}.proof").read_bytes() for step in (1, 3))
    head = 48 + int.from_bytes(first[32:40], "little") - 8
    spliced = first[:head] + second[head:]
    for number, pair in enumerate([(second, first), (first, first), (spliced, second), (first, second, second)]):
        changed = Path(copytree(folder("run"), tmp_path / str(number)))
        for step, content in zip((1, 3, 2), pair, strict=False):
            (changed / "steps" / f"00000{step}.proof").write_bytes(content)
        assert not verdict(held("run"), changed)[0], number


def test_names_stay_names(tmp_path: Path) -> None:
    """A name with HTML is of no entry; the page shows what is said as text."""
    changed = Path(copytree(folder("groth16"), tmp_path / "changed"))
    (changed / "<img src=x onerror=alert(1)>").write_bytes(b"")
    assert "<img src=x onerror=alert(1)>: the held file knows of no such file" in verdict(held("groth16"), changed)[1]


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_held_file_is_none(kind: str, tmp_path: Path) -> None:
    content, damaged = held(kind).read_bytes(), tmp_path / "held"
    for place in range(0, len(content), max(1, len(content) // tiers.count(6, deep=200))):
        damaged.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        assert "held file" in verdict(damaged, folder(kind))[1]
        damaged.write_bytes(content[:place])
        assert "held file" in verdict(damaged, folder(kind))[1]


def test_a_held_file_that_is_written_otherwise_is_none(tmp_path: Path) -> None:
    """With a checksum of its own: no entry, a path twice, more bytes, numbers of parts that are none."""
    from circuitize.provers.held import MAGIC, SAME, Entry, encode

    one = Entry("statement.json", SAME, b"")
    tensor = Entry("proof.tensor", "tensor", b"", [[b""]])
    contents = [
        *(encode(["valid"], entries) for entries in ([], [one], [tensor, tensor], [one, one, tensor])),
        encode(["valid"], [Entry("proof.x", "x", b"")]),
        encode(["valid"], [Entry("proof.tensor", "tensor", b"")]),
        encode(["valid"], [Entry("proof.groth16", "groth16", b"", [[b""]])]),
        encode([], [tensor]),
    ]
    body = MAGIC + (1).to_bytes(8, "little") + b"\xff" * 8
    contents.append(body + hashlib.sha256(body).digest())
    for number, content in enumerate(contents):
        (tmp_path / "held").write_bytes(content)
        assert "not written as they are" in verdict(tmp_path / "held", folder("tensor"))[1], number


def test_no_held_file_of_a_folder_that_does_not_hold(tmp_path: Path) -> None:
    changed = Path(copytree(folder("groth16"), tmp_path / "changed"))
    content = (changed / "statement.json").read_text()
    (changed / "statement.json").write_text(content.replace('"integers": [\n    ', '"integers": [\n    1', 1))
    own = tmp_path / "held"
    outcome = run("hold", changed, "--keys", keys("step"), "-o", own)
    assert outcome.status == 1 and outcome.out.startswith("NOT valid: ") and not own.exists()


def test_bad_use_is_one_line(tmp_path: Path) -> None:
    own = tmp_path / "held"
    assert "expected --pin FILE for a run" in refused("hold", folder("run"), "-o", own)
    assert "expected the folder of a proof or of a run, found none" in refused(
        "hold", own.parent / "nothing", "--pin", own, "-o", own
    )
    assert "--pin: expected none" in refused("hold", folder("groth16"), "--pin", own, "-o", own)
    assert "--program: expected none for a run" in refused("hold", folder("run"), "--program", STEP, "-o", own)
    assert "expected the verifier's own" in refused("hold", folder("groth16"), "-o", folder("groth16") / "held")
    more = Path(copytree(folder("groth16"), tmp_path / "more"))
    (more / "notes.txt").write_text("mine")
    assert "take it out" in refused("hold", more, "--keys", keys("step"), "-o", own)
    assert files(more) and not own.exists()


def test_hold_takes_neither_strange_names_nor_files_without_end(tmp_path: Path) -> None:
    """Notes in a run, a proof of another prover beside one, a name that is no text, a file of 5 GB."""
    own = tmp_path / "held"
    cases = {"run": ("notes.txt", "steps/notes.txt", "\udcff.txt"), "groth16": ("proof.tensor", "\udcff.txt")}
    for kind, names in cases.items():
        for number, name in enumerate(names):
            changed = Path(copytree(folder(kind), tmp_path / f"{kind}-{number}"))
            (changed / name).write_bytes(b"mine")
            assert "take it out" in refused("hold", changed, *given(kind), "-o", own), name
    long = Path(copytree(folder("groth16"), tmp_path / "long"))
    os.truncate(long / "proof.groth16", 5 << 30)
    assert "at most 268,435,456 bytes" in refused("hold", long, *given("groth16"), "-o", own)
    assert not own.exists()


def test_the_program_reads_files_alone(tmp_path: Path) -> None:
    """Neither a pipe, on which it would wait for ever, nor a device without end, nor one of 5 GB; no name acts."""
    for name, make in (
        ("pipe", lambda path: os.mkfifo(path)),
        ("device", lambda path: path.symlink_to("/dev/zero")),
        ("long", lambda path: subprocess.run(["truncate", "-s", "5G", path], check=True)),
    ):
        changed = Path(copytree(folder("groth16"), tmp_path / name))
        (changed / "statement.json").unlink()
        make(changed / "statement.json")
        holds, text = verdict(held("groth16"), changed)
        assert not holds and "expected a file of at most 268435456 bytes" in text, text
    changed = Path(copytree(folder("groth16"), tmp_path / "name"))
    (changed / "a\nvalid: it proves\x1b[2J\u202e").write_bytes(b"")
    holds, text = verdict(held("groth16"), changed)
    assert not holds and len(text.splitlines()) == 1 and text.rstrip("\n").isprintable(), text
