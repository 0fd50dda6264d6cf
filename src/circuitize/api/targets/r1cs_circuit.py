"""A program's rank-one constraint system as a folder of files, with a witness on request."""

from __future__ import annotations

from pathlib import Path

from circuitize.api.exact import Exact
from circuitize.backends.r1cs.emit import emit
from circuitize.backends.r1cs.json_file import write_json
from circuitize.backends.r1cs.r1cs_file import write_r1cs
from circuitize.backends.r1cs.sym_file import write_sym
from circuitize.backends.r1cs.witness import random_salts, witness
from circuitize.backends.r1cs.wtns_file import write_wtns
from circuitize.circuits.phases import Phases
from circuitize.circuits.saved import save
from circuitize.sims.integer import trace

from .contract import Request, Target
from .names import CIRCUIT_FILE, JSON_FILE, PROGRAM_FILE, SYMBOLS_FILE, WITNESS_FILE
from .written import WrittenCircuit


class RankOne(WrittenCircuit):
    """An R1CS system as files: circuit.r1cs, circuit.sym and program.arrow, and on request circuit.json and
    witness.wtns.
    """

    def __init__(self, target: Target[object], exact: Exact, phases: Phases, request: Request) -> None:
        super().__init__(target.title, exact.digest, target.files, phases)
        self.program, self.options = exact.integer, request.options
        inputs = request.witnessed(self.program)
        with phases.phase("circuit", "emitting constraints"):
            self.emission = emit(self.program)
        self.system = system = self.emission.system
        self.witness = None
        if inputs is not None:
            with phases.phase("witness", "computing the witness"):
                salts = random_salts(self.emission.plan)
                self.witness = witness(self.emission.plan, trace(self.program, inputs), salts)
        self.sizes = {name: getattr(system, name) for name in ("constraints", "wires", "public", "nonzeros")}

    def fill(self, folder: Path) -> list[Path]:
        written = [folder / CIRCUIT_FILE, folder / SYMBOLS_FILE, folder / PROGRAM_FILE]
        write_r1cs(written[0], self.system)
        edges = self.program.arrow.edges()
        names = [f"{edge.provenance.part or 'unnamed'}.{edge.operation.name}.{edge.index}" for edge in edges]
        write_sym(written[1], self.system, lambda edge: names[edge] if edge >= 0 else "program")
        save(self.program, written[2])
        if "json_circuit" in self.options:
            written.append(folder / JSON_FILE)
            write_json(written[-1], self.system)
        if self.witness is not None:
            written.append(folder / WITNESS_FILE)
            write_wtns(written[-1], self.system.field, self.witness)
        return written
