"""What a dishonest prover might try, and what stops it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from circuitize.api.values import program_inputs
from circuitize.circuits.builder import Builder
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.integers import Constant
from circuitize.circuits.program import Program
from circuitize.circuits.types import Fixed
from circuitize.provers.openings import draw_salts
from circuitize.provers.statement import INPUT, Key, read_statement

from .circuit import emit
from .loading import quantized
from .output import Phases
from .prove import Run, read_proving_key
from .setup import make_keys
from .verify import Verifier


@dataclass(frozen=True)
class Attempt:
    """What was tried, and why it was refused (None: it was accepted, which must not happen)."""

    tried: str
    refusal: str | None


def refusal(proof: Path, verifier: Verifier) -> str | None:
    """Why a verifier refuses a proof's folder."""
    return verifier.refusal(read_statement(proof, verifier.bound), proof)


def flipped_bit(proof: Path, verifier: Verifier, scratch: Path) -> Attempt:
    """One bit of the proof is changed: the sign of its last point, which stays on the curve."""

    def change(copy: Path) -> None:
        content = bytearray((copy / verifier.prover.proof_file).read_bytes())
        content[-1] ^= 0x80
        (copy / verifier.prover.proof_file).write_bytes(content)

    return Attempt("one bit of the proof changed", _refusal_of_copy(proof, verifier, scratch / "bit", change))


def weight_in_witness(run: Run, name: str) -> Attempt:
    """The prover computes with one weight changed, but keeps its commitment: the row that breaks is named."""
    from circuitize.backends.r1cs.checker import describe, failing_rows

    system, arrow = run.emission.system, run.loaded.integer.arrow
    block = next(block for block in system.wire_blocks if block.role == f"{INPUT} {name}")
    witness = run.witness.copy()
    witness[block.first] = system.field.from_integers(
        [system.field.to_integers(witness[block.first : block.first + 1])[0] + 1]
    )
    rows = failing_rows(system, witness)
    broken = None
    if len(rows):
        place = describe(
            system, int(rows[0]), lambda edge: str(arrow.edge(edge).provenance) if edge >= 0 else "program"
        )
        broken = f"no proof: {len(rows)} rows break, first {place}"
    return Attempt("one weight changed in the run", broken)


def weight_in_commitment(run: Run, key: Key, salt: int, proof: Path, verifier: Verifier, scratch: Path) -> Attempt:
    """The statement names the commitment to other weights than the run's."""
    from circuitize.backends.r1cs.commitments import commit

    port = next(port for port in run.loaded.integer.outputs if port.name == key[1])
    assert port.format is not None
    weights = run.outputs[port.name].copy()
    weights.flat[0] += 1 if weights.flat[0] < port.format.high else -1
    root = commit(weights, port.format, salt)

    def change(copy: Path) -> None:
        statement = read_statement(copy)
        replace(statement, roots={**statement.roots, key: root}).write(copy)

    reason = _refusal_of_copy(proof, verifier, scratch / "weight", change)
    return Attempt("another new weight claimed", reason)


def easier_program(program: Program, verifier: Verifier, scratch: Path) -> tuple[Attempt, Attempt]:
    """A real proof of a program with the same interface that does not train; as it is, and relabelled."""
    phases = Phases()
    loaded = quantized(_identity_step(program))
    emission = emit(loaded, phases)
    make_keys(loaded, scratch / "easier-keys", phases, emission)
    inputs = program_inputs(loaded.integer, None)
    run = Run(loaded, inputs, draw_salts(loaded.integer), emission, phases)
    proof = run.prove(read_proving_key(scratch / "easier-keys"), phases)
    folder = scratch / "easier"
    folder.mkdir()
    run.write_proof(folder, proof)
    honest = Attempt("proof of a program that does not train", refusal(folder, verifier))
    replace(run.statement, digest=verifier.digest).write(folder)
    (folder / verifier.prover.proof_file).write_bytes(replace(proof, digest=verifier.digest).encode())
    return honest, Attempt("the same, labelled as this program", refusal(folder, verifier))


def _identity_step(program: Program) -> Program:
    """What comes in under a name goes out under it, and every other output is 0."""
    builder = Builder()
    wires = {port.name: builder.input(type) for port, type in zip(program.inputs, program.arrow.source, strict=True)}
    results = [wires[port.name] if port.name in wires else _zero(builder, port.format) for port in program.outputs]
    arrow: Arrow = builder.build(results)
    ports = [
        replace(port, format=type)
        for port, type in zip(program.outputs, arrow.target, strict=True)
        if isinstance(type, Fixed)
    ]
    return Program(arrow, program.inputs, tuple(ports), program.examples)


def _zero(builder: Builder, format: Fixed | None) -> int:
    assert format is not None
    return builder.add(Constant.splat(0, format.shape, format.fraction_bits))


def _refusal_of_copy(proof: Path, verifier: Verifier, copy: Path, change: Callable[[Path], None]) -> str | None:
    shutil.copytree(proof, copy)
    change(copy)
    return refusal(copy, verifier)
