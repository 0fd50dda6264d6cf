"""The counts of `benchmarks/tensor_roofline.py` are those of the prover's loops, round by round, at several sizes."""

from __future__ import annotations

import sys
from importlib import util
from pathlib import Path

import pytest
from example_programs import example

from circuitize.provers.tensor.plan import plan

ROOT = Path(__file__).resolve().parents[3]
spec = util.spec_from_file_location("tensor_roofline", ROOT / "benchmarks" / "tensor_roofline.py")
assert spec and spec.loader
roofline = util.module_from_spec(spec)
sys.modules[spec.name] = roofline
spec.loader.exec_module(roofline)


def products_of_tree(degree: int, fractions: int, depth: int) -> float:
    """Products of the base field: sums of the tree, then each level's rounds, one after the other."""
    product = {2: 3, 3: 6}[degree]
    half = 1 << (depth - 1)
    active = fractions - half
    found: float = active * product
    for level in range(2, depth + 1):
        found += (1 << (depth - level)) * 3 * product
    for level in range(1, depth):
        entries = 1 << (depth - level - 1)
        found += entries * product + entries // 2 * 6 * product
        while entries > 1:
            entries //= 2
            found += 4 * entries * product + entries // 2 * 6 * product
    # The leaves, whose numerators are 1 and whose denominators differ in the base field: rounds one, two, others.
    for own, tables, sums in ((active, 4, 6), (half - active, 2, 1)):
        first = 3 * product + degree + 1 if tables == 4 else product + degree
        found += own / 2 * first
        rest = own / 2
        found += rest * (tables // 2 * degree + product) + rest / 2 * sums * product
        while rest > 1:
            rest /= 2
            found += tables * rest * product + rest / 2 * sums * product
    return found


@pytest.mark.parametrize("degree", [2, 3])
@pytest.mark.parametrize("depth", [13, 16])
@pytest.mark.parametrize("full", [0.5, 0.75, 1.0])
def test_products_of_a_tree_are_those_of_its_rounds(degree: int, depth: int, full: float) -> None:
    fractions = int(full * (1 << depth))
    found = roofline.tree(degree, fractions, depth).products
    assert found == pytest.approx(products_of_tree(degree, fractions, depth), rel=0.01)


@pytest.mark.parametrize("size", [1 << 10, 1 << 14])
@pytest.mark.parametrize("number", [1, 2, 4])
def test_products_of_rounds_are_those_of_what_is_bound_and_summed(size: int, number: int) -> None:
    found, moved, left = 0, 0, size
    for _ in range(number):
        moved += 2 * left * 16 + left * 16
        left //= 2
        found += 2 * left * 3 + left // 2 * 2 * 3
    counts = roofline.rounds(2, size, number)
    assert (counts.products, counts.moved) == (found, moved)


def test_every_phase_of_a_step_takes_time_and_lookups_grow_with_what_is_looked_up() -> None:
    """Of two programs the phases are counted; a commitment's hashes are those of its leaves, salts and nodes."""
    rates = roofline.Counts(1e9, 1e8, 1e10)
    found = [roofline.counted(plan(example(name).integer)) for name in ("iris.py:step", "digits.py:step")]
    for counts in found:
        assert list(counts) == list(roofline.PHASES)
        assert all(min(own.seconds(rates)) > 0 for own in counts.values())
    small, large = found
    assert all(large[phase].products > small[phase].products for phase in roofline.PHASES)
    made = plan(example("iris.py:step").integer)
    leaves = [1 << (table.bits + table.rate - table.fold) for table in made.layout.tables]
    # 16 words and a salt are 144 bytes, three blocks.
    assert small["commit"].compressions == sum(5 * own for own in leaves)
