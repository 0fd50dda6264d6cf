"""What provers with keys share: the verifier's key decides, and openings are a salt for each committed port."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path

from circuitize.backends.r1cs.field import BN254
from circuitize.circuits.phases import Phases
from circuitize.circuits.program import Port, Program

from .contract import Circuit, ProvingKey, VerifyingKey
from .statement import Key, Statement, Unproved, bound_ports, public_vector


class KeyedProver(ABC):
    """A prover over BN254 with a setup, whose proofs are zero-knowledge."""

    name: str
    key_magic: bytes
    hides = True

    @abstractmethod
    def circuit(self, program: Program, digest: str, phases: Phases) -> Circuit: ...

    @abstractmethod
    def proving_key(self, path: Path) -> ProvingKey: ...

    @abstractmethod
    def verifying_key(self, path: Path) -> VerifyingKey: ...

    @abstractmethod
    def judge(self, folder: Path, key: VerifyingKey, publics: list[int], digest: str) -> str | None:
        """Why the proof in a folder is none for a key and these publics; None where it is one."""

    def bound(self, program: Program) -> tuple[tuple[Key, Port], ...]:
        return tuple(bound_ports(program))

    def security_bits(self, program: Program) -> float | None:
        return None

    def refusal(
        self, program: Program, digest: str, statement: Statement, folder: Path, key: VerifyingKey | None
    ) -> str | None:
        """Soundness: only program, digest and key decide; what the statement claims is compared with them."""
        if key is None:
            return f"expected the verifier's own key of {self.name}, found none"
        if digest != key.digest:
            return f"the key is for program {key.digest}, expected {digest}"
        if statement.digest != digest:
            return f"the proof is for program {statement.digest}, expected {digest}"
        try:
            publics = public_vector(program, statement, BN254.prime)
        except Unproved as error:
            return str(error)
        return self.judge(folder, key, publics, digest)
