"""The hardware designs of a plan: the number of clocks over which a frame is folded, and the costs of the resulting
design.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from circuitize.api.targets.contract import LeftOut
from circuitize.backends.verilog.folded.budget import least_cycles, sizes
from circuitize.backends.verilog.folded.cost import Cost
from circuitize.backends.verilog.folded.estimate import computing, framing, pooling, steered
from circuitize.backends.verilog.folded.folding import Fold, fold
from circuitize.backends.verilog.folded.search import choose_sizes
from circuitize.backends.verilog.folded.sizes import Sizes
from circuitize.backends.verilog.shell import Interface
from circuitize.backends.verilog.sizes import (
    MOST_FOLDED,
    MOST_UNROLLED,
    laid_out,
    parallel_sizes,
    round_sizes,
    shell_luts,
    unrolled,
)
from circuitize.circuits.errors import CircuitizeError
from circuitize.sims.rtl.frames import bound_somehow

from .design import Design

NAMES = {
    "luts": "lut",
    "registers": "ff",
    "dsps": "dsp",
    "bram_bits": "bram_bits",
    "cycles": "interval_cycles",
    "latency": "latency_cycles",
}
"""The quantities by their names in the schedulers' reports."""


class Hardware:
    """The two design problems of hardware: first the schedule, within a budget of clocks or of multiplier blocks, and
    then the layout of the design's memories in a shell.

    A schedule determines the clocks and multipliers of a design exactly, and the LUTs of its arithmetic and its shell.
    The budgets of clocks or blocks that a plan tries are the powers of two and the limits given for clocks and
    multipliers. The parallel design of a small program is tried as one more schedule, and so are parallel
    designs that take 1, 2, 4, ... examples at a time.
    """

    def __init__(self, limits: Mapping[str, float]) -> None:
        self.limits = limits

    def schedules(self, design: Design) -> Iterator[Design]:
        """Yield designs whose memories are not laid out yet; equal designs are yielded once."""
        made = bound_somehow(design.program).program
        for sizes_of_round in round_sizes(made, Interface()):
            examples = sizes_of_round["micro_batch"]
            yield design.decided({"scheduler": "parallel", "micro_batch": examples}, _takes(sizes_of_round))
        named = unrolled(made.arrow)
        if named <= MOST_UNROLLED:
            with suppress(CircuitizeError):  # Few products may need many numbers.
                parallel = _takes(parallel_sizes(made, Interface()))
                yield design.decided({"scheduler": "parallel"}, parallel)
        if named > MOST_FOLDED:
            raise LeftOut(f"{named:,} products are too many to lay out; compile --target verilog")
        folded = fold(made)
        seen = set()
        for option, budget in self._budgets(folded):
            try:
                chosen = choose_sizes(
                    folded, **{"lanes": None, "dsp_budget": None, "interval_budget": None, option: budget}
                )
            except CircuitizeError:  # Below the least there is.
                continue
            key = str((chosen.choices, chosen.in_lanes, chosen.out_lanes))
            if key not in seen:
                seen.add(key)
                luts = arithmetic_luts(chosen) + shell_luts(chosen, Interface())
                takes = {"cycles": chosen.interval, "dsps": chosen.dsp, "luts": luts}
                yield design.decided({"scheduler": "folded", option: budget}, takes, chosen)

    def laid_out(self, design: Design) -> Iterator[Design]:
        """Yield the design with all its memories laid out."""
        if design.made is None:
            yield design
        else:
            yield design.decided({}, _takes(laid_out(design.made, Interface())))

    def _budgets(self, folded: Fold) -> Iterator[tuple[str, int]]:
        if "cycles" in self.limits:
            yield "interval_budget", max(1, int(self.limits["cycles"]))
        if "dsps" in self.limits:
            yield "dsp_budget", max(1, int(self.limits["dsps"]))
        clocks = 1
        while clocks < 2 * least_cycles(folded):
            yield "interval_budget", clocks
            clocks *= 2
        yield "interval_budget", sizes(folded, 1).interval


def arithmetic_luts(sizes: Sizes) -> int:
    """Return the LUTs of stages and streams alone, which are a lower bound on the LUTs of a design with these
    sizes.
    """
    cost = Cost()
    framing(cost, sizes)
    pooling(cost, sizes)
    for number, choice in enumerate(sizes.choices):
        late = choice.late(sizes.fold.stages[number])
        computing(cost, sizes.fold, number, choice.lanes, choice.split, choice.units, late)
        steered(cost, sizes, number, late)
    return int(cost.lut)


def _takes(found: Mapping[str, int]) -> dict[str, float]:
    return {quantity: found[name] for quantity, name in NAMES.items()}
