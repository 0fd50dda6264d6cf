"""The number of steps that one proof of a run covers: as many as memory, and the cheapest extension of the field,
allow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

from circuitize.backends.tensor.errors import Unprovable

from ..cost import sizes
from ..security import least_degree
from .chunk import Chunk
from .setting import Run


class Limit(Enum):
    """The reason, as a text, why a proof does not cover more steps."""

    STEPS = "there are no more steps"
    MEMORY = "more would not fit in memory"
    DEGREE = "more would need challenges of a larger field, which take half as long again"
    WEIGHTS = "more would take verifiers too long, with weights that are no product of one per axis"
    SIZE = "a proof of more would be too large"
    CORES = "there is a proof for each core"


@dataclass(frozen=True)
class Division:
    """The division of a run into proofs: the number of steps per proof, what limits that number, and the predicted
    memory of a proof in bytes.
    """

    per_proof: int
    limit: Limit
    prover_bytes: int


MOST_CHOSEN = 1 << 16
"""The most steps of a proof that are chosen, or that a verifier accepts without being told, since plans for more would
take seconds.
"""

MOST_WEIGHTS = 1 << 23
"""The most weights without product form, as claims on overlapping windows have, in a proof whose number of steps is
chosen: verifiers take a second for this many, and disproportionately longer for more.
"""

TRIED = 1 << 10
"""The number of steps of the proof that is tried first."""


def divided(
    run: Run, memory: int, progress: Callable[[int], object] = lambda _: None, most: int | None = None
) -> Division:
    """Return the division of a run with the greatest number of steps per proof, a power of two or the number of all
    steps, for which a proof fits in `memory` bytes.

    The number of steps per proof is a power of two, since the axis of time is padded to one; proofs use the same
    extension field that the proof of a single step needs. To divide a run, the plans of a handful of proofs are made;
    `progress` is called with each number of steps that is tried. No proof covers more than `most` steps, a power of
    two, which leaves a proof for each process that is waiting for one. Proofs of a single step are accepted however
    much memory they need. Raise Unprovable if no plan exists for a proof of a single step.
    """
    least = least_degree(_chunk(run, 1).plan)
    limits: dict[int, Limit | None] = {1: None}

    def fits(steps: int) -> bool:
        if steps not in limits:
            progress(min(steps, run.steps))
            limits[steps] = _limit(run, steps, memory, least)
        return limits[steps] is None

    most = MOST_CHOSEN if most is None else min(most, MOST_CHOSEN)
    steps = min(TRIED, most, 1 << (run.steps - 1).bit_length())
    while not fits(steps):
        steps //= 2
    while steps < run.steps and 2 * steps <= most and fits(2 * steps):
        steps *= 2
    if steps >= run.steps:
        limit = Limit.STEPS
    elif 2 * steps > most < MOST_CHOSEN:
        limit = Limit.CORES
    else:
        limit = limits.get(2 * steps) or Limit.SIZE
    return Division(min(steps, run.steps), limit, chunk_bytes(_chunk(run, steps)))


def prover_bytes(run: Run) -> int:
    """Return the predicted memory, in bytes, of the largest proof of the run's steps, including the values of all
    wires.
    """
    return max(map(chunk_bytes, run.chunks))


def chunk_bytes(chunk: Chunk) -> int:
    """Return the predicted memory, in bytes, of the proof of a chunk, or the size of the values of all its wires where
    that is more.
    """
    return max(int(sizes(chunk.plan)["prover_bytes"]), chunk.trace_bytes)


def is_heavy(run: Run) -> bool:
    """Return whether verifying the run takes too long because a proof covers many steps."""
    return any(map(_is_heavy, run.chunks))


def is_heavy_to_judge(run: Run) -> bool:
    """Return whether verifying the run takes too long because its final values are evaluated on many examples."""
    return run.evaluation is not None and _is_heavy(run.evaluation.chunk)


def _chunk(run: Run, steps: int) -> Chunk:
    """Return the chunk of the run's first proof, if proofs cover at most `steps` steps."""
    return replace(run, per_proof=min(steps, run.steps)).chunk(run.first)


def _is_heavy(chunk: Chunk) -> bool:
    return chunk.count > 1 and chunk.plan.claimed.dense > MOST_WEIGHTS


def _limit(run: Run, steps: int, memory: int, least: int) -> Limit | None:
    """Return the reason why no proof of the run can cover `steps` steps, or None if one can."""
    try:
        chunk = _chunk(run, steps)
        if least_degree(chunk.plan) > least:
            return Limit.DEGREE
        if _is_heavy(chunk):
            return Limit.WEIGHTS
        return Limit.MEMORY if chunk_bytes(chunk) > memory else None
    except Unprovable:
        return Limit.SIZE
