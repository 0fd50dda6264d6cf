"""`circuitize setup`: development keys for a program's circuit."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .circuit import emit
from .folder import whole_folder
from .loading import PROGRAM_FILE, Loaded, load_program, save_without_examples
from .output import Phases, amount_of_bytes, print_json, print_table, remark

if TYPE_CHECKING:
    from circuitize.backends.r1cs.emit import Emission

INSECURE = "these are development keys: INSECURE, whoever made them can prove anything; rely only on a ceremony's keys"


def run(options: Namespace) -> int:
    """Emit the circuit, make keys bound to the program's digest, and write them beside the program itself."""
    phases = Phases()
    loaded = load_program(options.program)
    report = make_keys(loaded, options.output, phases, emit(loaded, phases))
    remark(INSECURE)
    if options.json:
        print_json(report)
        return 0
    print(f"keys for {options.program} in {options.output}")
    print_table(
        [
            ("setup", "development (INSECURE)"),
            ("digest", loaded.digest),
            ("constraints", report["constraints"]),
            ("proving key", amount_of_bytes(report["proving_key_bytes"])),
            ("verifying key", amount_of_bytes(report["verifying_key_bytes"])),
            ("time", f"{phases.seconds['setup']:.1f} s"),
        ]
    )
    return 0


def make_keys(loaded: Loaded, output: Path, phases: Phases, emission: Emission) -> dict[str, Any]:
    """Write a folder of keys, whole or not at all; returns what --json prints."""
    from circuitize.provers.groth16.keys import PROVING_FILE, VERIFYING_FILE, setup

    system = emission.system
    with whole_folder(output, VERIFYING_FILE) as folder:
        with phases.phase("setup", "making development keys"):
            setup(system, loaded.digest, folder)
        save_without_examples(loaded.integer, folder / PROGRAM_FILE)
        sizes = {name: (folder / name).stat().st_size for name in (PROVING_FILE, VERIFYING_FILE)}
    return {
        "prover": "groth16",
        "digest": loaded.digest,
        "setup": "development",
        "constraints": system.constraints,
        "proving_key_bytes": sizes[PROVING_FILE],
        "verifying_key_bytes": sizes[VERIFYING_FILE],
        "setup_seconds": round(phases.seconds["setup"], 4),
        "phases": phases.as_json(),
    }
