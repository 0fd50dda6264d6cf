"""The cost of a training run to its prover, by the number of steps that one proof covers: the run is cut along the axis
of time.
"""

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
    """The cost of all proofs of a run, if each proof covers a given number of steps.

    The fields `moved_words` and `held_words` of a run's cost are counted: the integers of weights and state that pass
    from proof to proof, together with the data of all steps, and the integers in the columns to which one proof
    commits. The fields of bytes and seconds of a run's cost are predicted, not counted.
    """

    steps: int
    proofs: int
    moved_words: int
    held_words: int
    prover_bytes: int
    proof_bytes: int
    prover_cpu_seconds: float


def run_cost(program: Program | Exact, *, steps: int = 64, progress: Progress = silent) -> list[Chunk]:
    """Return the costs of proving `steps` training steps in zero knowledge, with proofs that cover 1, 2, 4, ... and
    finally all steps.

    In a run, time is the axis that is streamed: the data have this axis, while weights and state do not, and pass from
    each proof to the next. The columns to which a proof commits have the steps of the proof as an axis. Numbers of
    steps per proof for which no plan exists are left out of the result. Raise Unprovable, a CircuitizeError, for a
    program from which no run can be made.
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
