"""A program as the tensor prover proves it: a plan, and runs of it, by default in zero knowledge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from copy import copy
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import circuitize._native as _native
from circuitize.backends.tensor.forms import Integers
from circuitize.backends.tensor.groups import INPUT, GroupName
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.phases import Phases, Progress
from circuitize.circuits.program import IntegerProgram
from circuitize.provers.contract import Proved, ProvingKey, Secrets, Trace
from circuitize.provers.openings import HIDING, TENSOR, join, opened
from circuitize.provers.statement import Key, Statement

from . import prover
from .plan import OPENINGS, Plan, plan
from .proof import PROOF_FILE
from .room import require_room

BYTES = 32
WARNING_FILE = "NOT-ZERO-KNOWLEDGE.txt"
WARNING = "This proof is NOT zero-knowledge: it tells whoever reads it about the values that the statement hides.\n"


class Drawn(dict[Key, int]):
    """The secrets of commitments, and the commitments already made for inputs that join an earlier proof."""

    def __init__(self, secrets: Mapping[Key, int]) -> None:
        super().__init__(secrets)
        self.commitments: dict[Key, _native.TensorCommitment] = {}


class PlannedCircuit:
    """The plan of an integer program for proofs in zero knowledge, and the plan for proofs that hide nothing."""

    def __init__(
        self,
        program: IntegerProgram,
        digest: str,
        phases: Phases,
        trusted: Mapping[GroupName, bytes] | None = None,
        kept: Path | None = None,
        memory: int | None = None,
    ) -> None:
        """Proofs do not show that the groups with `trusted` roots are in format, and hold for no other roots.

        The secrets of trusted roots, and how often they may be opened, are in the file that `kept` names. Raise
        CircuitizeError if a proof needs more bytes than the machine has, or than `memory`.
        """
        self.program, self.digest, self.hides = program, digest, True
        self.trusted, self.kept = dict(trusted or {}), kept
        with phases.phase("plan", "planning the proof"):
            self.plain_plan: Plan = plan(program, assumed=frozenset(self.trusted))
            require_room(program, self.plain_plan, memory)

    @cached_property
    def plan(self) -> Plan:
        """Raise Unprovable if the program can be proved, but not in zero knowledge."""
        return self.plain_plan.hiding(OPENINGS) if self.hides else self.plain_plan

    @property
    def scheme(self) -> str:
        """Return the scheme of the circuit's commitments: salted roots, or in proofs that hide nothing plain ones."""
        return HIDING if self.hides else TENSOR

    def plain(self) -> PlannedCircuit:
        """Return the circuit for proofs that hide nothing, of the same plan without zero knowledge."""
        made = copy(self)
        made.hides = False
        made.__dict__.pop("plan", None)
        return made

    @property
    def executed(self) -> IntegerProgram:
        """Return the program with the plan's arrow, where operations that the prover does not keep are expanded."""
        return replace(self.program, arrow=self.plain_plan.arrow)

    def sizes(self) -> dict[str, int]:
        """Return how many elements are looked up and committed to, and the degree of the challenges' field."""
        found = {"lookups": self.plan.looked_up, "committed": self.plan.committed}
        return {**found, "extension_degree": self.plan.degree}

    def draw_secrets(self, trace: Trace, earlier: Path | None, only: Sequence[str], say: Progress) -> dict[Key, int]:
        """Draw a fresh secret for each root that joins no earlier one; the secrets of `trusted` roots are the kept
        ones.

        Raise CircuitizeError if values are not those under a trusted root, or if no opening of that root is left.
        """
        values = list(trace)
        drawn = Drawn({key: int.from_bytes(one, "big") for key, one in prover.draw_secrets(self.plan).items()})
        lists = dict(zip(self.plan.groups, self.plan.lists, strict=True))
        known = {key: lists.pop(key) for key in [(INPUT, name) for name in self.trusted]}
        made: dict[Key, _native.TensorCommitment] = {}

        def root_of(key: Key, secret: int) -> int:
            made[key] = prover.commit(self.plan, values, key, secret.to_bytes(BYTES, "big"))
            return int.from_bytes(made[key].root, "big")

        joined: dict[Key, int] = {}
        if known and self.kept is not None:
            joined |= join(self.kept, self.scheme, known, root_of, sorted(self.trusted), say)
            self._require_trusted(made)
        if earlier is not None:
            joined |= join(earlier, self.scheme, lists, root_of, only, say)
        drawn.update(joined)
        drawn.commitments = {key: made[key] for key in joined}
        return drawn

    def _require_trusted(self, made: Mapping[Key, _native.TensorCommitment]) -> None:
        for name, root in self.trusted.items():
            if made[INPUT, name].root != root:
                raise CircuitizeError(
                    f"{self.kept}: expected the secret of the root of {name} that is shown to be in format, found that "
                    "of another one; give the file that was written beside it"
                )

    def setup(self, folder: Path, phases: Phases, ceremony: Mapping[str, Path]) -> ProvingKey:
        """Raise CircuitizeError: tensor proofs have no keys."""
        raise CircuitizeError("expected a prover that has keys, found tensor; its verifier holds the program")

    def prove(self, trace: Trace, secrets: Secrets, phases: Phases, key: ProvingKey | None = None) -> Proved:
        """A proof of a run of the program. The argument `key` is not used by the tensor prover. A trace that is given
        as a list is emptied once it is no longer read.
        """
        values = trace if isinstance(trace, list) else list(trace)
        salts = {port: secret.to_bytes(BYTES, "big") for port, secret in secrets.items()}
        kept = secrets.commitments if isinstance(secrets, Drawn) else {}

        with ExitStack() as phase:
            phase.enter_context(phases.phase("witness", "computing the witness"))

            def bases() -> Iterator[Integers]:
                yield from self.plan.each_value(values)
                values.clear()
                phase.close()
                phase.enter_context(phases.phase("prove", "proving"))

            found = prover.prove_values(self.program, self.plan, values, bases(), salts=salts, kept=kept)
        publics = {port: tuple(array.reshape(-1).tolist()) for port, array in found.statement.publics.items()}
        roots = {port: int.from_bytes(root, "big") for port, root in found.statement.roots.items()}
        lists = dict(zip(self.plan.groups, self.plan.lists, strict=True))
        statement = Statement("tensor", self.digest, publics, roots, self.plan.hidden)
        made_for = dict(zip(self.plan.groups, self.plan.openings or (), strict=False))
        left = {key: most - 1 if key not in kept else 0 for key, most in made_for.items()}
        return Proved(found.proof, statement, found.outputs, opened(secrets, roots, lists, left))

    def files(self, proved: Proved) -> dict[str, bytes]:
        """The files of a proof: the proof, and for one that hides nothing a warning."""
        warning = {} if proved.proof.zero_knowledge else {WARNING_FILE: WARNING.encode()}
        return {PROOF_FILE: proved.proof.encode(), **warning}
