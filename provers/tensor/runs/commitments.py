"""Making a run's commitments again: to the values that the run holds between two proofs and to its dataset, from the
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
    """Return the commitments with which the proof beginning at a step begins: to the values that enter the step and to
    the dataset, from the secrets of their roots.

    If the dataset's root is renewed for that proof, the commitment to the dataset is the one before the renewal.
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
    """Return the commitments to the values that a run holds between two steps."""
    trace = run.ports_plan.trace({**held, **data})
    return {(INPUT, name): commit(run.ports_plan, trace, (INPUT, name), roots[name]) for name in run.kept}


def renewal(run: Run, step: int, secret: bytes, data: Mapping[str, Integers]) -> _native.TensorCommitment:
    """Return the new commitment to the dataset that the renewal before a step makes, from the secret of its root."""
    plan = run.renewal_plan(step)
    return commit(plan, plan.trace(data), (OUTPUT, DATA), secret)
