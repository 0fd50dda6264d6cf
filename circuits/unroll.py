"""Several steps of a run as one program, in which the programs of the steps follow one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from .hypergraph import compose, identity, permute, tensor
from .operation import Values
from .port import AnyFormat, Port
from .program import AnyProgram, Program
from .types import Fixed, Type


def compose_steps(*steps: AnyProgram) -> AnyProgram:
    """Return one program of several steps: outputs of a step feed the next step's inputs of the same name, and all
    other inputs are given for each step.

    Inputs and outputs that each step has for itself get the step's number: `inputs.1`, `loss.2`. Unrolling works in
    either language; raise TypingError if a parameter leaves a step with another type than it enters.
    """
    first = steps[0]
    carried = [port for port in first.outputs if any(port.name == other.name for other in first.inputs)]
    names = {port.name for port in carried}
    fresh = [[port for port in step.inputs if port.name not in names] for step in steps]
    made = [[port for port in step.outputs if port.name not in names] for step in steps]
    queue: list[Type] = [_type_of(step, port) for step, ports in zip(steps, fresh, strict=True) for port in ports]
    held: list[Type] = [_type_of(first, port) for port in carried]
    results: list[Type] = []
    # Wires in flight: carried values, inputs of the steps to come, results of the steps done.
    stages = [identity(*held, *queue)]
    for step, wanted, produced in zip(steps, fresh, made, strict=True):
        arrow = step.arrow
        in_order = [p.name for p in carried] + [p.name for p in wanted]
        out_order = [p.name for p in step.outputs]
        entering = permute([*held, *queue[: len(wanted)]], [in_order.index(port.name) for port in step.inputs])
        leaving = permute(arrow.target, [out_order.index(p.name) for p in (*carried, *produced)])
        queue = queue[len(wanted) :]
        new: list[Type] = [arrow.target[out_order.index(p.name)] for p in produced]
        stages.append(tensor(compose(entering, arrow, leaving), identity(*queue, *results)))
        h, n, q, r = ranges(held, new, queue, results)
        stages.append(permute([*held, *new, *queue, *results], [*h, *q, *r, *n]))
        results += new
    return replace(
        first,
        arrow=compose(*stages),
        inputs=(*_as_inputs(first, carried), *_numbered(fresh)),
        outputs=(*carried, *_numbered(made)),
        examples=tuple(_joined(batches, names) for batches in zip(*(step.examples for step in steps), strict=False)),
    )


def _as_inputs(step: Program, carried: Sequence[Port[Fixed | None]]) -> list[Port[Fixed]]:
    inputs = {port.name: port for port in step.inputs}
    return [inputs[port.name] for port in carried]


def _numbered(groups: Sequence[Sequence[Port[AnyFormat]]]) -> list[Port[AnyFormat]]:
    return [replace(port, name=f"{port.name}.{n}") for n, ports in enumerate(groups, 1) for port in ports]


def _joined(batches: Sequence[Mapping[str, Values]], names: set[str]) -> dict[str, Values]:
    """Return one example of the composed program: carried values from the first step's example, other values under
    numbered names.
    """
    carried = {name: value for name, value in batches[0].items() if name in names}
    rest = {f"{k}.{n}": v for n, batch in enumerate(batches, 1) for k, v in batch.items() if k not in names}
    return carried | rest


def _type_of(step: Program, port: Port[Fixed | None]) -> Type:
    return step.arrow.source[[p.name for p in step.inputs].index(port.name)]


def ranges(*groups: Sequence[Type]) -> list[range]:
    """Return the positions of each group in a list in which the groups follow one another."""
    ends = np.cumsum([len(group) for group in groups]).tolist()
    return [range(end - len(group), end) for end, group in zip(ends, groups, strict=True)]
