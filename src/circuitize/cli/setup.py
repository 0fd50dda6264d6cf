"""The command `circuitize setup` makes keys for a program's circuit, from a ceremony or for development."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from circuitize.api.key_folders import PROVING_FILE, VERIFYING_FILE, require_readable
from circuitize.api.provers import prover
from circuitize.circuits.memory import amount_of_bytes
from circuitize.circuits.reading import Json

from .loading import load_program
from .output import Phases, print_json, print_table, remark, say

if TYPE_CHECKING:
    from circuitize.api.circuits import Keys, ProvableCircuit

INSECURE = "these are development keys: INSECURE, whoever made them can prove anything; rely only on a ceremony's keys"


def run(options: Namespace) -> int:
    """Emit the program's circuit, make or import keys that are bound to the program's digest, and write the keys beside
    the program.
    """
    from circuitize.api.circuits import require_key_folder
    from circuitize.api.targets.provers import ProverTarget

    require_key_folder(options.output)
    making = prover(options.prover)
    given = {"zkey": options.zkey, "ptau": options.ptau}
    ceremony = {name: path for name, path in given.items() if path is not None}
    making.require_ceremony(ceremony)
    for name, path in ceremony.items():
        require_readable(f"--{name}", path)
    phases = Phases()
    circuit = ProverTarget(making.name).build(load_program(options.program, options=options), phases)
    keys = circuit.setup(options.output, ceremony, phases)
    assert making.ceremony is not None
    remark(making.ceremony.claim if ceremony else INSECURE)
    report = report_of(circuit, keys, options.output, phases)
    if options.json:
        print_json(report)
        return 0
    say(f"keys for {options.program} in {options.output}")
    print_table(
        [
            ("setup", "ceremony" if ceremony else "development (INSECURE)"),
            ("digest", circuit.digest),
            *((name, count) for name, count in circuit.sizes.items()),
            ("proving key", amount_of_bytes(report["proving_key_bytes"])),
            ("verifying key", amount_of_bytes(report["verifying_key_bytes"])),
            ("time", f"{phases.seconds['setup']:.1f} s"),
        ]
    )
    return 0


def report_of(circuit: ProvableCircuit, keys: Keys, folder: Path, phases: Phases) -> Json:
    """Return the object that `circuitize setup --json` prints."""
    return {
        "prover": circuit.prover.name,
        "digest": circuit.digest,
        "setup": keys.setup,
        **circuit.sizes,
        "proving_key_bytes": (folder / PROVING_FILE).stat().st_size,
        "verifying_key_bytes": (folder / VERIFYING_FILE).stat().st_size,
        "setup_seconds": round(phases.seconds["setup"], 4),
        "setup_cpu_seconds": round(phases.cpu_seconds["setup"], 4),
        "phases": phases.as_json(),
    }
