"""Programs as Plonkish systems: a layer with shift and ReLU, roots, refusals, failures by name, sizes as estimated."""

from __future__ import annotations

import numpy as np
import pytest
from plonkish_programs import Run, fill, layer, require_outputs, smallest, vector
from r1cs_programs import program, single

from circuitize.backends.field import BN254
from circuitize.backends.plonkish.checker import first_failure
from circuitize.backends.plonkish.cost import Sizes, estimate, search
from circuitize.backends.plonkish.emit import emit
from circuitize.backends.plonkish.lay_out import lay_out
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError, Undefined
from circuitize.circuits.port import Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed


def defined(given: IntegerProgram, seed: int = 1) -> Run:
    emission = smallest(given)
    for attempt in range(100):
        chosen = vector(given, seed + attempt)
        try:
            run = fill(emission, given, chosen)
        except Undefined:
            continue
        require_outputs(run, given, chosen)
        return run
    raise AssertionError("the program is hardly ever defined")


@pytest.mark.parametrize("visibility", [Visibility.PUBLIC, Visibility.COMMITTED], ids=lambda v: v.value)
def test_a_layer_is_the_integers_and_its_roots_those_of_r1cs(visibility: Visibility) -> None:
    run = defined(layer(visibility))
    assert run.failure() is None
    assert not run.mutants(np.random.default_rng(0)).cells


@pytest.mark.parametrize("k", [8, 9, 11])
def test_every_k_is_the_same_program(k: int) -> None:
    given = layer()
    emission = emit(given, k)
    run = fill(emission, given, vector(given, 3))
    assert run.failure() is None
    require_outputs(run, given, vector(given, 3))
    assert emission.system.k <= k


def test_a_failure_is_named() -> None:
    run = defined(layer())
    system = run.emission.system
    column = next(i for i, (unit, _) in enumerate(system.provenance.columns) if unit.startswith("range"))
    told = set()
    for own in range(column, column + 3):
        advice = [limbs.copy() for limbs in run.advice]
        advice[own][0] = BN254.from_integers([BN254.to_integers(advice[own][:1])[0] + 1])[0]
        told.add(run.failure(advice))
    assert all(text is not None and "range" in text and "element 0" in text for text in told)
    instance = [limbs.copy() for limbs in run.instance]
    instance[0][0] = BN254.from_integers([5000])[0]
    wrong = run.failure(instance=instance)
    assert wrong is not None and wrong.startswith("copy")


def test_programs_that_say_nothing_are_refused() -> None:
    with pytest.raises(CircuitizeError, match="binds"):
        emit(layer(Visibility.PRIVATE))


def test_sizes_are_those_of_the_system() -> None:
    given = layer(Visibility.COMMITTED)
    for sizes in search(given):
        system = emit(given, sizes.layout.k).system
        counted = (sizes.layout.rows, sizes.advice, sizes.fixed, sizes.lookups, len(sizes.layout.instance))
        assert counted == (system.rows, system.advice, len(system.fixed), len(system.lookups), *system.instance)
        assert sizes.permuted >= len(system.permuted)
        assert system.k <= sizes.layout.k
    assert estimate(given)["rows"] == emit(given).system.rows


def test_less_memory_takes_another_layout() -> None:
    given = layer(Visibility.COMMITTED)
    found = search(given)
    least = min(sizes.bytes for sizes in found)
    assert all(sizes.bytes <= least for sizes in search(given, least))
    with pytest.raises(CircuitizeError, match="more memory"):
        search(given, least - 1)


def test_a_small_k_is_refused() -> None:
    for k in (-1, 0, 3, 25):
        with pytest.raises(CircuitizeError, match="expected k from 4 to 24"):
            emit(layer(), k)
    with pytest.raises(CircuitizeError, match="larger k"):
        lay_out(layer(Visibility.COMMITTED), 5)


def test_the_cheapest_layout_is_chosen() -> None:
    given = layer()
    found: list[Sizes] = search(given)
    assert [sizes.seconds for sizes in found] == sorted(sizes.seconds for sizes in found)
    assert (1 << found[0].layout.k) >= emit(given).system.rows


def private_layer(interval: tuple[int, int]) -> IntegerProgram:
    """x W for committed x and private W, of which nothing else is read."""
    made = single(integers.Contract("bi,ij->bj"), Fixed((2, 8), 0, -64, 63), Fixed((8, 12), 0, *interval))
    return made.with_visibility(in1=Visibility.PRIVATE)


@pytest.mark.parametrize("interval", [(-128, 127), (0, 7), (-60, 131)])
def test_private_operands_are_limbs_and_nothing_else(interval: tuple[int, int]) -> None:
    run = defined(private_layer(interval))
    units = [placed.unit.name for placed in run.emission.plan.layout.units]
    assert "ranged fold 0" in units and run.failure() is None
    found = run.mutants(np.random.default_rng(1))
    assert found.used.any() and not found.cells
    system = run.emission.summed
    cells = system.fill(run.filling)
    drawn = [*run.challenges, 3**90, 5**80]
    advice = [*cells.first(), *cells.second(drawn)]
    assert first_failure(system.system, advice, cells.instance(), drawn) is None


def test_operands_that_are_read_elsewhere_keep_their_cells() -> None:
    builder = Builder()
    x, w = builder.input(Fixed((2, 8), 0, -64, 63)), builder.input(Fixed((8, 12), 0, -128, 127))
    sums = builder.add(integers.Contract("bi,ij->bj"), x, w)
    made = program(builder.build([sums, builder.add(integers.Multiply(), w, w)]))
    run = defined(made.with_visibility(in1=Visibility.PRIVATE))
    assert not any(placed.unit.name.startswith("ranged") for placed in run.emission.plan.layout.units)
    assert run.failure() is None


def test_uneven_intervals_are_not_fused() -> None:
    run = defined(private_layer((-100, 3000)))
    assert not any(placed.unit.name.startswith("ranged") for placed in run.emission.plan.layout.units)
    assert run.failure() is None
