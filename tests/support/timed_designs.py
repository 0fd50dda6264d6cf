"""Designs that were placed and routed on an ECP5, to which the delays of wires were fitted or with which they are
compared, and the clocks that were measured.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import util
from pathlib import Path
from statistics import median
from typing import Any

from golden_files import GOLDEN, TESTS
from seeded_networks import NETWORKS, convolution, rounded, step, trees

from circuitize.backends.verilog.bound import Bound, integrated
from circuitize.backends.verilog.design import Design
from circuitize.backends.verilog.shell import Interface

RECORD = GOLDEN / "ecp5_mhz.csv"
"""The MHz of each design by seed of nextpnr-ecp5; `benchmarks/verilog_fmax.py --measure` writes them."""


@dataclass(frozen=True)
class Timed:
    """A network, its scheduler with its options, and the width of its bus, if it has one; whether the delays of wires
    were fitted to it.
    """

    made: Callable[[], Bound]
    scheduler: str
    options: Mapping[str, Any] = field(default_factory=dict)
    bus_bits: int | None = None
    fitted: bool = True

    def design(self) -> Design:
        """Return the design, in its shell."""
        return integrated(self.made(), self.scheduler, self.options, Interface(bus_bits=self.bus_bits))


def dense(*widths: int, seed: int, bits: int) -> Callable[[], Bound]:
    return lambda: rounded(widths, seed, bits)


def stages(made: Callable[[], Bound], levels: int, **options: Any) -> Timed:
    return Timed(made, "parallel", {"levels_per_stage": levels, **options})


def small() -> Bound:
    """The network 4-8-3 of `benchmarks/verilog_ecp5.py`."""
    spec = util.spec_from_file_location("verilog_ecp5", TESTS.parent / "benchmarks" / "verilog_ecp5.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules["verilog_ecp5"] = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Bound(module.seeded((4, 8, 3)), {})


DSP = dense(4, 4, 2, seed=3, bits=6)

FITTED = {
    **{f"dense 4-8-3, N = {levels}": stages(small, levels) for levels in (1, 2, 3, 4, 6, 9)},
    **{f"dense 6-6-3, 5 bits, N = {levels}": stages(dense(6, 6, 3, seed=0, bits=5), levels) for levels in (2, 4)},
    **{f"dense 12-6, 8 bits, N = {levels}": stages(dense(12, 6, seed=1, bits=8), levels) for levels in (1, 4)},
    "dense 4-4-4-4, N = 3": stages(dense(4, 4, 4, 4, seed=2, bits=6), 3),
    **{f"dense 4-4-2, DSP, N = {levels}": stages(DSP, levels, multiplication="dsp") for levels in (2, 4)},
    **{f"trees, 2 rounds of 2, N = {levels}": stages(lambda: trees(2, 2, 0), levels) for levels in (2, 4)},
    "trees, 3 rounds of 2, N = 1": stages(lambda: trees(3, 2, 1), 1),
    "folded dense 4-8-3, P = 4": Timed(small, "folded", {"lanes": 4}),
    "folded dense 16-16-4, P = 4": Timed(dense(16, 16, 4, seed=4, bits=6), "folded", {"lanes": 4}),
    "folded dense 32-16-4, P = 16": Timed(dense(32, 16, 4, seed=5, bits=6), "folded", {"lanes": 16}),
    "folded dense 64-32-10, 8 bits, P = 2": Timed(dense(64, 32, 10, seed=6, bits=8), "folded", {"lanes": 2}),
    "folded trees, 2 rounds of 2": Timed(lambda: trees(2, 2, 0), "folded"),
    "folded convolution, P = 6": Timed(lambda: convolution(0), "folded", {"lanes": 6}),
}
"""Networks from seeds, of 6 bits unless it is said; at most N adders between registers, P lanes."""

MEASURED = (
    "dense 6-10-4, 6 bits, seed 11",
    "dense 10-16-5, 6 bits, 3/4 zeros, seed 12",
    "dense 8-8-8-3, 4 bits, seed 13",
    "trees, 4 rounds of 3, seed 14",
    "dense 32-24-6, 6 bits, seed 15",
    "dense 16-48-24-5, 7 bits, seed 16",
    "convolution, seed 17",
    "trees, 3 rounds of 3, seed 20",
)
OTHERS = {
    f"{network.scheduler}, {name}": Timed(network.made, network.scheduler, network.options, fitted=False)
    for name, network in NETWORKS.items()
    if name in MEASURED
} | {
    "parallel, trees, 3 rounds of 4, seed 22": Timed(lambda: trees(3, 4, 22), "parallel", fitted=False),
    "parallel, dense 12-16-6, 6 bits, N = 3, seed 23": Timed(
        dense(12, 16, 6, seed=23, bits=6), "parallel", {"levels_per_stage": 3}, fitted=False
    ),
    "parallel, dense 4-8-3, N = 2, bus": Timed(small, "parallel", {"levels_per_stage": 2}, 32, False),
    "folded, step 3-2, batch 2, seed 0": Timed(lambda: step((3, 2), 2, 0), "folded", {"lanes": 1}, 32, False),
    "folded, step 4-2, batch 2, seed 21": Timed(lambda: step((4, 2), 2, 21), "folded", {"lanes": 2}, 32, False),
    "parallel, dense 6-8-4, 6 bits, N = 2, bus, seed 24": Timed(
        dense(6, 8, 4, seed=24, bits=6), "parallel", {"levels_per_stage": 2}, 32, False
    ),
    "parallel, trees, 3 rounds of 3, bus, seed 25": Timed(lambda: trees(3, 3, 25), "parallel", {}, 32, False),
}
"""Networks to which no delay was fitted. That signed comparisons pass a carry chain twice was learnt from the trees of
seed 14, that the low part of a product is no sum from the step of seed 21, and that pads which show one bit lie apart
from the bus of 4-8-3; the trees of seeds 22 and 25, the step of seed 0 and the networks of seeds 23 and 24 were
measured afterwards.
"""

DESIGNS = FITTED | OTHERS


def measured(path: Path = RECORD) -> dict[str, list[float]]:
    """The MHz by seed of each design."""
    with path.open(newline="") as file:
        return {name: [float(mhz) for mhz in rest] for name, *rest in list(csv.reader(file))[1:]}


def medians() -> dict[str, float]:
    """The median of the seeds, by design."""
    return {name: median(found) for name, found in measured().items()}
