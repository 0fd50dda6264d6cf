"""The Plonkish target: systems of columns of cells, with gates, copies and lookups."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.phases import Phases
from circuitize.circuits.reading import Json

from .contract import PLAIN, CheckedFiles, Files, Request, Shown, Target
from .names import CELLS_FILE, PLONKISH_SIZES, PROGRAM_FILE, SYSTEM_FILE
from .options import Option, Options
from .r1cs import WITNESS, WITNESSED

if TYPE_CHECKING:
    from circuitize.api.exact import Exact
    from circuitize.circuits.program import IntegerProgram
    from circuitize.sims import agree

    from .plonkish_circuit import PlonkishSystem

SHOWN = (*PLONKISH_SIZES, "proof_bytes", "verifying_key_bytes", "proving_key_bytes", "prove_seconds", "prove_bytes")

CELL_BYTES = 64
"""The number of bytes that a check needs for each cell of a system: a field element for the cell, and one for the copy
of its column.
"""


class Plonkish(Target["PlonkishSystem"]):
    """The Plonkish target: its circuit has the layout with the least proving cost, or, by an option, the layout with
    2^k rows.
    """

    name = "plonkish"
    title = "plonkish, the layout of least proving cost"
    measure = "cells"
    rules_in = "circuitize.backends.plonkish.operations"
    files = Files(SYSTEM_FILE, (SYSTEM_FILE, CELLS_FILE, PROGRAM_FILE))
    inputs_are = WITNESSED
    options = (
        WITNESS,
        Option("k", "count", "2^K rows (default: the cheapest to prove)", "K"),
        Option("memory", "count", "the most memory that proving may take", "MIB", commands=("compile", "estimate")),
    )

    def require(self, command: str, options: Options) -> None:
        if "k" in options and "memory" in options:
            raise CircuitizeError(
                "expected --k or --memory, found both; --memory is for the search, which --k leaves out"
            )

    def build(self, program: Exact, phases: Phases, request: Request = PLAIN) -> PlonkishSystem:
        from .plonkish_circuit import PlonkishSystem

        return PlonkishSystem(self, program, phases, request)

    def estimate(self, program: IntegerProgram, options: Options) -> Json:
        """Return the sizes of the Plonkish layout, and of its keys and proof with the prover halo2."""
        from circuitize.backends.plonkish.emit import emit
        from circuitize.provers.halo2.cost import sizes

        found = self._laid_out(program, options)
        return found | {**sizes(emit(program, found["k"]).summed.system), "degree": found["degree"]}

    def shown(self, sizes: Json) -> Iterator[Shown]:
        yield self.title
        yield [(name.replace("_", " "), sizes[name]) for name in SHOWN]

    def cost(self, program: IntegerProgram) -> int:
        found = self._laid_out(program, {})
        return int(found["rows"]) * int(found["advice_columns"])

    def check(self, program: IntegerProgram) -> agree.Target:
        from circuitize.sims.plonkish import Plonkish

        return Plonkish(program)

    def check_files(self, folder: Path) -> CheckedFiles:
        from circuitize.backends.plonkish.checker import describe, first_failure
        from circuitize.backends.plonkish.system_file import read_cells, read_system
        from circuitize.circuits.memory import require_memory

        system, names = read_system(folder / SYSTEM_FILE)
        columns = system.advice + len(system.fixed) + len(system.instance)
        require_memory(CELL_BYTES * system.rows * columns, "check it on a larger machine", "circuit")
        cells = read_cells(folder / CELLS_FILE, system.field, system.rows)
        found = first_failure(system, cells.advice, cells.instance, cells.challenges)
        told = None
        if found is not None:
            told = describe(system, found, lambda edge: names[edge] if 0 <= edge < len(names) else "program")
        return CheckedFiles(f"all {len(system.gates) + len(system.lookups):,} gates and lookups", told)

    def _laid_out(self, program: IntegerProgram, options: Options) -> Json:
        from circuitize.backends.plonkish.cost import estimate

        memory = options.get("memory")
        return estimate(program, None if memory is None else memory << 20)


plonkish = Plonkish()
