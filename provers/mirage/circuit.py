"""A program as the prover Mirage proves it: the witness is completed only after a challenge, which is drawn after a
commitment.
"""

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
    """The constraint system of an integer program for Mirage, which commits to a part of the witness before it draws a
    challenge.
    """

    prover = "mirage"
    challenge = Challenge.COMMITTED

    def setup(self, folder: Path, phases: Phases, ceremony: Mapping[str, Path]) -> keys.ProvingKey:
        """Make development keys for proofs with a commitment in a folder; this process knew their secrets, so that they
        are insecure.
        """
        with phases.phase("setup", "making development keys"):
            return keys.setup(self.emission.system, self.digest, folder)

    def prove(self, trace: Trace, secrets: Secrets, phases: Phases, key: ProvingKey | None = None) -> Proved:
        """Return a zero-knowledge proof of a run; the seconds of commitment, witness and proof are counted
        separately.
        """
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
        """Return the files of a Mirage proof: only the proof itself, since snarkjs cannot read it."""
        return KeyedCircuit.files(self, proved)


CIRCUIT = CommittedCircuit
