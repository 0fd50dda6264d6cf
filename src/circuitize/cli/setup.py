"""`circuitize setup`: keys for a program's circuit, from a ceremony or for development."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from circuitize.api.exact import Exact
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.folder import require_folder, whole_folder
from circuitize.circuits.memory import amount_of_bytes, require_circuit_memory
from circuitize.provers.keys import KEY_FILES

from .circuit import emit
from .keys import require_readable
from .loading import PROGRAM_FILE, load_program, save_without_examples
from .output import Phases, print_json, print_table, remark, say
from .provers import Prover, prover_of_system

if TYPE_CHECKING:
    from circuitize.backends.r1cs.emit import Emission

CEREMONY = (
    "a ceremony's keys: they fit this program and its powers of tau; that the secrets behind both were forgotten, "
    "only the ceremony can show (snarkjs powersoftau verify, snarkjs zkey verify)"
)
INSECURE = "these are development keys: INSECURE, whoever made them can prove anything; rely only on a ceremony's keys"


def run(options: Namespace) -> int:
    """Emit the circuit, make or take over keys bound to the program's digest, and write them beside the program."""
    from circuitize.provers.keys import VERIFYING_FILE

    require_folder(options.output, VERIFYING_FILE, KEY_FILES)
    if options.prover == "halo2":
        from .halo2 import setup

        return setup(options)
    phases = Phases()
    if (options.zkey is None) != (options.ptau is None):
        given, missing = ("--zkey", "--ptau") if options.ptau is None else ("--ptau", "--zkey")
        raise CircuitizeError(
            f"{given}: expected {missing} with it, found none; a .zkey does not hold the whole circuit, so it is "
            "checked against the prepared powers of tau that the ceremony began with"
        )
    prover = Prover(options.prover)
    ceremony = None if options.zkey is None else (options.zkey, options.ptau)
    if ceremony is not None and prover.two_phases:
        raise CircuitizeError(
            "--zkey: expected the prover groth16 with it, found mirage; snarkjs holds no ceremonies for keys with a "
            "commitment: make development keys, without --zkey"
        )
    require_readable("--zkey", options.zkey)
    require_readable("--ptau", options.ptau)
    loaded = load_program(options.program)
    require_circuit_memory(loaded.integer, prover.name)
    report = make_keys(loaded, options.output, phases, emit(loaded, phases, prover), ceremony)
    remark(INSECURE if ceremony is None else CEREMONY)
    if options.json:
        print_json(report)
        return 0
    say(f"keys for {options.program} in {options.output}")
    print_table(
        [
            ("setup", "development (INSECURE)" if ceremony is None else "ceremony"),
            ("digest", loaded.digest),
            ("constraints", report["constraints"]),
            ("proving key", amount_of_bytes(report["proving_key_bytes"])),
            ("verifying key", amount_of_bytes(report["verifying_key_bytes"])),
            ("time", f"{phases.seconds['setup']:.1f} s"),
        ]
    )
    return 0


def make_keys(
    loaded: Exact, output: Path, phases: Phases, emission: Emission, ceremony: tuple[Path, Path] | None = None
) -> dict[str, Any]:
    """Write a folder of keys for the prover that the circuit was emitted for, whole or not at all; returns what --json
    prints. `ceremony` is its .zkey and .ptau.
    """
    from circuitize.provers.groth16.keys import write_keys
    from circuitize.provers.groth16.zkey import import_zkey
    from circuitize.provers.keys import PROVING_FILE, VERIFYING_FILE

    system = emission.system
    prover = prover_of_system(system)
    with whole_folder(output, VERIFYING_FILE, KEY_FILES) as folder:
        if ceremony is None:
            with phases.phase("setup", "making development keys"):
                prover.setup(system, loaded.digest, folder)
        else:
            with phases.phase("setup", "checking the ceremony's keys"):
                write_keys(import_zkey(system, loaded.digest, *ceremony), folder)
        save_without_examples(loaded.integer, folder / PROGRAM_FILE)
        sizes = {name: (folder / name).stat().st_size for name in (PROVING_FILE, VERIFYING_FILE)}
    return {
        "prover": prover.name,
        "digest": loaded.digest,
        "setup": "development" if ceremony is None else "ceremony",
        "constraints": system.constraints,
        "proving_key_bytes": sizes[PROVING_FILE],
        "verifying_key_bytes": sizes[VERIFYING_FILE],
        "setup_seconds": round(phases.seconds["setup"], 4),
        "phases": phases.as_json(),
    }
