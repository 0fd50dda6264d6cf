"""`circuitize compile`: a program's circuit, or its hardware, as files that other tools read."""

from __future__ import annotations

from argparse import Namespace

from circuitize.api.values import program_inputs
from circuitize.circuits.encode import program_digest
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.folder import require_folder, whole_folder
from circuitize.circuits.memory import amount_of_bytes
from circuitize.provers.openings import draw_salts

from .circuit import CIRCUIT_FILE, WITNESS_FILE, emit, part_names, trace, witness
from .hardware import (
    HARDWARE_SIZES,
    RANDOM_FRAMES,
    bound,
    design,
    example_frames,
    frames_to_try,
    scheduler_options,
    vectors,
)
from .loading import PROGRAM_FILE, load_program, save_without_examples
from .output import Phases, print_json, print_table, remark, say
from .plonkish import write_plonkish
from .registry import SCHEDULER_OPTIONS, SCHEDULERS

SYMBOLS_FILE, JSON_FILE = "circuit.sym", "circuit.json"
R1CS_FILES = (CIRCUIT_FILE, SYMBOLS_FILE, PROGRAM_FILE, JSON_FILE, WITNESS_FILE)
OWN_OPTIONS = {
    "r1cs": ("json_circuit", "witness"),
    "plonkish": ("witness", "k", "memory"),
    "verilog": ("scheduler", *(name for names in SCHEDULER_OPTIONS.values() for name in names)),
}
"""By target, the options that others have not."""


def run(options: Namespace) -> int:
    """Write what the target's files are. Raises CircuitizeError for options of another target."""
    for names in OWN_OPTIONS.values():
        for name in names:
            if getattr(options, name) not in (None, False) and name not in OWN_OPTIONS[options.target]:
                having = " and ".join(other for other, own in OWN_OPTIONS.items() if name in own)
                raise CircuitizeError(
                    f"expected options of {options.target}, found --{name.replace('_', '-')}; it is one of {having}"
                )
    return {"r1cs": _r1cs, "plonkish": write_plonkish, "verilog": _verilog}[options.target](options)


def _verilog(options: Namespace) -> int:
    """Write design.json, program.arrow, rtl, test and synth, all or nothing."""
    from circuitize.backends.verilog.project import DESIGN_FILE, Project, write_project, written_files

    if options.scheduler is None:
        choices = " or ".join(SCHEDULERS)
        raise CircuitizeError(f"expected --scheduler {choices} for verilog, found none; parallel is for small networks")
    chosen = scheduler_options(options)
    require_folder(options.output, DESIGN_FILE, written_files)
    phases = Phases()
    with phases.phase("program", "reading the program"):
        loaded = load_program(options.program)
        made = bound(loaded.integer, options.inputs, remark, options.raw_inputs)
    with phases.phase("schedule", "scheduling"):
        found = design(made, options.scheduler, chosen)
    with phases.phase("vectors", "running the program on its examples"):
        frames = example_frames(made) or frames_to_try(made, RANDOM_FRAMES, seed=0)
        tried = vectors(made, frames)
    with (
        phases.phase("write", "writing the design"),
        whole_folder(options.output, DESIGN_FILE, written_files) as folder,
    ):
        write_project(Project(found, made.program, tried), folder)
        sizes = {str(path.relative_to(folder)): path.stat().st_size for path in folder.rglob("*") if path.is_file()}
    digest = program_digest(made.program)
    if options.json:
        report = {
            "target": options.target,
            "scheduler": options.scheduler,
            "digest": digest,
            **found.report,
            "streams": [stream.name for stream in found.streams],
            "frames": len(tried),
            "bytes": dict(sorted(sizes.items())),
            "phases": phases.as_json(),
        }
        print_json(report)
        return 0
    say(f"compiled {options.program} to {options.target}, scheduler {options.scheduler}, digest {digest}")
    print_table([(name.replace("_", " "), value) for name, value in found.report.items() if name in HARDWARE_SIZES])
    streams = [
        f"{'out' if s.output else 'in'} {s.name}: {s.beats} beats of {s.lanes} x {s.element_bits} bits"
        for s in found.streams
    ]
    print_table([("streams", streams[0]), *(("", text) for text in streams[1:])])
    say(f"  {len(sizes)} files, {amount_of_bytes(sum(sizes.values()))}; next: circuitize simulate {options.output}")
    return 0


def _r1cs(options: Namespace) -> int:
    """Write circuit.r1cs, circuit.sym and program.arrow; on request circuit.json and witness.wtns."""
    from circuitize.backends.r1cs.json_file import write_json
    from circuitize.backends.r1cs.r1cs_file import write_r1cs
    from circuitize.backends.r1cs.sym_file import write_sym
    from circuitize.backends.r1cs.wtns_file import write_wtns

    phases = Phases()
    require_folder(options.output, CIRCUIT_FILE, R1CS_FILES)
    with phases.phase("program", "reading the program"):
        loaded = load_program(options.program)
    wanted = options.witness or options.raw_inputs or options.inputs is not None
    inputs = program_inputs(loaded.integer, options.inputs, remark, options.raw_inputs) if wanted else {}
    emission = emit(loaded, phases)
    system = emission.system
    if wanted:
        with phases.phase("witness", "computing the witness"):
            values = trace(loaded.integer, inputs)
            filled = witness(emission, values, draw_salts(loaded.integer))
    names = part_names(loaded.integer)
    with phases.phase("write", "writing the circuit"), whole_folder(options.output, CIRCUIT_FILE, R1CS_FILES) as folder:
        written = [folder / CIRCUIT_FILE, folder / SYMBOLS_FILE, folder / PROGRAM_FILE]
        write_r1cs(written[0], system)
        write_sym(written[1], system, lambda edge: names[edge] if edge >= 0 else "program")
        save_without_examples(loaded.integer, written[2])
        if options.json_circuit:
            written.append(folder / JSON_FILE)
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
    say(f"compiled {options.program} to {options.target}, digest {loaded.digest}")
    print_table(list(counts.items()))
    print_table([(str(options.output / name), amount_of_bytes(size)) for name, size in sizes.items()])
    return 0
