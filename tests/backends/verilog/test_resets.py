"""Resets at random cycles leave the state last kept; `benchmarks/verilog_resets.py` does hundreds of large steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from folded_programs import named
from rtl_resets import check_resets

from circuitize.backends.verilog import parallel
from circuitize.backends.verilog.folded import schedule
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import Add, Check
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed

INITIAL = {"total": np.arange(6).reshape(2, 3), "kept": np.arange(4)}


def counter() -> IntegerProgram:
    """State that adds up its input, and must stay within [-100, 100]; a second state is never changed."""
    builder = Builder()
    total, kept = builder.input(Fixed((2, 3), 0, -100, 100)), builder.input(Fixed((4,), 0, 0, 9))
    more = builder.input(Fixed((2, 3), 0, -60, 60))
    made = builder.add(Check(-100, 100), builder.add(Add(), total, more))
    return named(builder, ["total", "kept", "more"], [made, kept], held=["total", "kept"])


@pytest.mark.parametrize(
    ("interval", "pace"),
    [(5, 3), (30, None), *(pytest.param(*case, marks=pytest.mark.deep) for case in ((5, None), (30, 3)))],
)
def test_the_state_is_always_the_last_one_kept(interval: int, pace: int | None) -> None:
    vectors = {"more": np.random.default_rng(0).integers(-60, 61, (500, 2, 3))}
    design = schedule(counter(), INITIAL, interval_budget=interval)
    found = check_resets(design, counter(), vectors, INITIAL, 150, seed=interval, backpressure=pace)
    assert (found.resets, found.first_difference) == (150, None)
    assert found.ended > 20


@pytest.mark.parametrize("pace", [3, pytest.param(None, marks=pytest.mark.deep)])
def test_the_state_of_a_parallel_design_is_always_the_last_one_kept(pace: int | None) -> None:
    vectors = {"more": np.random.default_rng(1).integers(-60, 61, (500, 2, 3))}
    design = parallel.schedule(counter(), 1, initial=INITIAL)
    found = check_resets(design, counter(), vectors, INITIAL, 150, seed=5, backpressure=pace)
    assert (found.resets, found.first_difference) == (150, None)
    assert found.ended > 20


def test_a_bank_that_is_reset_is_noticed() -> None:
    """The same design with its selector of banks cleared by every reset."""
    design = schedule(counter(), INITIAL, interval_budget=30)
    text = design.files["folded_status.v"]
    reset = text.replace("if (take & keeps", "if (rst) bank <= 1'b0; else if (take & keeps")
    assert reset != text
    vectors = {"more": np.random.default_rng(0).integers(-9, 10, (300, 2, 3))}
    broken = replace(design, files={**design.files, "folded_status.v": reset})
    found = check_resets(broken, counter(), vectors, INITIAL, 60)
    assert found.first_difference is not None and "after reset" in found.first_difference
