"""Tensors in blocks: one wrong element in any block, of an input, a quotient or a function's result, is refused."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest
from numpy.typing import NDArray
from tensor_attack import built
from tensor_forgery import answer, forged_trace
from tensor_proofs import proved

from circuitize.backends.tensor.blocks import Block, blocks
from circuitize.backends.tensor.forms import Column
from circuitize.circuits import integers
from circuitize.circuits.port import Role, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.provers.tensor.plan import Plan, plan

Integers = NDArray[np.int64]
SHAPE = (300, 70)
SQUARES = integers.Lookup(-128, np.arange(-128, 128) ** 2, 0)
PROGRAMS = {"shift": integers.Shift(3), "square": SQUARES, "relu": integers.ReLU()}


@cache
def planned(name: str) -> tuple[IntegerProgram, Plan]:
    """An operation on a parameter in several blocks, whose result leaves as one."""
    given = built([Fixed(SHAPE, 0, -128, 127)], (PROGRAMS[name], (0,)))
    ports = tuple(replace(port, role=Role.PARAMETER) for port in given.inputs)
    outputs = tuple(replace(port, role=Role.PARAMETER, visibility=Visibility.COMMITTED) for port in given.outputs)
    program = replace(given, inputs=ports, outputs=outputs)
    return program, plan(program)


@cache
def honest() -> Integers:
    return np.random.default_rng(2).integers(-128, 128, SHAPE)


def at_corners(block: Block) -> list[tuple[int, ...]]:
    last = tuple(start + own - 1 for start, own in zip(block.starts, block.shape, strict=True))
    return [block.starts, last]


def moved(place: tuple[int, ...], amount: int) -> Integers:
    made = np.zeros(SHAPE, np.int64)
    made[place] = amount
    return made


def test_there_are_several_blocks() -> None:
    _, made = planned("shift")
    assert len(blocks(SHAPE)) > 2
    shapes = [base.shape for base in made.bases if isinstance(base, Column) and base.commitment == 0]
    assert shapes == [block.shape for block in blocks(SHAPE)]
    for name in PROGRAMS:
        program, own = planned(name)
        proved(program, {"in0": honest()}, own)


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_element_of_a_result_can_be_another(name: str) -> None:
    program, made = planned(name)
    wire = made.arrow.outputs.tolist()[0]
    for block in blocks(SHAPE):
        for place in at_corners(block):
            trace = forged_trace(made, {"in0": honest()}, wire, partial(np.add, moved(place, 1)))
            assert answer(program, made, trace), (block, place)


def test_no_element_of_an_input_lies_outside() -> None:
    program, made = planned("shift")
    for block in blocks(SHAPE):
        place = at_corners(block)[1]
        values = honest() + moved(place, 128 - int(honest()[place]))
        assert answer(program, made, made.trace({"in0": values})), (block, place)
