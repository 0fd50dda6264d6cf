"""Arrows and programs as text for people: a short line, a listing, a table for a notebook."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import fields
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from .operation import Operation
from .types import Fixed, Type

if TYPE_CHECKING:
    from .hypergraph import Arrow
    from .program import Program

MOST_TYPES = 3
"""The number of types of an interface that a one-line summary names."""


def short(arrow: Arrow) -> str:
    """Return one line about an arrow: how many operations it has, and the types of its inputs and outputs."""
    source, target = _types(arrow.source), _types(arrow.target)
    return f"Arrow({arrow.edge_count:,} operations, {source} -> {target})"


def listing(arrow: Arrow) -> str:
    """Return a text with a line for each input, operation and output of an arrow, with types and the origin of each
    operation.
    """
    return "\n".join(_lines(arrow))


def program_short(program: Program) -> str:
    """Return one line about a program: its language, and how many operations, ports and examples it has."""
    ends = program.arrow.source + program.arrow.target
    language = "integers" if all(isinstance(type, Fixed) for type in ends) else "reals"
    return (
        f"Program({language}, {program.arrow.edge_count:,} operations, {len(program.inputs)} inputs, "
        f"{len(program.outputs)} outputs, {len(program.examples)} examples)"
    )


def arrow_table(arrow: Arrow) -> str:
    """Return a table of how often each operation occurs in an arrow, as HTML."""
    counts = Counter(arrow.operations[place].name for place in arrow.edge_operations.tolist())
    rows = [(name, f"{count:,}") for name, count in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))]
    return f"<p>{escape(short(arrow))}</p>" + _table(("operation", "times"), rows)


def program_table(program: Program) -> str:
    """Return a table of the ports of a program, as HTML."""
    sides = (("input", program.inputs), ("output", program.outputs))
    rows = [
        (side, port.name, port.visibility.value, port.role.value, str(port.format) if port.format else "by calibration")
        for side, ports in sides
        for port in ports
    ]
    head = ("side", "name", "visibility", "role", "format")
    return f"<p>{escape(program_short(program))}</p>" + _table(head, rows)


def _lines(arrow: Arrow) -> Iterator[str]:
    for wire in arrow.inputs.tolist():
        yield f"%{wire} = input : {arrow.type(wire)}"
    for edge in arrow.edges():
        made = ", ".join(f"%{wire}" for wire in edge.targets)
        read = ", ".join(f"%{wire}" for wire in edge.sources)
        types = ", ".join(str(arrow.type(wire)) for wire in edge.targets)
        yield f"{made} = {edge.operation.name}{_parameters(edge.operation)}({read}) : {types}  # {edge.provenance}"
    for wire in arrow.outputs.tolist():
        yield f"output %{wire}"


def _parameters(operation: Operation) -> str:
    """Return the fields of an operation as text, without those that are long."""
    found = [(one.name, getattr(operation, one.name)) for one in fields(operation) if one.init]  # type: ignore[arg-type]
    shown = [f"{name}={_value(value)}" for name, value in found]
    return f"[{', '.join(shown)}]" if shown else ""


def _value(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _types(types: Sequence[Type]) -> str:
    shown = [str(type) for type in types[:MOST_TYPES]]
    more = len(types) - len(shown)
    return " x ".join(shown + ([f"{more} more"] if more else [])) or "nothing"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    titles = "".join(f"<th>{escape(title)}</th>" for title in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"
