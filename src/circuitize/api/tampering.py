"""Attacks that a dishonest prover might try, and the checks that stop these attacks."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from circuitize.backends.r1cs.checker import describe, failing_rows
from circuitize.backends.r1cs.commitments import commit
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import Constant
from circuitize.circuits.phases import Phases
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed, fixed
from circuitize.provers.groth16.circuit import RankOneCircuit
from circuitize.provers.statement import INPUT, Key, read_statement
from circuitize.sims.integer import trace

from .circuits import ProvableCircuit
from .exact import exact, integers_of
from .proofs import Proof
from .targets.provers import ProverTarget
from .verifier import Verifier


@dataclass(frozen=True)
class Attempt:
    """An attack, and the reason why the verifier refused it (None means that the attack was accepted, which must not
    happen).
    """

    tried: str
    refusal: str | None


def flipped_bit(proof: Path, verifier: Verifier, scratch: Path) -> Attempt:
    """Attack: change one bit of a proof, the sign of its last curve point, which stays on the curve."""

    def change(copy: Path) -> None:
        content = bytearray((copy / verifier.prover.proof_file).read_bytes())
        content[-1] ^= 0x80
        (copy / verifier.prover.proof_file).write_bytes(content)

    return Attempt("one bit of the proof changed", _refusal_of_copy(proof, verifier, scratch / "bit", change))


def weight_in_witness(circuit: ProvableCircuit, name: str) -> Attempt:
    """Attack: compute with another value of one weight of the first example but keep the weight's commitment, so that a
    row of the system fails.
    """
    program, rows = circuit.exact.integer, circuit.circuit
    assert isinstance(rows, RankOneCircuit)
    system, arrow = rows.emission.system, program.arrow
    values = trace(program, integers_of(program, None))
    witness = rows.witness(values, rows.draw_secrets(values, None, (), str))
    first = next(block for block in system.wire_blocks if block.role == f"{INPUT} {name}").first
    (weight,) = system.field.to_integers(witness[first : first + 1])
    witness[first] = system.field.from_integers([weight + 1])
    failing = failing_rows(system, witness)
    broken = None
    if len(failing):
        place = describe(
            system, int(failing[0]), lambda edge: str(arrow.edge(edge).provenance) if edge >= 0 else "program"
        )
        broken = f"no proof: {len(failing)} rows break, first {place}"
    return Attempt("one weight changed in the run", broken)


def weight_in_commitment(proof: Proof, key: Key, folder: Path, verifier: Verifier, scratch: Path) -> Attempt:
    """Attack: name in the statement a commitment to other weights than those of the proved run."""
    port = next(port for port in proof.exact.integer.outputs if port.name == key[1])
    weights = np.array(proof.proved.outputs[port.name])
    weights.flat[0] += 1 if weights.flat[0] < port.format.high else -1
    root = commit(weights, port.format, proof.openings[key].salt)

    def change(copy: Path) -> None:
        statement = read_statement(copy)
        replace(statement, roots={**statement.roots, key: root}).write(copy)

    reason = _refusal_of_copy(folder, verifier, scratch / "weight", change)
    return Attempt("another new weight claimed", reason)


def easier_program(program: IntegerProgram, verifier: Verifier, scratch: Path) -> tuple[Attempt, Attempt]:
    """Attack: make a genuine proof of a program that has the same interface but does not train, and present it first
    unchanged, then relabelled as the real program's.
    """
    phases = Phases()
    circuit = ProverTarget(verifier.prover.name).build(exact(_identity_step(program), phases), phases)
    proof = circuit.prove(keys=circuit.setup(scratch / "easier-keys", {}, phases))
    folder = proof.save(scratch / "easier")
    honest = Attempt("proof of a program that does not train", verifier.check(folder).reason)
    digest = verifier.exact.digest
    replace(proof.statement, digest=digest).write(folder)
    file = folder / verifier.prover.proof_file
    file.write_bytes(file.read_bytes().replace(bytes.fromhex(circuit.digest), bytes.fromhex(digest)))
    return honest, Attempt("the same, labelled as this program", verifier.check(folder).reason)


def _identity_step(program: IntegerProgram) -> IntegerProgram:
    """Return a program that returns each input as the output of the same name, and 0 for every other output."""
    builder = Builder()
    wires = {port.name: builder.input(type) for port, type in zip(program.inputs, program.arrow.source, strict=True)}
    results = [wires[port.name] if port.name in wires else _zero(builder, port.format) for port in program.outputs]
    arrow = builder.build(results)
    ports = tuple(port.of(fixed(type)) for port, type in zip(program.outputs, arrow.target, strict=True))
    return IntegerProgram(arrow, program.inputs, ports, program.examples)


def _zero(builder: Builder, format: Fixed) -> int:
    return builder.add(Constant.splat(0, format.shape, format.fraction_bits))


def _refusal_of_copy(proof: Path, verifier: Verifier, copy: Path, change: Callable[[Path], None]) -> str | None:
    shutil.copytree(proof, copy)
    change(copy)
    return verifier.check(copy).reason
