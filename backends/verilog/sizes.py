"""What hardware a program would take, by scheduler and by number of lanes, before anything is emitted."""

from __future__ import annotations

from circuitize.circuits.cost import products
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.reading import Json

from .folded.plan import fold, plan
from .folded.schedule import choose_sizes, report
from .parallel.schedule import Unrolled

SIZES = ("lut", "ff", "dsp", "bram_bits", "latency_cycles", "interval_cycles")
"""What is reported of a design."""

MOST_UNROLLED = 8_000
"""Products beyond which a program is not unrolled to be counted: that takes longer than emitting its circuit."""

MOST_FOLDED = 1 << 24
"""Products beyond which no memory is laid out only to be counted."""

MOST_LANES = 1024

Sizes = dict[str, int]


def unrolled(arrow: Arrow) -> int:
    """How many products an arrow has, written out, or elements in its largest wire where those are more."""
    return max([products(arrow), *(type.size for type in arrow.types)])


def parallel_sizes(program: IntegerProgram) -> Sizes:
    """The parallel scheduler's own estimate. Raises CircuitizeError for a program that is too large or keeps state."""
    found = unrolled(program.arrow)
    if found > MOST_UNROLLED:
        raise CircuitizeError(f"{found:,} products are too many to unroll; use the folded scheduler")
    return _sizes(Unrolled(program).report())


def folded_sizes(program: IntegerProgram, lanes: int | None = None) -> Sizes:
    """The folded scheduler's own estimate. Raises CircuitizeError for what it cannot do, or not with so few lanes."""
    named = unrolled(program.arrow)
    if named > MOST_FOLDED:
        raise CircuitizeError(f"{named:,} products are too many to lay out for an estimate; compile --target verilog")
    return _sizes(report(plan(choose_sizes(fold(program), lanes, None, None))))


def tradeoff(program: IntegerProgram) -> list[Sizes]:
    """What the folded scheduler makes of 1, 2, 4, ... lanes; budgets that come to the same design are one."""
    found: list[Sizes] = []
    lanes = 1
    while lanes <= MOST_LANES:
        try:
            sizes = {"lanes": lanes, **folded_sizes(program, lanes)}
        except CircuitizeError:
            sizes = {}
        if sizes and (not found or {**sizes, "lanes": 0} != {**found[-1], "lanes": 0}):
            found.append(sizes)
        lanes *= 2
    return found


def _sizes(report: Json) -> Sizes:
    return {name: int(report[name]) for name in SIZES}
