"""Stages that readers compute again: the same values, undefined in the same frames, in fewer memories."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from every_case import every_case
from pooled_steps import frames, step
from stage_values import FAR, HIGH, INPUT, SIZE, Integers, constant, elementwise, random_graph, reading, results
from tiers import count

from circuitize.backends.verilog.folded import rematerialization, schedule
from circuitize.backends.verilog.folded.folding import fold
from circuitize.backends.verilog.folded.graph import REDUCED, Graph, Stage
from circuitize.backends.verilog.folded.lane_text import literal_operand
from circuitize.backends.verilog.folded.rematerialization import rematerialized
from circuitize.backends.verilog.folded.terms import Terms
from circuitize.circuits.integers import Check, Divide, Lookup, ReLU, Scale
from circuitize.circuits.operation import Operation
from circuitize.sims.rtl import Simulation, compare, expected

EACH = np.arange(SIZE)
PADDED = np.where(EACH % 2, EACH, -1)
HALF = np.full(SIZE, 3)


@pytest.fixture
def everything() -> Iterator[None]:
    """All stages are left out that may be."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rematerialization, "LEAST", 0)
        patch.setattr(rematerialization, "BITS", 0)
        yield


def test_values_stay_the_same(everything: None) -> None:
    """Of random stages, which are read padded, shuffled and twice, some of them undefined."""
    left_out = undefined = 0
    for seed in range(count(300, deep=5000)):
        graph = random_graph(seed)
        made, draw = rematerialized(graph), np.random.default_rng(seed)
        left_out += len(graph.stages) - len(made.stages)
        for _ in range(4):
            start = {INPUT: draw.integers(-HIGH, HIGH + 1, SIZE)}
            wanted, found = results(graph, start), results(made, start)
            assert (wanted is None) == (found is None), seed
            undefined += wanted is None
            for one, other in zip(wanted or [], found or [], strict=True):
                np.testing.assert_array_equal(one, other)
    assert left_out > 300 and undefined > 100


def chain(read: Integers, *operations: Operation, reads: int = 1, high: int = HIGH) -> Graph:
    """A stage of operations on the input and a constant 3, and stages that read its result."""
    first = elementwise(1, [reading("x0", INPUT, EACH, (-HIGH, high)), constant("x1", HALF, EACH)], *operations)
    later = [elementwise(2 + k, [reading("x0", 1, read)], Scale(-1, 0)) for k in range(reads)]
    return Graph([first, *later], [(stage.wire, EACH) for stage in later])


def summing(graph: Graph) -> Graph:
    """The graph with a last stage that adds up what it reads."""
    last = graph.stages[-1]
    terms = reading("x0", 1, Terms.of(EACH[:, None]))
    made = Stage(last.wire, last.format, last.provenance, reduction="sum", terms=1, term="x0", reduced=(-FAR, FAR))
    made.operands, made.result = [terms], REDUCED
    return Graph([*graph.stages[:-1], made], graph.outputs)


def padded(read: Integers) -> Graph:
    """A stage that reads 0 for its first element, and a reader."""
    first = elementwise(1, [reading("x0", INPUT, EACH - 1)], ReLU())
    return Graph([first, elementwise(2, [reading("x0", 1, read)], Scale(-1, 0))], [(2, EACH)])


def varied(read: Integers) -> Graph:
    """A stage that adds a constant of several numbers, and a reader."""
    first = elementwise(1, [reading("x0", INPUT, EACH), constant("x1", EACH, EACH)], ReLU())
    return Graph([first, elementwise(2, [reading("x0", 1, read)], Scale(-1, 0))], [(2, EACH)])


def bounded(graph: Graph) -> Graph:
    """The graph with a first operation whose interval does not hold 3."""
    first = graph.stages[0]
    return replace(
        graph, stages=[replace(first, nodes=[replace(first.nodes[0], low=4), *first.nodes[1:]]), *graph.stages[1:]]
    )


@every_case(
    [
        ("one reader of each element", chain(EACH), True),
        ("two readers", chain(EACH, reads=2), True),
        ("a reader of a part", chain(0 * EACH), True),
        ("a Check, all of whose elements are read", chain(EACH[::-1], Check(-FAR, FAR)), True),
        ("a Check, only a part of which is read", chain(0 * EACH, Check(-FAR, FAR)), False),
        ("padding, where the operations make 3", chain(PADDED), False),
        ("padding, where they make 0", chain(PADDED, Scale(0, 0)), True),
        ("padding, where a Check would fail", chain(PADDED, ReLU(), Check(4, FAR), Scale(0, 0)), False),
        ("padding, of an interval without 0", chain(PADDED, Scale(0, 0), high=-1), False),
        ("padding, where a value on the way would be outside", bounded(chain(PADDED, Scale(0, 0))), False),
        ("padding alone", chain(0 * EACH - 1, Scale(0, 0)), False),
        ("only padding of what the stage reads", padded(0 * EACH), False),
        ("padding of it and an element", padded(EACH % 2), True),
        ("one of several numbers", varied(0 * EACH), False),
        ("two of them", varied(EACH % 2), True),
        ("terms of a sum", summing(chain(EACH)), False),
        ("a table", chain(EACH, Lookup(-HIGH, np.zeros(2 * HIGH + 8, np.int64), 0)), False),
        ("a product that takes a multiplier", chain(EACH, Scale(1001, 0)), False),
    ]
)
def test_which_stages_are_left_out(name: str, graph: Graph, gone: bool, everything: None) -> None:
    made = rematerialized(graph)
    assert (len(made.stages) < len(graph.stages)) == gone, name
    assert all(operand.wire != 1 for stage in made.stages for operand in stage.operands) == gone, name


def test_a_number_stays_a_number_and_a_copy_a_copy(everything: None) -> None:
    """Where a reader reads 0, a constant of the stage is not 0; and a stage may have no operation of its own."""
    (made,) = rematerialized(chain(PADDED, Scale(0, 0))).stages
    assert [literal_operand(operand) for operand in made.operands] == [None, 3]
    graph = chain(EACH[::-1])
    copy = replace(graph.stages[1], operands=[reading("x0", 1, EACH[::-1])], nodes=[], result="x0")
    graph, start = replace(graph, stages=[graph.stages[0], copy]), {INPUT: EACH - 9}
    (made,) = rematerialized(graph).stages
    wanted, found = results(graph, start), results(Graph([made], graph.outputs), start)
    assert wanted is not None and found is not None
    np.testing.assert_array_equal(wanted, found)


def test_outputs_and_checks_that_nothing_reads_stay(everything: None) -> None:
    graph = chain(EACH)
    shown = Graph(graph.stages, [*graph.outputs, (1, EACH)])
    assert len(rematerialized(shown).stages) == 2
    alone = Graph([elementwise(1, [reading("x0", INPUT, EACH)], Check(-9, 9))], [])
    assert len(rematerialized(alone).stages) == 1


def test_small_results_and_costly_operations_are_kept() -> None:
    assert len(rematerialized(chain(EACH)).stages) == 2
    assert Divide in rematerialization.COSTLY
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rematerialization, "LEAST", 0)
        assert len(rematerialized(chain(EACH)).stages) == 1
        assert len(rematerialized(chain(EACH, reads=2)).stages) == 3


@pytest.mark.parametrize("lanes", [None, 4])
def test_a_step_with_max_pooling_equals_the_executors(lanes: int | None, everything: None) -> None:
    """Also with gaps and stalls; some of its frames are undefined. Reports say the clocks."""
    program, initial = step()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            import_module("circuitize.backends.verilog.folded.folding"), "rematerialized", lambda graph: graph
        )
        before = len(fold(program).stages)
    assert len(fold(program).stages) <= before - 6
    made, vectors = schedule(program, initial, lanes=lanes), frames(count(6, deep=20), seed=1)
    wanted = expected(program, vectors, initial)
    assert 0 < wanted.undefined.sum() < len(wanted.undefined)
    with Simulation(made) as simulation:
        found = simulation.run(vectors)
        for beats in (found, simulation.run(vectors, 1)):
            assert compare(beats, wanted).first_difference is None
    assert found.latency_cycles == made.report["latency_cycles"]
    assert found.interval_cycles == made.report["interval_cycles"]
