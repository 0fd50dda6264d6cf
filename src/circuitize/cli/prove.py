"""`circuitize prove`: run a program on inputs, and prove to others that it was run."""

from __future__ import annotations

import os
import resource
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from circuitize.api.exact import Exact
from circuitize.api.values import program_inputs, require_writable, write_outputs
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.files import write_whole
from circuitize.circuits.folder import require_file, require_folder, require_new_file, whole_file, whole_folder
from circuitize.circuits.memory import amount_of_bytes, require_circuit_memory
from circuitize.provers.names import KEYLESS
from circuitize.provers.openings import KEPT, POSEIDON, drawn_or_joined, opened, port_lists, write_openings
from circuitize.provers.statement import FILE, PROOF_FILES, Statement, public_vector, stated

from .circuit import emit, named_outputs, trace, witness
from .halo2 import PlonkishRun, emit_plonkish
from .keys import require_keys, require_keys_of, require_readable
from .loading import load_program
from .output import Phases, print_json, print_table, remark, say
from .provers import GROTH16, Draw, Limbs, Prover, prover_of_system

if TYPE_CHECKING:
    from circuitize.backends.r1cs.emit import Emission
    from circuitize.provers.groth16.keys import ProvingKey
    from circuitize.provers.groth16.proof import Proof

Integers = NDArray[np.int64]


def run(options: Namespace) -> int:
    """Write a proof's folder, and what the prover keeps: outputs and the openings of its commitments."""
    if options.prover in KEYLESS:
        from .tensor import prove

        return prove(options)
    if options.not_zero_knowledge:
        raise CircuitizeError(
            f"--not-zero-knowledge: expected the prover tensor with it, found {options.prover}, which hides values"
        )
    if options.keys is None:
        raise CircuitizeError(
            f"expected --keys KEYS, found none; {options.prover} needs a proving key: circuitize setup "
            f"{options.program} --prover {options.prover} -o KEYS"
        )
    openings = openings_path(options)
    phases, prover = Phases(), Prover(options.prover)
    require_keys(options.keys, prover, options.program)
    for path in options.inputs or ():
        require_readable("--inputs", path)
    require_readable("--openings-from", options.openings_from)
    with phases.phase("program", "reading the program"):
        loaded = load_program(options.program)
    require_keys_of(options.keys, prover, loaded.digest, options.program)
    require_circuit_memory(loaded.integer, prover.name)
    require_writable(loaded.integer.outputs, options.outputs, options.raw_outputs)
    inputs = program_inputs(loaded.integer, options.inputs, remark, options.raw_inputs)
    with ExitStack() as stack:
        folder = stack.enter_context(whole_folder(options.output, FILE, PROOF_FILES))
        salts = drawn_or_joined(loaded.integer, inputs, options.openings_from, options.join, remark)
        begin: Callable[[], Any]
        if prover.plonkish:
            begin = partial(PlonkishRun, loaded, inputs, salts, emit_plonkish(loaded, phases), phases)
        else:
            begin = partial(Run, loaded, inputs, salts, emit(loaded, phases, prover), phases)
        with phases.phase("key", "reading the proving key"):
            key = read_proving_key(options.keys, prover)
        made: Any = begin()
        proof: Any = made.prove(key, phases)
        made.write_proof(folder, proof)
        if salts:
            kept = opened(salts, made.statement.roots, port_lists(loaded.integer))
            write_openings(stack.enter_context(whole_file(openings, KEPT)), POSEIDON, loaded.digest, kept)
        if options.outputs is not None:
            path = stack.enter_context(whole_file(options.outputs))
            write_outputs(path, loaded.integer.outputs, made.outputs, options.raw_outputs)
    report = report_of(proof.prover, loaded, proof, phases)
    if key.verifying_key.setup == "development":
        remark("the proof was made with development keys: INSECURE, whoever made the keys can prove anything")
    if options.json:
        print_json(report)
    else:
        _print(options, report, openings if salts else None)
    return 0


def openings_path(options: Namespace) -> Path:
    """Where the openings go. Raises CircuitizeError where the prover would keep something in what is for others, or
    where one of the three results cannot be written: before there is work.
    """
    if options.join and options.openings_from is None:
        raise CircuitizeError("--join: expected --openings-from FILE.json with it, found none; give that file")
    openings: Path = options.openings or Path(f"{os.path.normpath(options.output)}.openings.json")
    for kept in (openings, options.outputs):
        if kept is not None and kept.resolve().is_relative_to(options.output.resolve()):
            raise CircuitizeError(f"{kept}: expected a path outside {options.output}, which is for others to read")
        require_file(kept)
    require_new_file(openings, KEPT)
    if options.outputs is not None and options.outputs.resolve() == openings.resolve():
        raise CircuitizeError(f"--outputs: expected another file than that of the openings, found {openings} for both")
    require_folder(options.output, FILE, PROOF_FILES)
    return openings


def read_proving_key(keys: Path, prover: Prover = GROTH16) -> ProvingKey:
    return prover.proving_key(keys)


class Run:
    """One run of a program: its trace, its witness, and the statement that a proof of it makes.

    Where the circuit's challenge is drawn after a commitment, witness and statement are there once `prove` has run.
    """

    witness: Limbs
    statement: Statement

    def __init__(
        self,
        loaded: Exact,
        inputs: Mapping[str, Integers],
        salts: Mapping[tuple[str, str], int],
        emission: Emission,
        phases: Phases,
    ) -> None:
        self.loaded = loaded
        self.emission = emission
        self.prover = prover_of_system(emission.system)
        with phases.phase("trace", "running the program"):
            values = trace(loaded.integer, inputs)
        self.outputs = named_outputs(loaded.integer, values)
        self._inputs, self._values, self._salts = inputs, values, salts
        if not self.prover.two_phases:
            with phases.phase("witness", "computing the witness"):
                self._make_witness(None)

    def _make_witness(self, draw: Draw | None) -> Limbs:
        self.witness = witness(self.emission, self._values, self._salts, draw)
        self.statement = self._statement(self._inputs)
        return self.witness

    def _statement(self, inputs: Mapping[str, Integers]) -> Statement:
        found = self.prover.public_values(self.emission.system, self.witness)
        program, prime = self.loaded.integer, self.emission.system.field.prime
        return stated(program, self.prover.name, self.loaded.digest, found, inputs, self.outputs, prime)

    def prove(self, key: ProvingKey, phases: Phases) -> Proof:
        """Prove, and compute the witness where that takes the commitment's challenge; each counts its own seconds."""

        def drawing(draw: Draw) -> Limbs:
            def commit(first: Limbs) -> int:
                with phases.phase("commit", "committing"):
                    return draw(first)

            with phases.phase("witness", "computing the witness"):
                return self._make_witness(commit)

        system, digest = self.emission.system, self.loaded.digest
        with phases.phase("prove", "proving"):
            proof = self.prover.prove(system, drawing if self.prover.two_phases else self.witness, key, digest)
        if self.prover.two_phases:
            phases.take_out("commit", "witness")
            phases.take_out("witness", "prove")
        return proof

    def write_proof(self, folder: Path, proof: Proof) -> None:
        """The proof and its statement, and Groth16's once more as snarkjs reads them; nothing private."""
        from circuitize.provers.groth16.snarkjs import proof_text, public_text

        self.statement.write(folder)
        proof.write(folder / self.prover.proof_file)
        if self.prover.two_phases:
            return
        write_whole(folder / "proof.json", [proof_text(proof).encode()])
        vector = public_vector(self.loaded.integer, self.statement, self.emission.system.field.prime)
        write_whole(folder / "public.json", [public_text(vector).encode()])


def peak_bytes() -> int:
    """The most memory that this process has had."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def report_of(prover: str, loaded: Exact, proof: Any, phases: Phases) -> dict[str, Any]:
    """What --json prints: CPU seconds are those of proving, the memory is this process's peak."""
    described: dict[str, dict[str, Any]] = {**phases.as_json()}
    described["prove"]["parts_seconds"] = {name: round(value, 4) for name, value in proof.phases.items()}
    return {
        "prover": prover,
        "digest": loaded.digest,
        "witness_seconds": round(phases.seconds.get("trace", 0.0) + phases.seconds["witness"], 4),
        "prove_seconds": round(phases.seconds["prove"], 4),
        "cpu_seconds": round(phases.cpu_seconds["prove"], 4),
        "peak_bytes": peak_bytes(),
        "proof_bytes": len(proof.encode()),
        "zero_knowledge": prover not in KEYLESS,
        "phases": described,
    }


def _print(options: Namespace, report: dict[str, Any], openings: Path | None) -> None:
    say(f"proved {options.program} in {options.output}")
    rows = [
        ("digest", report["digest"]),
        ("witness", f"{report['witness_seconds']:.2f} s"),
        ("proof", f"{report['prove_seconds']:.2f} s, {report['cpu_seconds']:.2f} CPU-seconds"),
        ("proof size", amount_of_bytes(report["proof_bytes"])),
        ("memory", amount_of_bytes(report["peak_bytes"])),
    ]
    print_table([*rows, *kept_rows(options, openings)])


def kept_rows(options: Namespace, openings: Path | None) -> list[tuple[str, str]]:
    """What the prover keeps, for a table."""
    rows = [] if openings is None else [("openings", f"{openings} (secret: keep it, never send it)")]
    return rows if options.outputs is None else [*rows, ("outputs", str(options.outputs))]
