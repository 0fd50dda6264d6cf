"""What programs cost, in tests/golden/cost.csv so that any change shows in review; estimates equal what is emitted."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from integers_cases import cases
from r1cs_programs import single

from circuitize.backends.r1cs.cost import estimate
from circuitize.backends.r1cs.emit import emit
from circuitize.circuits.program import Program
from circuitize.cli.loading import load_program

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
PROGRAMS = [
    *("iris.py:step", "iris.py:predict", "digits.py:step", "digits.py:predict", "dense.py:small", "dense.py:large"),
    *("mnist_mlp.py:predict", "mnist_mlp.py:step", "mnist_mlp.py:step64"),
]
COLUMNS = ("constraints", "wires", "public", "nonzeros", "input_range_constraints")


@cache
def sizes(name: str) -> dict[str, int]:
    found = estimate(example(name))
    return {column: found[column] for column in COLUMNS}


def example(name: str) -> Program:
    return load_program(str(EXAMPLES / name)).integer


def test_costs_are_golden(golden: Callable[[str, str | bytes], None]) -> None:
    table = io.StringIO()
    writer = csv.DictWriter(table, ["program", *COLUMNS], extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for name in PROGRAMS:
        writer.writerow({"program": f"examples/{name}", **sizes(name)})
    for case in cases():
        sources = " x ".join(map(str, case.sources))
        writer.writerow(
            {"program": f"{case.operation.name} {sources}".strip(), **estimate(single(case.operation, *case.sources))}
        )
    golden("cost.csv", table.getvalue())


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow if "step64" in n else ()) for n in PROGRAMS])
def test_estimates_equal_what_is_emitted(name: str) -> None:
    system = emit(example(name)).system
    emitted = {column: getattr(system, column) for column in COLUMNS[:4]}
    assert emitted == {column: sizes(name)[column] for column in COLUMNS[:4]}


def test_every_example_is_listed() -> None:
    assert {name.partition(":")[0] for name in PROGRAMS} == {path.name for path in EXAMPLES.glob("*.py")}


def test_the_digits_step_fits_its_domain() -> None:
    """At most 2^18 rows, public inputs included: with more, proving would need twice the domain."""
    found = sizes("digits.py:step")
    assert found["constraints"] + found["public"] + 1 <= 1 << 18


@pytest.mark.parametrize(("name", "most"), [("dense.py:small", 450), ("dense.py:large", 103_552)])
def test_dense_layers_cost_what_they_must(name: str, most: int) -> None:
    """A row per product, and 24 bits and a product per output; besides the range checks of inputs."""
    found = sizes(name)
    assert found["constraints"] - found["input_range_constraints"] <= most
