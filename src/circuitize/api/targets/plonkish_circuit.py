"""A program's Plonkish system as a folder of files, with the values of its cells on request."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path

from circuitize.api.exact import Exact, Integers
from circuitize.backends.plonkish.cost import Sizes, best
from circuitize.backends.plonkish.emit import Filling, emit
from circuitize.backends.plonkish.system_file import Cells, write_cells, write_system
from circuitize.backends.plonkish.witness import random_salts
from circuitize.circuits.phases import Phases
from circuitize.circuits.reading import Json
from circuitize.circuits.saved import save
from circuitize.sims.integer import trace

from .contract import Request, Target
from .names import CELLS_FILE, PLONKISH_SIZES, PROGRAM_FILE, SYSTEM_FILE
from .written import WrittenCircuit


class PlonkishSystem(WrittenCircuit):
    """A Plonkish system as files: circuit.plonkish and program.arrow, and on request witness.cells, whose challenges
    are random.
    """

    def __init__(self, target: Target[object], exact: Exact, phases: Phases, request: Request) -> None:
        super().__init__(target.name, exact.digest, target.files, phases)
        self.program = exact.integer
        inputs = request.witnessed(self.program)
        k, memory = (request.options.get(name) for name in ("k", "memory"))
        with phases.phase("circuit", "laying out columns"):
            chosen = best(self.program, None if memory is None else memory << 20) if k is None else k
            self.emission = emit(self.program, chosen)
        self.cells = None
        if inputs is not None:
            with phases.phase("witness", "computing the witness"):
                self.cells = self._cells(inputs)
        counts = Sizes(self.emission.plan.layout).as_json()
        self.sizes = {name: count for name, count in counts.items() if name in PLONKISH_SIZES}

    @property
    def report(self) -> Json:
        return {"digest": self.digest, "circuit_digest": self.emission.system.digest, **self.sizes}

    def fill(self, folder: Path) -> list[Path]:
        written = [folder / SYSTEM_FILE, folder / PROGRAM_FILE]
        system, edges = self.emission.system, self.program.arrow.edges()
        write_system(written[0], system, [f"{edge.operation.name} in {edge.provenance}" for edge in edges])
        save(self.program, written[1])
        if self.cells is not None:
            written.append(folder / CELLS_FILE)
            write_cells(written[-1], system.field, self.cells)
        return written

    def _cells(self, inputs: Mapping[str, Integers]) -> Cells:
        """Return the values of the cells for a run, with fresh salts and random challenges, as a prover has them."""
        plan, system = self.emission.plan, self.emission.system
        filling = Filling(plan, trace(self.program, inputs), random_salts(plan))
        first = filling.first()
        drawn = [secrets.randbelow(system.field.prime) for _ in range(system.challenges)]
        return Cells((*first, *filling.second(drawn)), tuple(filling.instance()), tuple(drawn))
