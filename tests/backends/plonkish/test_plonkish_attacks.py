"""Provers who lie: other hints, limbs of another width, sums chosen late, other indices; factors past 2^62."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from plonkish_programs import Run, fill, fill_trace, layer, smallest, vector
from r1cs_programs import chain, program, single

from circuitize.backends.field import BN254, Limbs
from circuitize.backends.plonkish.checker import describe, failures, first_failure
from circuitize.backends.plonkish.emit import emit
from circuitize.backends.plonkish.grid import Grid
from circuitize.backends.plonkish.tasks import Fold, Hint, Range
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError, OverflowRisk, Undefined
from circuitize.circuits.lowering import Precision
from circuitize.circuits.program import IntegerProgram, Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.types import Fixed
from circuitize.frontends import training
from circuitize.frontends.formats import Format
from circuitize.frontends.layers import dense, relu, sequential
from circuitize.frontends.losses import mean_squared_error
from circuitize.frontends.optimizers import SGD
from circuitize.sims import integer

Trace = list[NDArray[np.int64]]


def fixed(low: int, high: int, *shape: int) -> Fixed:
    return Fixed(shape, 0, low, high)


def two_signs() -> IntegerProgram:
    """IsNegative and ReLU of one wide wire."""
    builder = Builder()
    x = builder.input(fixed(-(1 << 40), 1 << 40, 3))
    return program(builder.build([builder.add(integers.IsNegative(), x), builder.add(integers.ReLU(), x)]))


HINTED = {
    "shift": chain(fixed(-(1 << 30), 1 << 30, 3), integers.Shift(7)),
    "shift and check": chain(fixed(-(1 << 20), 1 << 20, 3), integers.Shift(5), integers.Check(-(1 << 16), 1 << 15)),
    "divide": single(integers.Divide(), fixed(-500, 90000, 3), fixed(1, 700, 3)),
    "square root": single(integers.SquareRoot(), fixed(0, 1 << 34, 3)),
    "contract": single(integers.Contract("ij,jk->ik"), fixed(-99, 99, 6, 8), fixed(-99, 99, 8, 7)),
}


def hinted_wire(given: IntegerProgram) -> int:
    """The wire whose values the prover chooses: the first operation's target."""
    return int(given.arrow.edge(0).targets[0])


def honest(given: IntegerProgram, seed: int = 2) -> tuple[dict[str, NDArray[np.int64]], Trace]:
    random = np.random.default_rng(seed)
    for _ in range(200):
        chosen = {
            p.name: random.integers(p.format.low, p.format.high, p.format.shape, endpoint=True)
            for p in given.inputs
            if p.format
        }
        try:
            return chosen, list(integer.trace(given, chosen))
        except Undefined:
            continue
    raise AssertionError("the program is hardly ever defined")


@pytest.mark.parametrize("name", HINTED)
@pytest.mark.parametrize("step", [1, -1, 3, -(1 << 20), 1 << 33])
def test_other_hints_are_rejected(name: str, step: int) -> None:
    given = HINTED[name]
    emission = smallest(given)
    _, trace = honest(given)
    wire = hinted_wire(given)
    for element in (0, trace[wire].size - 1):
        forged = [value.copy() for value in trace]
        forged[wire].reshape(-1)[element] += step
        try:
            assert fill_trace(emission, forged).failure() is not None
        except Undefined:
            continue  # the forger himself finds no cells


def test_signs_are_not_the_provers_choice() -> None:
    given = two_signs()
    emission = smallest(given)
    inputs, _ = honest(given)
    # The sign's variables are the only hint beside the input: ask for the sign of another number.
    signs = [task for task in emission.plan.tasks if isinstance(task, Hint)][1:]
    assert len(signs) == 1
    run = fill(emission, given, inputs)
    for element in range(3):
        advice = with_variable(run, signs[0].first + element, lambda value: 1 - value)
        told = run.failure(advice)
        assert told is not None
    assert run.failure() is None


def test_a_sign_is_no_fraction() -> None:
    """Of n + 1 / half in place of n, x + half - half n is 1 less, and so is its lowest limb: only n n = n is broken."""
    half = 1 << 4
    given = single(integers.IsNegative(), fixed(-half, half - 1))
    emission = smallest(given)
    run = fill(emission, given, {"in0": np.array(7)})
    (sign,) = [task for task in emission.plan.tasks if isinstance(task, Hint)][1:]
    fraction = pow(half, -1, BN254.prime)
    run = replace(run, advice=with_variable(run, sign.first, lambda value: value + fraction))
    output = int(emission.plan.layout.instance[0])
    run = replace(run, advice=with_variable(run, output, lambda value: value - fraction))
    instance = [limbs.copy() for limbs in run.instance]
    instance[0][0] = BN254.from_integers([-fraction])[0]
    left = []
    for column in range(len(run.advice)):
        advice = [limbs.copy() for limbs in run.advice]
        (value,) = BN254.to_integers(advice[column][:1])
        advice[column][:1] = BN254.from_integers([value - 1])
        found = failures(emission.system, advice, instance, run.challenges)
        left.append([describe(emission.system, failure, lambda edge: "sign") for failure in found])
    assert min(left, key=len) == ["gate dot[0] product, row 0: sign, element 0, sign"]


def with_variable(run: Run, variable: int, change: object) -> list[Limbs]:
    """The advice with every cell of a variable changed alike, so that all copies hold."""
    advice = [limbs.copy() for limbs in run.advice]
    for column, row in np.argwhere(run.emission.plan.layout.cells == variable):
        (value,) = BN254.to_integers(advice[column][row : row + 1])
        advice[column][row] = BN254.from_integers([change(value)])[0]  # type: ignore[operator]
    return advice


def test_a_limb_of_another_width_is_rejected() -> None:
    """A remainder of 7 bits, one limb, that is 2^7 too large: it would fit the tables of wider limbs."""
    given = HINTED["shift"]
    emission = emit(given, 12)
    assert emission.plan.layout.assembly.limb_bits > 8
    _, trace = honest(given)
    forged = [value.copy() for value in trace]
    forged[hinted_wire(given)].reshape(-1)[1] -= 1
    run = fill_trace(emission, forged)
    system = emission.system
    found = list(failures(system, run.advice, run.instance, run.challenges))
    assert [failure.kind for failure in found] == ["lookup"], "every gate and every copy holds"
    lookup = system.lookups[found[0].index]
    (limb,) = (system.nodes[node] for node in lookup.inputs if system.nodes[node][0] == 1)
    (value,) = BN254.to_integers(run.advice[limb[1]][found[0].row : found[0].row + 1])
    assert 1 << 7 <= value < 1 << 8
    assert 1 << emission.plan.layout.assembly.limb_bits in emission.plan.layout.tags
    told = describe(system, found[0], lambda edge: given.arrow.edge(edge).operation.name)
    assert "integer.shift, element 1, remainder" in told


def test_each_limb_has_the_table_of_its_own_width() -> None:
    """The tags are fixed cells: the sizes of a task's limbs, padded by limbs that are 0."""
    emission = emit(HINTED["shift"], 7)
    layout = emission.plan.layout
    tasks = [task for task in emission.plan.tasks if isinstance(task, Range)]
    assert any(len(task.sizes) % 2 for task in tasks) and any(len(task.sizes) > 2 for task in tasks)
    for task in tasks:
        scales = [size << shift for size, shift in zip(task.sizes, task.shifts, strict=True)]
        assert all(low == 1 << shift for low, shift in zip(scales, task.shifts[1:], strict=False))
    assert 1 in layout.tags


def test_sums_chosen_after_the_challenges_would_pass_and_cannot_be() -> None:
    """Two wrong sums whose errors cancel at the challenge: only that they are fixed before it stands in the way."""
    given = HINTED["contract"]
    emission = smallest(given)
    layout = emission.plan.layout
    inputs, trace = honest(given)
    run = fill(emission, given, inputs)
    r = run.challenges[0]
    folds = [task for task in emission.plan.tasks if isinstance(task, Fold) and task.phase == 0]
    sums = next(task for task in folds if task.role == "folded sums")
    first, second = sums.values[:2, 0].tolist()
    inverse = pow(r, -1, BN254.prime)
    advice = with_variable(run, first, lambda value: value + r)
    late = replace(run, advice=advice)
    advice = with_variable(late, second, lambda value: value - 1)
    assert inverse
    instance = [limbs.copy() for limbs in run.instance]
    for place, variable in enumerate(layout.instance.tolist()):
        if variable in (first, second):
            (value,) = BN254.to_integers(instance[0][place : place + 1])
            instance[0][place] = BN254.from_integers([value + (r if variable == first else -1)])[0]
    wrong = list(failures(emission.system, advice, instance, run.challenges))
    # What is left to mend are the running totals of one fold; its last total is the same.
    assert all(failure.kind == "gate" and "fold" in emission.system.gates[failure.index].name for failure in wrong)
    for task in folds:
        columns = np.unique(np.argwhere(np.isin(layout.cells, task.values))[:, 0])
        assert all(layout.phases[column] == 0 for column in columns.tolist())
    forged = [value.copy() for value in trace]
    forged[hinted_wire(given)][0, 0] += 1
    other = fill_trace(emission, forged).failure()
    assert other is not None


CHOSEN = {
    "gather": single(integers.Gather(0), fixed(-99, 99, 5), fixed(0, 4, 2)),
    "scatter": single(integers.ScatterAdd(0, 4), fixed(-99, 99, 3), fixed(0, 3, 3)),
    "arg max": single(integers.ArgMaxOneHot(0), fixed(-3, 3, 4)),
    "maximum": single(integers.Maximum(), fixed(-(1 << 30), 1 << 30, 2), fixed(-9, 1 << 20, 2)),
}


@pytest.mark.parametrize("name", CHOSEN)
def test_no_variable_may_be_another_in_all_its_cells(name: str) -> None:
    """Copies hold then: an index with its entry, an indicator of a half, a rank of another place."""
    given = CHOSEN[name]
    emission = smallest(given)
    run = fill(emission, given, honest(given)[0])
    half = pow(2, -1, BN254.prime)
    constants = set(emission.plan.constants.values())
    for variable in set(np.unique(emission.plan.layout.cells).tolist()) - constants - {-1}:
        for change in (lambda value: value + 1, lambda value: value + half):
            advice = with_variable(run, variable, change)
            assert first_failure(emission.system, advice, run.instance, run.challenges) is not None


def test_publics_past_the_prime_are_refused() -> None:
    given = layer()
    run = fill(smallest(given), given, vector(given, 3))
    limbs = run.instance[0].copy()
    (value,) = BN254.to_integers(limbs[:1])
    if value + BN254.prime < 1 << 256:
        limbs[0] = np.frombuffer((value + BN254.prime).to_bytes(32, "little"), "<u8")
        with pytest.raises(CircuitizeError, match="normal form"):
            Grid(run.emission.system, run.advice, [limbs], run.challenges)


def step_of_bits(fraction_bits: int) -> Program:
    """The 64-32-10 step at a scale of so many fraction bits."""
    weights = Format.signed(fraction_bits + 4, fraction_bits=fraction_bits)
    model = sequential(dense(64, 32, format=weights), relu(), dense(32, 10, format=weights))
    precision = Precision(fraction_bits=fraction_bits, significant_bits=fraction_bits + 8)
    made = training.training_step(model, mean_squared_error, SGD(), 16, precision=precision)
    random = np.random.default_rng(0)
    example = dict(model.initial(seed=0))
    example |= {"inputs": random.random((16, 64)), "targets": np.eye(10)[random.integers(0, 10, 16)]}
    return training.with_examples(made, {**example, "learning_rate": np.array(0.1)})


def test_a_factor_of_two_to_the_64_is_refused_by_name() -> None:
    """At this scale a peer casts 2^64 to 0 and proves a wrong step; here the step does not compile."""
    with pytest.raises(OverflowRisk, match=r"18446744073709551616\]; .* in integer\.multiply .*loss \(.*\.py:\d+\)"):
        quantize(step_of_bits(24))
    assert emit(quantize(step_of_bits(12)), 12).system.rows
