"""The command `circuitize compile` writes a program's circuit, or its hardware, as files that other tools read."""

from __future__ import annotations

from argparse import Namespace

from circuitize.api.compile import compile
from circuitize.api.targets.options import chosen
from circuitize.api.targets.registry import TARGETS
from circuitize.circuits.folder import require_folder

from .circuit_arguments import target_options
from .loading import came_with, load_program
from .output import Phases, print_json, print_shown, print_table, remark, say, show


def run(options: Namespace) -> int:
    """Write the files of the program's circuit for the chosen target. Raise CircuitizeError for options that only other
    targets have.
    """
    target = TARGETS[options.target]
    own = chosen(target, "compile", target_options(options), TARGETS.values(), spoken=True)
    assert target.files is not None
    require_folder(options.output, *target.files)
    phases = Phases()
    with phases.phase("program", "reading the program"):
        loaded = load_program(options.program, options=options)
    given = came_with(loaded, options)
    circuit = compile(
        loaded,
        target,
        inputs=options.inputs if given is None else given,
        raw_inputs=options.raw_inputs,
        progress=show,
        say=remark,
        **own,
    )
    written = circuit.write(options.output)
    if options.json:
        timed = phases.as_json() | circuit.phases.as_json()
        print_json({"target": target.name, **circuit.report, "bytes": written, "phases": timed})
        return 0
    say(f"compiled {options.program} to {circuit.title}, digest {circuit.digest}")
    print_table([(name.replace("_", " "), value) for name, value in circuit.sizes.items()])
    print_shown(circuit.shown(options.output, written))
    return 0
