"""Files of systems and cells: what is written is read back, and anything else is refused in one line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from plonkish_programs import fill, layer, smallest, vector
from tiers import count

from circuitize.backends.field import BN254
from circuitize.backends.plonkish.checker import describe, first_failure
from circuitize.backends.plonkish.system import Gate, Lookup, PlonkishSystem
from circuitize.backends.plonkish.system_file import Cells, read_cells, read_system, write_cells, write_system
from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.circuits.port import Visibility


@pytest.fixture(scope="module")
def system() -> PlonkishSystem:
    return smallest(layer(Visibility.COMMITTED)).system


def test_a_system_is_read_back(system: PlonkishSystem, tmp_path: Path) -> None:
    path = tmp_path / "circuit.plonkish"
    write_system(path, system, ["first", "second"])
    found, operations = read_system(path)
    assert found.digest == system.digest
    assert operations == ["first", "second"]
    assert list(found.provenance.blocks) == list(system.provenance.blocks)
    assert found.provenance.columns == tuple(system.provenance.columns)


def test_cells_are_read_back_and_checked_by_the_files_alone(tmp_path: Path) -> None:
    given = layer()
    run = fill(smallest(given), given, vector(given, 3))
    write_system(tmp_path / "s", run.emission.system, [edge.operation.name for edge in given.arrow.edges()])
    write_cells(tmp_path / "c", BN254, Cells(tuple(run.advice), tuple(run.instance), tuple(run.challenges)))
    found, operations = read_system(tmp_path / "s")
    cells = read_cells(tmp_path / "c")
    assert cells.challenges == tuple(run.challenges)
    assert first_failure(found, cells.advice, cells.instance, cells.challenges) is None
    cells.advice[0][0] = BN254.from_integers([12345])[0]
    wrong = first_failure(found, cells.advice, cells.instance, cells.challenges)
    assert wrong is not None
    assert "input" in describe(found, wrong, lambda edge: operations[edge] if edge >= 0 else "program")


def test_every_cut_is_refused(system: PlonkishSystem, tmp_path: Path) -> None:
    path = tmp_path / "circuit.plonkish"
    write_system(path, system)
    whole = path.read_bytes()
    for size in [0, 3, 11, 40, *np.linspace(50, len(whole) - 1, 40).astype(int).tolist()]:
        path.write_bytes(whole[:size])
        with pytest.raises(FormatError):
            read_system(path)


def test_changed_bytes_are_refused_or_another_system(system: PlonkishSystem, tmp_path: Path) -> None:
    path = tmp_path / "circuit.plonkish"
    write_system(path, system)
    whole, random = path.read_bytes(), np.random.default_rng(5)
    end = whole.index(b'{"operations"')
    refused = 0
    for at in np.concatenate([np.arange(0, 120), random.integers(0, end, count(30, deep=80))]).tolist():
        changed = bytearray(whole)
        changed[at] ^= 1 << int(random.integers(8))
        path.write_bytes(bytes(changed))
        try:
            found, _ = read_system(path)
        except FormatError as error:
            assert "\n" not in str(error)
            refused += 1
        else:
            assert found.digest != system.digest
    assert refused > 50


def wrong_systems(system: PlonkishSystem) -> dict[str, PlonkishSystem]:
    """Systems that name what does not exist."""
    nodes, copies = system.nodes.copy(), system.copies.copy()
    nodes[-1] = (5, len(nodes) - 1, 0)
    copies[0, 1] = system.rows
    column = system.nodes.copy()
    column[np.flatnonzero(column[:, 0] == 1)[0], 1] = system.advice
    advice = int(np.flatnonzero(system.nodes[:, 0] == 1)[0])
    lookup = system.lookups[0]
    return {
        "read earlier": replace(system, nodes=nodes),
        "cells that exist": replace(system, copies=copies),
        "advices": replace(system, nodes=column),
        "nodes": replace(system, gates=(Gate("far", len(nodes)),)),
        "fixed columns only": replace(system, lookups=(Lookup("own", lookup.inputs, (advice, advice)),)),
        "phases": replace(system, advice_phases=(1, *system.advice_phases[1:-1], 0)),
        "challenges": replace(system, challenges=1),
        "instance": replace(system, instance=(system.rows + 1,)),
        "entries": replace(system, rows=system.rows // 2),
    }


def test_what_does_not_exist_is_refused(system: PlonkishSystem, tmp_path: Path) -> None:
    path = tmp_path / "circuit.plonkish"
    for expected, wrong in wrong_systems(system).items():
        write_system(path, wrong)
        with pytest.raises(FormatError, match=expected):
            read_system(path)


def test_cells_of_another_system_are_refused(system: PlonkishSystem) -> None:
    with pytest.raises(CircuitizeError, match="this system"):
        first_failure(system, [], [])
    advice = [np.zeros((1, 4), np.uint64)] * system.advice
    over = [np.full((1, 4), (1 << 64) - 1, np.uint64)]
    with pytest.raises(CircuitizeError, match="normal form"):
        first_failure(system, advice, over, [0] * system.challenges)


def test_a_missing_file_is_told_by_its_extension(tmp_path: Path) -> None:
    for read, extension in ((read_system, "plonkish"), (read_cells, "cells")):
        with pytest.raises(CircuitizeError, match=rf"give the path of a \.{extension} file"):
            read(tmp_path / "none")
