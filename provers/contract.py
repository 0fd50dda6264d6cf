"""The contract that all provers fulfil: the circuit of an integer program, its proofs, and their verification."""

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
    """A verifying key: what a verifier holds to check the proofs of a prover that has keys."""

    @property
    def prover(self) -> str:
        """Return the name of the prover to which the key belongs."""

    @property
    def digest(self) -> str:
        """Return the digest of the program for which the key is made."""

    @property
    def setup(self) -> Setup:
        """Return "development" or "ceremony": the setup that made the key, of which the first is insecure."""

    @property
    def public(self) -> int:
        """Return the number of public values that a proof for the key states."""

    def write(self, path: Path) -> None:
        """Write the key to a file, which appears complete or not at all."""


class ProvingKey(Protocol):
    """A proving key, which contains its verifying key."""

    @property
    def prover(self) -> str:
        """Return the name of the prover to which the key belongs."""

    @property
    def verifying_key(self) -> VerifyingKey:
        """Return the verifying key that belongs to the proving key."""

    def write(self, path: Path) -> None:
        """Write the key to a file, which appears complete or not at all."""


class Proof(Protocol):
    """A proof in the form of one prover. Nothing in a proof may be believed before the proof is verified."""

    @property
    def digest(self) -> str:
        """Return the digest of the program to which the proof claims to belong."""

    @property
    def zero_knowledge(self) -> bool:
        """Return whether the proof hides everything except its statement."""

    @property
    def phases(self) -> Mapping[str, float]:
        """Return the wall-clock seconds of each phase of proving; the mapping is empty for a proof that was read from a
        file.
        """

    def encode(self) -> bytes:
        """Return the bytes of the proof's file."""


@dataclass(frozen=True)
class Proved:
    """The result of proving: the proof and its statement, which are for verifiers, and the outputs and openings, which
    the prover keeps.
    """

    proof: Proof
    statement: Statement
    outputs: Mapping[str, Integers]
    openings: Mapping[Key, Opening]


@dataclass(frozen=True)
class Ceremony:
    """The files from which a prover makes the keys of a ceremony, by the option that gives each file, and what such
    keys then guarantee.

    The field `refusals` says, for each option that a prover does not use, why it does not; `incomplete` says why all
    the options must be given together.
    """

    files: tuple[str, ...] = ()
    claim: str = ""
    incomplete: str = ""
    refusals: Mapping[str, str] = field(default_factory=dict)


class Circuit(Protocol):
    """The circuit of an integer program for one prover."""

    @property
    def program(self) -> IntegerProgram:
        """Return the integer program of the circuit, as it was given."""

    @property
    def digest(self) -> str:
        """Return the digest of the circuit's program."""

    @property
    def executed(self) -> IntegerProgram:
        """Return the program whose wires make a witness: the circuit's own program, with those operations expanded that
        the prover wants expanded.
        """

    def sizes(self) -> Mapping[str, int]:
        """Return the sizes of the circuit by name, such as its number of constraints."""

    def plain(self) -> Circuit:
        """Return the circuit for proofs that hide nothing, or this circuit itself if its prover makes only one kind of
        proof.
        """

    @property
    def scheme(self) -> str:
        """Return the name of the scheme by which the circuit commits, as files of openings state it."""

    def setup(self, folder: Path, phases: Phases, ceremony: Mapping[str, Path]) -> ProvingKey:
        """Make keys and write them to a folder: from the files of a ceremony, which are given by option, or, without
        any, INSECURE development keys.

        Raise CircuitizeError if the prover needs no keys, and for files that do not fit the circuit.
        """

    def draw_secrets(self, trace: Trace, earlier: Path | None, only: Sequence[str], say: Progress) -> dict[Key, int]:
        """Draw a secret for each commitment: an input that is joined to a port in an earlier file of openings takes the
        secret of that port, and every other commitment gets a random secret.

        The argument `only` names the inputs that may be joined, which are by default all inputs; the callback `say` is
        called with each port that is joined. Raise CircuitizeError, with the first difference, if an earlier input of
        the same name has other ports, formats or values.
        """

    def prove(self, trace: Trace, secrets: Secrets, phases: Phases, key: ProvingKey | None = None) -> Proved:
        """Prove a run, given the values of the wires of `executed`, with a key if the prover needs keys.

        Raise KeyMismatch if the proving key belongs to another circuit.
        """

    def files(self, proved: Proved) -> Mapping[str, bytes]:
        """Return the files of a proof's folder except the statement, by name; none of them is private."""


class Prover(Protocol):
    """The descriptor of a prover, as the command line, the Python API and the generic tests use it."""

    @property
    def name(self) -> str:
        """Return the name by which the command line, the API and files know the prover."""

    @property
    def hides(self) -> bool:
        """Return whether the prover's proofs are zero-knowledge by default."""

    @property
    def ceremony(self) -> Ceremony | None:
        """Return the files from which a ceremony's keys are made, or None if the prover needs no keys, so that the
        verifier holds the program instead.
        """

    def circuit(self, program: IntegerProgram, digest: str, phases: Phases) -> Circuit:
        """Return the circuit of an integer program for this prover. Raise CircuitizeError for a program without ports
        that a proof binds.
        """

    def bound(self, program: IntegerProgram) -> tuple[Bound, ...]:
        """Return the ports and groups that a proof of the program binds: public ports, and commitments."""

    @property
    def proof_file(self) -> str:
        """Return the name of the file that contains a proof."""

    def require_memory(self, program: IntegerProgram) -> None:
        """Raise CircuitizeError if the machine surely has too little memory for a proof, as far as that can be told
        before a circuit is made.
        """

    def require_ceremony(self, given: Mapping[str, Path]) -> None:
        """Raise CircuitizeError unless the given options name all files from which a ceremony's keys are made, or none
        of them.
        """

    def contract(self, key: VerifyingKey) -> str:
        """Return the source text of a Solidity contract that checks proofs with a verifying key. Raise CircuitizeError
        if no contract can check the prover's proofs.
        """

    def proving_key(self, path: Path) -> ProvingKey:
        """Return the proving key in a file or in a folder of keys. Raise CircuitizeError if the file or folder contains
        no proving key.
        """

    def verifying_key(self, path: Path) -> VerifyingKey:
        """Return the verifying key in a file or in a folder of keys. Raise CircuitizeError if the file or folder
        contains no verifying key.
        """

    def refusal(
        self, program: IntegerProgram, digest: str, statement: Statement, folder: Path, key: VerifyingKey | None
    ) -> str | None:
        """Return a text that says why the proof in a folder does not show the statement, or None if it does.

        The program, the digest and the key are the verifier's own; the statement and the proof are claims, which are
        checked.
        """

    def security_bits(self, program: IntegerProgram, zero_knowledge: bool) -> float | None:
        """Return the bits of soundness of a proof, in zero knowledge or not, over all its rounds together, or None if
        its soundness rests on an elliptic curve.
        """
