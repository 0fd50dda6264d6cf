"""The design problems of tensor proofs: how many steps of a run each proof covers, and the costs of all proofs."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from circuitize.api.counted import counted
from circuitize.api.runs.room import predicted
from circuitize.api.targets.contract import LeftOut
from circuitize.api.targets.registry import TARGETS
from circuitize.backends.tensor.dataset import batch_size
from circuitize.backends.tensor.errors import Unprovable
from circuitize.backends.tensor.groups import DATA
from circuitize.circuits.program import IntegerProgram
from circuitize.provers.tensor.cost import sizes
from circuitize.provers.tensor.runs.dividing import MOST_CHOSEN, chunk_bytes, is_heavy, prover_bytes
from circuitize.provers.tensor.runs.setting import Run

from .design import Design

NAMES = {
    "seconds": "prover_cpu_seconds",
    "bytes": "proof_bytes",
    "memory": "prover_bytes",
    "lookups": "lookups",
}
"""The quantities by their names in the sizes of a proof."""

SEED = b"plan"
"""The seed of the runs that a plan sizes, on which no size depends."""


Alone = tuple[float, float, float]
"""The seconds, the bytes and the memory of one proof."""


class Sumchecks:
    """The design problems of tensor proofs: for a single step only the plan of its proof, and for a run first how many
    steps each proof covers, and then the plans of all its proofs.

    A run of fewer proofs opens its dataset less often, so that each of its proofs may cost less than a proof of fewer
    steps in a run of more proofs. With equal openings, the costs of a proof are assumed not to fall with more steps:
    its memory, and its seconds and bytes in comparison with a proof of one step. Proofs of one step are tried first,
    since costs of shorter proofs are then lower bounds on those of longer ones.
    """

    def __init__(self, steps: int, examples: int | None, limits: Collection[str] = ()) -> None:
        self.steps, self.examples = steps, examples
        self.ascending = "memory" in limits
        self._sized: dict[int, Run] = {}
        self._known: dict[tuple[int, int], Alone] = {}

    def divided(self, design: Design) -> Iterator[Design]:
        """Yield the design once for each number of steps per proof: powers of two, and all steps in one proof, up to
        the greatest number that verifiers accept by default; the largest number comes first, unless memory has a limit.
        """
        self._sized, self._known = {}, {}
        most = min(self.steps, MOST_CHOSEN)
        powers = [1 << place for place in range(1, (most - 1).bit_length())]
        counts = [*powers, most] if most > 1 else []
        for count in [1, *(counts if self.ascending else reversed(counts))]:
            chosen = {"per_proof": count} if self.steps > 1 else {}
            yield design.decided(chosen, self._least(design, count))

    def _least(self, design: Design, count: int) -> dict[str, float]:
        """Return lower bounds on the costs of a run with so many steps per proof, from shorter proofs that were sized
        before.
        """
        shorter = [fewer for fewer in self._sized if fewer < count]
        if not shorter:
            return {}
        run = setting(design.program, self.steps, count, self.examples)
        seconds, bytes, _ = self._alone(run, 1)
        *_, memory = self._alone(run, max(shorter))
        return {"seconds": run.proofs * seconds, "bytes": run.proofs * bytes, "memory": memory}

    def _alone(self, run: Run, steps: int) -> Alone:
        """Return the costs of one proof of so many steps, which was sized in another run, with the openings of a
        run.
        """
        key = steps, run.made_for
        if key not in self._known:
            chunk = run.opening_as_often(self._sized[steps].chunks[0])
            found = sizes(chunk.plan, {*run.kept, DATA})
            self._known[key] = found["prover_cpu_seconds"], found["proof_bytes"], chunk_bytes(chunk)
        return self._known[key]

    def planned(self, design: Design) -> Iterator[Design]:
        """Yield the design with the costs of all its proofs."""
        if self.steps > 1:
            yield design.decided({}, self._of_a_run(design))
            return
        found = counted(TARGETS["tensor"], design.program)
        takes = {quantity: found[name] for quantity, name in NAMES.items()}
        yield design.decided({}, takes)

    def _of_a_run(self, design: Design) -> dict[str, float]:
        per_proof = int(design.choices["per_proof"])
        try:
            run = setting(design.program, self.steps, per_proof, self.examples)
            run.require_plans()
            if is_heavy(run):
                raise LeftOut(f"proofs of {per_proof:,} steps, which verifiers take too long for")
            bytes, seconds = predicted(run)
            memory = prover_bytes(run)
        except Unprovable as error:
            raise LeftOut(str(error)) from None
        self._sized[per_proof] = run
        lookups = max(chunk.plan.looked_up for chunk in run.chunks)
        return {"seconds": seconds, "bytes": bytes, "memory": memory, "lookups": lookups}


def setting(program: IntegerProgram, steps: int, per_proof: int, examples: int | None) -> Run:
    """Return a run of `steps` steps on a dataset of `examples` examples; by default, the dataset is as large as the
    program's own examples.
    """
    if examples is None:
        examples = batch_size(program) * max(1, len(program.examples))
    return Run(program, examples, steps, SEED, lambda _: {}, per_proof)
