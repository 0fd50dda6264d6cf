"""Auditing: whether the inputs of a rank-one constraint system determine every other wire, and what each row is for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from circuitize.backends.r1cs import audit as auditor
from circuitize.backends.r1cs.checker import describe, failing_rows
from circuitize.backends.r1cs.emit import Emission, emit
from circuitize.backends.r1cs.r1cs_file import read_r1cs
from circuitize.backends.r1cs.sym_file import read_names
from circuitize.backends.r1cs.system import ConstraintSystem
from circuitize.backends.r1cs.witness import random_salts, witness
from circuitize.backends.r1cs.wtns_file import read_wtns
from circuitize.circuits.errors import CircuitizeError, Undefined
from circuitize.circuits.memory import require_file_memory
from circuitize.circuits.phases import Phases, Progress, silent, under_way
from circuitize.circuits.program import IntegerProgram, Program
from circuitize.circuits.reading import Json
from circuitize.sims.integer import trace
from circuitize.sims.vectors import inputs_to_try

from .exact import Exact, exact
from .targets.names import CIRCUIT_FILE, WITNESS_FILE

MOST_ROWS = 2000
"""The most rows of a circuit that are left out one by one."""

WITNESSES = 6
"""The most witnesses of a small program from which searches for second witnesses start."""


@dataclass(frozen=True)
class Circuit:
    """The input of an audit: a constraint system, known witnesses, and the names of the system's wires and rows."""

    system: ConstraintSystem
    witnesses: list[list[int]]
    wire: Callable[[int], Json]
    row: Callable[[int], str]


@dataclass(frozen=True)
class Audit:
    """The result of an audit of a constraint system: whether the inputs determine every wire, which wires are left
    open, and which rows no assignment satisfies.

    The field `rows` of an audit says what changes when a row is left out, for each row in turn; it is None if this was
    not tried.
    """

    determined: bool
    constraints: int
    wires: int
    inputs: int
    rules: dict[str, int]
    open: list[Json]
    impossible: list[str]
    rows: list[Json] | None

    def __bool__(self) -> bool:
        """Return whether every wire is determined by the inputs, and the purpose of every row is known."""
        return self.determined and not any(row["effect"] == "unknown" for row in self.rows or ())


def audit(source: Program | Exact | Path, *, each_row: bool = False, progress: Progress = silent) -> Audit:
    """Audit the constraint system of a program, of a .r1cs file, or of a folder that contains circuit.r1cs.

    Raise CircuitizeError for files of other kinds, and for a constraint system with too many rows to leave out each in
    turn.
    """
    circuit = _of_files(source) if isinstance(source, Path) else _of_program(exact(source, Phases()).integer, progress)
    system, bases = circuit.system, circuit.witnesses
    if each_row and system.constraints > MOST_ROWS:
        raise CircuitizeError(
            f"expected at most {MOST_ROWS} rows for --each-row, found {system.constraints}; use a smaller program"
        )
    with under_way(progress, "propagating what the inputs determine"):
        found = auditor.audit(system, bases[0] if bases else None)
    removals = list(_removals(system, bases, progress)) if each_row else []
    return Audit(
        found.determined,
        system.constraints,
        found.wires,
        found.given,
        found.rules,
        _findings(found, circuit),
        [circuit.row(row) for row in found.impossible],
        [_row(removal, circuit) for removal in removals] if each_row else None,
    )


def _of_program(program: IntegerProgram, progress: Progress) -> Circuit:
    """Return the circuit of a program with the witness of its first example, and with more witnesses if rows are to be
    left out; inputs for which the program is undefined give no witness.
    """
    with under_way(progress, "emitting constraints"):
        emission = emit(program)
    system, found = emission.system, []
    count = WITNESSES if system.constraints <= MOST_ROWS else 1
    for inputs in inputs_to_try(program, count if program.examples or count > 1 else 0, np.random.default_rng(0)):
        try:
            limbs = witness(emission.plan, trace(program, inputs), random_salts(emission.plan))
        except Undefined:
            continue
        found.append(system.field.to_integers(limbs))

    def provenance(edge: int) -> str:
        if edge < 0:
            return "inputs and outputs"
        made = program.arrow.edge(edge)
        return f"{made.provenance}, {made.operation.name}"

    return Circuit(system, found, _wire_names(program, emission), lambda row: describe(system, row, provenance))


def _of_files(source: Path) -> Circuit:
    path = source / CIRCUIT_FILE if source.is_dir() else source
    require_file_memory(path)
    system, labels = read_r1cs(path)
    symbols, beside = path.with_suffix(".sym"), path.parent / WITNESS_FILE
    names = read_names(symbols, labels) if symbols.is_file() else {}
    bases = []
    if beside.is_file():
        limbs = read_wtns(beside, system.field, system.wires)
        if not len(failing_rows(system, limbs)):
            bases.append(system.field.to_integers(limbs))
    return Circuit(
        system,
        bases,
        lambda wire: {"wire": wire, "name": names.get(wire, f"wire {wire}")},
        lambda row: f"constraint {row}",
    )


def _wire_names(program: IntegerProgram, emission: Emission) -> Callable[[int], Json]:
    def name(wire: int) -> Json:
        (place,) = auditor.locate(emission.system, [wire])
        if place.block is None:
            return {"wire": wire, "name": f"wire {wire}"}
        edge = program.arrow.edge(place.block.edge) if place.block.edge >= 0 else None
        role, index = place.block.role, list(place.index)
        if edge is None:
            return {"wire": wire, "name": f"{role} {index}", "role": role, "element": index}
        source = f"{edge.provenance.file}:{edge.provenance.line}" if edge.provenance.file else ""
        return {
            "wire": wire,
            "name": f"{edge.provenance}, {edge.operation.name}, {role} {index}",
            "layer": edge.provenance.part,
            "element": index,
            "role": role,
            "operation": edge.operation.name,
            "source": source,
        }

    return name


def _findings(found: auditor.Audit, circuit: Circuit) -> list[Json]:
    ambiguous = set(found.ambiguous)
    wires = []
    for wire in sorted(found.open_wires, key=lambda wire: (wire not in ambiguous, wire)):
        told: Json = {"state": "undetermined" if wire in ambiguous else "unknown", **circuit.wire(wire)}
        if wire in ambiguous and found.ambiguity is not None:
            told["values"] = [str(witness[wire]) for witness in (found.ambiguity.first, found.ambiguity.second)]
        wires.append(told)
    return wires


def _removals(system: ConstraintSystem, bases: list[list[int]], progress: Progress) -> Iterator[auditor.Removal]:
    removals = auditor.Removals(system, bases)
    for row in range(system.constraints):
        with under_way(progress, f"leaving out row {row + 1} of {system.constraints}"):
            yield removals.one(row)


def _row(removal: auditor.Removal, circuit: Circuit) -> Json:
    system = circuit.system
    told: Json = {"row": removal.row, "name": circuit.row(removal.row), "effect": removal.effect}
    if removal.effect == "undetermined":
        told |= {"wire": circuit.wire(removal.wire), "values": [str(value) for value in removal.values]}
    if removal.effect == "accepted inputs":
        first, count = 1 + system.public_outputs, system.public_inputs + system.private_inputs
        told["inputs"] = [str(system.field.signed(value)) for value in removal.witness[first : first + count]]
    return told
