"""The provers as the command line uses them: folders of modules with the same names, imported when they are needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.r1cs.challenge import Challenge

from .registry import PROVERS
from .verdict import remedy

if TYPE_CHECKING:
    from circuitize.backends.r1cs.system import ConstraintSystem
    from circuitize.provers.groth16.keys import ProvingKey, VerifyingKey
    from circuitize.provers.groth16.proof import Proof

Limbs = NDArray[np.uint64]
Draw = Callable[[Limbs], int]

KEYS = {b"circuitize-g16vk": "groth16", b"circuitize-mirvk": "mirage", b"circuitize-hl2vk": "halo2"}
"""What the verifying key of each prover begins with."""

KEYS_REMEDY = "give --keys the folder that circuitize setup wrote, or make keys again"


@dataclass(frozen=True)
class Prover:
    """One of the provers in the registry, by its name there; keys and proofs of all have what Groth16's have here."""

    name: str

    @property
    def two_phases(self) -> bool:
        """Whether it commits to a part of the witness before a challenge is drawn."""
        return self.name == "mirage"

    @property
    def plonkish(self) -> bool:
        """Whether it proves Plonkish systems (`halo2.py`), not rank-one ones."""
        return self.name == "halo2"

    @property
    def challenge(self) -> Challenge:
        """How a circuit for it gets its challenge."""
        return Challenge.COMMITTED if self.two_phases else Challenge.HASHED

    @property
    def proof_file(self) -> str:
        return f"proof.{self.name}"

    def setup(self, system: ConstraintSystem, digest: str, folder: Path) -> None:
        self._module("keys").setup(system, digest, folder)

    def proving_key(self, path: Path) -> ProvingKey:
        with remedy(KEYS_REMEDY):
            key: ProvingKey = self._module("keys").ProvingKey.read(path)
        return key

    def verifying_key(self, path: Path) -> VerifyingKey:
        with remedy(KEYS_REMEDY):
            key: VerifyingKey = self._module("keys").VerifyingKey.read(path)
        return key

    def proof(self, path: Path, key: VerifyingKey) -> Proof:
        """A proof from its file, which is not read where it is longer than one for this key."""
        proof: Proof = self._module("proof").Proof.read(path, key)
        return proof

    def prove(
        self, system: ConstraintSystem, witness: Limbs | Callable[[Draw], Limbs], key: ProvingKey, digest: str
    ) -> Proof:
        """`witness` is a function of what draws the challenge where there are two phases, else the values."""
        proof: Proof = self._module("prover").prove(system, witness, key, digest)
        return proof

    def public_values(self, system: ConstraintSystem, witness: Limbs) -> list[int]:
        """What a statement says: the public wires, without a challenge."""
        return list(self._module("prover").public_values(system, witness))

    def refusal(self, proof: Proof, key: VerifyingKey, publics: Sequence[int], digest: str) -> str | None:
        reason: str | None = self._module("verifier").refusal(proof, key, publics, digest)
        return reason

    def contract(self, key: VerifyingKey) -> str:
        text: str = self._module("solidity").verifier_contract(key)
        return text

    def _module(self, name: str) -> Any:
        return import_module(f"{PROVERS[self.name]}.{name}")


GROTH16, MIRAGE, HALO2 = Prover("groth16"), Prover("mirage"), Prover("halo2")


def prover_of_system(system: ConstraintSystem) -> Prover:
    """The prover that a circuit was emitted for."""
    return MIRAGE if system.committed else GROTH16


def prover_of_key(path: Path, name: str | None) -> Prover:
    """The prover called `name`, else the one whose verifying key lies there; reading the key finds all other faults."""
    if name is not None:
        return Prover(name)
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except OSError:
        return GROTH16
    return Prover(KEYS.get(start, GROTH16.name))
