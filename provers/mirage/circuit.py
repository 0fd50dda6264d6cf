"""A program as Mirage proves it: the witness waits for a challenge that is drawn after a commitment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from circuitize.backends.r1cs.challenge import Challenge
from circuitize.circuits.phases import Phases
from circuitize.provers.binding import require_key
from circuitize.provers.contract import Proved, ProvingKey, Secrets, Trace
from circuitize.provers.groth16.circuit import Draw, Limbs, RankOneCircuit
from circuitize.provers.keyed import KeyedCircuit

from . import keys, prover


class CommittedCircuit(RankOneCircuit):
    """The constraint system of an integer program, a part of whose witness is committed to before a challenge."""

    prover = "mirage"
    challenge = Challenge.COMMITTED

    def setup(self, folder: Path, phases: Phases, ceremony: Mapping[str, Path]) -> keys.ProvingKey:
        """Make development keys with a commitment in a folder, whose trapdoor this process knew."""
        with phases.phase("setup", "making development keys"):
            return keys.setup(self.emission.system, self.digest, folder)

    def prove(self, trace: Trace, secrets: Secrets, phases: Phases, key: ProvingKey | None = None) -> Proved:
        """A zero-knowledge proof of a run; commitment, witness and proof each count their own seconds."""
        own = require_key(key, keys.ProvingKey, self.prover)
        made: list[Limbs] = []

        def filled(draw: Draw) -> Limbs:
            def commit(first: Limbs) -> int:
                with phases.phase("commit", "committing"):
                    return draw(first)

            with phases.phase("witness", "computing the witness"):
                made.append(self.witness(trace, secrets, commit))
            return made[0]

        with phases.phase("prove", "proving"):
            proof = prover.prove(self.emission.system, filled, own, self.digest)
        phases.take_out("commit", "witness")
        phases.take_out("witness", "prove")
        return self.proved(proof, self.publics(made[0]), trace, secrets)

    def files(self, proved: Proved) -> dict[str, bytes]:
        """The files of a Mirage proof: the proof alone, since snarkjs does not read it."""
        return KeyedCircuit.files(self, proved)


CIRCUIT = CommittedCircuit
