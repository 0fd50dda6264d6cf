"""Programs in rounds: the same values as of the whole batch, and no value in the same cases."""

from __future__ import annotations

import numpy as np
import pytest
from every_case import every_case
from example_programs import example
from folded_programs import named
from round_by_round import RandomProgram, run_rounds
from tiers import count

from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError, OverflowRisk, Undefined
from circuitize.circuits.integers import Add, Affine, Check, Constant, Contract, Multiply, Reindex, Select, Sum, View
from circuitize.circuits.integers.blocks import block
from circuitize.circuits.micro_batches import in_rounds
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import Raw
from circuitize.sims import integer
from circuitize.sims.vectors import integer_examples

STEPS = [("iris.py:step", 2), ("digits.py:adam", 4), ("cnn.py:step", 1), ("digits_xent.py:step", 8)]
STEPS += [("transformer.py:step", 1), ("onnx_digits.py:step", 1), ("quantized.py:step", 1), ("jax_iris.py:step", 2)]


@every_case(STEPS)
def test_a_step_in_rounds_is_the_step(name: str, examples: int) -> None:
    program = example(name).integer
    rounds = in_rounds(program, examples)
    assert rounds.count > 1 and len(rounds.kept) > 2
    inputs = integer_examples(program)[0]
    wanted = integer.run(program, {name: Raw(value) for name, value in inputs.items()})
    found = run_rounds(rounds, program, inputs)
    for port in program.outputs:
        np.testing.assert_array_equal(found[port.name], wanted[port.name], port.name)


def test_random_programs_have_their_values_or_none() -> None:
    """Whatever a round may not use is random, so that what it uses shows."""
    ran = undefined = apart = several = 0
    for seed in range(count(600, deep=6000)):
        try:
            made = RandomProgram(seed)
            program = made.program()
        except OverflowRisk:
            continue
        try:
            rounds = in_rounds(program, made.batch // 2)
        except CircuitizeError as error:
            assert "--micro-batch: expected" in str(error), error
            apart += 1
            continue
        several += len(rounds.kept) > 1
        for _ in range(3):
            inputs = made.inputs()
            try:
                wanted = integer.run(program, {name: Raw(value) for name, value in inputs.items()})
            except Undefined:
                undefined += 1
                with pytest.raises(Undefined):
                    run_rounds(rounds, program, inputs, seed)
                continue
            found = run_rounds(rounds, program, inputs, seed)
            for name, value in wanted.items():
                np.testing.assert_array_equal(found[name], value, f"seed {seed}, {name}")
            ran += 1
    assert ran > 300 and undefined > 30 and apart > 30 and several > 60, (ran, undefined, apart, several)


def summed(check: Check | None = None, unread: Check | None = None) -> IntegerProgram:
    """y = the sum of x over a batch of 4; Checks are of the sum, and of each element of x, which nothing reads."""
    builder = Builder()
    x = builder.input(Fixed((4, 2), 0, -10, 10))
    if unread is not None:
        builder.add(unread, x)
    made = builder.add(Sum(View.broadcast((4, 2), (0,))), x)
    return named(builder, ["x"], [made if check is None else builder.add(check, made)])


def test_a_check_of_a_sum_is_of_the_whole_sum() -> None:
    """Partial sums leave the interval, and the first is 0, which it does not hold."""
    program = summed(Check(3, 9))
    rounds = in_rounds(program, 1)
    passes = np.array([[0, 9], [9, 9], [9, -10], [-10, -1]])
    np.testing.assert_array_equal(run_rounds(rounds, program, {"x": passes})["y0"], [8, 7])
    for fails in (passes + np.eye(4, 2, dtype=np.int64) * 4, -passes):
        with pytest.raises(Undefined):
            run_rounds(rounds, program, {"x": np.clip(fails, -10, 10)})


def test_a_check_that_nothing_reads_is_of_each_example() -> None:
    program = summed(unread=Check(-8, 8))
    rounds = in_rounds(program, 2)
    for place in range(4):
        x = np.zeros((4, 2), np.int64)
        x[place, 1] = 9
        with pytest.raises(Undefined):
            run_rounds(rounds, program, {"x": x})
    assert (run_rounds(rounds, program, {"x": np.full((4, 2), 8)})["y0"] == 32).all()


def test_sums_of_numbers_above_0_keep_their_interval() -> None:
    """A divisor of at least 4 is one in all rounds: the interval of a sum of some terms goes down to 0."""
    builder = Builder()
    x = builder.input(Fixed((4, 2), 0, 1, 10))
    made = builder.add(Sum(View.broadcast((4, 2), (0,))), x)
    program = named(builder, ["x"], [made])
    rounds = in_rounds(program, 1)
    assert rounds.program.outputs[0].format == program.outputs[0].format
    assert (run_rounds(rounds, program, {"x": np.ones((4, 2), np.int64)})["y0"] == 4).all()


def test_names_that_ports_have_are_not_given_again() -> None:
    builder = Builder()
    x, r = builder.input(Fixed((4, 2), 0, -3, 3)), builder.input(Fixed((2,), 0, -3, 3))
    made = builder.add(Add(), r, builder.add(Sum(View.broadcast((4, 2), (0,))), x))
    arrow = named(builder, ["total", "round"], [made])
    rounds = in_rounds(arrow, 2)
    names = [port.name for port in rounds.program.inputs]
    assert len(set(names)) == len(names) == 5 and rounds.teller == "round 2"
    inputs = {"total": np.arange(8).reshape(4, 2) % 4 - 1, "round": np.array([3, -3])}
    np.testing.assert_array_equal(
        run_rounds(rounds, arrow, inputs)["y0"], integer.run(arrow, {k: Raw(v) for k, v in inputs.items()})["y0"]
    )


def test_what_each_example_has_is_an_output_in_blocks() -> None:
    builder = Builder()
    x, w = builder.input(Fixed((6, 2), 0, -3, 3)), builder.input(Fixed((2, 3), 0, -3, 3))
    program = named(builder, ["x", "w"], [builder.add(Contract("bi,ij->bj"), x, w)])
    rounds = in_rounds(program, 2)
    assert rounds.cut_outputs == {"y0"} and rounds.kept == ("w kept",)
    draw = np.random.default_rng(0)
    inputs = {"x": draw.integers(-3, 4, (6, 2)), "w": draw.integers(-3, 4, (2, 3))}
    np.testing.assert_array_equal(run_rounds(rounds, program, inputs)["y0"], inputs["x"] @ inputs["w"])


@pytest.mark.parametrize("steady", [False, True])
def test_rows_of_a_product_are_cut(steady: bool) -> None:
    """Both inputs have as many rows as the batch; those of the second meet, so that the first alone is cut."""
    builder = Builder()
    x, y = builder.inputs([Fixed((4, 4), 0, -9, 9)] * 2)
    program = named(builder, ["x", "y"], [builder.add(Contract("ij,jk->ik"), x, y)])
    rounds = in_rounds(program, 2, steady)
    assert set(rounds.cut_inputs) == {"x"} and set(rounds.cut_outputs) == {"y0"}
    assert rounds.kept == (() if steady else ("y kept",)) and bool(rounds.teller) is not steady
    draw = np.random.default_rng(0)
    inputs = {name: draw.integers(-9, 10, (4, 4)) for name in ("x", "y")}
    np.testing.assert_array_equal(run_rounds(rounds, program, inputs, steady=steady)["y0"], inputs["x"] @ inputs["y"])


def test_steady_rounds_keep_sums_alone() -> None:
    """And choose between new state and old only where the new one may lie outside."""
    program = example("iris.py:step").integer
    plain, steady = in_rounds(program, 2), in_rounds(program, 2, steady=True)
    assert set(plain.kept) - set(steady.kept) == {"learning_rate kept"}
    arrows = plain.program.arrow, steady.program.arrow
    numbers = [sum(type(arrow.operations[index]) is Select for index, *_ in arrow.rows) for arrow in arrows]
    states = sum(port.held for port in program.inputs)
    assert numbers[0] - numbers[1] == states + 1
    inputs = integer_examples(program)[0]
    wanted = integer.run(program, {name: Raw(value) for name, value in inputs.items()})
    found = run_rounds(steady, program, inputs, steady=True)
    for port in program.outputs:
        np.testing.assert_array_equal(found[port.name], wanted[port.name], port.name)


def test_a_sum_that_needs_one_bit_more_is_refused() -> None:
    """A total is added before its Check: the sum of both intervals must not pass 2^62."""
    builder = Builder()
    x = builder.input(Fixed((4,), 0, 0, (1 << 60) - 1))
    program = named(builder, ["x"], [builder.add(Sum(View.broadcast((4,), (0,))), x)])
    with pytest.raises(OverflowRisk, match="--micro-batch: a sum is kept from round to round: expected mag"):
        in_rounds(program, 2)


def met(kind: str) -> IntegerProgram:
    """A program whose examples meet before a sum over the batch is done, or differ in what is done to them."""
    builder = Builder()
    x = builder.input(Fixed((4, 2), 0, -3, 3))
    if kind == "mean":
        mean = builder.add(Sum(View.broadcast((4, 2), (0,))), x)
        made = builder.add(Add(), x, builder.add(Reindex(View.broadcast((4, 2), (0,))), mean))
    elif kind == "next":
        made = builder.add(Add(), x, builder.add(Reindex(View((4, 2), (Affine((4, 2), (1, 0), ((1, 0), (0, 1))),))), x))
    else:
        made = builder.add(Multiply(), x, builder.add(Constant.of(np.arange(8).reshape(4, 2))))
    return named(builder, ["x"], [made])


@pytest.mark.parametrize("kind", ["mean", "next", "constants"])
def test_examples_that_meet_are_refused(kind: str) -> None:
    with pytest.raises(CircuitizeError, match="expected examples that meet only in sums over the batch, found integer"):
        in_rounds(met(kind), 2)


def laid_out(kind: str) -> IntegerProgram:
    """An output of each example along its second axis, or state that is an example's own."""
    builder = Builder()
    x = builder.inputs([Fixed((4, 2), 0, -3, 3)] * 2)[0]
    if kind == "state":
        return named(builder, ["x", "w"], [x], ["w"])
    return named(builder, ["x", "y0"], [builder.add(Reindex(View.transpose((4, 2), (1, 0))), x)])


@pytest.mark.parametrize(("kind", "name"), [("state", "w"), ("transposed", "y0")])
def test_outputs_across_examples_are_refused(kind: str, name: str) -> None:
    with pytest.raises(CircuitizeError, match=f"along their first axis, and state of the whole batch, found '{name}'"):
        in_rounds(laid_out(kind), 2)


@pytest.mark.parametrize("examples", [0, 3, 5, 8])
def test_a_batch_is_cut_evenly(examples: int) -> None:
    with pytest.raises(CircuitizeError, match=f"expected a divisor of the batch of 4 examples, found {examples}"):
        in_rounds(summed(), examples)


def test_a_whole_batch_is_one_round() -> None:
    assert in_rounds(summed(), 4).program.arrow == summed().arrow


def test_a_program_without_a_batch_is_refused() -> None:
    builder = Builder()
    program = named(builder, ["x"], [builder.add(Add(), builder.input(Fixed((), 0, 0, 3)), 0)])
    with pytest.raises(CircuitizeError, match="expected an input whose first axis is a batch, found none"):
        in_rounds(program, 1)


def test_a_block_of_a_view_reads_what_the_view_reads() -> None:
    """Of random views, block by block; a view is refused only if some block reads otherwise, or its axis is spread."""
    found = spread = whole = 0
    for seed in range(count(400, deep=10_000)):
        draw = np.random.default_rng(seed)
        view = View((4, 3, 2))
        for _ in range(int(draw.integers(1, 4))):
            view = view.then(_step(view.target_shape, draw))
        table = view.indices()
        for axis, extent in enumerate(view.target_shape):
            if extent % 2 or extent < 2:
                continue
            made = block(view, axis, 2)
            if made is None:
                spread += 1
                continue
            own, cut = made
            for number, part in enumerate(np.split(table, 2, axis)):
                source = np.arange(24).reshape(4, 3, 2)
                held = source if cut is None else np.split(source, 2, cut)[number]
                read = own.at(np.arange(part.size)).reshape(part.shape)
                np.testing.assert_array_equal(np.where(read < 0, -1, held.reshape(-1)[np.maximum(read, 0)]), part)
            found += 1
            whole += cut is None
    assert found > 100 and spread > 50 and whole > 10, (found, spread, whole)


def _step(shape: tuple[int, ...], draw: np.random.Generator) -> View:
    rank = len(shape)
    kind = int(draw.integers(8))
    if kind == 0:
        return View.transpose(shape, [int(k) for k in draw.permutation(rank)])
    if kind == 1 and rank > 1:
        return View.reshape(shape, (shape[0] * shape[1], *shape[2:]))
    if kind == 2 and shape[0] % 2 == 0:
        return View.reshape(shape, (2, shape[0] // 2, *shape[1:]))
    if kind == 3:
        return View.broadcast((2, *shape), (0,))
    if kind == 4:
        amounts = [int(n) for n in draw.integers(0, 2, rank)]
        return View.pad(shape, amounts, amounts[::-1])
    if kind == 5:
        return View.flip(shape, [k for k in range(rank) if draw.random() < 0.4])
    starts = [int(draw.integers(extent)) if draw.random() < 0.4 else 0 for extent in shape]
    if kind == 6:
        return View.slice(shape, starts, shape, [int(n) for n in draw.integers(1, 3, rank)])
    return View(shape, (Affine((4,), tuple(starts), tuple((int(n),) for n in draw.integers(0, 2, rank))),))
