"""Dishonest provers against `circuitize verify`: easier programs, other keys, keys of their own, altered statements."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import cli_programs
import pytest
from cli_programs import STEP, copied, keys, proof, refused, run

from circuitize.backends.field import BN254
from circuitize.provers.groth16.proof import PROOF_FILE, Proof
from circuitize.provers.statement import read_statement

OTHER = STEP.replace(":step", ":other")


def no(*arguments: str | Path) -> str:
    """The reason for which verify says no."""
    reason = cli_programs.no(*arguments)
    plain = run("verify", *arguments)
    assert plain.status == 1
    assert plain.out == f"NOT valid: {reason}\n"
    return reason


def relabelled(folder: Path, to: Path, digest: str) -> Path:
    """A proof's folder that claims to be of another program."""
    copy = copied(folder, to)
    replace(read_statement(copy), digest=digest).write(copy)
    stored = Proof.read(copy / PROOF_FILE)
    (copy / PROOF_FILE).write_bytes(replace(stored, digest=digest).encode())
    return copy


def digest(program: str) -> str:
    return read_statement(proof(program)).digest


def test_the_honest_proofs_hold() -> None:
    for program in ("step", "other"):
        named = STEP.replace(":step", f":{program}")
        assert run("verify", proof(program), "--keys", keys(program)).status == 0
        assert run("verify", proof(program), "--keys", keys(program), "--program", named).status == 0
        assert run("verify", proof(program), "--keys", keys(program), "--digest", digest(program).upper()).status == 0


def test_a_proof_of_another_program_is_refused() -> None:
    assert f"the proof is for program {digest('other')}" in no(proof("other"), "--keys", keys())


def test_relabelling_does_not_help(tmp_path: Path) -> None:
    forged = relabelled(proof("other"), tmp_path / "forged", digest("step"))
    assert no(forged, "--keys", keys()) == "the pairing equation does not hold"


def test_a_relabelled_proof_file_alone_does_not_help(tmp_path: Path) -> None:
    forged = relabelled(proof("other"), tmp_path / "forged", digest("step"))
    shutil.copy(proof("other") / PROOF_FILE, forged / PROOF_FILE)
    assert f"the proof is for the circuit {digest('other')}" in no(forged, "--keys", keys())


def test_a_verifier_who_names_the_program_is_not_led_to_an_easier_key() -> None:
    """The prover made both proof and key for an easier program; the verifier names the program or its digest."""
    assert digest("other") in no(proof("other"), "--keys", keys("other"), "--program", STEP)
    assert digest("step") in no(proof("other"), "--keys", keys("other"), "--digest", digest("step"))
    assert digest("step") in no(proof("other"), "--keys", keys("other"), "--program", OTHER, "--digest", digest("step"))


def test_other_keys_of_the_same_program_are_other_keys(tmp_path: Path) -> None:
    assert run("setup", STEP, "--prover", "groth16", "-o", tmp_path / "keys").status == 0
    assert no(proof(), "--keys", tmp_path / "keys") == "the pairing equation does not hold"


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ([], "found none"),
        (["--program", STEP], "found --program"),
        (["--digest", "0" * 64], "found --digest"),
        (["--program", STEP, "--digest", "0" * 64], "found --program and --digest"),
    ],
)
def test_verifying_without_ones_own_key_is_refused(given: list[str], found: str) -> None:
    line = refused("verify", proof(), *given)
    assert "expected the verifier's own key (--keys KEYS)" in line
    assert found in line


def test_keys_in_the_proofs_folder_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However they are reached: as a folder, as a file, through a link, by another spelling."""
    folder = copied(proof("other"), tmp_path / "proof")
    copied(keys("other"), folder / "keys")
    for path in keys("other").iterdir():
        shutil.copy(path, folder)
    (tmp_path / "link").symlink_to(folder / "keys")
    (tmp_path / "linked").mkdir()
    for name in ("verifying.key", "program.arrow"):
        (tmp_path / "linked" / name).symlink_to(folder / name)
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "program.arrow").symlink_to(folder / "program.arrow")
    shutil.copy(keys("other") / "verifying.key", tmp_path / "half")
    spelled = tmp_path / "other" / ".." / "proof" / "keys"
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    for given in (folder, folder / "keys", folder / "verifying.key", "link", "linked", "half", spelled, "proof/keys"):
        assert "found one inside the proof's folder" in refused("verify", folder, "--keys", given)


def test_a_program_in_the_proofs_folder_is_not_run(tmp_path: Path) -> None:
    folder = copied(proof(), tmp_path / "proof")
    (folder / "theirs.py").write_text("raise SystemExit('ran the prover's code')\n")
    line = refused("verify", folder, "--keys", keys(), "--program", f"{folder / 'theirs.py'}:step")
    assert "found one inside the proof's folder" in line


def test_a_proof_reached_by_a_link_is_the_same_folder(tmp_path: Path) -> None:
    folder = copied(proof("other"), tmp_path / "proof")
    copied(keys("other"), folder / "keys")
    (tmp_path / "link").symlink_to(folder)
    assert "found one inside" in refused("verify", tmp_path / "link", "--keys", folder / "keys")


def test_mixed_keys_are_refused(tmp_path: Path) -> None:
    """The program that tells what the public values mean must be the key's own."""
    mixed = copied(keys(), tmp_path / "keys")
    shutil.copy(keys("other") / "program.arrow", mixed)
    line = refused("verify", proof(), "--keys", mixed)
    assert f"the program of verifying.key, {digest('step')}, found {digest('other')}" in line


def altered(folder: Path, to: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    copy = copied(folder, to)
    path = copy / "statement.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")
    return copy


PRIME = BN254.prime
ALTERED: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "another value": (lambda p: p["output:y"]["integers"].__setitem__(0, 193), "the pairing equation"),
    "another root": (
        lambda p: p["output:w"].update(root=hex(int(p["output:w"]["root"], 16) ^ 1)),
        "the pairing equation",
    ),
    "roots swapped": (lambda p: p.update({"output:w": p["input:w"], "input:w": p["output:w"]}), "the pairing equation"),
    "a value and the prime": (lambda p: p["input:x"]["integers"].__setitem__(0, 8 + PRIME), "in [-128, 127]"),
    "a value less the prime": (lambda p: p["input:x"]["integers"].__setitem__(0, 8 - PRIME), "in [-128, 127]"),
    "a root and the prime": (
        lambda p: p["output:w"].update(root=hex(int(p["output:w"]["root"], 16) + PRIME)),
        "expected a root below the field's prime",
    ),
    "a value too few": (lambda p: p["input:x"]["integers"].pop(), "expected 2 public values of input:x, found 1"),
    "a value too many": (lambda p: p["input:x"]["integers"].append(0), "expected 2 public values of input:x, found 3"),
    "a port missing": (lambda p: p.pop("input:x"), "expected 2 public values of input:x, found none"),
    "a port too many": (lambda p: p.update({"input:z": {"integers": [0]}}), "expected only the program's own ports"),
    "a root too many": (lambda p: p.update({"input:x": {"root": "0x1"}}), "expected 2 public values"),
    "an output as an input": (
        lambda p: p.update({"input:y": p.pop("output:y")}),
        "expected 2 public values of output:y",
    ),
}


@pytest.mark.parametrize("name", ALTERED)
def test_altered_statements_do_not_verify(tmp_path: Path, name: str) -> None:
    change, reason = ALTERED[name]
    assert reason in no(
        altered(proof(), tmp_path / "altered", lambda content: change(content["ports"])), "--keys", keys()
    )


def test_a_proof_with_another_proofs_statement_does_not_verify(tmp_path: Path) -> None:
    assert cli_programs.prove(tmp_path / "again").status == 0
    shutil.copy(tmp_path / "again" / "statement.json", copied(proof(), tmp_path / "mixed"))
    assert no(tmp_path / "mixed", "--keys", keys()) == "the pairing equation does not hold"


def test_what_the_folder_says_about_itself_is_never_believed(tmp_path: Path) -> None:
    """snarkjs' files and stray ones in the folder change nothing."""
    copy = copied(proof(), tmp_path / "proof")
    (copy / "public.json").write_text("[]")
    (copy / "proof.json").unlink()
    (copy / "setup.json").write_text('{"setup": "ceremony"}')
    outcome = run("verify", copy, "--keys", keys(), "--json")
    assert outcome.status == 0
    assert json.loads(outcome.out)["setup"] == "development"
