"""The writer of the certificate of a design: its program in plain operations, and the claims that were shown."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from circuitize.circuits import integers
from circuitize.circuits.encode import program_digest
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.operation import Operation
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.reading import Json
from circuitize.circuits.types import Fixed

from ..design import STATUS, Design
from ..project import Project, Vectors
from .checker.claims import FORMAT, deeply, digests, shown
from .checker.folded import FORMAT as FOLDED
from .checker.folded import shown_folded
from .checker.refusal import Refused
from .checker.statement import stated
from .checker.symbols import Symbols
from .checker.tables import LIMIT


def certificate(project: Project) -> Json:
    """Return the certificate of a design: its statement, its files, and the claims that are shown of it.

    Raise Refused if a claim is not shown, and CircuitizeError for a design of a kind that is not certified.
    """
    design = project.design
    if design.control or any(stream.bus for stream in design.streams):
        raise CircuitizeError(
            "certify: expected a stream for each tensor and no registers, found others; "
            "compile without --bus-bits, --board and --control"
        )
    packed = all(stream.pitch == stream.element_bits for stream in design.streams)
    elements = "packed" if packed else "bytes"
    statement, files = statement_of(project.program), dict(design.files)
    _require_program(statement, project.vectors)
    made = (_folded if design.scheduler == "folded" else _parallel)(design, elements, statement, files)
    if made["format"] == FOLDED:
        _require_initial(made["state"], project.vectors)
    return {"program": program_digest(project.program), "files": digests(files), **made}


def _parallel(design: Design, elements: str, statement: Json, files: dict[str, str]) -> Json:
    if design.held:
        raise CircuitizeError(
            f"certify: expected a parallel design without state, found the state {design.held[0]!r}; "
            "compile with --scheduler folded"
        )
    _require_one_round(design)
    streams = streams_of(design)
    made = deeply(lambda: shown(files, design.top, elements, streams, statement))
    claimed = {"top": design.top, "elements": elements, "streams": streams, "statement": statement}
    return {"format": FORMAT, **claimed, **made}


def _require_one_round(design: Design) -> None:
    if "rounds" in design.report:
        raise CircuitizeError(
            "certify: expected a design that takes a batch at once, found one in rounds; compile without --micro-batch"
        )


TABULATED = (1 << 17, LIMIT)
"""The most values of a form whose functions are tabulated, tried one after the other: few are faster."""


def _folded(design: Design, elements: str, statement: Json, files: dict[str, str]) -> Json:
    if design.modes:
        raise CircuitizeError(
            "certify: expected a design of one kind of frame, found one with modes; "
            "compile without --predict and --loadable"
        )
    _require_one_round(design)
    streams, most = folded_streams_of(design, statement), design.report["latency_cycles"] + SLACK
    for limit in TABULATED:
        claimed: Json = {"top": design.top, "elements": elements, "streams": streams, "statement": statement}
        claimed |= {"most": most, "limit": limit}
        try:
            return {"format": FOLDED, **claimed, **deeply(partial(shown_folded, files, **claimed))}
        except Refused as refusal:
            if limit == TABULATED[-1] or "values" not in str(refusal):
                raise
    raise AssertionError


SLACK = 1000
"""By how many clocks a frame of a folded design may take longer than its report says until the design is idle."""


def folded_streams_of(design: Design, statement: Json) -> Json:
    """Return the name of each port's stream with its elements a beat, in the program's order; None for state."""
    found = {(stream.output, stream.port): [stream.name, stream.lanes] for stream in design.streams}
    return {
        "inputs": [found.get((False, port["name"])) for port in statement["inputs"]],
        "outputs": [found[True, port["name"]] for port in statement["outputs"]],
    }


def _require_initial(state: Json, vectors: Vectors) -> None:
    """Raise Refused unless the state that a design begins with is the one that comes with the design."""
    for name, values in state.items():
        if values != vectors.initial[name].reshape(-1).tolist():
            raise Refused(f"the state {name!r} begins with other integers than the design's vectors say")


def _require_program(statement: Json, vectors: Vectors) -> None:
    """Raise Refused unless the statement's outputs equal the executor's on a frame that comes with the design: the
    first one that has a value, or with state the first one, if it has one.
    """
    frames = np.flatnonzero(~vectors.undefined)[:1].tolist()
    for frame in frames if not vectors.initial else [0] * (not vectors.undefined[:1].any() and len(vectors) > 0):
        given = {name: values[frame] for name, values in vectors.inputs.items()} | dict(vectors.initial)
        values = [given[port["name"]].reshape(-1).tolist() for port in statement["inputs"]]
        made = stated(statement, Symbols(), values)
        for port in statement["outputs"]:
            found = [form.constant for form in made.wires[port["wire"]].flat]
            if found != vectors.outputs[port["name"]][frame].reshape(-1).tolist():
                raise Refused(f"the statement gives other integers than the executor at {port['name']!r}")


def statement_of(program: IntegerProgram) -> Json:
    """Return a program's operations as the checker reads them.

    Raise CircuitizeError for an operation that the checker does not have.
    """
    arrow = program.arrow
    number = {wire: place for place, wire in enumerate(arrow.inputs.tolist())}
    edges = []
    for edge in arrow.edges():
        target = arrow.format(edge.targets[0])
        edges.append(
            {
                "operation": edge.operation.name.removeprefix("integer."),
                "part": str(edge.provenance.part or ""),
                "sources": [number[wire] for wire in edge.sources],
                "shape": list(target.shape),
                **_numbers(edge.operation),
            }
        )
        number[edge.targets[0]] = len(number)
    outputs = [
        {"name": port.name, "wire": number[wire], **_format(port.format)}
        for port, wire in zip(program.outputs, arrow.outputs.tolist(), strict=True)
    ]
    return {
        "inputs": [{"name": port.name, **_format(port.format)} for port in program.inputs],
        "edges": edges,
        "outputs": outputs,
    }


def streams_of(design: Design) -> Json:
    """Return the names of a design's streams by the ports that they carry, in the program's order."""
    return {
        "inputs": [stream.name for stream in design.streams if not stream.output],
        "outputs": [stream.name for stream in design.streams if stream.output and stream.name != STATUS],
    }


def _format(format: Fixed) -> Json:
    return {"shape": list(format.shape), "low": format.low, "high": format.high, "fraction_bits": format.fraction_bits}


def _numbers(operation: Operation) -> Json:
    """Return the parameters of an operation, as arrays and integers of JSON."""
    rule = NUMBERS.get(type(operation))
    if rule is None:
        raise CircuitizeError(
            f"certify: expected operations that are certified, found {operation.name}; docs/certificates.md lists them"
        )
    return rule(operation)


NUMBERS: dict[type[Operation], Callable[[Any], Json]] = {
    integers.Constant: lambda op: {"amounts": np.asarray(op.amounts).reshape(-1).tolist()},
    integers.Reindex: lambda op: {"places": op.view.indices().reshape(-1).tolist()},
    integers.Sum: lambda op: {"places": op.view.indices().reshape(-1).tolist()},
    integers.Scale: lambda op: {"factor": op.factor},
    integers.Clamp: lambda op: {"least": op.low, "most": op.high},
    integers.Wrap: lambda op: {"bits": op.bits, "signed": op.signed},
    integers.Shift: lambda op: {"bits": op.bits},
    integers.Lookup: lambda op: {"first": op.low, "table": op.table.tolist()},
    integers.Check: lambda op: {"least": op.low, "most": op.high},
    integers.Contract: lambda op: {"letters": list(op.letters)},
    integers.Concatenate: lambda op: {"axis": op.axis},
    integers.ArgMax: lambda op: {"axis": op.axis},
    integers.ArgMaxOneHot: lambda op: {"axis": op.axis},
    integers.Gather: lambda op: {"axis": op.axis},
    integers.ScatterAdd: lambda op: {"axis": op.axis, "size": op.size},
}
"""The further fields of a statement's edge, beside operation, sources and shape."""

PLAIN = (
    integers.Add, integers.Subtract, integers.Multiply, integers.ReLU, integers.IsNegative, integers.Select,
    integers.Maximum,
    integers.Divide,
    integers.SquareRoot,
)  # fmt: skip
NUMBERS |= dict.fromkeys(PLAIN, lambda op: {})
