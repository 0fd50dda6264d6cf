"""The axis over which a stage that updates state spreads its lanes: the axis along which the state is read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .graph import Operand, Stage
from .terms import Terms


def aligned(stages: Sequence[Stage], axes: Sequence[int], states: dict[int, int]) -> list[int]:
    """Return for each stage the axis that its lanes spread over; a stage that updates a state follows the state's
    readers.

    `states` maps the wire of each state to the wire of its next value. If the stage that updates a state has lanes
    along the axis along which a forward pass reads this state, elements that are read in one clock are also written at
    one address. If a state has several readers, the reader with the most terms decides.
    """
    made = list(axes)
    for old, new in states.items():
        writers = [k for k, stage in enumerate(stages) if stage.wire == new and stage.reduction]
        readers = [
            (stage.size * stage.terms, k, operand)
            for k, stage in enumerate(stages)
            for operand in stage.operands
            if operand.wire == old and operand.in_reduction and stage.reduction
        ]
        if writers and readers:
            _, reader, operand = max(readers, key=lambda one: one[:2])
            axis = _along(operand, stages[reader].shape, axes[reader], stages[writers[0]].shape)
            made[writers[0]] = made[writers[0]] if axis is None else axis
    return made


def _along(operand: Operand, shape: tuple[int, ...], axis: int, own: tuple[int, ...]) -> int | None:
    """Return the axis of a tensor of shape `own` along which an operand moves as a stage moves along `axis` of its
    target, or None.
    """
    if not shape or shape[axis] < 2 or operand.format.shape != own or not isinstance(operand.at, Terms):
        return None
    row = np.moveaxis(operand.at.row.reshape(shape), axis, 0).reshape(shape[axis], -1)
    step = int(operand.at.rows[row[1, 0], 0] - operand.at.rows[row[0, 0], 0])
    strides = [int(np.prod(own[k + 1 :])) for k in range(len(own))]
    found = [k for k, stride in enumerate(strides) if stride == step and own[k] > 1]
    return found[0] if found else None
