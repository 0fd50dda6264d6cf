"""How many steps one proof of a run has: as many as memory, and the cheap extension of the field, allow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

from ..cost import sizes
from ..errors import Unprovable
from ..flow import dense_weights
from ..security import least_degree
from .setting import Run


class Limit(Enum):
    """What keeps a proof from having more steps."""

    STEPS = "there are no more steps"
    MEMORY = "more would not fit in memory"
    DEGREE = "more would need challenges of a larger field, which take half as long again"
    WEIGHTS = "more would take verifiers too long, with weights that are no product of one per axis"
    SIZE = "a proof of more would be too large"


@dataclass(frozen=True)
class Division:
    """Steps per proof, what limits them, and the memory that a proof takes, in bytes, as predicted."""

    per_proof: int
    limit: Limit
    prover_bytes: int


MOST_CHOSEN = 1 << 16
"""More steps in a proof are not chosen, and not believed by a verifier who was not told: plans would take seconds."""

MOST_WEIGHTS = 1 << 23
"""Nor more steps whose claims have that many weights one by one, as those on overlapping windows have: verifiers take a
second for so many, and longer than in turn for more."""

TRIED = 1024
"""Steps of the proof whose memory tells how many to try, or fewer where that is too large."""


def divided(run: Run, memory: int, progress: Callable[[int], object] = lambda _: None) -> Division:
    """The fewest proofs of equally many steps that each fit in so many bytes of memory, over the field of one step.

    Plans a handful of them: memory grows with the steps, so one proof tells about where to look; `progress` is told how
    many steps are tried. A proof of one step is taken whatever it needs. Raises Unprovable where that has no plan.
    """
    return _Search(run, memory, progress).found()


def prover_bytes(run: Run) -> int:
    """Memory that the largest proof of steps takes, as predicted, with the values of all wires."""
    return max(max(int(sizes(chunk.plan)["prover_bytes"]), chunk.trace_bytes) for chunk in run.chunks)


def is_heavy(run: Run) -> bool:
    """Whether its verifiers take long for how many steps a proof has."""
    return any(chunk.count > 1 and dense_weights(chunk.plan) > MOST_WEIGHTS for chunk in run.chunks)


class _Search:
    """Looks for the least number of proofs that is enough, to a sixteenth; what was found of each number is kept."""

    def __init__(self, run: Run, memory: int, progress: Callable[[int], object]) -> None:
        self.run, self.memory, self.progress = run, memory, progress
        self.least = least_degree(self._of(run.steps).chunks[0].plan)
        self.limits: dict[int, Limit | None] = {}

    def _of(self, proofs: int) -> Run:
        return replace(self.run, per_proof=-(-self.run.steps // proofs))

    def found(self) -> Division:
        most = self.run.steps
        short = (most - 1) // MOST_CHOSEN
        self.limits[short] = Limit.SIZE
        enough = min(most, max(self._guess(), short + 1))
        while enough < most and self._limit(enough) is not None:
            enough, short = min(most, enough + max(1, enough // 8)), enough
        while enough - short > max(1, enough // 16):
            middle = max((enough + short) // 2, enough - max(1, enough // 8))
            if self._limit(middle) is None:
                enough = middle
            else:
                short = middle
        made = self._of(enough)
        limit = self.limits[short] if short else Limit.STEPS
        return Division(made.per_proof, limit or Limit.STEPS, prover_bytes(made))

    def _guess(self) -> int:
        """About how many proofs memory asks for."""
        tried = min(self.run.steps, TRIED)
        base = prover_bytes(self._of(self.run.steps))
        while tried > 1:
            try:
                own = prover_bytes(replace(self.run, per_proof=tried))
                each = max(1.0, (own - base) / (tried - 1))
                return max(1, -(-self.run.steps // max(1, int((self.memory - base) / each))))
            except Unprovable:
                tried //= 4
        return self.run.steps

    def _limit(self, proofs: int) -> Limit | None:
        """Why so few proofs are not enough; None where they are."""
        if proofs not in self.limits:
            own = self._of(proofs)
            self.progress(own.per_proof)
            self.limits[proofs] = self._judged(own)
        return self.limits[proofs]

    def _judged(self, run: Run) -> Limit | None:
        try:
            if any(least_degree(chunk.plan) > self.least for chunk in run.chunks):
                return Limit.DEGREE
            if is_heavy(run):
                return Limit.WEIGHTS
            return Limit.MEMORY if prover_bytes(run) > self.memory else None
        except Unprovable:
            return Limit.SIZE
