"""What the commands do for the Plonkish target: files of a system and its cells, and sizes."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from circuitize.api.exact import Exact
from circuitize.api.values import program_inputs
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.folder import require_folder, whole_folder
from circuitize.circuits.memory import amount_of_bytes, require_memory
from circuitize.circuits.program import Program
from circuitize.provers.openings import draw_salts

from .loading import PROGRAM_FILE, load_program, save_without_examples
from .output import Phases, print_json, print_table, progress, remark, say

if TYPE_CHECKING:
    from circuitize.backends.plonkish.emit import Emission

SYSTEM_FILE = "circuit.plonkish"
CELLS_FILE = "witness.cells"
FILES = (SYSTEM_FILE, CELLS_FILE, PROGRAM_FILE)
SIZES = ("k", "rows", "advice_columns", "fixed_columns", "public", "lookups", "degree")


CELL_BYTES = 64
"""Memory of a check for each cell of a system: a field element of it, and of its column's copy."""

SHOWN = (*SIZES, "proof_bytes", "verifying_key_bytes", "proving_key_bytes", "prove_seconds", "prove_bytes")


def emit_plonkish(loaded: Exact, phases: Phases, k: int | None, memory: int | None) -> Emission:
    """The system with 2^k rows, or the cheapest to prove in so many MiB."""
    from circuitize.backends.plonkish.cost import best
    from circuitize.backends.plonkish.emit import emit

    with phases.phase("circuit", "laying out columns"):
        chosen = best(loaded.integer, None if memory is None else memory << 20) if k is None else k
        return emit(loaded.integer, chosen)


def write_plonkish(options: Namespace) -> int:
    """Write circuit.plonkish and program.arrow; on request witness.cells, whose challenges are random."""
    from circuitize.backends.plonkish.cost import Sizes
    from circuitize.backends.plonkish.system_file import write_cells, write_system

    if options.k is not None and options.memory is not None:
        raise CircuitizeError("expected --k or --memory, found both; --memory is for the search, which --k leaves out")
    phases = Phases()
    require_folder(options.output, SYSTEM_FILE, FILES)
    with phases.phase("program", "reading the program"):
        loaded = load_program(options.program)
    wanted = options.witness or options.raw_inputs or options.inputs is not None
    inputs = program_inputs(loaded.integer, options.inputs, remark, options.raw_inputs) if wanted else {}
    emission = emit_plonkish(loaded, phases, options.k, options.memory)
    system = emission.system
    if wanted:
        with phases.phase("witness", "computing the witness"):
            cells = _cells(emission, loaded.integer, inputs)
    with phases.phase("write", "writing the circuit"), whole_folder(options.output, SYSTEM_FILE, FILES) as folder:
        written = [folder / SYSTEM_FILE, folder / PROGRAM_FILE]
        write_system(written[0], system, operation_names(loaded.integer))
        save_without_examples(loaded.integer, written[1])
        if wanted:
            written.append(folder / CELLS_FILE)
            write_cells(written[-1], system.field, cells)
        sizes = {path.name: path.stat().st_size for path in written}
    counts = {name: count for name, count in Sizes(emission.plan.layout).as_json().items() if name in SIZES}
    if options.json:
        own = {"target": options.target, "digest": loaded.digest, "circuit_digest": system.digest}
        print_json({**own, **counts, "bytes": sizes, "phases": phases.as_json()})
        return 0
    say(f"compiled {options.program} to {options.target}, digest {loaded.digest}")
    print_table([(name.replace("_", " "), count) for name, count in counts.items()])
    print_table([(str(options.output / name), amount_of_bytes(size)) for name, size in sizes.items()])
    return 0


def _cells(emission: Emission, program: Program, inputs: Mapping[str, Any]) -> Any:
    """The cells of a run with fresh salts and random challenges, as a prover would be given."""
    import secrets

    from circuitize.backends.plonkish.emit import Filling
    from circuitize.backends.plonkish.system_file import Cells
    from circuitize.sims.integer import trace

    salts = {f"{side} {name}": salt for (side, name), salt in draw_salts(program).items()}
    filling = Filling(emission.plan, trace(program, inputs), salts)
    first = filling.first()
    drawn = [secrets.randbelow(emission.system.field.prime) for _ in range(emission.system.challenges)]
    return Cells((*first, *filling.second(drawn)), tuple(filling.instance()), tuple(drawn))


def operation_names(program: Program) -> list[str]:
    """What each operation of the integer arrow is called where a gate or a lookup of it fails."""
    return [f"{edge.operation.name} in {edge.provenance}" for edge in program.arrow.edges()]


def check_plonkish_files(folder: Path) -> tuple[int, str | None]:
    """How many gates and lookups a folder that `compile --witness` wrote has, and what its witness fails first."""
    from circuitize.backends.plonkish.checker import describe, first_failure
    from circuitize.backends.plonkish.system_file import read_cells, read_system

    with progress("checking the files"):
        system, names = read_system(folder / SYSTEM_FILE)
        columns = system.advice + len(system.fixed) + len(system.instance)
        require_memory(CELL_BYTES * system.rows * columns, "check it on a larger machine", "circuit")
        cells = read_cells(folder / CELLS_FILE, system.field, system.rows)
        found = first_failure(system, cells.advice, cells.instance, cells.challenges)
    told = None
    if found is not None:
        told = describe(system, found, lambda edge: names[edge] if 0 <= edge < len(names) else "program")
    return len(system.gates) + len(system.lookups), told


def plonkish_sizes(program: Program, memory: int | None) -> dict[str, Any]:
    """What `circuitize estimate` prints of this target: the layout, and what its keys and proof take with halo2."""
    from circuitize.backends.plonkish.cost import estimate
    from circuitize.backends.plonkish.emit import emit
    from circuitize.provers.halo2.cost import sizes

    found = estimate(program, None if memory is None else memory << 20)
    return found | {**sizes(emit(program, found["k"]).summed.system), "degree": found["degree"]}
