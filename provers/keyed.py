"""The common part of provers with keys: the verifier's key decides, and the openings hold a salt for each committed
port.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

from circuitize.backends.field import BN254
from circuitize.circuits.errors import CircuitizeError, remedy
from circuitize.circuits.memory import require_circuit_memory
from circuitize.circuits.phases import Phases, Progress
from circuitize.circuits.program import IntegerProgram, named_inputs, named_outputs

from .binding import require_key
from .contract import Ceremony, Circuit, Proof, Proved, ProvingKey, Secrets, Trace, VerifyingKey
from .openings import POSEIDON, drawn_or_joined, opened, port_lists
from .statement import ASK_AGAIN, Bound, Key, Statement, Unproved, bound_ports, public_vector, stated

MAKE_KEYS = "give the folder that circuitize setup wrote, or make keys again"


class StoredKey(Protocol):
    """A kind of key that can be read from a file."""

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return the key in a file. Raise FormatError for a damaged file, or for the key of another prover."""


class StoredProof(Protocol):
    """A kind of proof that can be read from a file, unless the file is longer than a proof for the key can be."""

    @classmethod
    def read(cls, path: Path, key: Any) -> Self:
        """Return the proof in a file. Raise FormatError for a damaged file, or for the proof of another prover."""


class StoredProvingKey(StoredKey, ProvingKey, Protocol):
    """A proving key that can be read from a file."""


class StoredVerifyingKey(StoredKey, VerifyingKey, Protocol):
    """A verifying key that can be read from a file."""


P = TypeVar("P", bound=StoredProvingKey)
V = TypeVar("V", bound=StoredVerifyingKey)
F = TypeVar("F", bound=StoredProof)


class KeyedCircuit:
    """The common part of the circuits of provers with keys: a program over BN254 whose operations are not expanded,
    with Poseidon hashes as roots.
    """

    scheme = POSEIDON

    prover: ClassVar[str]

    def __init__(self, program: IntegerProgram, digest: str) -> None:
        self.program, self.digest = program, digest

    @property
    def executed(self) -> IntegerProgram:
        """Return the circuit's program unchanged: no operation has to be expanded before a run."""
        return self.program

    def plain(self) -> Self:
        """Return this circuit itself, since all its proofs are zero-knowledge."""
        return self

    def draw_secrets(self, trace: Trace, earlier: Path | None, only: Sequence[str], say: Progress) -> dict[Key, int]:
        """Return a salt for each commitment: if an input joins a port in an earlier file of openings, the salt of that
        port, and otherwise a random one.
        """
        return drawn_or_joined(self.program, named_inputs(self.program, trace), earlier, only, say)

    def proved(self, proof: Proof, publics: Sequence[int], trace: Trace, secrets: Secrets) -> Proved:
        """Return a proof of a run with its statement about the public values, and with the outputs and openings that
        the prover keeps.
        """
        inputs, outputs = named_inputs(self.program, trace), named_outputs(self.program, trace)
        statement = stated(self.program, self.prover, self.digest, publics, inputs, outputs, BN254.prime)
        return Proved(proof, statement, outputs, opened(secrets, statement.roots, port_lists(self.program)))

    def files(self, proved: Proved) -> dict[str, bytes]:
        """Return the proof as the only file besides the statement."""
        return {f"proof.{self.prover}": proved.proof.encode()}


@dataclass(frozen=True)
class KeyedProver(Generic[P, V, F]):
    """A prover over BN254 with a setup, whose proofs are zero-knowledge.

    The function `refused` says why a proof is not valid for a key, public values and a program; `bytes_per_bit` and
    `bytes_per_element` are the bytes of memory that keys and a proof take for each bit that is checked separately, and
    for each element that is looked up.
    """

    name: str
    proving: type[P]
    verifying: type[V]
    proof: type[F]
    refused: Callable[[F, V, Sequence[int], str], str | None]
    solidity: Callable[[V], str]
    ceremony: Ceremony
    bytes_per_bit: int = 0
    bytes_per_element: int = 0
    hides: bool = True

    @property
    def proof_file(self) -> str:
        """Return the name of the file that contains a proof."""
        return f"proof.{self.name}"

    def require_memory(self, program: IntegerProgram) -> None:
        """Raise CircuitizeError if the machine surely has too little memory for keys and a proof, as estimated from the
        number of checked bits.
        """
        require_circuit_memory(program, self.bytes_per_bit, self.bytes_per_element)

    def circuit(self, program: IntegerProgram, digest: str, phases: Phases) -> Circuit:
        """Return the circuit that the prover's own module `circuit` makes; the module is imported here, so that a
        process that only verifies does not load the code that emits circuits.
        """
        self.require_memory(program)
        made: Circuit = import_module(f"circuitize.provers.{self.name}.circuit").CIRCUIT(program, digest, phases)
        return made

    def bound(self, program: IntegerProgram) -> tuple[Bound, ...]:
        """Return the items that a proof of the program binds: each public port, and each committed port by itself."""
        return tuple(bound_ports(program))

    def security_bits(self, program: IntegerProgram, zero_knowledge: bool) -> float | None:
        """Return None, since the soundness of these proofs is that of an elliptic curve and of the setup."""
        return None

    def proving_key(self, path: Path) -> ProvingKey:
        """Return the proving key in a file or in a folder of keys. Raise FormatError for a file of another kind."""
        with remedy(MAKE_KEYS):
            return self.proving.read(path)

    def verifying_key(self, path: Path) -> VerifyingKey:
        """Return the verifying key in a file or in a folder of keys. Raise FormatError for a file of another kind."""
        with remedy(MAKE_KEYS):
            return self.verifying.read(path)

    def require_ceremony(self, given: Mapping[str, Path]) -> None:
        """Raise CircuitizeError, naming the option, unless all files of a ceremony are given or none of them."""
        for name, why in self.ceremony.refusals.items():
            if name in given:
                raise CircuitizeError(f"--{name}: expected {why}")
        missing = [name for name in self.ceremony.files if name not in given]
        if given and missing:
            raise CircuitizeError(
                f"--{next(iter(given))}: expected --{missing[0]} with it, found none; {self.ceremony.incomplete}"
            )

    def contract(self, key: VerifyingKey) -> str:
        """Return the source text of a Solidity contract that checks proofs with a verifying key. Raise KeyMismatch for
        the key of another prover.
        """
        return self.solidity(require_key(key, self.verifying, self.name))

    def refusal(
        self, program: IntegerProgram, digest: str, statement: Statement, folder: Path, key: VerifyingKey | None
    ) -> str | None:
        """Return a text that says why a proof does not hold, or None; soundness: only the program, the digest and the
        key decide, and the statement's claims are compared with them.
        """
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
        own = require_key(key, self.verifying, self.name)
        with remedy(ASK_AGAIN):
            found = self.proof.read(folder / self.proof_file, own)
        return self.refused(found, own, publics, digest)
