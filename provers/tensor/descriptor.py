"""The descriptor of the tensor prover, as the command line and the Python API use it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from circuitize.backends.tensor.groups import GroupName, frozen_groups, groups
from circuitize.circuits.errors import CircuitizeError, excerpt, remedy
from circuitize.circuits.phases import Phases
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.provers.contract import ProvingKey, VerifyingKey
from circuitize.provers.statement import ASK_AGAIN, Bound, Statement, Unproved, bound_ports, key_text

from . import statement as stated
from .circuit import BYTES, PlannedCircuit
from .config import Bound as Error
from .cost import most_bytes
from .plan import OPENINGS, Plan, plan
from .proof import PROOF_FILE, Proof
from .security import bounds, union
from .verifier import refusal


class Tensor:
    """The tensor prover, which proves by sumchecks over whole tensors: it is the fastest prover and needs no setup, and
    its proofs that hide nothing are faster still.
    """

    name = "tensor"
    hides = True
    ceremony = None
    proof_file = PROOF_FILE

    def require_memory(self, program: IntegerProgram) -> None:
        """Do nothing: the memory of the tensor prover follows only from the plan, which is made quickly, so that
        `circuit` refuses proofs that need too much memory.
        """

    def __init__(
        self,
        trusted: Mapping[GroupName, bytes] | None = None,
        kept: Path | None = None,
        memory: int | None = None,
        shown: Mapping[GroupName, float] | None = None,
    ) -> None:
        """The argument `trusted` holds, by group, roots that are known to commit to values in format, so that proofs do
        not show this again.

        The argument `shown` holds the bits of soundness of those proofs that showed that trusted roots are in format;
        these proofs' errors count in the total soundness. The argument `kept`, for provers only, names the file with
        the secrets of trusted roots, in which their openings are counted; a proof that needs more than `memory` bytes
        is refused.
        """
        self.trusted, self.kept, self.memory = dict(trusted or {}), kept, memory
        self.shown = dict(shown or {})
        self._last: tuple[IntegerProgram, dict[bool, Plan]] | None = None

    def circuit(self, program: IntegerProgram, digest: str, phases: Phases) -> PlannedCircuit:
        """Return the plan of a program as a circuit; the plan is also cached, so that `_plan` need not make it
        again.
        """
        made = PlannedCircuit(program, digest, phases, self.trusted, self.kept, self.memory)
        self._last = program, {False: made.plain_plan}
        return made

    def _plan(self, program: IntegerProgram, zero_knowledge: bool) -> Plan:
        """Return the plan of a program for one kind of proofs; the plans of the last program are cached, since a
        verdict uses a plan twice.

        Soundness: the cache is read in a single step, since another thread may put the plan of its own program there at
        any time.
        """
        last = self._last
        if last is None or last[0] is not program:
            self._last = last = program, {}
        plans = last[1]
        if False not in plans:
            plans[False] = plan(program, assumed=frozenset(self.trusted))
        if zero_knowledge not in plans:
            plans[True] = plans[False].hiding(OPENINGS)
        return plans[zero_knowledge]

    def bound(self, program: IntegerProgram) -> tuple[Bound, ...]:
        """Return the ports that a proof binds: the public ports, and each group of committed ports as one port."""
        public = [(key, port) for key, port in bound_ports(program) if port.visibility is Visibility.PUBLIC]
        return (*public, *((group.key, Port(group.name, Visibility.COMMITTED)) for group in groups(program)))

    def require_ceremony(self, given: Mapping[str, Path]) -> None:
        """Raise CircuitizeError, since tensor proofs have no keys."""
        raise CircuitizeError("expected a prover that has keys, found tensor; its verifier holds the program")

    def contract(self, key: VerifyingKey) -> str:
        """Raise CircuitizeError, since tensor proofs have no keys."""
        raise CircuitizeError("expected a prover that has keys, found tensor; its verifier holds the program")

    def proving_key(self, path: Path) -> ProvingKey:
        """Raise CircuitizeError, since tensor proofs have no keys."""
        raise CircuitizeError(f"--keys: expected none, found {path}; tensor proofs need no setup")

    def verifying_key(self, path: Path) -> VerifyingKey:
        """Raise CircuitizeError, since tensor proofs have no keys."""
        raise CircuitizeError(f"--keys: expected none, found {path}; a tensor proof is checked without a key")

    def refusal(
        self, program: IntegerProgram, digest: str, statement: Statement, folder: Path, key: VerifyingKey | None
    ) -> str | None:
        """Return a text that says why a proof does not hold, or None; soundness: the plan, the parameters and the
        length of every message follow from the verifier's own program and from the kind of proof that the statement
        names, and proofs of both kinds show the same.
        """
        if statement.digest != digest:
            return f"the proof is for program {statement.digest}, expected {digest}"
        try:
            claimed = in_arrays(program, statement)
        except Unproved as error:
            return str(error)
        made = self._plan(program, statement.zero_knowledge)
        if made.program != digest:
            return f"the plan is of program {made.program}, expected {digest}"
        with remedy(ASK_AGAIN):
            found = Proof.read(folder / PROOF_FILE, most_bytes(made))
        reason = refusal(program, claimed, found, made, trusted=self.trusted)
        if reason is None or self.trusted or not frozen_groups(program):
            return reason
        return (
            f"{reason}; of weights that were committed to once, the verifier needs the folder: --weights WEIGHTS, or "
            "weights=cz.accept_weights(program, folder)"
        )

    def security_bits(self, program: IntegerProgram, zero_knowledge: bool) -> float | None:
        """Return the bits of soundness of a proof together with those proofs that showed its trusted roots in format,
        with all errors added up.
        """
        shown = (Error(f"format of {group}", bits) for group, bits in self.shown.items())
        return round(union([*bounds(self._plan(program, zero_knowledge)), *shown]), 1)


def in_arrays(program: IntegerProgram, statement: Statement) -> stated.Statement:
    """Return the statement of a tensor proof as arrays and bytes. Raise Unproved for public values that no port of the
    program can have.
    """
    formats = {key: port.format for key, port in bound_ports(program)}
    publics = {}
    for key, values in statement.publics.items():
        format = formats.get(key)
        if format is None or len(values) != format.size:
            raise Unproved(
                f"expected the program's own ports and shapes, found {len(values)} values of {excerpt(key_text(key))}"
            )
        if min(values) < format.low or max(values) > format.high:
            raise Unproved(f"expected public values of {key_text(key)} in [{format.low}, {format.high}]")
        publics[key] = np.array(values, np.int64).reshape(format.shape)
    for key, root in statement.roots.items():
        if not 0 <= root < 1 << (8 * BYTES):
            raise Unproved(f"expected a root of {BYTES} bytes for {excerpt(key_text(key))}")
    return stated.Statement(publics, {key: root.to_bytes(BYTES, "big") for key, root in statement.roots.items()})


PROVER = Tensor()
