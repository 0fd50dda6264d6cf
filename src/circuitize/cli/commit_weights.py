"""The command `circuitize commit-weights` commits once to weights that no step changes, and proves that the weights are
in format.
"""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from circuitize.api.key_folders import require_readable
from circuitize.circuits.memory import amount_of_bytes
from circuitize.circuits.reading import Json

from .loading import load_program
from .output import Phases, print_json, print_table, remark, say
from .prove import peak_bytes

if TYPE_CHECKING:
    from circuitize.api.weights import Weights


def run(options: Namespace) -> int:
    """Write a folder for verifiers with a proof for each root, and the secrets of the roots beside the folder."""
    from circuitize.api.values import program_inputs
    from circuitize.api.weights import commit_weights, frozen_program, require_new

    require_new(options.output)
    for path in options.inputs or ():
        require_readable("--inputs", path)
    phases = Phases()
    with phases.phase("program", "reading the program"):
        loaded = load_program(options.program, options=options)
    inputs = program_inputs(frozen_program(loaded), options.inputs, remark, options.raw_inputs)
    with phases.phase("commit", "committing to the weights"):
        made = commit_weights(
            loaded,
            options.output,
            integers=inputs,
            not_zero_knowledge=options.not_zero_knowledge,
            memory=options.memory,
            progress=phases.progress,
        )
    report = report_of(made, phases)
    if options.json:
        print_json(report)
        return 0
    say(f"committed to the weights of {options.program} in {options.output}")
    for name, own in report["groups"].items():
        say(f"  {name} is {own['root']}")
        left = "" if own["left"] is None else f"; {own['left']:,} openings left"
        say(f"    in format, by a proof of {own['security_bits']:.1f} bits{left}")
    kept = ("secrets", f"{made.kept} (keep it, never send it)")
    print_table(
        [("time", f"{phases.seconds['commit']:.1f} s"), ("memory", amount_of_bytes(report["peak_bytes"])), kept]
    )
    return 0


def report_of(made: Weights, phases: Phases) -> Json:
    """Return the object that `circuitize commit-weights --json` prints."""
    left = made.left()
    return {
        "groups": {
            name: {"root": f"0x{root.hex()}", "security_bits": made.security_bits[name], "left": left[name]}
            for name, root in made.roots.items()
        },
        "peak_bytes": peak_bytes(),
        "phases": phases.as_json(),
    }
