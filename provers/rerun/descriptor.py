"""The prover `rerun`: a proof is the inputs and the salts; who verifies runs the program again. It hides nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from circuitize.backends.field import BN254
from circuitize.backends.r1cs.commitments import commit
from circuitize.circuits.errors import CircuitizeError, FormatError, Undefined, remedy
from circuitize.circuits.phases import Phases, Progress
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram, named_inputs, named_outputs
from circuitize.circuits.reading import parse_json
from circuitize.circuits.types import Fixed
from circuitize.circuits.undefined import values_of
from circuitize.provers.contract import Proved, ProvingKey, Secrets, Trace, VerifyingKey
from circuitize.provers.framing import Framing, read_proof
from circuitize.provers.openings import POSEIDON, drawn_or_joined, opened, port_lists
from circuitize.provers.statement import ASK_AGAIN, Key, Statement, Unproved, bound_ports, public_vector, stated

FRAMING = Framing("rerun", b"circuitize-rerun", version=1, zero_knowledge=False)


@dataclass(frozen=True)
class Proof:
    digest: str
    inputs: Mapping[str, list[int]]
    salts: Mapping[str, str]
    phases: Mapping[str, float] = field(default_factory=dict, compare=False)
    zero_knowledge: bool = False

    def encode(self) -> bytes:
        content = {"inputs": dict(self.inputs), "salts": dict(self.salts)}
        return FRAMING.header(self.digest) + json.dumps(content, sort_keys=True).encode()

    @staticmethod
    def decode(content: bytes) -> Proof:
        digest, rest = FRAMING.split(content)
        try:
            found = parse_json(rest, 1 << 20)
            return Proof(digest, found["inputs"], found["salts"])
        except (ValueError, KeyError, TypeError) as error:
            raise FormatError(f"expected inputs and salts, found {error}") from None


def traced(program: IntegerProgram, inputs: Mapping[str, Any]) -> list[Any]:
    names = [port.name for port in program.inputs]
    return values_of(program.arrow, [inputs[name] for name in names], names, keep=True)


def vector(program: IntegerProgram, values: Trace, salts: Mapping[str, int]) -> list[int]:
    """The public values and the roots of a run."""
    sides = {"input": named_inputs(program, values), "output": named_outputs(program, values)}
    made: list[int] = []
    for (side, name), port in bound_ports(program):
        array = sides[side][name]
        assert port.format is not None
        committed = port.visibility is Visibility.COMMITTED
        made += [commit(array, port.format, salts[f"{side} {name}"])] if committed else array.reshape(-1).tolist()
    return [value % BN254.prime for value in made]


class RerunCircuit:
    scheme = POSEIDON

    def __init__(self, program: IntegerProgram, digest: str) -> None:
        self.program, self.executed, self.digest = program, program, digest

    def plain(self) -> RerunCircuit:
        return self

    def sizes(self) -> dict[str, int]:
        return {"operations": self.program.arrow.edge_count}

    def setup(self, folder: Path, phases: Phases, ceremony: Mapping[str, Path]) -> ProvingKey:
        raise CircuitizeError("expected a prover that has keys, found rerun; its verifier holds the program")

    def draw_secrets(self, trace: Trace, earlier: Path | None, only: Sequence[str], say: Progress) -> dict[Key, int]:
        return drawn_or_joined(self.program, named_inputs(self.program, trace), earlier, only, say)

    def prove(self, trace: Trace, secrets: Secrets, phases: Phases, key: ProvingKey | None = None) -> Proved:
        inputs, outputs = named_inputs(self.program, trace), named_outputs(self.program, trace)
        salts = {f"{side} {name}": salt for (side, name), salt in secrets.items()}
        with phases.phase("witness", "computing the witness"):
            found = vector(self.program, trace, salts)
        with phases.phase("prove", "proving"):
            told = {name: array.reshape(-1).tolist() for name, array in inputs.items()}
            proof = Proof(self.digest, told, {name: hex(salt) for name, salt in salts.items()})
        statement = stated(self.program, "rerun", self.digest, found, inputs, outputs, BN254.prime)
        return Proved(proof, statement, outputs, opened(secrets, statement.roots, port_lists(self.program)))

    def files(self, proved: Proved) -> dict[str, bytes]:
        return {"proof.rerun": proved.proof.encode()}


class Rerun:
    name = "rerun"
    hides = False
    ceremony = None
    proof_file = "proof.rerun"

    def circuit(self, program: IntegerProgram, digest: str, phases: Phases) -> RerunCircuit:
        return RerunCircuit(program, digest)

    def bound(self, program: IntegerProgram) -> tuple[tuple[Key, Port[Fixed]], ...]:
        return tuple(bound_ports(program))

    def require_memory(self, program: IntegerProgram) -> None:
        """It takes no more than a run does."""

    def require_ceremony(self, given: Mapping[str, Path]) -> None:
        raise CircuitizeError("expected a prover that has keys, found rerun; its verifier holds the program")

    def contract(self, key: VerifyingKey) -> str:
        raise CircuitizeError("expected a prover that has keys, found rerun; its verifier holds the program")

    def proving_key(self, path: Path) -> ProvingKey:
        raise CircuitizeError(f"--keys: expected none, found {path}; rerun needs no setup")

    def verifying_key(self, path: Path) -> VerifyingKey:
        raise CircuitizeError(f"--keys: expected none, found {path}; rerun needs no setup")

    def security_bits(self, program: IntegerProgram, zero_knowledge: bool) -> float | None:
        return None

    def refusal(
        self, program: IntegerProgram, digest: str, statement: Statement, folder: Path, key: VerifyingKey | None
    ) -> str | None:
        """Soundness: the verifier's own program is run on the inputs; everything that is stated follows from that."""
        with remedy(ASK_AGAIN):
            proof = read_proof(folder / self.proof_file, 1 << 24, Proof.decode)
        for found in (statement.digest, proof.digest):
            if found != digest:
                return f"the proof is for program {found}, expected {digest}"
        try:
            claimed = public_vector(program, statement, BN254.prime)
            formats = {port.name: port.format for port in program.inputs if port.format is not None}
            inputs = {name: np.array(proof.inputs[name], np.int64).reshape(f.shape) for name, f in formats.items()}
            salts = {name: int(salt, 16) for name, salt in proof.salts.items()}
            made = vector(program, traced(program, inputs), salts)
        except (Unproved, Undefined) as error:
            return str(error)
        except (KeyError, ValueError, TypeError, OverflowError, CircuitizeError) as error:
            return f"expected inputs and salts of the program, found others ({error})"
        return None if made == claimed else "the run has other public values or roots than the statement"


PROVER = Rerun()
