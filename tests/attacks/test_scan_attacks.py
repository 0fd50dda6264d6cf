"""Steps that one proof says were done in turn: trajectories that are not, and each defence removed.

By proofs that hide nothing: the prover of others refuses false values, and their plans say the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tensor_proofs import both
from tensor_runs import chunk_inputs, run_of, values_of

from circuitize.backends.tensor import drafting
from circuitize.backends.tensor.forms import Column
from circuitize.backends.tensor.groups import DATA, INPUT, OUTPUT
from circuitize.circuits import scan as scanning
from circuitize.circuits.hypergraph import fold
from circuitize.circuits.integers import Check
from circuitize.circuits.program import IntegerProgram
from circuitize.provers.tensor.plan import Plan, plan
from circuitize.provers.tensor.prover import Proved, prove_values
from circuitize.provers.tensor.runs.setting import Run

COUNT = 4
Inputs = Mapping[str, Any]


@pytest.fixture
def run() -> Run:
    return run_of(steps=COUNT, per_proof=COUNT, zero_knowledge=False)


def unchecked(made: Plan, inputs: Inputs) -> list[Any]:
    """All values as the arrow computes them, whatever its Checks say."""

    def value(_: int, operation: Any, sources: list[Any]) -> Any:
        return sources if isinstance(operation, Check) else operation.run(*sources)

    given = [np.asarray(inputs[name], np.int64) for name in made.inputs]
    return [wire for wire in fold(made.arrow, given, value, keep=True) if wire is not None]


def forged(program: IntegerProgram, made: Plan, run: Run, inputs: Inputs, trace: list[Any] | None = None) -> Proved:
    """The proof that the prover makes on these inputs, which need be no run of the steps."""
    trace = trace or unchecked(made, inputs)
    values = made.values(trace, run.rows(1))
    for name, base in made.tensors.items():
        values[base] = np.ascontiguousarray(values_of(run)[1][name])
    return prove_values(program, made, trace, values)


def refusal(program: IntegerProgram, made: Plan, found: Proved) -> str | None:
    """What both verifiers say of a proof whose roots are known to be in format."""
    known = {name: root for (side, name), root in found.statement.roots.items() if side == INPUT}
    return both(program, found.statement, found.proof, made, b"", known)


def honest(run: Run) -> Inputs:
    return chunk_inputs(run, *values_of(run), 1)


def test_what_is_attacked_holds(run: Run) -> None:
    chunk = run.chunk(1)
    assert refusal(chunk.program, chunk.plan, forged(chunk.program, chunk.plan, run, honest(run))) is None


def trajectories(run: Run, inputs: Inputs) -> Iterator[tuple[str, Inputs]]:
    """Other trajectories of all that steps hand on, in format."""
    for one in run.chunk(1).scan.trajectories[1::2]:
        own = inputs[one.entering]
        for what, other in (
            ("swapped within", own[[0, 2, 1, 3]]),
            ("shifted by one slice", np.concatenate([own[1:], own[-1:]])),
            ("another start", np.concatenate([own[1:2], own[1:]])),
            ("a step that changes nothing", np.concatenate([own[:2], own[1:3]])),
            ("a step left out", own[[0, 1, 3, 3]]),
        ):
            if not np.array_equal(other, own):
                yield f"{one.first}: {what}", {**inputs, one.entering: np.ascontiguousarray(other)}


def equated(run: Run) -> tuple[IntegerProgram, Plan]:
    """The same program, with what enters steps as columns of their own and the Check as an equation."""
    chunk = run.chunk(1)
    return chunk.program, plan(chunk.program, assumed=chunk.plan.assumed, dataset=chunk.plan.dataset)


def test_no_trajectory_but_the_steps_own(run: Run) -> None:
    """Of a program whose trajectories are columns of their own, an equation refuses every other one."""
    program, made = equated(run)
    inputs = honest(run)
    assert refusal(program, made, forged(program, made, run, inputs)) is None
    others = dict(trajectories(run, inputs))
    assert len(others) == 10
    for what, other in others.items():
        assert refusal(program, made, forged(program, made, run, other)), what


def test_what_leaves_is_what_enters(run: Run) -> None:
    """In the plan of a run one column is what leaves a step and enters the next: another one has other next steps."""
    chunk, inputs = run.chunk(1), honest(run)
    for one in chunk.scan.trajectories:
        leaving = chunk.plan.outputs.index(one.leaving)
        trace = unchecked(chunk.plan, inputs)
        wire = int(chunk.plan.arrow.outputs[leaving])
        for order in ([1, 0, 2, 3], [0, 0, 2, 3]):
            other = list(trace)
            same = [w for w, values in enumerate(trace) if values is trace[wire] or np.array_equal(values, trace[wire])]
            for own in same:
                other[own] = np.ascontiguousarray(trace[wire][order])
            if not np.array_equal(other[wire], trace[wire]):
                found = forged(chunk.program, chunk.plan, run, inputs, other)
                assert refusal(chunk.program, chunk.plan, found), (one.first, order)


def test_another_end_is_refused(run: Run) -> None:
    """The root that a proof ends with holds what the last step leaves, and no earlier one."""
    chunk, inputs = run.chunk(1), honest(run)
    trace = unchecked(chunk.plan, inputs)
    wires = dict(zip(chunk.plan.outputs, chunk.plan.arrow.outputs.tolist(), strict=True))
    for one in chunk.scan.trajectories:
        leaving, final = wires[one.leaving], wires[one.first]
        other = list(trace)
        other[final] = np.ascontiguousarray(trace[leaving][-2])
        assert refusal(chunk.program, chunk.plan, forged(chunk.program, chunk.plan, run, inputs, other))


def test_without_the_check_any_trajectory_is_proved(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The defence removed: a step that begins with weights that no step left is then proved."""
    monkeypatch.setattr(scanning, "_hand_on", lambda *_: None)
    free = replace(run)
    program, made = equated(free)
    accepted = 0
    for _, other in trajectories(free, honest(free)):
        accepted += refusal(program, made, forged(program, made, free, other)) is None
    assert accepted == 10


def test_without_the_shift_of_time_a_step_feeds_itself(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were what enters a step taken from the same slice of what leaves, the program's own Check would refuse it."""
    entering = drafting._entering

    def late(draft: Any, arrow: Any, wire: int, first: Any, leaving: int) -> Any:
        entering(draft, arrow, wire, first, leaving)
        return draft.expected[leaving]

    monkeypatch.setattr(drafting, "_entering", late)
    shifted = replace(run)
    chunk = shifted.chunk(1)
    assert len(chunk.plan.zeros) > len(run.chunk(1).plan.zeros)
    assert refusal(chunk.program, chunk.plan, forged(chunk.program, chunk.plan, shifted, honest(run)))


def test_the_groups_of_a_chunk_are_those_of_its_step(run: Run) -> None:
    keys = {(INPUT, "parameters"), (INPUT, DATA), (OUTPUT, "parameters")}
    chunk = run.chunk(1)
    assert set(chunk.plan.groups) == keys
    inner = [base for base in chunk.plan.bases if isinstance(base, Column) and base.commitment == len(keys)]
    assert inner and all(base.shape[0] in (1, COUNT) or "counts" in base.name for base in inner if base.shape)
