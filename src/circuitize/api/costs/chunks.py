"""The cost of a run to its prover, by the number of steps in a proof: time is the axis that is cut."""

from __future__ import annotations

from dataclasses import dataclass, replace

from circuitize.backends.tensor.errors import Unprovable
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.phases import Phases, Progress, silent, under_way
from circuitize.circuits.port import Role
from circuitize.circuits.program import Program
from circuitize.provers.tensor.cost import sizes
from circuitize.provers.tensor.runs.dividing import prover_bytes
from circuitize.provers.tensor.runs.setting import Run

from ..exact import Exact, exact

SEED = bytes(32)
MOST_STEPS = 1 << 16


@dataclass(frozen=True)
class Chunk:
    """The cost of a run's proofs that have a given number of steps each.

    In the cost of a run, `moved_words` and `held_words` are counted: integers of weights and state that pass from proof
    to proof, the data of all steps, and the columns to which a proof commits. In the cost of a run, bytes and seconds
    are predicted, not counted.
    """

    steps: int
    proofs: int
    moved_words: int
    held_words: int
    prover_bytes: int
    proof_bytes: int
    prover_cpu_seconds: float


def run_cost(program: Program | Exact, *, steps: int = 64, progress: Progress = silent) -> list[Chunk]:
    """The costs of a run of `steps` steps, in proofs of 1, 2, 4, ... of them, in zero knowledge.

    In a run time is the streamed axis: data have it, weights and state do not have it and pass from each proof to the
    next. The columns that a proof commits to have its steps as an axis. Numbers of steps for which no plan exists are
    left out. Raise CircuitizeError, Unprovable, for a program of which no run can consist.
    """
    if isinstance(steps, bool) or not isinstance(steps, int) or not 1 <= steps <= MOST_STEPS:
        raise CircuitizeError(f"steps: expected 1 to {MOST_STEPS:,}, found {steps!r}; choose another number")
    integer = exact(program, Phases(progress)).integer
    scalars = frozenset(port.name for port in integer.inputs if port.role is Role.SCALAR)
    examples = max((port.format.shape[0] for port in integer.inputs if port.format.shape), default=1)
    run = Run(integer, max(2, examples), steps, SEED, lambda _: {}, stated=scalars)
    tried = [1 << power for power in range((steps - 1).bit_length())]
    found = []
    for each in [*tried, steps]:
        with under_way(progress, f"planning proofs of {each:,} steps"):
            try:
                found.append(_chunk(replace(run, per_proof=each)))
            except Unprovable:
                if not found:
                    raise
                break
    return found


def _chunk(run: Run) -> Chunk:
    carried = sum(port.format.size for port in run.program.inputs if port.held)
    fed = sum(port.format.size for port in run.program.inputs if not port.held)
    last = run.beginnings[-1]
    begins = {run.count(step): step for step in (run.first, last)}
    own = [(count, sizes(run.chunk(begins[length]).plan)) for length, count in run.counts.items()]
    return Chunk(
        steps=run.per_proof,
        proofs=run.proofs,
        moved_words=2 * carried * run.proofs + fed * run.steps,
        held_words=max(int(size["committed"]) for _, size in own),
        prover_bytes=prover_bytes(run),
        proof_bytes=sum(count * int(size["proof_bytes"]) for count, size in own),
        prover_cpu_seconds=round(sum(count * size["prover_cpu_seconds"] for count, size in own), 3),
    )
