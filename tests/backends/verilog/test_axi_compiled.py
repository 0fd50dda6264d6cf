"""The bench of cocotbext-axi in Verilator: examples that take Icarus long, up to ten million parameters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import example_names
import pytest
from axi_jobs import FOLDED, job, simulate

from circuitize.backends.verilog.shell import Interface
from circuitize.sims.rtl import frames as rtl_frames

OTHERS = [name for name in example_names.ALL if name not in FOLDED and not name.startswith("mlp_")]
OTHERS += ["torch/digits.py:step", "torch/digits.py:predict"]
LARGE = [("mlp_1m.py:step", 256, 3), ("mlp_10m.py:step", 1024, 2), ("mlp_10m.py:deep", 256, 2)]
"""With so many lanes, for so many frames, of which seed 10 breaks the second."""


@pytest.mark.deep
@pytest.mark.parametrize("bits", [None, 64])
@pytest.mark.parametrize("name", OTHERS)
def test_other_examples(name: str, bits: int | None, tmp_path: Path) -> None:
    """Buses have 64 bits, since the moments of Adam have more than 32."""
    simulate([job(name, "folded", Interface("example", bus_bits=bits), 5)], tmp_path, simulator="verilator")


@pytest.mark.deep
@pytest.mark.parametrize(("name", "lanes", "frames"), LARGE)
def test_large_examples(name: str, lanes: int, frames: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten million parameters are more than any device holds, and than `bound_somehow` makes hardware for."""
    monkeypatch.setattr(rtl_frames, "MOST_HELD", 1 << 24)
    made = job(name, "folded", Interface("example"), frames, lanes=lanes, elements_per_beat=4)
    simulate([replace(made, resets=1, latest=0.5)], tmp_path, seed=10, simulator="verilator")
