"""`setup` and `prove` with halo2: a Plonkish circuit, and a witness of two phases."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from circuitize.api.exact import Exact
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.folder import whole_folder
from circuitize.circuits.memory import amount_of_bytes, require_circuit_memory
from circuitize.provers.keys import KEY_FILES
from circuitize.provers.statement import Statement, stated

from .circuit import named_outputs, named_salts, trace
from .keys import require_readable
from .loading import PROGRAM_FILE, load_program, save_without_examples
from .output import Phases, print_json, print_table, remark, say
from .provers import HALO2
from .setup import INSECURE

if TYPE_CHECKING:
    from circuitize.backends.plonkish.emit import Emission
    from circuitize.provers.halo2.keys import ProvingKey
    from circuitize.provers.halo2.proof import Proof

Integers = NDArray[np.int64]

CEREMONY = (
    "a ceremony's keys: its powers of tau are powers of one secret; that everybody who knew it forgot it, only the "
    "ceremony can show (snarkjs powersoftau verify)"
)


def emit_plonkish(loaded: Exact, phases: Phases) -> Emission:
    """The program's Plonkish system. Raises CircuitizeError for a program that binds nothing."""
    from circuitize.backends.plonkish.emit import emit

    with phases.phase("circuit", "emitting gates and lookups"):
        emission = emit(loaded.integer)
        assert not emission.summed.system.lookups, "what is proved has lookups as sums"
        return emission


def setup(options: Namespace) -> int:
    """Make keys from a ceremony's powers of tau, or INSECURE ones, and write them beside the program."""
    if options.zkey is not None:
        raise CircuitizeError(
            "--zkey: expected the prover groth16 with it, found halo2, whose keys need no ceremony of their own: give "
            "--ptau alone, the prepared powers of tau of any ceremony"
        )
    require_readable("--ptau", options.ptau)
    phases = Phases()
    loaded = load_program(options.program)
    require_circuit_memory(loaded.integer, HALO2.name)
    report = make_keys(loaded, options.output, phases, emit_plonkish(loaded, phases), options.ptau)
    remark(INSECURE if options.ptau is None else CEREMONY)
    if options.json:
        print_json(report)
        return 0
    say(f"keys for {options.program} in {options.output}")
    rows = [
        ("setup", "development (INSECURE)" if options.ptau is None else "ceremony"),
        ("digest", loaded.digest),
        ("rows", f"{report['rows']} of 2^{report['k']}"),
        ("columns", report["columns"]),
        ("gates", report["constraints"]),
        ("proving key", amount_of_bytes(report["proving_key_bytes"])),
        ("verifying key", amount_of_bytes(report["verifying_key_bytes"])),
        ("time", f"{phases.seconds['setup']:.1f} s"),
    ]
    print_table(rows)
    return 0


def make_keys(
    loaded: Exact, output: Path, phases: Phases, emission: Emission, ptau: Path | None = None
) -> dict[str, Any]:
    """Write a folder of keys, whole or not at all; returns what --json prints.

    `constraints` are the gates, each of which holds on every row.
    """
    from circuitize.provers.halo2.keys import setup
    from circuitize.provers.keys import PROVING_FILE, VERIFYING_FILE

    system = emission.summed.system
    with whole_folder(output, VERIFYING_FILE, KEY_FILES) as folder:
        what = "making development keys" if ptau is None else "checking the ceremony's powers"
        with phases.phase("setup", what):
            key = setup(system, loaded.digest, folder, ptau=ptau)
        save_without_examples(loaded.integer, folder / PROGRAM_FILE)
        sizes = {name: (folder / name).stat().st_size for name in (PROVING_FILE, VERIFYING_FILE)}
    return {
        "prover": HALO2.name,
        "digest": loaded.digest,
        "setup": key.verifying_key.setup,
        "constraints": len(system.gates),
        "rows": system.rows,
        "k": key.verifying_key.native.k,
        "degree": key.verifying_key.native.degree,
        "columns": system.columns,
        "proving_key_bytes": sizes[PROVING_FILE],
        "verifying_key_bytes": sizes[VERIFYING_FILE],
        "setup_seconds": round(phases.seconds["setup"], 4),
        "setup_cpu_seconds": round(phases.cpu_seconds["setup"], 4),
        "phases": phases.as_json(),
    }


class PlonkishRun:
    """One run of a program: its trace, the first phase of its witness, and the statement that a proof of it makes."""

    def __init__(
        self,
        loaded: Exact,
        inputs: Mapping[str, Integers],
        salts: Mapping[tuple[str, str], int],
        emission: Emission,
        phases: Phases,
    ) -> None:
        from circuitize.backends.plonkish.emit import Filling
        from circuitize.provers.halo2.prover import public_values

        self.loaded = loaded
        self.emission = emission
        with phases.phase("trace", "running the program"):
            values = trace(loaded.integer, inputs)
        self.outputs = named_outputs(loaded.integer, values)
        with phases.phase("witness", "computing the witness"):
            self._witness = emission.summed.fill(Filling(emission.plan, values, named_salts(salts)))
            found = public_values(self._witness)
        self.statement: Statement = stated(
            loaded.integer, HALO2.name, loaded.digest, found, inputs, self.outputs, emission.system.field.prime
        )

    def prove(self, key: ProvingKey, phases: Phases) -> Proof:
        """Prove; the second phase of the witness counts as proving."""
        from circuitize.provers.halo2.prover import prove

        with phases.phase("prove", "proving"):
            return prove(self.emission.summed.system, self._witness, key, self.loaded.digest)

    def write_proof(self, folder: Path, proof: Proof) -> None:
        """The proof and its statement; nothing private."""
        self.statement.write(folder)
        proof.write(folder / HALO2.proof_file)
