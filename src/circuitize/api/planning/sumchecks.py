"""Tensor proofs: how many steps of a run one proof has, and what all proofs then take."""

from __future__ import annotations

from collections.abc import Iterator

from circuitize.api.runs.room import predicted
from circuitize.api.targets.contract import LeftOut
from circuitize.api.targets.registry import TARGETS
from circuitize.backends.tensor.dataset import batch_size
from circuitize.backends.tensor.errors import Unprovable
from circuitize.circuits.program import IntegerProgram
from circuitize.provers.tensor.runs.dividing import prover_bytes
from circuitize.provers.tensor.runs.setting import Run

from .design import Design

SEED = b"plan"
"""No size depends on the seed of a run."""


class Sumchecks:
    """One proof; or of a run two design problems: how many steps a proof has, and the plans of all its proofs.

    Memory is taken to grow with the steps in one proof, as `prove-run` does where it chooses them: more steps take at
    least what half as many do.
    """

    def __init__(self, steps: int, examples: int | None) -> None:
        self.steps, self.examples = steps, examples
        self._memory: dict[int, float] = {}

    def divided(self, design: Design) -> Iterator[Design]:
        """Powers of two, and all steps in one proof."""
        self._memory = {}
        count, before = 1, 1
        while True:
            count = min(count, self.steps)
            chosen = {"per_proof": count} if self.steps > 1 else {}
            yield design.decided(chosen, {"memory": self._memory.get(before, 0)})
            if count == self.steps:
                return
            count, before = 2 * count, count

    def planned(self, design: Design) -> Iterator[Design]:
        if self.steps == 1:
            found = TARGETS["tensor"].estimate(design.program, {})
            takes = {
                "seconds": found["prover_cpu_seconds"],
                "bytes": found["proof_bytes"],
                "memory": found["prover_bytes"],
                "lookups": found["lookups"],
            }
        else:
            takes = self._of_a_run(design)
        yield design.decided({}, takes)

    def _of_a_run(self, design: Design) -> dict[str, float]:
        per_proof = int(design.choices["per_proof"])
        try:
            run = setting(design.program, self.steps, per_proof, self.examples)
            run.require_plans()
            bytes, seconds = predicted(run)
            memory = prover_bytes(run)
        except Unprovable as error:
            raise LeftOut(str(error)) from None
        self._memory[per_proof] = memory
        lookups = max(chunk.plan.looked_up for chunk in run.chunks)
        return {"seconds": seconds, "bytes": bytes, "memory": memory, "lookups": lookups}


def setting(program: IntegerProgram, steps: int, per_proof: int, examples: int | None) -> Run:
    """A run of so many steps, on a dataset of so many examples: by default those of the program's own examples."""
    if examples is None:
        examples = batch_size(program) * max(1, len(program.examples))
    return Run(program, examples, steps, SEED, lambda _: {}, per_proof)
