"""A program as halo2 proves it: a Plonkish system, its lookups as sums, and runs of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from circuitize.backends.plonkish.emit import Emission, Filling, emit
from circuitize.circuits.phases import Phases, Progress
from circuitize.circuits.program import Program, named_inputs, named_outputs
from circuitize.provers.binding import require_key
from circuitize.provers.contract import Proved, ProvingKey, Secrets, Trace
from circuitize.provers.openings import POSEIDON, drawn_or_joined, named_salts, opened, port_lists
from circuitize.provers.statement import Key, stated

from . import keys, prover
from .proof import PROOF_FILE


class PlonkishCircuit:
    """The Plonkish system of an integer program, of the layout that is cheapest to prove."""

    scheme = POSEIDON

    def __init__(self, program: Program, digest: str, phases: Phases) -> None:
        self.program, self.digest = program, digest
        with phases.phase("circuit", "emitting gates and lookups"):
            self.emission: Emission = emit(program)
            assert not self.emission.summed.system.lookups, "what is proved has lookups as sums"

    @property
    def executed(self) -> Program:
        return self.program

    def sizes(self) -> dict[str, int]:
        """`constraints` are the gates, each of which holds on every row; there is room for 2^k rows."""
        system = self.emission.summed.system
        shape = {"rows": system.rows, "columns": system.columns, "k": system.k, "degree": system.degree}
        return {"constraints": len(system.gates), **shape}

    def draw_secrets(self, trace: Trace, earlier: Path | None, only: Sequence[str], say: Progress) -> dict[Key, int]:
        return drawn_or_joined(self.program, named_inputs(self.program, trace), earlier, only, say)

    def setup(self, folder: Path, phases: Phases, ceremony: Mapping[str, Path]) -> keys.ProvingKey:
        with phases.phase("setup", "checking the ceremony's powers" if ceremony else "making development keys"):
            return keys.setup(self.emission.summed.system, self.digest, folder, ptau=ceremony.get("ptau"))

    def prove(self, trace: Trace, secrets: Secrets, phases: Phases, key: ProvingKey | None = None) -> Proved:
        """A zero-knowledge proof of a run; the second phase of the witness counts as proving."""
        own = require_key(key, keys.ProvingKey, "halo2")
        program, summed = self.program, self.emission.summed
        with phases.phase("witness", "computing the witness"):
            cells = summed.fill(Filling(self.emission.plan, trace, named_salts(secrets)))
            publics = prover.public_values(cells)
        with phases.phase("prove", "proving"):
            proof = prover.prove(summed.system, cells, own, self.digest)
        inputs, outputs = named_inputs(program, trace), named_outputs(program, trace)
        prime = self.emission.system.field.prime
        statement = stated(program, "halo2", self.digest, publics, inputs, outputs, prime)
        return Proved(proof, statement, outputs, opened(secrets, statement.roots, port_lists(program)))

    def files(self, proved: Proved) -> dict[str, bytes]:
        return {PROOF_FILE: proved.proof.encode()}
