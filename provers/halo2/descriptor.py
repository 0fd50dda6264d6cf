"""halo2 as the contract of provers has it."""

from __future__ import annotations

from pathlib import Path

from circuitize.circuits.phases import Phases
from circuitize.circuits.program import Program
from circuitize.provers.binding import require_key
from circuitize.provers.contract import VerifyingKey
from circuitize.provers.keyed import KeyedProver

from . import keys, verifier
from .circuit import PlonkishCircuit
from .proof import PROOF_FILE, Proof


class Halo2(KeyedProver):
    """Plonkish systems, with a setup that serves every program."""

    name = "halo2"
    key_magic = b"circuitize-hl2vk"

    def circuit(self, program: Program, digest: str, phases: Phases) -> PlonkishCircuit:
        return PlonkishCircuit(program, digest, phases)

    def proving_key(self, path: Path) -> keys.ProvingKey:
        return keys.ProvingKey.read(path)

    def verifying_key(self, path: Path) -> keys.VerifyingKey:
        return keys.VerifyingKey.read(path)

    def judge(self, folder: Path, key: VerifyingKey, publics: list[int], digest: str) -> str | None:
        own = require_key(key, keys.VerifyingKey, self.name)
        return verifier.refusal(Proof.read(folder / PROOF_FILE), own, publics, digest)


PROVER = Halo2()
