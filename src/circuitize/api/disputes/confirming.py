"""The proof of the disputed step, from which the referee sees which sides are right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from circuitize.circuits.encode import program_digest
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.phases import Phases, Progress
from circuitize.circuits.port import Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.reading import Json
from circuitize.provers.names import kinds
from circuitize.provers.statement import INPUT, OUTPUT, bound_ports, shown_names

from ..circuits import ProvableCircuit
from ..exact import Exact, Integers
from ..provers import prover as named
from ..targets.provers import ProverTarget
from ..training.chunks import Layout
from ..verifier import Verifier
from .executing import Executed


@dataclass(frozen=True)
class Confirmed:
    """The content of a verified proof of one step: the hashes of the values before the step, of its inputs, and of the
    values after it, made in the same way as those in journals.
    """

    prover: str
    setup: str
    digest: str
    before: bytes
    entered: bytes
    left: bytes
    size: int
    path: Path | None

    def as_json(self) -> Json:
        """Return the fields of a dispute's proof: prover, setup, program, bytes and path, without the hashes."""
        told = {"prover": self.prover, "setup": self.setup, "program": self.digest, "bytes": self.size}
        return told | {"path": None if self.path is None else str(self.path)}


def public(program: IntegerProgram) -> IntegerProgram:
    """Return the program of a step with all ports public, so that a proof discloses all their values."""
    inputs, outputs = (
        tuple(replace(port, visibility=Visibility.PUBLIC) for port in side)
        for side in (program.inputs, program.outputs)
    )
    return replace(program, inputs=inputs, outputs=outputs, examples=())


def confirmed(layout: Layout, step: Executed, prover: str, folder: Path | None, progress: Progress) -> Confirmed:
    """Prove a step with all ports public, verify the proof, and return what the proof states.

    For a prover that needs keys, new keys are made, which are INSECURE for everyone except the referee who makes them.
    Raise CircuitizeError if the new proof does not verify, which would mean a fault of the machine.
    """
    program = public(layout.program)
    own, proving, phases = Exact(program, program, program_digest(program)), named(prover), Phases(progress)
    proving.require_memory(program)
    circuit: ProvableCircuit = ProverTarget(prover).build(own, phases)
    keys = None if proving.ceremony is None else circuit.insecure_keys(progress=progress)
    key, plain = (None if keys is None else keys.proving), False in kinds(prover)
    proof = circuit.prove_integers(step.inputs, key, None, (), phases, progress, plain)
    if folder is not None:
        proof.save(folder)
    verdict = Verifier(own, proving, None if keys is None else keys.verifying).check(
        proof if folder is None else folder
    )
    if not verdict:
        raise CircuitizeError(
            f"expected a proof of step {step.step:,} that holds, found one that does not ({verdict.reason}); run the "
            "dispute on another machine"
        )
    shown = shown_names(program)
    stated = {key: verdict.stated[shown[key]].integers for key, _ in bound_ports(program)}
    entering, leaving = (_of(stated, side) for side in (INPUT, OUTPUT))
    return Confirmed(
        prover,
        verdict.setup,
        own.digest,
        layout.left(entering),
        layout.entered(entering),
        layout.left(leaving),
        proof.size,
        folder,
    )


def _of(stated: Mapping[tuple[str, str], Integers], side: str) -> dict[str, Integers]:
    return {name: values for (where, name), values in stated.items() if where == side}
