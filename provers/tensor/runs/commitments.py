"""Commitments that are made again: to the values that a run holds between two proofs, and to its dataset, by the
secrets of their roots.
"""

from __future__ import annotations

from collections.abc import Mapping

import circuitize._native as _native
from circuitize.backends.tensor.forms import Integers
from circuitize.backends.tensor.groups import DATA, INPUT, OUTPUT, PortKey

from ..prover import commit
from .setting import Run

Commitments = dict[PortKey, _native.TensorCommitment]


def commitments(
    run: Run, step: int, held: Mapping[str, Integers], roots: Mapping[str, bytes], data: Mapping[str, Integers]
) -> Commitments:
    """The commitments that the proof beginning at a step takes: to the values that enter it and to the dataset, by the
    secrets of their roots.

    The dataset's root that a proof takes is the root before the renewal for that proof.
    """
    made = held_commitments(run, held, roots, data)
    if step > run.first and run.renews(run.first) and run.openings != run.made_for:
        made[INPUT, DATA] = renewal(run, step, roots[DATA], data)
    else:
        trace = run.ports_plan.trace({**held, **data})
        made[INPUT, DATA] = commit(run.ports_plan, trace, (INPUT, DATA), roots[DATA])
    return made


def held_commitments(
    run: Run, held: Mapping[str, Integers], roots: Mapping[str, bytes], data: Mapping[str, Integers]
) -> Commitments:
    """The commitments to the values that enter a step, or leave the step before it."""
    trace = run.ports_plan.trace({**held, **data})
    return {(INPUT, name): commit(run.ports_plan, trace, (INPUT, name), roots[name]) for name in run.kept}


def renewal(run: Run, step: int, secret: bytes, data: Mapping[str, Integers]) -> _native.TensorCommitment:
    """The commitment to the dataset, by the secret of the root that the renewal before a step makes."""
    plan = run.renewal_plan(step)
    return commit(plan, plan.trace(data), (OUTPUT, DATA), secret)
