"""What a program and an arrow print: short lines, whole listings, tables whose names are escaped."""

from __future__ import annotations

from cli_programs import step

import circuitize as cz


def test_a_short_line_says_what_it_is() -> None:
    program = cz.quantize(step())
    assert repr(step()).startswith("Program(reals, ") and repr(program).startswith("Program(integers, ")
    numbers = "fixed[2] / 2^4 in [-128, 127]"
    types = f"{numbers} x {numbers} -> {program.outputs[0].format} x {numbers}"
    assert repr(program.arrow) == f"Arrow({program.arrow.edge_count} operations, {types})"
    assert repr(cz.identity()) == "Arrow(0 operations, nothing -> nothing)"


def test_a_listing_has_every_operation_with_its_type_and_place() -> None:
    arrow = cz.quantize(step()).arrow
    lines = str(arrow).splitlines()
    assert len(lines) == len(arrow.inputs) + arrow.edge_count + len(arrow.outputs)
    edge = next(edge for edge in arrow.edges() if edge.operation.name == "integer.multiply")
    line = lines[len(arrow.inputs) + edge.index]
    assert line.startswith(f"%{edge.targets[0]} = integer.multiply(") and str(arrow.type(edge.targets[0])) in line
    assert "cli_programs.py:" in line


def test_tables_escape_names() -> None:
    program = step()
    hostile = cz.Port("<script>", program.inputs[0].visibility, program.inputs[0].format)
    named = cz.Program(program.arrow, (hostile, *program.inputs[1:]), program.outputs)
    assert "&lt;script&gt;" in named._repr_html_() and "<script>" not in named._repr_html_()
    assert "<table>" in named.arrow._repr_html_()
