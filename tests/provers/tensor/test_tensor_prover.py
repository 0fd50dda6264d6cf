"""Tensor proofs of single operations, random programs and training steps equal the integer executor."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from example_programs import example
from independent_verifier import geometry, opening
from integers_cases import by_operation
from operations.integer import Case
from r1cs_programs import integer_type
from random_integers import SOURCES, random_program
from tensor_cases import SMALL, inputs_of, program_of
from tensor_proofs import committed_inputs, example_inputs, planned, proved, proved_together, refusals, refused
from tiers import seeds

from circuitize import _native
from circuitize.backends.tensor.emit import KEPT
from circuitize.backends.tensor.errors import Unprovable
from circuitize.backends.tensor.groups import LEAST_VARIABLES, groups, layout
from circuitize.circuits.errors import OverflowRisk, Undefined
from circuitize.circuits.integers import expand
from circuitize.circuits.port import Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.values import raw
from circuitize.provers.consent import NotZeroKnowledge
from circuitize.provers.tensor import config
from circuitize.provers.tensor.plan import plan
from circuitize.provers.tensor.prover import prove
from circuitize.provers.tensor.security import require_secure
from circuitize.sims import integer


def values(case: Case, program: IntegerProgram) -> dict[str, np.ndarray] | None:
    """Inputs that the program is defined on; those that it is not have no proof. None where no plan can be had."""
    try:
        made = plan(program)
    except Unprovable as error:
        assert "expected" in str(error) and ("Check" in str(error) or "definition" in str(error))
        assert any(
            type.high - type.low >= 1 << 60 or type.width > 40 for type in map(integer_type, program.arrow.source)
        ), str(error)
        return None
    random = np.random.default_rng(3)
    for _ in range(3):
        inputs = inputs_of(case, program, random)
        try:
            integer.run(program, raw(inputs))
        except Undefined:
            with pytest.raises(Undefined):
                prove(program, inputs, not_zero_knowledge=True, made=made)
            continue
        return inputs
    return None


@pytest.mark.parametrize("operation", by_operation(SMALL))
def test_each_operation_at_the_ends_of_its_intervals(operation: str) -> None:
    proved_together([(program := program_of(case), values(case, program)) for case in by_operation(SMALL)[operation]])


@pytest.mark.parametrize("seed", seeds(8, deep=300))
def test_random_programs(seed: int) -> None:
    random = np.random.default_rng(seed)
    program = committed_inputs(random_program(random, SOURCES, 8, 1 << 40))
    try:
        made = plan(program)
    except Unprovable:
        with pytest.raises(OverflowRisk):
            expand(program.arrow, KEPT)
        return
    for _ in range(4):
        inputs = {
            p.name: random.integers(p.format.low, p.format.high, 3, endpoint=True) for p in program.inputs if p.format
        }
        with suppress(Undefined):
            proved(program, inputs, made)
            break


def test_private_and_public_values() -> None:
    """Private inputs are columns of the proof's own commitment; public ones are no column at all."""
    program, _ = planned("iris.py:step")
    inputs = example_inputs(program)
    for visibility in (Visibility.PRIVATE, Visibility.PUBLIC):
        changed = replace(
            program,
            inputs=tuple(replace(port, visibility=visibility) for port in program.inputs[:-1]) + program.inputs[-1:],
        )
        found = proved(changed, inputs)
        assert all(side == "output" for side, _ in found.statement.roots)


def test_one_proof_is_the_next_ones_input() -> None:
    """The same values and secret give the same root: the weights that one step commits to are the next step's."""
    program, made = planned("iris.py:step")
    inputs = example_inputs(program)
    first = proved(program, inputs, made)
    held = [port.name for port in program.inputs if port.held]
    salts = {("input", "parameters"): first.secrets["output", "parameters"]}
    after = {**inputs, **{name: first.outputs[name] for name in held}}
    second = proved(program, after, made, salts=salts)
    assert second.statement.roots["input", "parameters"] == first.statement.roots["output", "parameters"]
    other = proved(program, after, made)
    assert other.statement.roots["input", "parameters"] != first.statement.roots["output", "parameters"]


def test_trained_parameters_are_a_predictions_input() -> None:
    """The root of a group depends on shapes, order and values alone, so it feeds other programs."""
    program, made = planned("iris.py:step")
    first = proved(program, example_inputs(program), made)
    prediction, _ = planned("iris.py:predict")
    inputs = example_inputs(prediction) | {name: value for name, value in first.outputs.items() if name != "loss"}
    salts = {("input", "parameters"): first.secrets["output", "parameters"]}
    second = proved(prediction, inputs, salts=salts)
    assert second.statement.roots["input", "parameters"] == first.statement.roots["output", "parameters"]


def test_groups_of_committed_ports() -> None:
    momentum = groups(example("digits_xent.py:momentum").integer)
    assert [group.key for group in momentum[:3]] == [("input", n) for n in ("parameters", "optimizer", "data")]
    assert [group.listed for group in momentum if group.side == "output"] == [group.listed for group in momentum[:2]]
    program, _ = planned("iris.py:step")
    renamed = tuple(replace(port, name="data") if port.name == "loss" else port for port in program.outputs)
    assert groups(replace(program, outputs=renamed))
    scalar = replace(program.inputs[-1], name="parameters", visibility=Visibility.COMMITTED)
    assert "rename" in refused(lambda: groups(replace(program, inputs=(*program.inputs[:-1], scalar))))


def test_a_layout_has_no_overlap() -> None:
    bits, offsets = layout([(3, 5), (300,), (), (17, 2), (3,)])
    ends = sorted((offset, offset + (1 << size)) for offset, size in zip(offsets, (5, 9, 0, 6, 2), strict=True))
    assert all(end <= start for (_, end), (start, _) in pairwise(ends)) and ends[-1][1] <= 1 << bits == 1024
    assert all(offset % (1 << size) == 0 for offset, size in zip(offsets, (5, 9, 0, 6, 2), strict=True))


def test_hidden_values_take_consent() -> None:
    program, made = planned("iris.py:step")
    with pytest.raises(NotZeroKnowledge, match="NOT zero-knowledge"):
        prove(program, example_inputs(program), not_zero_knowledge=False, made=made)


def test_an_input_outside_of_its_format_has_no_proof() -> None:
    """Not even where the executor would run: a committed input is looked up in its format."""
    program, made = planned("iris.py:step")
    inputs = example_inputs(program)
    inputs["targets"] = inputs["targets"] * 2
    with suppress(Undefined):
        found = prove(program, inputs, not_zero_knowledge=True, made=made)
        assert refusals(program, found.statement, found.proof, made)[0]


def test_a_plan_follows_from_the_program() -> None:
    program, made = planned("iris.py:step")
    again = plan(program)
    assert again.digest == made.digest
    public = program.with_visibility(learning_rate=Visibility.COMMITTED)
    assert plan(public).digest != made.digest
    hidden = {port.name: Visibility.PRIVATE for port in program.inputs + program.outputs}
    assert "would say nothing" in refused(lambda: plan(program.with_visibility(**hidden)))


@pytest.mark.parametrize("largest", range(LEAST_VARIABLES, 30))
def test_sizes_are_the_same_twice(largest: int) -> None:
    """The native prover, whose sizes security bounds and estimates have, and the independent verifier."""
    variables = [*range(LEAST_VARIABLES, largest, 3), largest]
    own = [geometry.table(1 << bits, 0) for bits in variables]
    sizes = [own, [vector.geometry for vector in geometry.vectors(own, hides=False)]]
    tables, folded, _ = _native.tensor_sizes(variables)
    assert [tables, folded] == [[(x.end, x.random, x.fold, x.bits, x.rate, x.queries) for x in kind] for kind in sizes]
    for *_, rate, queries in [*tables, *folded[:-1]]:
        assert queries == opening.queries_at(rate) and -queries * math.log2((1 + 0.5**rate) / 2) >= config.QUERY_BITS
    assert (config.FOLD, LEAST_VARIABLES, config.QUERY_BITS) == (
        opening.FOLD,
        geometry.LEAST,
        opening.QUERY_BITS,
    )


def test_a_plan_has_the_sizes_of_the_native_prover() -> None:
    """Security bounds and estimates do not ask for a plan in the native prover, which a large program has not."""
    _, made = planned("iris.py:step")
    tables, folded, counts = made.native.layout()
    assert counts == (0, 0, 0) and len(tables) == len(made.commitments)
    for own, native in zip([*made.layout.tables, *made.layout.vectors], [*tables, *folded], strict=True):
        assert own[1:] == native[1:] and native[0] <= own.end <= 1 << own.bits


def test_a_program_too_large_for_the_security_level_is_refused() -> None:
    _, made = planned("iris.py:step")
    require_secure(made)
    large = replace(made, commitments=(*made.commitments[:-1], 27))
    assert "expected 100 bits" in refused(lambda: require_secure(large))
