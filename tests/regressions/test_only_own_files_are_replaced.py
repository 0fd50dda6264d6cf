"""`setup`, `prove` and `compile` deleted files of others in their folders, and the secrets of an earlier proof."""

from __future__ import annotations

from pathlib import Path

import hardware_programs
import numpy as np
import pytest
from cli_programs import STEP, copied, keys, proof, prove, refused, run
from tensor_proofs import planned

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.folder import whole_file, whole_folder
from circuitize.circuits.saved import save
from circuitize.frontends.datasets import iris

TENSOR = ("prove", STEP, "--prover", "tensor", "--not-zero-knowledge")
GROTH16 = ("prove", STEP, "--prover", "groth16")


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("prover", ["groth16", "mirage", "halo2"])
def test_setup_leaves_the_files_of_others(tmp_path: Path, prover: str) -> None:
    folder = copied(keys("step"), tmp_path / "keys")
    (folder / "second.zkey").write_text("a contribution")
    before = content(folder)
    line = refused("setup", STEP, "--prover", prover, "-o", folder)
    assert "found second.zkey; it is left as it is" in line and content(folder) == before


@pytest.mark.parametrize("name", ["notes.txt", "more/notes.txt", "proof.json/notes.txt"])
def test_prove_leaves_the_files_of_others(tmp_path: Path, name: str) -> None:
    folder = copied(proof("step"), tmp_path / "proof")
    if name.startswith("proof.json"):
        (folder / "proof.json").unlink()
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("mine")
    before = content(folder)
    for command in ((*GROTH16, "--keys", keys()), TENSOR):
        assert f"found {name}; it is left as it is" in refused(*command, "-o", folder)
    assert content(folder) == before and not list(tmp_path.glob("*.json"))


def test_a_design_is_replaced_but_what_joined_it_is_not(tmp_path: Path) -> None:
    made = ("compile", f"{hardware_programs.__file__}:linear", "--target", "verilog", "--scheduler", "folded")
    folder = tmp_path / "design"
    assert run(*made, "-o", folder).status == 0
    (folder / "synth" / "board.xdc").write_text("pins")
    before = content(folder)
    assert "found synth/board.xdc; it is left as it is" in refused(*made, "-o", folder) and content(folder) == before
    (folder / "synth" / "board.xdc").unlink()
    assert run(*made, "-o", folder).status == 0


def test_what_joins_a_folder_during_the_work_is_left(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    folder.mkdir()
    (folder / "mark").write_text("earlier")
    with pytest.raises(CircuitizeError, match="found late"), whole_folder(folder, "mark", ["mark"]) as inside:
        (inside / "mark").write_text("later")
        (folder / "late").write_text("mine")
    assert content(folder) == {"mark": b"earlier", "late": b"mine"} and list(tmp_path.iterdir()) == [folder]


@pytest.mark.parametrize("command", [GROTH16, TENSOR])
def test_openings_are_never_replaced(tmp_path: Path, command: tuple[str, ...]) -> None:
    given = ("--keys", keys()) if command is GROTH16 else ()
    assert run(*command, *given, "-o", tmp_path / "proof").status == 0
    before = content(tmp_path)
    assert "proof.openings.json" in before
    line = refused(*command, *given, "-o", tmp_path / "proof")
    assert "expected no file yet, found the openings of an earlier proof" in line and content(tmp_path) == before
    mine = tmp_path / "proof.openings.json"
    assert f"{mine}: expected no file yet" in refused(*command, *given, "-o", tmp_path / "next", "--openings", mine)
    assert content(tmp_path) == before
    mine.rename(tmp_path / "kept.json")
    assert run(*command, *given, "-o", tmp_path / "proof").status == 0


def test_openings_that_appear_during_the_work_stay(tmp_path: Path) -> None:
    path = tmp_path / "openings.json"
    with pytest.raises(CircuitizeError, match="expected no file yet"), whole_file(path, "the openings") as temporary:
        temporary.write_text("mine")
        path.write_text("another's")
    assert path.read_text() == "another's" and list(tmp_path.iterdir()) == [path]


def test_a_proof_without_commitments_is_replaced_as_before(tmp_path: Path) -> None:
    for _ in range(2):
        assert prove(tmp_path / "proof", "growth").status == 0
    assert not list(tmp_path.glob("*.openings.json"))


def test_what_the_prover_of_a_run_keeps_is_never_replaced(tmp_path: Path) -> None:
    """The folder of a run was given away; a run begun in its place drew a secret over the one of its roots."""
    save(planned("iris.py:step")[0], tmp_path / "step.arrow", examples=True)
    split = iris(0)
    np.savez(tmp_path / "iris.npz", inputs=split.train_inputs, targets=split.train_targets)
    (tmp_path / "run.kept.npz").write_bytes(b"the secret of a published root")
    before = content(tmp_path)
    given = ("--dataset", tmp_path / "iris.npz", "--not-zero-knowledge", "--seed", "5eed", "--steps", "1", "--json")
    line = refused("prove-run", tmp_path / "step.arrow", *given, "-o", tmp_path / "run")
    assert "run.kept.npz: expected no file yet" in line and content(tmp_path) == before
