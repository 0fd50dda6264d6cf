"""slang, the strictest reader of SystemVerilog that is freely had, reads the designs of examples without an error."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from example_programs import example
from slang_errors import errors

from circuitize.backends.verilog.bound import integrated
from circuitize.sims.rtl.frames import bound_somehow

QUICK = ["iris.py:step", "iris.py:predict", "jet.py:scores", "dense.py:small"]
SLOW = ["cnn.py:predict"]
DEEP = [
    "digits.py:predict",
    "jet.py:classify",
    "transformer.py:step",
    "digits.py:step",
    "digits.py:momentum",
    "digits_xent.py:step",
    "cnn.py:step",
    "matmul.py:product",
]
"""Of the same modules as those above, or (matmul) with megabytes of constants."""
PARALLEL = ["iris.py:predict"]
CASES: list[Any] = [*((name, "folded") for name in QUICK), *((name, "parallel") for name in PARALLEL)]
CASES += [pytest.param(name, "folded", marks=pytest.mark.slow) for name in SLOW]
CASES += [pytest.param(name, "folded", marks=pytest.mark.deep) for name in DEEP]
CASES += [pytest.param("jet.py:scores", "parallel", marks=pytest.mark.deep)]
CASES += [pytest.param("digits.py:predict", "parallel", marks=pytest.mark.deep)]


@pytest.mark.parametrize(("name", "scheduler"), CASES)
def test_slang_finds_no_error(name: str, scheduler: str) -> None:
    assert errors(integrated(bound_somehow(example(name).integer), scheduler, {})) == []


def test_slang_notices() -> None:
    made = integrated(bound_somehow(example("iris.py:predict").integer), "folded", {})
    text = made.files[f"{made.top}.v"].replace(
        "endmodule", "  wire late_is_used = late;\n  wire late = clk;\nendmodule"
    )
    assert "late" in "".join(errors(replace(made, files={**made.files, f"{made.top}.v": text})))
