"""A program without a value has status 1 in hardware, though nothing reads the operation that has none."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
from folded_programs import named
from numpy.typing import NDArray

from circuitize.backends.verilog.design import Design
from circuitize.backends.verilog.modes import Modal
from circuitize.backends.verilog.parallel.schedule import schedule as parallel
from circuitize.circuits.bind import bind
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.integers import Add, Check, Gather, Multiply
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import Raw
from circuitize.sims.rtl import Simulation, compare, expected

FOLDED = import_module("circuitize.backends.verilog.folded.schedule").schedule
X, AT = Fixed((4,), 0, -9, 9), Fixed((2,), 0, 0, 7)
FRAMES = {"x": [[1, 2, 3, 4], [6, 0, 0, 0], [5, -9, 0, 1], [0, 0, 0, 1]], "at": [[0, 3], [1, 1], [4, 0], [3, 2]]}
"""The second frame fails the check of x, the third the choice at 4."""


def unread(state: bool = False) -> IntegerProgram:
    """The sum of x with itself, or the state with x added; nothing reads a check of x, nor what is chosen from x."""
    builder = Builder()
    x, at, *held = builder.inputs([X, AT, *([Fixed((4,), 0, -99, 99)] if state else [])])
    builder.add(Check(-9, 5), builder.add(Multiply(), x, x) if state else x)
    builder.add(Gather(0), x, at)
    made = builder.add(Add(), held[0] if state else x, x)
    outputs = [builder.add(Check(-99, 99), made)] if state else [made]
    return named(builder, ["x", "at", *(["w"] if state else [])], outputs, ["w"] if state else [])


def frames() -> dict[str, NDArray[np.int64]]:
    return {name: np.array(values) for name, values in FRAMES.items()}


def failed(design: Design, program: IntegerProgram, state: dict[str, NDArray[np.int64]]) -> list[bool]:
    """Which frames fail, in the design as in the executor."""
    wanted = expected(program, frames(), state)
    with Simulation(design) as simulation:
        assert compare(simulation.run(frames(), 1), wanted).first_difference is None
    return [bool(value) for value in wanted.undefined]


def test_frames_fail_by_what_nothing_reads() -> None:
    for design in (parallel(unread()), FOLDED(unread())):
        assert failed(design, unread(), {}) == [False, True, True, False]


def test_state_stays_where_an_unread_check_fails() -> None:
    """x is squared before its check, which 5 fails as well."""
    start = {"w": np.array([1, -2, 3, 0])}
    assert failed(FOLDED(unread(state=True), start), unread(state=True), start) == [True, True, True, False]


def test_an_input_that_is_bound_keeps_unread_checks() -> None:
    bound = bind(unread(), {"at": Raw(np.array([0, 4]))})
    assert expected(bound, {"x": frames()["x"]}, {}).undefined.all()
    kept = bind(unread(), {"at": Raw(np.array([0, 3]))})
    assert expected(kept, {"x": frames()["x"]}, {}).undefined.tolist() == [False, True, False, False]


def test_designs_with_modes_refuse_unread_checks() -> None:
    with pytest.raises(CircuitizeError, match="expected checks that outputs depend on, found one that nothing reads"):
        FOLDED(unread(state=True), {"w": np.zeros(4, np.int64)}, modal=Modal(unread(state=True)))
