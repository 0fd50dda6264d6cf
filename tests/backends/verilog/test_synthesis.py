"""yosys synthesizes every operation for a 7-series FPGA, by both schedulers: no latch, no loop, one driver a wire."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from integers_cases import cases
from operations.integer import Case
from r1cs_programs import single

from circuitize.backends.verilog.design import Design
from circuitize.backends.verilog.folded import schedule as folded
from circuitize.backends.verilog.parallel import schedule as parallel
from circuitize.circuits.program import IntegerProgram

SCHEDULERS: dict[str, Callable[[IntegerProgram], Design]] = {"parallel": parallel, "folded": folded}
SMALL = 64
"""Elements of a source: larger ones take minutes, and show no more."""
CHOSEN = {
    case.operation.name: case for case in reversed(cases()) if max((s.size for s in case.sources), default=0) <= SMALL
}
"""The first small case of each operation."""


@pytest.mark.deep
@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("case", CHOSEN.values(), ids=str)
def test_operations_are_synthesized(case: Case, scheduler: str, tmp_path: Path) -> None:
    design = SCHEDULERS[scheduler](single(case.operation, *case.sources))
    for name, text in design.files.items():
        (tmp_path / name).write_text(text)
    yosys = shutil.which("yosys")
    assert yosys is not None, "install yosys"
    sources = " ".join(sorted(name for name in design.files if name.endswith(".v")))
    script = (
        f"read_verilog {sources}; hierarchy -check -top {design.top}; proc; opt_clean; check -assert; "
        f"select -assert-none t:$dlatch t:$adlatch; synth_xilinx -family xc7 -flatten -noiopad -top {design.top}; "
        "check -assert; stat"
    )
    done = subprocess.run([yosys, "-p", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert "Number of cells:" in done.stdout
