"""`circuitize compile`: a program's circuit as files that other tools read."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from .circuit import CIRCUIT_FILE, WITNESS_FILE, emit, part_names, trace, witness
from .loading import PROGRAM_FILE, load_program, save_without_examples
from .openings import draw_salts
from .output import Phases, amount_of_bytes, print_json, print_table
from .values import program_inputs


def run(options: Namespace) -> int:
    """Write circuit.r1cs, circuit.sym and program.arrow; on request circuit.json and witness.wtns."""
    from circuitize.backends.r1cs.json_file import write_json
    from circuitize.backends.r1cs.r1cs_file import write_r1cs
    from circuitize.backends.r1cs.sym_file import write_sym
    from circuitize.backends.r1cs.wtns_file import write_wtns

    phases, folder = Phases(), options.output
    with phases.phase("program", "reading the program"):
        loaded = load_program(options.program)
    wanted = options.witness or options.inputs is not None
    inputs = program_inputs(loaded.integer, options.inputs) if wanted else {}
    emission = emit(loaded, phases)
    system, written = emission.system, [folder / CIRCUIT_FILE, folder / "circuit.sym", folder / PROGRAM_FILE]
    if wanted:
        with phases.phase("witness", "computing the witness"):
            values = trace(loaded.integer, inputs)
            filled = witness(emission, values, draw_salts(loaded.integer))
    with phases.phase("write", "writing the circuit"):
        write_r1cs(written[0], system)
        names = part_names(loaded.integer)
        write_sym(written[1], system, lambda edge: names[edge] if edge >= 0 else "program")
        save_without_examples(loaded.integer, written[2])
        if options.json_circuit:
            written.append(folder / "circuit.json")
            write_json(written[-1], system)
        if wanted:
            written.append(folder / WITNESS_FILE)
            write_wtns(written[-1], system.field, filled)
    sizes = {path.name: path.stat().st_size for path in written}
    counts = {
        "constraints": system.constraints,
        "wires": system.wires,
        "public": system.public,
        "nonzeros": system.nonzeros,
    }
    if options.json:
        report = {
            "target": options.target,
            "digest": loaded.digest,
            **counts,
            "bytes": sizes,
            "phases": phases.as_json(),
        }
        print_json(report)
        return 0
    print(f"compiled {options.program} to {options.target}, digest {loaded.digest}")
    print_table(list(counts.items()))
    print_table([(str(Path(folder) / name), amount_of_bytes(size)) for name, size in sizes.items()])
    return 0
