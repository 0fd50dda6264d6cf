"""The target `listing`: the operations of a program's expansion, one a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from circuitize.api.exact import Exact
from circuitize.api.targets.contract import PLAIN, CheckedFiles, Files, LeftOut, Request, Target
from circuitize.api.targets.options import Option
from circuitize.api.targets.written import WrittenCircuit
from circuitize.backends.listing import lines
from circuitize.circuits.errors import Undefined
from circuitize.circuits.hypergraph import Arrow, fold
from circuitize.circuits.integers import expand
from circuitize.circuits.phases import Phases
from circuitize.circuits.program import IntegerProgram

LIST_FILE = "circuit.list"


class Listing(Target["ListedCircuit"]):
    """Operations by name; the largest that it takes has a hundred."""

    name = title = "listing"
    measure = "operations"
    rules_in = "circuitize.backends.listing"
    counted = False
    files = Files(LIST_FILE, (LIST_FILE,))
    options = (Option("capital_letters", "flag", "write names in capitals"),)

    def build(self, program: Exact, phases: Phases, request: Request = PLAIN) -> ListedCircuit:
        return ListedCircuit(program, phases, "capital_letters" in request.options)

    def estimate(self, program: IntegerProgram, options: Mapping[str, Any]) -> dict[str, Any]:
        operations = program.arrow.edge_count
        if operations > 100:
            raise LeftOut(f"not counted, {operations} operations are more than 100")
        return {"operations": operations}

    def check(self, program: IntegerProgram) -> ListedRun:
        return ListedRun(program)

    def check_files(self, folder: Path) -> CheckedFiles:
        names = (folder / LIST_FILE).read_text().split()
        wrong = next((name for name in names if not name.lower().startswith("integer.")), None)
        return CheckedFiles(f"all {len(names)} lines", wrong)


class ListedCircuit(WrittenCircuit):
    """The names of the operations."""

    def __init__(self, exact: Exact, phases: Phases, capitals: bool) -> None:
        super().__init__(listing.name, exact.digest, listing.files, phases)
        names = [edge.operation.name for edge in exact.integer.arrow.edges()]
        self.names = lines(names, capitals)
        self.sizes = {"operations": len(self.names)}

    def fill(self, folder: Path) -> list[Path]:
        (folder / LIST_FILE).write_text("\n".join(self.names))
        return [folder / LIST_FILE]


class ListedRun:
    """The operations' definitions, run one after the other."""

    name = "listing"

    def __init__(self, program: IntegerProgram) -> None:
        self.program = program
        self.arrow: Arrow = expand(program.arrow)

    def difference(self, trace: Sequence[NDArray[np.int64]]) -> str | None:
        made = self._run([trace[wire] for wire in self.program.arrow.inputs.tolist()])
        wanted = [trace[wire] for wire in self.program.arrow.outputs.tolist()]
        return None if all(map(np.array_equal, made, wanted)) else "another output"

    def accepts(self, forged: Sequence[NDArray[np.int64]]) -> bool:
        try:
            self._run([forged[wire] for wire in self.program.arrow.inputs.tolist()])
        except Undefined:
            return False
        return True

    def of(self, program: IntegerProgram) -> ListedRun:
        return ListedRun(program)

    def _run(self, inputs: list[Any]) -> list[Any]:
        values = fold(self.arrow, inputs, lambda index, operation, sources: operation.run(*sources), keep=True)
        return [values[wire] for wire in self.arrow.outputs.tolist()]


listing = Listing()
