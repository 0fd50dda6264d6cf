"""slang, the strictest reader of SystemVerilog that is freely had, reads the designs of examples without an error."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import lent_programs
import pytest
from example_programs import example
from pooled_programs import initial, mixed
from seeded_networks import convolution
from slang_errors import errors

from circuitize.backends.verilog.bound import Bound, integrated
from circuitize.backends.verilog.shell import Interface
from circuitize.sims.rtl.frames import bound_somehow

QUICK = ["iris.py:predict", "jet.py:scores", "dense.py:small"]
DEEP = [
    "iris.py:step",
    "cnn.py:predict",
    "digits.py:predict",
    "jet.py:classify",
    "transformer.py:step",
    "digits.py:step",
    "digits.py:momentum",
    "digits_xent.py:step",
    "cnn.py:step",
    "matmul.py:product",
]
"""Of the same modules as those of the other tests, or (matmul) with megabytes of constants."""
PARALLEL = ["iris.py:predict"]
CASES: list[Any] = [*((name, "folded") for name in QUICK), *((name, "parallel") for name in PARALLEL)]
CASES += [pytest.param(name, "folded", marks=pytest.mark.deep) for name in DEEP]
CASES += [pytest.param("jet.py:scores", "parallel", marks=pytest.mark.deep)]
CASES += [pytest.param("digits.py:predict", "parallel", marks=pytest.mark.deep)]


@pytest.mark.parametrize(("name", "scheduler"), CASES)
def test_slang_finds_no_error(name: str, scheduler: str) -> None:
    assert errors(integrated(bound_somehow(example(name).integer), scheduler, {})) == []


def test_slang_finds_no_error_in_what_larger_designs_have() -> None:
    pooling = integrated(convolution(0), "folded", {"lanes": 6})
    training = integrated(Bound(mixed(), initial()), "folded", {})
    lending = integrated(Bound(lent_programs.multiplying(), lent_programs.initial()), "folded", {"dsp_budget": 10})
    assert errors(lending) == []
    assert {"circuitize_folded_block.v", "circuitize_s1_max_pool2d_unit.v"} <= pooling.files.keys()
    assert {"circuitize_folded_pool_lane.v", "circuitize_folded_state_memory.v"} <= training.files.keys()
    assert errors(pooling) == errors(training) == []


def test_slang_notices() -> None:
    made = integrated(bound_somehow(example("iris.py:predict").integer), "folded", {})
    text = made.files[f"{made.top}.v"].replace(
        "endmodule", "  wire late_is_used = late;\n  wire late = clk;\nendmodule"
    )
    assert "late" in "".join(errors(replace(made, files={**made.files, f"{made.top}.v": text})))


@pytest.mark.parametrize("scheduler", ["folded", "parallel"])
def test_slang_finds_no_error_in_designs_with_rounds(scheduler: str) -> None:
    made = bound_somehow(example("iris.py:step").integer)
    design = integrated(made, scheduler, {"micro_batch": 2}, Interface(bus_bits=32))
    assert "circuitize_in_round.v" in design.files or "circuitize_queue.v" in design.files
    assert errors(design) == []
