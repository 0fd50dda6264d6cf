"""Every integer operation survives being saved and loaded, and is described in the documentation."""

from __future__ import annotations

import re
from pathlib import Path

from every_case import every_case
from integers_cases import cases
from operations.integer import Case

from circuitize.circuits.builder import generator
from circuitize.circuits.encode import program_digest
from circuitize.circuits.integers import Constant, operation_classes
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import Program
from circuitize.circuits.saved import load, save
from circuitize.circuits.types import Fixed


def ports(side: str, types: tuple[object, ...]) -> tuple[Port[Fixed], ...]:
    return tuple(
        Port(f"{side} {i}", Visibility.PUBLIC, type) for i, type in enumerate(types) if isinstance(type, Fixed)
    )


def program(case: Case) -> Program:
    arrow = generator(case.operation, *case.sources)
    return Program(arrow, ports("input", arrow.source), ports("output", arrow.target))


@every_case(enumerate(cases()))
def test_saved_operations_load_as_they_were(place: int, case: Case, tmp_path: Path) -> None:
    saved, path = program(case), tmp_path / f"program {place}"
    save(saved, path)
    loaded = load(path)
    assert loaded.arrow.operations == saved.arrow.operations
    assert loaded.arrow.target == saved.arrow.target
    assert program_digest(loaded) == program_digest(saved)


def test_digests_tell_operations_apart() -> None:
    distinct = {(case.operation, case.sources): program_digest(program(case)) for case in cases()}
    assert len(set(distinct.values())) == len(distinct)


def test_a_large_splat_is_saved_as_one_number(tmp_path: Path) -> None:
    save(program(Case(Constant.splat(3, (1 << 12, 1 << 12)), ())), tmp_path / "program")
    assert (tmp_path / "program").stat().st_size < 2000


def test_every_operation_is_in_the_table() -> None:
    page = (Path(__file__).parents[3] / "docs" / "integers.md").read_text()
    described = set(re.findall(r"^\| `(\w+)\(", page, re.MULTILINE))
    assert described == {kind.__name__ for kind in operation_classes() if kind.__module__.startswith("circuitize.")}
