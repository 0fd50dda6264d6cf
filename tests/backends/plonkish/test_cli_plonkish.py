"""compile, check and estimate for the Plonkish target: files that hold, failures with names, one line for bad use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_programs import STEP, refused, run

from circuitize.backends.field import BN254
from circuitize.backends.plonkish.system_file import Cells, read_cells, read_system, write_cells


def as_json(*arguments: str | Path) -> dict[str, Any]:
    outcome = run(*arguments, "--json")
    assert outcome.status == 0, outcome
    found: dict[str, Any] = json.loads(outcome.out)
    return found


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plonkish")
    assert run("compile", STEP, "--target", "plonkish", "-o", folder, "--witness").status == 0
    return folder


def test_what_is_compiled_is_what_was_estimated(tmp_path: Path) -> None:
    report = as_json("compile", STEP, "--target", "plonkish", "-o", tmp_path)
    sizes = as_json("estimate", STEP)["targets"]["plonkish"]
    names = ("k", "rows", "advice_columns", "fixed_columns", "public", "lookups", "degree")
    assert {name: report[name] for name in names} == {name: sizes[name] for name in names}
    system, operations = read_system(tmp_path / "circuit.plonkish")
    assert (system.rows, system.digest) == (report["rows"], report["circuit_digest"])
    assert operations and set(report["bytes"]) == {"circuit.plonkish", "program.arrow"}
    assert not (tmp_path / "witness.cells").exists()


def test_another_k_is_another_layout(tmp_path: Path) -> None:
    report = as_json("compile", STEP, "--target", "plonkish", "-o", tmp_path, "--k", "13")
    assert report["k"] == 13
    assert "use a larger k" in refused("compile", STEP, "--target", "plonkish", "-o", tmp_path / "c", "--k", "4")
    line = refused("compile", STEP, "--target", "plonkish", "-o", tmp_path / "c", "--memory", "1")
    assert "give more memory" in line


def test_files_are_checked_alone_and_a_failure_is_named(compiled: Path, tmp_path: Path) -> None:
    assert "its witness satisfies all" in run("check", compiled).out
    system, _ = read_system(compiled / "circuit.plonkish")
    cells = read_cells(compiled / "witness.cells")
    column = next(i for i, (unit, _) in enumerate(system.provenance.columns) if unit.startswith("range"))
    cells.advice[column][0] = BN254.from_integers([77777])[0]
    (tmp_path / "circuit.plonkish").write_bytes((compiled / "circuit.plonkish").read_bytes())
    write_cells(tmp_path / "witness.cells", BN254, Cells(cells.advice, cells.instance, cells.challenges))
    outcome = run("check", tmp_path)
    assert outcome.status == 1
    assert "gate range" in outcome.out and "program, element 0, input range" in outcome.out


def test_damaged_files_are_one_line(compiled: Path, tmp_path: Path) -> None:
    (tmp_path / "circuit.plonkish").write_bytes((compiled / "circuit.plonkish").read_bytes()[:-9])
    assert "damaged" in refused("check", tmp_path)
    (tmp_path / "circuit.plonkish").write_bytes((compiled / "circuit.plonkish").read_bytes())
    assert "cannot read" in refused("check", tmp_path)


def test_options_of_other_targets_are_refused(tmp_path: Path) -> None:
    line = refused("compile", STEP, "--target", "plonkish", "-o", tmp_path, "--json-circuit")
    assert "expected options of plonkish, found --json-circuit; it is one of r1cs" in line
    assert "it is one of plonkish" in refused("compile", STEP, "--target", "r1cs", "-o", tmp_path, "--k", "9")
