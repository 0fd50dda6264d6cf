"""`circuitize audit`: whether a circuit's inputs determine every other wire, and what each row is for."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from circuitize.circuits.errors import CircuitizeError, Undefined
from circuitize.circuits.memory import require_file_memory
from circuitize.circuits.program import Program
from circuitize.provers.openings import draw_salts
from circuitize.sims.vectors import inputs_to_try

from .circuit import CIRCUIT_FILE, WITNESS_FILE, emit, trace, witness
from .loading import load_program
from .output import Phases, print_json, print_table, progress, say
from .screen import one_line

if TYPE_CHECKING:
    from circuitize.backends.r1cs.audit import Audit, Removal
    from circuitize.backends.r1cs.emit import Emission
    from circuitize.backends.r1cs.system import ConstraintSystem

MOST_ROWS = 2000
"""Rows of a circuit that --each-row takes on."""

WITNESSES = 6
"""Witnesses of a small program from which searches start, at most."""

MOST_OF_NAME = 200
"""Characters of a wire's name that are printed; --json has all."""

SHOWN = 20
"""Wires that are printed; --json lists all."""

Name = Callable[[int], dict[str, Any]]
"""What a report says of a wire."""


def run(options: Namespace) -> int:
    """0 where every wire is determined (and no row's purpose is unknown), 1 where one is not, or may not be."""
    from circuitize.backends.r1cs.audit import audit

    system, bases, name, row_name = _circuit(options.program)
    if options.each_row and system.constraints > MOST_ROWS:
        raise CircuitizeError(
            f"expected at most {MOST_ROWS} rows for --each-row, found {system.constraints}; use a smaller program"
        )
    with progress("propagating what the inputs determine"):
        found = audit(system, bases[0] if bases else None)
    removals = list(_removals(system, bases)) if options.each_row else []
    wires = _findings(found, name)
    rows = [_row(removal, name, row_name(removal.row), system) for removal in removals]
    if options.json:
        report: dict[str, Any] = {
            "determined": found.determined,
            "constraints": system.constraints,
            "wires": found.wires,
            "inputs": found.given,
            "rules": found.rules,
            "open": wires,
            "impossible": [row_name(row) for row in found.impossible],
        }
        print_json(report | ({"rows": rows} if options.each_row else {}))
    else:
        _print(options.program, system, found, wires, [row_name(row) for row in found.impossible])
        _print_rows(rows)
    return int(not found.determined or any(row["effect"] == "unknown" for row in rows))


def _circuit(source: str) -> tuple[ConstraintSystem, list[list[int]], Name, Callable[[int], str]]:
    """A circuit, witnesses if there are any at hand, and what its wires and rows are called."""
    path = Path(source)
    if path.is_dir() or path.suffix == ".r1cs":
        return _from_files(path / CIRCUIT_FILE if path.is_dir() else path)
    loaded = load_program(source)
    emission = emit(loaded, Phases())
    program = loaded.integer
    return emission.system, _witnesses(program, emission), _wire_names(program, emission), _row_names(program, emission)


def _from_files(path: Path) -> tuple[ConstraintSystem, list[list[int]], Name, Callable[[int], str]]:
    from circuitize.backends.r1cs.checker import failing_rows
    from circuitize.backends.r1cs.r1cs_file import read_r1cs
    from circuitize.backends.r1cs.sym_file import read_names
    from circuitize.backends.r1cs.wtns_file import read_wtns

    require_file_memory(path)
    system, labels = read_r1cs(path)
    symbols, beside = path.with_suffix(".sym"), path.parent / WITNESS_FILE
    names = read_names(symbols, labels) if symbols.is_file() else {}
    bases = []
    if beside.is_file():
        limbs = read_wtns(beside, system.field, system.wires)
        if not len(failing_rows(system, limbs)):
            bases.append(system.field.to_integers(limbs))
    return (
        system,
        bases,
        lambda wire: {"wire": wire, "name": names.get(wire, f"wire {wire}")},
        lambda row: f"constraint {row}",
    )


def _witnesses(program: Program, emission: Emission) -> list[list[int]]:
    """The witness of the program's first example, and for a circuit whose rows may be left out some more; none of
    inputs on which it is not defined.
    """
    count = WITNESSES if emission.system.constraints <= MOST_ROWS else 1
    found = []
    for inputs in inputs_to_try(program, count if program.examples or count > 1 else 0, np.random.default_rng(0)):
        try:
            limbs = witness(emission, trace(program, inputs), draw_salts(program))
        except Undefined:
            continue
        found.append(emission.system.field.to_integers(limbs))
    return found


def _wire_names(program: Program, emission: Emission) -> Name:
    from circuitize.backends.r1cs.audit import locate

    def name(wire: int) -> dict[str, Any]:
        (place,) = locate(emission.system, [wire])
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


def _row_names(program: Program, emission: Emission) -> Callable[[int], str]:
    from circuitize.backends.r1cs.checker import describe

    def provenance(edge: int) -> str:
        if edge < 0:
            return "inputs and outputs"
        found = program.arrow.edge(edge)
        return f"{found.provenance}, {found.operation.name}"

    return lambda row: describe(emission.system, row, provenance)


def _findings(found: Audit, name: Name) -> list[dict[str, Any]]:
    ambiguous = set(found.ambiguous)
    wires = []
    for wire in sorted(found.open_wires, key=lambda wire: (wire not in ambiguous, wire)):
        told: dict[str, Any] = {"state": "undetermined" if wire in ambiguous else "unknown", **name(wire)}
        if wire in ambiguous and found.ambiguity is not None:
            told["values"] = [str(witness[wire]) for witness in (found.ambiguity.first, found.ambiguity.second)]
        wires.append(told)
    return wires


def _removals(system: ConstraintSystem, bases: list[list[int]]) -> Iterator[Removal]:
    from circuitize.backends.r1cs.audit import Removals

    removals = Removals(system, bases)
    for row in range(system.constraints):
        with progress(f"leaving out row {row + 1} of {system.constraints}"):
            yield removals.one(row)


def _row(removal: Removal, name: Name, row: str, system: ConstraintSystem) -> dict[str, Any]:
    told: dict[str, Any] = {"row": removal.row, "name": row, "effect": removal.effect}
    if removal.effect == "undetermined":
        told |= {"wire": name(removal.wire), "values": [str(value) for value in removal.values]}
    if removal.effect == "accepted inputs":
        first, count = 1 + system.public_outputs, system.public_inputs + system.private_inputs
        told["inputs"] = [str(system.field.signed(value)) for value in removal.witness[first : first + count]]
    return told


def _print(
    source: str, system: ConstraintSystem, found: Audit, wires: list[dict[str, Any]], impossible: list[str]
) -> None:
    others = found.wires - 1 - found.given
    state = "determine every other wire" if found.determined else f"leave {len(wires):,} of {others:,} wires open"
    say(f"{source}: {found.given:,} inputs {state}, {system.constraints:,} rows")
    print_table([(rule, count) for rule, count in found.rules.items() if rule != "given"])
    for row in impossible:
        say(f"  no assignment satisfies {row}")
    for told in wires[:SHOWN]:
        values = f": {told['values'][0]} or {told['values'][1]}" if "values" in told else ""
        say(f"  {told['state']}: wire {told['wire']}, {one_line(told['name'], MOST_OF_NAME)}{values}")
    if len(wires) > SHOWN:
        say(f"  and {len(wires) - SHOWN:,} more (--json lists them)")


def _print_rows(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        effect = row["effect"]
        if effect == "undetermined":
            told = (
                f"leaves wire {row['wire']['wire']} undetermined, {one_line(row['wire']['name'], MOST_OF_NAME)}: "
                f"{' or '.join(row['values'])}"
            )
        elif effect == "accepted inputs":
            told = f"lets in the inputs {', '.join(row['inputs'])}"
        elif effect == "implied":
            told = "changes nothing, the row follows from the others"
        else:
            told = "could not be told"
        say(f"  without {row['name']}: {told}")
