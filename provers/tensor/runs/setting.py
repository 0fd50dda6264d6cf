"""The setting of a run: everything that prover and verifier each compute for themselves, and that a proof cannot
choose.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from circuitize.backends.tensor.dataset import ROWS, Dataset, batch_ports, batch_size
from circuitize.backends.tensor.forms import Integers
from circuitize.backends.tensor.groups import DATA, INPUT, NAMES, OUTPUT, GroupName, PortKey, groups, renewal
from circuitize.circuits.encode import program_digest
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.port import Port, Role
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.scan import Scan, Told, scan
from circuitize.circuits.types import Fixed

from ..plan import OPENINGS, Plan, plan
from ..roots import CHUNKS
from ..security import for_a_run
from .budget import openings, sharing, tensors
from .chunk import BATCH, Chunk
from .evaluation import TEST, Evaluation
from .files import MOST_STEPS
from .order import rows
from .requirements import require_step
from .scalars import Asked, Scalars
from .start import Start, formats_program


@dataclass(frozen=True)
class Run:
    """The setting of a run: a program that is one step, the number of steps, the size and order of the batches, and the
    scalars.

    The steps of a run are numbered from `first`, which is 1 unless the run continues another; a step's number
    determines its batch and its scalars. The last proof covers fewer than `per_proof` steps if the number of steps is
    not a multiple of `per_proof`. The field `told` says for which steps the public outputs are disclosed: none, the
    first and last step of each proof, or all. The `evaluation` of a run, if there is one, evaluates its final values; a
    public `start`, if there is one, gives its initial values. The proofs of a run are in zero knowledge unless
    `zero_knowledge` is false; if another run made the root of the dataset with which this run begins, `begun` says how
    often that root may be opened in zero knowledge.

    Soundness: prover and verifier each make a Run from their own inputs, and neither takes it from the other. A Run
    fixes the program, plans, batches and scalars of every proof; a proof itself states only roots, public outputs, and
    the scalars that `stated` names, for which the verifier has no value: each of these is a public value of its proof,
    bound by the transcript and checked to be in format, and the verdict reports it. Raise Unprovable for a program that
    cannot be the step of a run.
    """

    program: IntegerProgram
    size: int
    steps: int
    seed: bytes
    scalars: Scalars
    per_proof: int = 1
    first: int = 1
    stated: frozenset[str] = frozenset()
    zero_knowledge: bool = True
    begun: int | None = None
    told: Told = Told.NONE
    evaluation: Evaluation | None = None
    start: Start | None = None

    def __post_init__(self) -> None:
        require_step(self.program)
        if not 1 <= self.per_proof <= self.steps:
            raise CircuitizeError(
                f"expected 1 to {self.steps} steps per proof, as many as there are, found {self.per_proof}; choose "
                "another number"
            )
        if self.first < 1 or self.last > MOST_STEPS:
            raise CircuitizeError(
                f"expected steps from 1 to {MOST_STEPS}, found {self.first} to {self.last}; choose others"
            )
        batch = batch_size(self.program)
        if self.size < batch:
            raise CircuitizeError(f"expected at least {batch} examples, a batch, found {self.size}; add some")
        if not 1 <= len(self.seed) <= 64:
            raise CircuitizeError(f"expected a seed of 1 to 64 bytes, found {len(self.seed)}; take 32 from a beacon")

    @property
    def proofs(self) -> int:
        """Return the number of proofs that cover the run's steps."""
        return -(-self.steps // self.per_proof)

    @property
    def last(self) -> int:
        """Return the number of the run's last step."""
        return self.first + self.steps - 1

    @property
    def beginnings(self) -> range:
        """Return the numbers of the steps at which the run's proofs begin."""
        return range(self.first, self.last + 1, self.per_proof)

    @property
    def counts(self) -> dict[int, int]:
        """Return, for each number of steps that a proof of the run covers, how many proofs cover that number, in the
        order of the first such proofs.
        """
        whole, rest = divmod(self.steps, self.per_proof)
        return {self.per_proof: whole} | ({rest: 1} if rest else {})

    def begins(self, step: int) -> int:
        """Return the number of the first step in the proof that covers a given step."""
        return step - (step - self.first) % self.per_proof

    def count(self, step: int) -> int:
        """Return the number of steps that the proof beginning at a given step covers."""
        return min(self.per_proof, self.last + 1 - step)

    @property
    def told_steps(self) -> list[int]:
        """Return the numbers of the steps whose public outputs the run discloses."""
        if self.told is Told.NONE:
            return []
        if self.told is Told.ALL:
            return list(range(self.first, self.last + 1))
        ends = ((step, step + self.count(step) - 1) for step in self.beginnings)
        return [step for own in ends for step in dict.fromkeys(own)]

    @cached_property
    def sharing(self) -> int:
        """Return the number of the run's proofs of steps that open the same root of the dataset."""
        return sharing(self.tensors, self.proofs)

    @property
    def made_for(self) -> int:
        """Return how often a root of the dataset that the run itself makes may be opened in zero knowledge."""
        return openings(self.tensors, self.proofs)

    @property
    def openings(self) -> int:
        """Return how often the root of the dataset with which the run begins may be opened."""
        return self.begun or self.made_for

    def renews(self, step: int) -> bool:
        """Return whether the dataset gets a new root before the proof that begins at a given step."""
        made, over = divmod((step - self.first) // self.per_proof, self.sharing)
        return self.zero_knowledge and over == 0 and (made > 0 or self.first > 1)

    @property
    def renewals(self) -> int:
        """Return the number of the run's proofs that show that two roots commit to the same dataset."""
        return -(-self.proofs // self.sharing) - (self.first == 1) if self.zero_knowledge else 0

    @cached_property
    def digest(self) -> str:
        """Return the digest of the run's step, which does not depend on the number of steps per proof."""
        return program_digest(self.program)

    @cached_property
    def kept(self) -> tuple[str, ...]:
        """Return the names of the groups of held values, which a step takes and returns."""
        names = {role: name for role, name in NAMES.items() if role is not Role.DATA}
        return tuple(dict.fromkeys(names[port.role] for port in self.program.inputs if port.role in names))

    def chunk(self, step: int) -> Chunk:
        """Return the chunk that the proof beginning at a given step covers."""
        return self._chunk(self.count(step))

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        """Return the chunks of the run without repetition, in the order of their first use: one, or two if the last
        proof covers fewer steps.
        """
        return tuple(map(self._chunk, self.counts))

    def _chunk(self, count: int) -> Chunk:
        if count not in self._chunks:
            made = scan(self.program, count, self.told)
            batches = {port.name: (port.name, BATCH) for port in batch_ports(self.program)}
            dataset = Dataset(self.size, batches, axes=2)
            planned = self._plan(made.program, (*self.kept, DATA), {INPUT: self.made_for}, dataset, made)
            self._chunks[count] = Chunk(made, for_a_run(planned, self.proofs + self.renewals + 2))
        return self._chunks[count]

    def opening_as_often(self, chunk: Chunk) -> Chunk:
        """Return a chunk of another run in zero knowledge, of the same step and dataset, as it would be by itself if
        that run opened a root of the dataset as often as this one.
        """
        made = chunk.plan
        openings = {**dict(zip(made.groups, made.openings or (), strict=True)), (INPUT, DATA): self.made_for}
        return replace(chunk, plan=made.hiding(openings))

    @cached_property
    def _chunks(self) -> dict[int, Chunk]:
        return {}

    @property
    def plans(self) -> list[Plan]:
        """Return the plans of all proofs of the run: of the steps, of the formats, and of the evaluation."""
        judged = [self.evaluation.chunk.plan] if self.evaluation is not None else []
        return [*(chunk.plan for chunk in self.chunks), self.formats_plan, *judged]

    @property
    def rooted(self) -> tuple[str, ...]:
        """Return the names of the roots with which the run begins."""
        return (*self.kept, DATA, *([TEST] if self.evaluation is not None else []))

    @cached_property
    def plans_digest(self) -> str:
        """Return the digest of all plans of the run, in hexadecimal."""
        plans = self.plans
        return hashlib.sha256(b"".join(plan.digest for plan in plans)).hexdigest()

    def _plan(
        self,
        program: IntegerProgram,
        assumed: Collection[GroupName],
        data: Mapping[str, int],
        dataset: Dataset | None = None,
        scanned: Scan | None = None,
    ) -> Plan:
        """Return a plan whose roots may be opened as often as the run needs; the argument `data` says, for inputs and
        outputs, how often the dataset's roots may be opened.
        """
        openings = {one.key: OPENINGS for one in groups(program)}
        openings |= {(side, DATA): count for side, count in data.items()}
        return plan(
            program,
            assumed=assumed,
            dataset=dataset,
            openings=openings if self.zero_knowledge else None,
            scanned=scanned,
        )

    def require_plans(self) -> None:
        """Raise Unprovable if some proof of the run would be larger than the native prover can make."""
        for made in (*self.plans, *([self.renewal_plan(self.first)] if self.renewals else [])):
            assert made.native

    @cached_property
    def formats(self) -> IntegerProgram:
        """Return the program whose proof shows that a run's initial values are in format, or that they are those of a
        public start.
        """
        return formats_program([port for port in self.program.inputs if port.held], self.tensors, self.start)

    @cached_property
    def formats_plan(self) -> Plan:
        """Return the plan of the proof of formats, which is about the run's initial values."""
        return self._plan(self.formats, (), {INPUT: self.openings})

    @cached_property
    def ports_plan(self) -> Plan:
        """Return the plan by which the run commits to all its held values and its dataset, laid out as the plan of the
        proof of formats.
        """
        if self.start is None:
            return self.formats_plan
        return replace(self, start=None).formats_plan

    @cached_property
    def tensors(self) -> tuple[Port[Fixed], ...]:
        """Return the ports of the run's dataset."""
        return tensors(self.program, self.size)

    @cached_property
    def renewal(self) -> IntegerProgram:
        """Return the program whose proof shows that two roots commit to the same dataset."""
        return renewal(self.tensors)

    def renewal_plan(self, step: int) -> Plan:
        """Return the plan of the renewal before a step: the renewal of the dataset's first root, or of a root that the
        run itself made.
        """
        openings = self.openings if step == self.first else self.made_for
        if openings not in self._renewal_plans:
            data = {INPUT: openings, OUTPUT: self.made_for}
            self._renewal_plans[openings] = self._plan(self.renewal, (DATA,), data)
        return self._renewal_plans[openings]

    @cached_property
    def _renewal_plans(self) -> dict[int, Plan]:
        return {}

    def identity(self, roots: Mapping[str, bytes]) -> bytes:
        """Return the name of the run, 32 bytes that depend on its setting and on the roots of its initial values and
        its dataset.
        """
        content = {
            "circuitize run": 4,
            "zero_knowledge": self.zero_knowledge,
            "chunks": CHUNKS,
            "program": self.digest,
            "plans": self.plans_digest,
            "seed": self.seed.hex(),
            "first": self.first,
            "steps": self.steps,
            "per_proof": self.per_proof,
            "told": self.told.value,
            "examples": self.size,
            "openings": self.openings if self.zero_knowledge else None,
            "start": None if self.start is None else self.start.seed.hex(),
            "test_examples": None if self.evaluation is None else self.evaluation.size,
            "roots": {name: roots[name].hex() for name in self.rooted},
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).digest()

    def context(self, identity: bytes, step: int) -> bytes:
        """Return the context that the transcript of the proof beginning at a step absorbs: the run's name, the step's
        number, and the seed of batches.
        """
        return identity + step.to_bytes(8, "little") + self.seed

    def renewal_context(self, identity: bytes, step: int) -> bytes:
        """Return the context that the transcript of the renewal before a step absorbs."""
        return self.context(identity, step) + b"renewal"

    def evaluation_context(self, identity: bytes) -> bytes:
        """Return the context that the transcript of the evaluation's proof absorbs."""
        return self.context(identity, self.last) + b"evaluation"

    def rows(self, step: int) -> dict[str, Integers]:
        """Return, by label, the numbers of the examples in every batch of the proof that begins at a given step."""
        batch = batch_size(self.program)
        return {BATCH: np.stack([rows(self.seed, self.size, batch, step + k) for k in range(self.count(step))])}

    def scalars_of(self, step: int) -> dict[str, Integers]:
        """Return the scalars of the steps that the proof beginning at a given step covers, by name, with one number for
        each step, as integers of their formats.

        Scalars that the proof states itself are left out.
        """
        return self._asked.of(step, self.count(step))

    @cached_property
    def _asked(self) -> Asked:
        ports = (port for port in self.program.inputs if port.role is Role.SCALAR and port.name not in self.stated)
        return Asked(tuple(ports), self.scalars)

    def scalars_digest(self) -> bytes:
        """Return a hash of the scalars of all steps of the run. Computing the hash takes time linear in the number of
        steps.

        Raise CircuitizeError unless every step has its scalars, within their formats.
        """
        found = hashlib.sha256()
        for step in self.beginnings:
            for values in self.scalars_of(step).values():
                found.update(np.ascontiguousarray(values, "<i8").tobytes())
        return found.digest()

    def publics(self, step: int) -> dict[PortKey, Integers]:
        """Return the public values that the verifier computes for the proof beginning at a given step, and that the
        proof does not state.
        """
        scalars = {(INPUT, name): value for name, value in self.scalars_of(step).items()}
        return scalars | {(ROWS, label): value for label, value in self.rows(step).items()}
