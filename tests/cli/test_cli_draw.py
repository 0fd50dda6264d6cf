"""`circuitize draw`: what it writes, and what it refuses in one line."""

from __future__ import annotations

import json
from pathlib import Path

import picture_judge
import pytest
from cli_programs import STEP, refused, run

from circuitize import CircuitizeError, IntegerProgram, Port, draw, identity
from circuitize.api import drawing
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import Contract
from circuitize.circuits.types import Array, Fixed
from circuitize.cli import circuit_arguments


def test_a_picture_and_a_graph(tmp_path: Path) -> None:
    made = run("draw", STEP, "-o", tmp_path / "step.svg", "--unfolded")
    assert made.status == 0 and "operations" in made.out
    svg = (tmp_path / "step.svg").read_text()
    assert picture_judge.faults(svg) == []
    told = run("draw", STEP, "-o", tmp_path / "again.svg", "--unfolded", "--json")
    assert json.loads(told.out) == {
        "boxes": len(picture_judge.operations(svg)),
        "operations": len(picture_judge.operations(svg)),
        "bytes": len(svg.encode()),
    }
    assert (tmp_path / "again.svg").read_text() == svg
    assert run("draw", STEP, "-o", tmp_path / "step.dot").status == 0
    assert (tmp_path / "step.dot").read_text().startswith("digraph ")


def test_costs_and_types_are_of_the_integer_program(tmp_path: Path) -> None:
    path = tmp_path / "step.svg"
    for options in (["--cost", "bits"], ["--integers", "--types", "--depth", "1"]):
        assert run("draw", STEP, "-o", path, *options).status == 0
        assert picture_judge.faults(path.read_text()) == []
        assert "shift" in path.read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-o", "picture.png"], "expected a file that ends in .svg (a picture) or .dot"),
        (["-o", "picture"], "found 'no ending'"),
        (["-o", "p.svg", "--depth", "0"], "at least 1"),
        (["-o", "p.svg", "--cost", "joules"], "invalid choice"),
        ([], "-o"),
    ],
)
def test_bad_use_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str) -> None:
    line = refused("draw", STEP, *arguments)
    assert words in line
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.svg").mkdir()
    assert "found a folder" in refused("draw", STEP, "-o", "folder.svg")


def test_the_parser_knows_what_is_drawn() -> None:
    assert (drawing.DEPTH, tuple(drawing.MEASURES)) == (circuit_arguments.DEPTH, circuit_arguments.COSTS)


def great() -> IntegerProgram:
    """A product of matrices of 5,000 rows: cheap to write, not to emit."""
    builder, wide = Builder(), Fixed((5000, 5000), 0, -9, 9)
    made = builder.build([builder.add(Contract("ab,bc->ac"), *builder.inputs([wide, wide]))])
    ports = (Port("x", "public", wide), Port("y", "public", wide))
    return IntegerProgram(made, ports, (Port("z", "public", made.format(2)),))


def test_the_function_refuses_what_the_command_does(tmp_path: Path) -> None:
    arrow = identity(Array((2,)))
    for wrong in ({"depth": 0}, {"depth": True}, {"cost": "rows"}):
        with pytest.raises(CircuitizeError, match="draw: expected"):
            draw(arrow, **wrong)
    with pytest.raises(CircuitizeError, match="found int"):
        draw(3)  # type: ignore[arg-type]
    with pytest.raises(CircuitizeError, match="products to count rows of, found 125,000,000,000"):
        draw(great(), cost="rows")
    assert picture_judge.faults(draw(great(), cost="bits").svg) == []
    with pytest.raises(CircuitizeError, match="expected a cost among rows"):
        draw(great(), cost="joules")
    with pytest.raises(CircuitizeError, match="rename it"):
        draw(arrow).save(tmp_path / "x.pdf")
    assert draw(arrow)._repr_svg_() == draw(arrow).svg
