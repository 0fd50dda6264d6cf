"""A program as the provers Groth16 and Mirage prove it: a rank-one constraint system, and proofs of runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.r1cs.challenge import Challenge
from circuitize.backends.r1cs.emit import Emission, emit
from circuitize.backends.r1cs.witness import random_challenge, witness
from circuitize.circuits.phases import Phases
from circuitize.circuits.program import IntegerProgram
from circuitize.provers.binding import require_key
from circuitize.provers.contract import Proved, ProvingKey, Secrets, Trace
from circuitize.provers.keyed import KeyedCircuit
from circuitize.provers.openings import named_salts
from circuitize.provers.statement import public_vector

from . import keys, prover
from .proof import Proof
from .snarkjs import proof_text, public_text
from .zkey import import_zkey

Limbs = NDArray[np.uint64]
Draw = Callable[[Limbs], int]


class RankOneCircuit(KeyedCircuit):
    """The constraint system of an integer program; if the system needs a challenge, the circuit computes it as a hash,
    or it is drawn after a commitment.
    """

    prover = "groth16"
    challenge = Challenge.HASHED

    def __init__(self, program: IntegerProgram, digest: str, phases: Phases) -> None:
        super().__init__(program, digest)
        with phases.phase("circuit", "emitting constraints"):
            self.emission: Emission = emit(program, challenge=self.challenge)

    @property
    def two_phases(self) -> bool:
        """Return whether the prover commits to a part of the witness before it draws a challenge."""
        return self.emission.system.committed > 0

    def sizes(self) -> dict[str, int]:
        """Return the number of constraints in the system, as the circuit's only size."""
        return {"constraints": self.emission.system.constraints}

    def setup(self, folder: Path, phases: Phases, ceremony: Mapping[str, Path]) -> keys.ProvingKey:
        """Make keys and write them to a folder: development keys, or the keys of a ceremony, which are first checked
        against the circuit.
        """
        system = self.emission.system
        if not ceremony:
            with phases.phase("setup", "making development keys"):
                return keys.setup(system, self.digest, folder)
        with phases.phase("setup", "checking the ceremony's keys"):
            key = import_zkey(system, self.digest, ceremony["zkey"], ceremony["ptau"])
            keys.write_keys(key, folder)
            return key

    def witness(self, trace: Trace, secrets: Secrets, draw: Draw = random_challenge) -> Limbs:
        """Return the values of the wires as `uint64[wires, 4]`; `draw` draws the challenge of a circuit with two
        phases.
        """
        return witness(self.emission.plan, trace, named_salts(secrets), draw)

    def publics(self, witness: Limbs) -> list[int]:
        """Return the public values that a proof of a run states: the values of the public wires in the run's witness,
        except a challenge.
        """
        system = self.emission.system
        return system.field.to_integers(witness[1 : 1 + system.public - self.two_phases])

    def prove(self, trace: Trace, secrets: Secrets, phases: Phases, key: ProvingKey | None = None) -> Proved:
        """Return a zero-knowledge proof of a run of the circuit."""
        own = require_key(key, keys.ProvingKey, self.prover)
        with phases.phase("witness", "computing the witness"):
            made = self.witness(trace, secrets)
        with phases.phase("prove", "proving"):
            proof = prover.prove(self.emission.system, made, own, self.digest)
        return self.proved(proof, self.publics(made), trace, secrets)

    def files(self, proved: Proved) -> dict[str, bytes]:
        """Return the files of a proof: the proof itself, and the proof and its public values again in snarkjs's
        format.
        """
        assert isinstance(proved.proof, Proof)
        publics = public_vector(self.program, proved.statement, self.emission.system.field.prime)
        texts = {"proof.json": proof_text(proved.proof), "public.json": public_text(publics)}
        return super().files(proved) | {name: text.encode() for name, text in texts.items()}


CIRCUIT = RankOneCircuit
