"""Groth16 as the contract of provers has it."""

from __future__ import annotations

from pathlib import Path

from circuitize.backends.r1cs.challenge import Challenge
from circuitize.circuits.phases import Phases
from circuitize.circuits.program import Program
from circuitize.provers.binding import require_key
from circuitize.provers.contract import VerifyingKey
from circuitize.provers.keyed import KeyedProver

from . import keys, verifier
from .circuit import RankOneCircuit
from .proof import PROOF_FILE, Proof


class Groth16(KeyedProver):
    """Proofs of 128 bytes, with a setup for each circuit."""

    name = "groth16"
    key_magic = b"circuitize-g16vk"

    def circuit(self, program: Program, digest: str, phases: Phases) -> RankOneCircuit:
        return RankOneCircuit(self.name, program, digest, Challenge.HASHED, phases)

    def proving_key(self, path: Path) -> keys.ProvingKey:
        return keys.ProvingKey.read(path)

    def verifying_key(self, path: Path) -> keys.VerifyingKey:
        return keys.VerifyingKey.read(path)

    def judge(self, folder: Path, key: VerifyingKey, publics: list[int], digest: str) -> str | None:
        own = require_key(key, keys.VerifyingKey, self.name)
        return verifier.refusal(Proof.read(folder / PROOF_FILE), own, publics, digest)


PROVER = Groth16()
