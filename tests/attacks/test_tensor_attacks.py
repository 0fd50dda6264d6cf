"""Cheating provers, altered messages and malformed files against both verifiers of tensor proofs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from r1cs_programs import single
from tensor_forgery import answer, at_first, column, forged_trace, forgery, signed, without_lookup
from tensor_proofs import both, committed_inputs, example_inputs, planned, proved, refusals

from circuitize.circuits import integers
from circuitize.circuits.errors import FormatError
from circuitize.circuits.program import Program, Visibility
from circuitize.circuits.types import Fixed
from circuitize.provers.tensor.config import PRIME
from circuitize.provers.tensor.forms import Column
from circuitize.provers.tensor.plan import Plan, plan
from circuitize.provers.tensor.proof import HEADER_BYTES, Proof
from circuitize.provers.tensor.prover import Proved, prove

Integers = NDArray[np.int64]
STEP = "iris.py:step"


@pytest.fixture(scope="module")
def honest() -> Proved:
    program, made = planned(STEP)
    return proved(program, example_inputs(program), made)


def operations_of(program: Program, kinds: tuple[type, ...]) -> Iterator[int]:
    """The wires that operations of these kinds write, in the program as it is proved."""
    _, made = planned(STEP)
    for operation, _, targets, _ in made.arrow.rows:
        if isinstance(made.arrow.operations[operation], kinds):
            yield targets[0]


# Witnesses: a run that goes wrong at one wire, and is right from there on.


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
            trace = forged_trace(made, inputs, writer[1][0], lambda _, value=value: value)
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


# Each defence is needed: without it, a forgery passes.


def accepted_without(program: Program, made: Plan, trace: object, values: list[Integers]) -> int:
    """In how many ways one lookup can be taken out so that the forgery passes; with all of them it does not."""
    assert answer(program, made, trace, values)  # type: ignore[arg-type]
    weak = [without_lookup(made, index) for index in range(len(made.lookups))]
    return sum(answer(program, one, trace, values) is None for one in weak)  # type: ignore[arg-type]


def test_without_the_range_of_the_remainder_quotients_are_free() -> None:
    program = committed_inputs(single(integers.Shift(4), Fixed((2,), 0, -128, 127)))
    made = plan(program)
    wire = made.arrow.rows[0][2][0]
    trace = forged_trace(made, {"in0": np.array([5, -7])}, wire, at_first(1))
    assert accepted_without(program, made, trace, made.values(trace)) == 1


def test_without_the_range_of_the_quotient_it_wraps_around() -> None:
    program = committed_inputs(single(integers.Shift(4), Fixed((2,), 0, -128, 127)))
    made = plan(program)
    trace = made.trace({"in0": np.array([5, -7])})
    values = made.values(trace)
    forged = at_first(-signed(pow(16, -1, PRIME)))(trace[made.arrow.rows[0][2][0]])
    q = column(made, "integer.shift")
    changed = [forged if i == q else v for i, v in enumerate(values)]
    assert answer(program, made, trace, changed)
    free = replace(program, outputs=tuple(replace(p, visibility=Visibility.COMMITTED) for p in program.outputs))
    made = plan(free, 4)
    q = column(made, "integer.shift")
    values = made.values(trace)
    changed = [forged if i == q else v for i, v in enumerate(values)]
    assert accepted_without(free, made, trace, changed) == 1


def test_without_the_range_of_the_distance_signs_are_free() -> None:
    program = committed_inputs(single(integers.ReLU(), Fixed((2,), 0, -128, 127)))
    made = plan(program, 7)
    honest = made.trace({"in0": np.array([5, -7])})
    sign = column(made, "sign")
    flipped = np.array([1, 1])
    product = next(i for i, base in enumerate(made.bases) if type(base).__name__ == "Product")
    source = np.array([5, -7])
    wire = made.arrow.rows[0][2][0]
    trace = [source * (1 - flipped) if i == wire else v for i, v in enumerate(honest)]
    changed = made.values(trace)
    changed[sign], changed[product] = flipped, flipped * source
    assert accepted_without(program, made, trace, changed) == 1


def test_without_the_range_of_the_sign_it_is_no_bit() -> None:
    """x - 2 s x - s = d has a solution s = (x - d) / (2 x + 1) for every distance d."""
    program = committed_inputs(single(integers.ReLU(), Fixed((1,), 0, -128, 127)))
    hidden = replace(program, outputs=tuple(replace(p, visibility=Visibility.COMMITTED) for p in program.outputs))
    made = plan(hidden, 7)
    honest = made.trace({"in0": np.array([5])})
    s = (5 - 7) * pow(11, -1, PRIME) % PRIME
    wire = made.arrow.rows[0][2][0]
    trace = [np.array([signed(5 - 5 * s)]) if i == wire else v for i, v in enumerate(honest)]
    changed = made.values(trace)
    changed[column(made, "sign")] = np.array([signed(s)])
    changed[next(i for i, b in enumerate(made.bases) if type(b).__name__ == "Product")] = np.array([signed(5 * s)])
    assert accepted_without(hidden, made, trace, changed) == 1


def test_without_the_equation_outputs_are_free() -> None:
    program = committed_inputs(single(integers.Add(), Fixed((2,), 0, 0, 15), Fixed((2,), 0, 0, 15)))
    made = plan(program)
    trace = list(made.trace({"in0": np.array([1, 2]), "in1": np.array([3, 4])}))
    trace[made.arrow.rows[0][2][0]] = np.array([9, 9])
    assert answer(program, made, trace)
    assert answer(program, replace(made, zeros=()), trace) is None


def test_without_the_format_proof_inputs_are_free() -> None:
    program = committed_inputs(single(integers.Add(), Fixed((2,), 0, 0, 15), Fixed((2,), 0, 0, 15)))
    made = plan(program)
    trace = made.trace({"in0": np.array([16, 2]), "in1": np.array([3, 4])})
    assert accepted_without(program, made, trace, made.values(trace)) == 1


def test_division_has_one_quotient() -> None:
    program = committed_inputs(single(integers.Divide(), Fixed((2,), 0, -128, 127), Fixed((2,), 0, 1, 9)))
    made = plan(program)
    inputs = {"in0": np.array([17, -17]), "in1": np.array([5, 5])}
    for amount in (1, -1, -signed(pow(5, -1, PRIME))):
        assert answer(program, made, forged_trace(made, inputs, made.arrow.rows[0][2][0], at_first(amount)))


def test_the_lowest_index_wins_a_tie() -> None:
    program = committed_inputs(single(integers.ArgMaxOneHot(0), Fixed((4,), 0, -3, 3)))
    made = plan(program)
    inputs = {"in0": np.array([1, 3, 3, 0])}
    wire = made.arrow.outputs.tolist()[0]
    for choice in ([0, 0, 1, 0], [0, 1, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0]):
        assert answer(program, made, forged_trace(made, inputs, wire, lambda _, choice=choice: np.array(choice)))


class Tamper:
    """Adds one to a word of one message, the nth of its label."""

    def __init__(self, label: str, nth: int, place: int) -> None:
        self.label, self.left, self.place = label, nth, place
        self.changed = False

    def __call__(self, label: str, words: list[int]) -> list[int]:
        if label == self.label:
            self.left -= 1
            if self.left == -1 and words:
                words[self.place] = (words[self.place] + 1) % PRIME
                self.changed = True
        return words


# Messages: whatever the prover sends otherwise, it is absorbed, and the proof fails.


def test_every_message_matters(honest: Proved) -> None:
    """The first, the middle and the last word of every kind of message, as the prover sends it."""
    program, made = planned(STEP)
    inputs = example_inputs(program)
    trace = made.trace(inputs)
    values = made.values(trace)
    seen: Counter[str] = Counter()
    prove(
        program, inputs, not_zero_knowledge=True, made=made, hook=lambda label, words: (seen.update([label]), words)[1]
    )
    assert len(seen) >= 10
    tampered: set[str] = set()
    for label, count in seen.items():
        for nth in {0, count // 2, count - 1}:
            for place in (0, -1):
                tamper = Tamper(label, nth, place)
                found = forgery(program, made, trace, values, hook=tamper)
                reason = both(program, found.statement, found.proof, made)
                assert (reason is not None) == tamper.changed, (label, nth, place)
                tampered.add(label) if tamper.changed else None
    assert tampered == set(seen)


def test_a_denominator_of_zero_is_refused() -> None:
    program, made = planned(STEP)
    trace = made.trace(example_inputs(program))

    def zero(label: str, words: list[int]) -> list[int]:
        return [0] * len(words) if label == "fractions.root" else words

    found = forgery(program, made, trace, made.values(trace), hook=zero)
    native, other = refusals(program, found.statement, found.proof, made)
    assert native == other == "the denominator of the sum of fractions is zero"


def test_a_number_has_one_encoding() -> None:
    """0 written as p is the same number, in every check and in what is hashed, and is refused."""
    program = committed_inputs(single(integers.Multiply(), Fixed((4,), 0, 0, 15), Fixed((4,), 0, 0, 15)))
    made = plan(program)
    inputs = {"in0": np.zeros(4, np.int64), "in1": np.zeros(4, np.int64)}

    def longer(label: str, words: list[int]) -> list[int]:
        return [word or PRIME for word in words] if label == "product" else words

    trace = made.trace(inputs)
    found = forgery(program, made, trace, made.values(trace), hook=longer)
    assert refusals(program, found.statement, found.proof, made)[0] == "a word of product is not below p"
    proved(program, inputs, made)


# Statements and files.


def test_every_part_of_the_statement_is_bound(honest: Proved) -> None:
    program, made = planned(STEP)
    stated = honest.statement
    for key, values in stated.publics.items():
        for amount in (1, -1):
            changed = np.asarray(values + amount, np.int64)
            assert refusals(program, replace(stated, publics={**stated.publics, key: changed}), honest.proof, made)[0]
    for key, root in stated.roots.items():
        flipped = bytes([root[0] ^ 1]) + root[1:]
        assert refusals(program, replace(stated, roots={**stated.roots, key: flipped}), honest.proof, made)[0]
    keys = list(stated.roots)
    swapped = {**stated.roots, keys[0]: stated.roots[keys[2]], keys[2]: stated.roots[keys[0]]}
    assert refusals(program, replace(stated, roots=swapped), honest.proof, made)[0]
    assert refusals(program, replace(stated, roots=dict(list(stated.roots.items())[1:])), honest.proof, made)[0]


def test_a_proof_is_of_one_program(honest: Proved) -> None:
    """Another program of the same shape, another plan of the same program: the digest is absorbed first."""
    program, made = planned(STEP)
    other, _ = planned("digits.py:step")
    assert refusals(other, honest.statement, honest.proof, plan(other))[0]
    weaker = plan(program, made.limb_bits + 1)
    found = prove(program, example_inputs(program), not_zero_knowledge=True, made=weaker)
    assert refusals(program, found.statement, found.proof, made)[0]
    renamed = replace(made, program="0" * 64)
    assert renamed.digest != made.digest
    assert refusals(program, honest.statement, replace(honest.proof, digest=renamed.program), renamed)[0]


def test_files_of_other_lengths_versions_and_kinds(honest: Proved) -> None:
    content = honest.proof.encode()
    for damaged in (
        b"",
        content[:-1],
        content + b"\0",
        content[:10],
        content[:16] + (2).to_bytes(4, "little") + content[20:],
        content[:20] + (1).to_bytes(4, "little") + content[24:],
        content[: HEADER_BYTES - 8] + (1 << 63).to_bytes(8, "little") + content[HEADER_BYTES:],
        b"x" + content[1:],
    ):
        with pytest.raises(FormatError, match="expected"):
            Proof.decode(damaged)


def test_messages_of_other_lengths(honest: Proved) -> None:
    program, made = planned(STEP)
    messages = honest.proof.messages
    for other in (b"", messages[:-8], messages[:-1], messages + b"\0" * 8, messages + messages, messages[8:]):
        assert refusals(program, honest.statement, replace(honest.proof, messages=other), made)[0]
