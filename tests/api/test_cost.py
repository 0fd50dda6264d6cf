"""`cz.cost`: what a program moves, read for a cache, for hardware and for the prover of a run."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_programs import step as unbound
from example_programs import example

import circuitize as cz
from circuitize.backends.tensor.errors import Unprovable
from circuitize.backends.verilog.folded.schedule import schedule
from circuitize.circuits.cost import products
from circuitize.provers.tensor import cost as tensor
from circuitize.provers.tensor.plan import plan

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "cost.md"


def test_totals_and_readings_are_those_of_the_groups() -> None:
    step = example("iris.py:step").given
    found = cz.cost(step, memory=500)
    assert found.moved == sum(group.moved for group in found.groups) < found.moved_apart
    assert found.held == max(group.held for group in found.groups) <= 500 and not found.misfits
    together = [edge for group in found.groups for edge in group.operations]
    assert len(set(together)) == len(together) <= found.operations
    for each in found.contractions:
        assert each.least is not None and each.moved >= each.least
    read = found.bytes(2)
    assert (read["moved_bytes"], read["memory_bytes"]) == (2 * found.moved, 1000)
    clocks = found.cycles(lanes=4, words_per_clock=2)
    assert clocks["cycles_at_least"] == sum(max(-(-g.products // 4), -(-g.moved // 2)) for g in found.groups)
    assert "words moved" in repr(found) and found.json()["moved_words"] == found.moved


def test_more_memory_never_moves_more() -> None:
    step = example("iris.py:step").given
    moved = [sum(each.moved for each in cz.cost(step, memory=memory).apart) for memory in (20, 80, 320, 10**6)]
    assert moved == sorted(moved, reverse=True)
    assert cz.cost(step, memory=2).misfits


@pytest.mark.deep
def test_no_folded_design_is_quicker_than_the_clocks_that_products_take() -> None:
    """Its memories are on the chip, so words that are moved do not bound it."""
    program = example("digits.py:predict")
    found = cz.cost(program.given)
    assert found.products == products(program.integer.arrow)
    for lanes in (8, 32):
        report = schedule(program.integer, lanes=lanes).report
        assert report["interval_cycles"] >= found.cycles(lanes=report["lanes"])["computing_cycles"]


def test_a_run_in_chunks_is_what_its_plans_commit_to() -> None:
    program = example("iris.py:step")
    chunks = cz.run_cost(program.given, steps=5)
    assert [(chunk.steps, chunk.proofs) for chunk in chunks] == [(1, 5), (2, 3), (4, 2), (5, 1)]
    held = sum(port.format.size for port in program.integer.inputs if port.held)
    fed = sum(port.format.size for port in program.integer.inputs if not port.held)
    assert [chunk.moved_words for chunk in chunks] == [2 * held * chunk.proofs + 5 * fed for chunk in chunks]
    words = [chunk.held_words for chunk in chunks]
    assert words == sorted(words) and words[0] > tensor.sizes(plan(program.integer))["committed"] // 2
    assert all(chunk.prover_bytes > 0 and chunk.proof_bytes > 0 for chunk in chunks)


def test_what_is_refused() -> None:
    step = example("iris.py:step").given
    for wrong in (0, -1, 1.5, True, "many"):
        with pytest.raises(cz.CircuitizeError, match="memory: expected a whole number of at least 1"):
            cz.cost(step, memory=wrong)  # type: ignore[arg-type]
    with pytest.raises(cz.CircuitizeError, match="expected an arrow or a program, found int"):
        cz.cost(3)  # type: ignore[arg-type]
    with pytest.raises(cz.CircuitizeError, match="word: expected"):
        cz.cost(step).bytes(0)
    with pytest.raises(cz.CircuitizeError, match="lanes: expected"):
        cz.cost(step).cycles(lanes=0)
    with pytest.raises(cz.CircuitizeError, match="steps: expected 1 to"):
        cz.run_cost(step, steps=0)
    with pytest.raises(Unprovable):
        cz.run_cost(unbound())


@pytest.mark.parametrize(
    "name",
    [
        *("iris.py:step", "digits.py:step"),
        *(
            pytest.param(name, marks=pytest.mark.deep)
            for name in ("cnn.py:step", "transformer.py:step", "transformer.py:spherical_step")
        ),
    ],
)
def test_the_page_has_the_figures(name: str) -> None:
    found = cz.cost(example(name).given, memory=4096)
    figures = (found.operations, found.moved_apart, found.moved, len(found.groups), found.cycles()["cycles_at_least"])
    assert f"| `{name}` | " + " | ".join(f"{figure:,}" for figure in figures) + " |" in PAGE.read_text()
