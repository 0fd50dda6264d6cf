"""The contract of provers: what each makes of an integer program, what its proofs are, and what checks them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.phases import Phases, Progress
from circuitize.circuits.program import Port, Program

from .keys import Setup
from .openings import Opening
from .statement import Key, Statement

Integers = NDArray[np.int64]
Trace = Sequence[Integers]
Secrets = Mapping[Key, int]
"""The salt or secret of each commitment. Who has it can test a guess of the values."""


class VerifyingKey(Protocol):
    """What a verifier holds of a prover that has keys."""

    @property
    def prover(self) -> str: ...

    @property
    def digest(self) -> str:
        """The digest of the program that the key is for."""

    @property
    def setup(self) -> Setup: ...

    def write(self, path: Path) -> None: ...


class ProvingKey(Protocol):
    """What a prover holds; it contains its verifying key."""

    @property
    def prover(self) -> str: ...

    @property
    def verifying_key(self) -> VerifyingKey: ...

    def write(self, path: Path) -> None: ...


class Proof(Protocol):
    """A proof as one prover writes it. Nothing in it is to be believed before it is verified."""

    @property
    def digest(self) -> str: ...

    @property
    def zero_knowledge(self) -> bool: ...

    @property
    def phases(self) -> Mapping[str, float]: ...

    def encode(self) -> bytes: ...


@dataclass(frozen=True)
class Proved:
    """A proof and what it states, which are for others; outputs and openings, which the prover keeps."""

    proof: Proof
    statement: Statement
    outputs: Mapping[str, Integers]
    openings: Mapping[Key, Opening]


class Circuit(Protocol):
    """An integer program as a prover proves it."""

    @property
    def program(self) -> Program: ...

    @property
    def digest(self) -> str:
        """The program's."""

    @property
    def executed(self) -> Program:
        """The program whose wires make a witness: the same, but for operations that the prover wants expanded."""

    def sizes(self) -> Mapping[str, int]:
        """How large the circuit is, by name."""

    def setup(self, folder: Path, phases: Phases) -> ProvingKey:
        """Make INSECURE development keys in a folder. Raises CircuitizeError where the prover has no keys."""

    def draw_secrets(self, trace: Trace, earlier: Path | None, only: Sequence[str], say: Progress) -> dict[Key, int]:
        """A secret for each commitment: of an input that joins one in an earlier file that one's, else a random one.

        `only` names the inputs to join, all by default; `say` hears what is joined. Raises CircuitizeError, with the
        first difference, where an input of the same name has other ports, formats or values.
        """

    def prove(self, trace: Trace, secrets: Secrets, phases: Phases, key: ProvingKey | None = None) -> Proved:
        """Prove the run with these values of the wires of `executed`; with a key where the prover has keys.

        Raises KeyMismatch where the key is for another circuit.
        """

    def files(self, proved: Proved) -> Mapping[str, bytes]:
        """What a proof's folder holds beside the statement, by file name: nothing private."""


class Prover(Protocol):
    """One prover, as the command line, the Python API and the generic tests use it."""

    @property
    def name(self) -> str: ...

    @property
    def hides(self) -> bool:
        """Whether its proofs are zero-knowledge."""

    @property
    def key_magic(self) -> bytes | None:
        """What its verifying keys begin with; None where it has none, and the verifier holds the program."""

    def circuit(self, program: Program, digest: str, phases: Phases) -> Circuit:
        """The circuit of an integer program. Raises CircuitizeError for a program that binds nothing."""

    def bound(self, program: Program) -> tuple[tuple[Key, Port], ...]:
        """What a proof of the program says something about: public ports, and commitments."""

    def proving_key(self, path: Path) -> ProvingKey: ...

    def verifying_key(self, path: Path) -> VerifyingKey: ...

    def refusal(
        self, program: Program, digest: str, statement: Statement, folder: Path, key: VerifyingKey | None
    ) -> str | None:
        """Why the proof in a folder does not show the statement; None where it does.

        Program, digest and key are the verifier's own; the statement and the proof are claims, which are checked.
        """

    def security_bits(self, program: Program) -> float | None:
        """Bits of soundness of a proof, all rounds together; None where they are the curve's."""
