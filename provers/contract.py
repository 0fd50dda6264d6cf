"""The contract of provers: the circuit of an integer program, its proofs, and their verification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.phases import Phases, Progress
from circuitize.circuits.program import IntegerProgram

from .keys import Setup
from .openings import Opening
from .statement import Bound, Key, Statement

Integers = NDArray[np.int64]
Trace = Sequence[Integers]
Secrets = Mapping[Key, int]
"""The type of the salts or secrets of commitments, by port. Whoever has the salt or secret of a commitment can test a
guess of its values.
"""


class VerifyingKey(Protocol):
    """The verifying key of a prover, which a verifier holds."""

    @property
    def prover(self) -> str:
        """Return the name of the prover."""

    @property
    def digest(self) -> str:
        """The digest of the program for which the key is made."""

    @property
    def setup(self) -> Setup:
        """Return "development", which is insecure, or "ceremony"."""

    @property
    def public(self) -> int:
        """How many public values a proof for the key has."""

    def write(self, path: Path) -> None:
        """Write the key to a file, whole or not at all."""


class ProvingKey(Protocol):
    """A proving key, which contains its verifying key."""

    @property
    def prover(self) -> str:
        """Return the name of the prover."""

    @property
    def verifying_key(self) -> VerifyingKey:
        """Return the verifying key that belongs to the proving key."""

    def write(self, path: Path) -> None:
        """Write the key to a file, whole or not at all."""


class Proof(Protocol):
    """A proof in the form of one prover. Nothing in a proof is to be believed before it is verified."""

    @property
    def digest(self) -> str:
        """Return the digest of the program that the proof claims to be for."""

    @property
    def zero_knowledge(self) -> bool:
        """Return whether the proof hides everything except its statement."""

    @property
    def phases(self) -> Mapping[str, float]:
        """Return the wall-clock seconds of each phase of proving; empty for a proof that was read from a file."""

    def encode(self) -> bytes:
        """Return the content of the proof's file."""


@dataclass(frozen=True)
class Proved:
    """The result of proving: the proof and its statement, which are for others, and the outputs and openings, which the
    prover keeps.
    """

    proof: Proof
    statement: Statement
    outputs: Mapping[str, Integers]
    openings: Mapping[Key, Opening]


@dataclass(frozen=True)
class Ceremony:
    """The sources of a ceremony's keys: the options that give its files, and what such keys then guarantee.

    The field `refusals` says, by option, why a prover has no use for it; `incomplete` says why all the options must be
    given together.
    """

    files: tuple[str, ...] = ()
    claim: str = ""
    incomplete: str = ""
    refusals: Mapping[str, str] = field(default_factory=dict)


class Circuit(Protocol):
    """The circuit of an integer program for one prover."""

    @property
    def program(self) -> IntegerProgram:
        """Return the integer program, as it was given."""

    @property
    def digest(self) -> str:
        """Return the digest of the program."""

    @property
    def executed(self) -> IntegerProgram:
        """Return the program whose wires make a witness: the circuit's own, except for operations that the prover wants
        expanded.
        """

    def sizes(self) -> Mapping[str, int]:
        """How large the circuit is, by the names of sizes."""

    def plain(self) -> Circuit:
        """The circuit for proofs that hide nothing; the circuit itself if its prover makes only one kind of proof."""

    @property
    def scheme(self) -> str:
        """The scheme of the circuit's commitments, as openings name it."""

    def setup(self, folder: Path, phases: Phases, ceremony: Mapping[str, Path]) -> ProvingKey:
        """Write keys into a folder: from a ceremony's files by option, or, without any, INSECURE development keys.

        Raise CircuitizeError if the prover has no keys, and for files that do not fit the circuit.
        """

    def draw_secrets(self, trace: Trace, earlier: Path | None, only: Sequence[str], say: Progress) -> dict[Key, int]:
        """Draw a secret for each commitment: an input that is joined to a port in an earlier file takes that port's
        secret, any other input a random one.

        The argument `only` names the inputs to join, by default all; the callback `say` is called with each port that
        is joined. Raise CircuitizeError, with the first difference, if an input of the same name has other ports,
        formats or values.
        """

    def prove(self, trace: Trace, secrets: Secrets, phases: Phases, key: ProvingKey | None = None) -> Proved:
        """Prove a run with the given values of the wires of `executed`; with a key if the prover has keys.

        Raise KeyMismatch if the proving key belongs to another circuit.
        """

    def files(self, proved: Proved) -> Mapping[str, bytes]:
        """The files of a proof's folder beside the statement, by name; none of them is private."""


class Prover(Protocol):
    """The descriptor of a prover, as the command line, the Python API and the generic tests use it."""

    @property
    def name(self) -> str:
        """Return the name by which the command line, the API and files know the prover."""

    @property
    def hides(self) -> bool:
        """Whether the prover's proofs are zero-knowledge, by default."""

    @property
    def ceremony(self) -> Ceremony | None:
        """The sources of a ceremony's keys; None if the prover has no keys, and the verifier holds the program."""

    def circuit(self, program: IntegerProgram, digest: str, phases: Phases) -> Circuit:
        """The circuit that the prover makes of an integer program. Raise CircuitizeError for a program that binds
        nothing.
        """

    def bound(self, program: IntegerProgram) -> tuple[Bound, ...]:
        """The ports and groups that a proof of the program binds: public ports, and commitments."""

    @property
    def proof_file(self) -> str:
        """The name of the file of a proof."""

    def require_memory(self, program: IntegerProgram) -> None:
        """Raise CircuitizeError if the machine surely lacks the memory for a proof, as far as can be told before a
        circuit is made.
        """

    def require_ceremony(self, given: Mapping[str, Path]) -> None:
        """Raise CircuitizeError unless these options give all the files from which a ceremony's keys are made, or
        none.
        """

    def contract(self, key: VerifyingKey) -> str:
        """A verifying key as a Solidity contract. Raise CircuitizeError if the prover has no contract."""

    def proving_key(self, path: Path) -> ProvingKey:
        """Read a proving key from a file or a folder of keys. Raise CircuitizeError if there is no proving key."""

    def verifying_key(self, path: Path) -> VerifyingKey:
        """Read a verifying key from a file or a folder of keys. Raise CircuitizeError if there is no verifying key."""

    def refusal(
        self, program: IntegerProgram, digest: str, statement: Statement, folder: Path, key: VerifyingKey | None
    ) -> str | None:
        """A text that says why the proof in a folder does not show the statement, or None if it does.

        Program, digest and key are the verifier's own; the statement and the proof are claims, which are checked.
        """

    def security_bits(self, program: IntegerProgram, zero_knowledge: bool) -> float | None:
        """The bits of soundness of a proof of that kind, all rounds together; None if the soundness is that of the
        curve.
        """
