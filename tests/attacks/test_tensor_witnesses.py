"""Runs that go wrong at one wire or column, and are right from there on, against both verifiers of tensor proofs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from tensor_forgery import answer, at_first, forged_trace, forgery, signed, to
from tensor_proofs import both, example_inputs, planned

from circuitize.backends.tensor.forms import PRIME, Column
from circuitize.circuits import integers
from circuitize.circuits.program import Program
from circuitize.provers.tensor.plan import Plan

Integers = NDArray[np.int64]
STEP = "iris.py:step"


def operations_of(program: Program, kinds: tuple[type, ...]) -> Iterator[int]:
    """The wires that operations of these kinds write, in the program as it is proved."""
    _, made = planned(STEP)
    for operation, _, targets, _ in made.arrow.rows:
        if isinstance(made.arrow.operations[operation], kinds):
            yield targets[0]


def test_no_wire_of_a_training_step_can_be_another() -> None:
    """q + 1 and q - 1 of every shift, flipped bits of every mask, forward and backward, doubled activations."""
    program, made = planned(STEP)
    inputs = example_inputs(program)
    tried = 0
    kinds = (integers.Shift, integers.IsNegative, integers.ReLU)
    for wire in operations_of(program, kinds):
        is_bit = made.arrow.type(wire).high == 1  # type: ignore[union-attr]
        for change in (lambda x: 1 - x,) if is_bit else (at_first(1), at_first(-1)):
            trace = forged_trace(made, inputs, wire, change)
            found = forgery(program, made, trace, made.values(trace))
            assert both(program, found.statement, found.proof, made), f"wire {wire}"
            tried += 1
    assert tried >= 20


def test_a_quotient_that_wraps_around() -> None:
    """q - 1 / 2^s modulo p satisfies x = 2^s q + r with r + 1: only the range of q is against it."""
    program, made = planned(STEP)
    inputs = example_inputs(program)
    shifts = [row for row in made.arrow.rows if isinstance(made.arrow.operations[row[0]], integers.Shift)]
    for operation, _, targets, _ in shifts[:4]:
        bits = made.arrow.operations[operation].bits  # type: ignore[attr-defined]
        trace = forged_trace(made, inputs, targets[0], at_first(-signed(pow(1 << bits, -1, PRIME))))
        assert answer(program, made, trace)


def test_updates_that_are_skipped_scaled_or_applied_to_a_frozen_layer() -> None:
    program, made = planned(STEP)
    inputs = example_inputs(program)
    honest = made.trace(inputs)
    outputs = dict(zip(made.outputs, made.arrow.outputs.tolist(), strict=True))
    old = dict(zip(made.inputs, made.arrow.inputs.tolist(), strict=True))
    for name in ("dense1.weight", "dense2.bias"):
        for value in (honest[old[name]], 2 * honest[outputs[name]] - honest[old[name]], honest[outputs[name]] + 1):
            writer = next(row for row in made.arrow.rows if row[2][0] == outputs[name])
            trace = forged_trace(made, inputs, writer[1][0], to(value))
            assert answer(program, made, trace)


def test_an_input_outside_of_its_format() -> None:
    """A committed weight of 2^17, targets of 2, a fraction of one half: the format proof is against them."""
    program, made = planned(STEP)
    inputs = example_inputs(program)
    for name, value in (("dense1.weight", 1 << 17), ("targets", 2), ("inputs", signed(pow(2, -1, PRIME)))):
        changed = np.array(inputs[name])
        changed.reshape(-1)[0] = value
        trace = forged_trace(made, {**inputs, name: changed}, -1, lambda x: x)
        assert answer(program, made, trace)


@pytest.mark.parametrize("amount", [1, -1, 1 << 40, signed(pow(2, -1, PRIME))])
def test_no_column_can_be_another(amount: int) -> None:
    """One element of each column, limbs and bits included, changed alone."""
    program, made = planned(STEP)
    trace = made.trace(example_inputs(program))
    values = made.values(trace)
    for base, found in enumerate(made.bases):
        if isinstance(found, Column) and found.recipe is not None:
            changed = [at_first(amount)(v) if i == base else v for i, v in enumerate(values)]
            made_proof = forgery(program, made, trace, changed)
            assert both(program, made_proof.statement, made_proof.proof, made), found.name


def test_multiplicities_are_those_of_the_lookups() -> None:
    """A count more, a count less, counts of another order: [5, 5, 5, 5, 5] for [1, 2, 3, 4, 5]."""
    program, made = planned(STEP)
    trace = made.trace(example_inputs(program))
    values = made.values(trace)
    for table in made.tables[:3]:
        ((base, _),) = made.forms[table.column].terms
        true = counts(made, values, made.tables.index(table))
        for forged in (
            at_first(1)(true),
            at_first(-1)(true),
            np.roll(true, 1),
            np.full_like(true, true.sum() // len(true)),
        ):
            if (forged == true).all():
                continue
            changed = [forged if i == base else v for i, v in enumerate(values)]
            assert answer(program, made, trace, changed)
        assert answer(program, made, trace, [true if i == base else v for i, v in enumerate(values)]) is None


def counts(made: Plan, values: list[Integers], table: int) -> Integers:
    """How often each key is looked up, from single-column forms without views, added up apart from the prover."""
    found: Counter[int] = Counter()
    for lookup in made.lookups:
        if lookup.table == table:
            form = made.forms[lookup.key]
            total = np.zeros(form.shape, object)
            for (base, path), coefficient in form.terms.items():
                array = values[base].reshape(made.bases[base].shape).astype(object)
                for view, sums in reversed(path):
                    array = view.scatter(array) if sums else view.gather(array)
                scaled = [int(x) * coefficient for x in np.asarray(array).reshape(-1)]
                total = total + np.array(scaled, object).reshape(form.shape)
            found.update(int(key) % PRIME for key in np.asarray(total).reshape(-1))
    return np.array([found[key] for key in range(made.tables[table].size)], np.int64)
