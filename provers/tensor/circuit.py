"""A program as the tensor prover proves it: a plan, and proofs of runs, which are by default in zero knowledge."""

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
    """The secrets of commitments, and, for inputs that join an earlier proof, the commitments that were made
    already.
    """

    def __init__(self, secrets: Mapping[Key, int]) -> None:
        super().__init__(secrets)
        self.commitments: dict[Key, _native.TensorCommitment] = {}


class PlannedCircuit:
    """The plan of an integer program for proofs in zero knowledge, and the same plan for proofs that hide nothing."""

    def __init__(
        self,
        program: IntegerProgram,
        digest: str,
        phases: Phases,
        trusted: Mapping[GroupName, bytes] | None = None,
        kept: Path | None = None,
        memory: int | None = None,
    ) -> None:
        """Proofs of the circuit do not show that the groups with `trusted` roots are in format, and are valid for no
        other roots of these groups.

        The argument `kept` is the file with the secrets of the trusted roots and the number of times that they may
        still be opened. Raise CircuitizeError if a proof needs more bytes than the machine has, or than `memory`.
        """
        self.program, self.digest, self.hides = program, digest, True
        self.trusted, self.kept = dict(trusted or {}), kept
        with phases.phase("plan", "planning the proof"):
            self.plain_plan: Plan = plan(program, assumed=frozenset(self.trusted))
            require_room(program, self.plain_plan, memory)

    @cached_property
    def plan(self) -> Plan:
        """Return the plan of the proofs; raise Unprovable if the program can be proved, but not in zero knowledge."""
        return self.plain_plan.hiding(OPENINGS) if self.hides else self.plain_plan

    @property
    def scheme(self) -> str:
        """Return the name of the scheme by which the circuit commits: salted roots, or plain roots in proofs that hide
        nothing.
        """
        return HIDING if self.hides else TENSOR

    def plain(self) -> PlannedCircuit:
        """Return the circuit for proofs that hide nothing, which has the same plan without zero knowledge."""
        made = copy(self)
        made.hides = False
        made.__dict__.pop("plan", None)
        return made

    @property
    def executed(self) -> IntegerProgram:
        """Return the program with the arrow of the plan, in which operations that the prover does not support directly
        are expanded.
        """
        return replace(self.program, arrow=self.plain_plan.arrow)

    def sizes(self) -> dict[str, int]:
        """Return the number of elements that are looked up, the number of elements that are committed to, and the
        degree of the field of challenges.
        """
        found = {"lookups": self.plan.looked_up, "committed": self.plan.committed}
        return {**found, "extension_degree": self.plan.degree}

    def draw_secrets(self, trace: Trace, earlier: Path | None, only: Sequence[str], say: Progress) -> dict[Key, int]:
        """Draw a fresh secret for each root that joins no earlier root; the secrets of `trusted` roots are those that
        were kept.

        Raise CircuitizeError if the inputs are not those to which a trusted root commits, or if a trusted root may not
        be opened any more.
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
        """Raise CircuitizeError, since tensor proofs have no keys."""
        raise CircuitizeError("expected a prover that has keys, found tensor; its verifier holds the program")

    def prove(self, trace: Trace, secrets: Secrets, phases: Phases, key: ProvingKey | None = None) -> Proved:
        """Return a proof of a run of the program. The argument `key` is ignored, since the tensor prover has no keys.
        If the trace is given as a list, the list is emptied once the trace is no longer needed.
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
        """Return the files of a proof: the proof itself, and a warning if the proof hides nothing."""
        warning = {} if proved.proof.zero_knowledge else {WARNING_FILE: WARNING.encode()}
        return {PROOF_FILE: proved.proof.encode(), **warning}
