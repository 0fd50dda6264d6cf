"""A program as the prover halo2 proves it: a Plonkish system, whose lookups are sums of fractions, and proofs of
runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from circuitize.backends.plonkish.emit import Emission, Filling, emit
from circuitize.circuits.phases import Phases
from circuitize.circuits.program import IntegerProgram
from circuitize.provers.binding import require_key
from circuitize.provers.contract import Proved, ProvingKey, Secrets, Trace
from circuitize.provers.keyed import KeyedCircuit
from circuitize.provers.openings import named_salts

from . import keys, prover


class PlonkishCircuit(KeyedCircuit):
    """The Plonkish system of an integer program, in the layout that is cheapest to prove."""

    prover = "halo2"

    def __init__(self, program: IntegerProgram, digest: str, phases: Phases) -> None:
        super().__init__(program, digest)
        with phases.phase("circuit", "emitting gates and lookups"):
            self.emission: Emission = emit(program)
            assert not self.emission.summed.system.lookups, "what is proved has lookups as sums"

    def sizes(self) -> dict[str, int]:
        """Return the sizes of the Plonkish system: `constraints` is the number of gates, each of which holds on every
        row, and the system has room for 2^k rows.
        """
        system = self.emission.summed.system
        shape = {"rows": system.rows, "columns": system.columns, "k": system.k, "degree": system.degree}
        return {"constraints": len(system.gates), **shape}

    def setup(self, folder: Path, phases: Phases, ceremony: Mapping[str, Path]) -> keys.ProvingKey:
        """Make keys and write them to a folder: with the powers of tau of a ceremony if they are given, and otherwise
        with insecure ones.
        """
        with phases.phase("setup", "checking the ceremony's powers" if ceremony else "making development keys"):
            return keys.setup(self.emission.summed.system, self.digest, folder, ptau=ceremony.get("ptau"))

    def prove(self, trace: Trace, secrets: Secrets, phases: Phases, key: ProvingKey | None = None) -> Proved:
        """Return a zero-knowledge proof of a run; the time of the witness's second phase is counted as proving."""
        own, summed = require_key(key, keys.ProvingKey, self.prover), self.emission.summed
        with phases.phase("witness", "computing the witness"):
            cells = summed.fill(Filling(self.emission.plan, trace, named_salts(secrets)))
            publics = prover.public_values(cells)
        with phases.phase("prove", "proving"):
            proof = prover.prove(summed.system, cells, own, self.digest)
        return self.proved(proof, publics, trace, secrets)


CIRCUIT = PlonkishCircuit
