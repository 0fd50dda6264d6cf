"""The hardware that a program would take, by scheduler and by number of lanes, counted before anything is emitted."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import lru_cache

from circuitize.circuits.cost import products
from circuitize.circuits.encode import program_digest
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.micro_batches import batch_of
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.reading import Json

from .design import Stream
from .folded.folding import Fold, fold
from .folded.plan import narrowest, plan
from .folded.schedule import all_streams, report
from .folded.search import choose_sizes
from .folded.sizes import Sizes as Folded
from .parallel.schedule import Unrolled
from .shell.interface import Interface
from .shell.sizes import with_shell

SIZES = ("lut", "ff", "dsp", "bram_bits", "latency_cycles", "interval_cycles")
"""The fields that are reported of a design: cells of the Xilinx 7 series, and clock cycles."""

CYCLES = SIZES[-2:]
"""The fields of a report that are the same for every FPGA family."""

MOST_UNROLLED = 8_000
"""The number of products beyond which a program is not unrolled only to be estimated, since that would take longer than
emitting its circuit.
"""

MOST_FOLDED = 1 << 24
"""The number of products beyond which no memory is laid out only to be estimated."""

MOST_LANES = 1024

Sizes = Json
"""The reported sizes, with those that depend on the FPGA family under `families`."""


def unrolled(arrow: Arrow) -> int:
    """Return the number of products in the unrolled arrow, or the number of elements of its largest wire if that is
    greater.
    """
    return max([products(arrow), *(type.size for type in arrow.types)])


def parallel_sizes(program: IntegerProgram, interface: Interface | None = None) -> Sizes:
    """Return the sizes that the parallel scheduler estimates for its design, including those of a shell if an interface
    is given.

    Raise CircuitizeError for a program that is too large for the parallel scheduler.
    """
    found = unrolled(program.arrow)
    if found > MOST_UNROLLED:
        raise CircuitizeError(f"{found:,} products are too many to unroll; use the folded scheduler")
    return _unrolled(Unrolled(program), interface)


def round_sizes(program: IntegerProgram, interface: Interface | None = None) -> list[Sizes]:
    """Return the sizes of parallel designs that take 1, 2, 4, ... examples of a batch at a time, as long as no more
    than MOST_UNROLLED products have logic of their own; none for a program that cannot be cut into rounds.
    """
    batch, found, examples = batch_of(program) or 0, list[Sizes](), 1
    while examples < batch and unrolled(program.arrow) * examples <= MOST_UNROLLED * batch:
        if batch % examples == 0:
            try:
                made = _unrolled(Unrolled(program, micro_batch=examples), interface)
            except CircuitizeError:
                break
            found.append({"micro_batch": examples, **made})
        examples *= 2
    return found


def _unrolled(made: Unrolled, interface: Interface | None) -> Sizes:
    streams = [*made.inputs, *(stream for stream, _ in made.outputs)]
    return _sizes(made.report(), streams, bool(made.states), interface)


def folded_sizes(program: IntegerProgram, lanes: int | None = None, interface: Interface | None = None) -> Sizes:
    """Return the sizes that the folded scheduler estimates for its design, including those of a shell if an interface
    is given.

    Raise CircuitizeError for a program that the folded scheduler cannot implement at all, or not with so few lanes.
    """
    return laid_out(choose_sizes(_folded(program), lanes, None, None), interface)


def _folded(program: IntegerProgram) -> Fold:
    named = unrolled(program.arrow)
    if named > MOST_FOLDED:
        raise CircuitizeError(f"{named:,} products are too many to lay out for an estimate; compile --target verilog")
    return fold(program)


def laid_out(chosen: Folded, interface: Interface | None = None) -> Sizes:
    """Return the sizes of a folded design with all its memories laid out, including those of a shell if an interface is
    given.
    """
    made = plan(chosen)
    return _sizes(report(made), all_streams(made.sizes), bool(chosen.fold.states), interface)


def shell_luts(chosen: Folded, interface: Interface) -> int:
    """Return the LUTs that the shell of a folded design takes at least, which are known before any memory is laid
    out.
    """
    streams = all_streams(narrowest(chosen))
    return int(with_shell({"lut": 0, "ff": 0}, streams, bool(chosen.fold.states), interface)["lut"])


def tradeoff(program: IntegerProgram, interface: Interface | None = None) -> list[Sizes]:
    """Return the sizes of the folded scheduler's designs with 1, 2, 4, ... lanes; numbers of lanes that give the same
    design are listed once.

    The sizes for the last few programs are cached, since estimates, reports and plans of the same program need them
    again.
    """
    return deepcopy(_tradeoff(_Asked(program_digest(program), interface, program)))


@dataclass(frozen=True)
class _Asked:
    """The key under which sizes are cached: a program, which is compared by its digest, and an interface."""

    digest: str
    interface: Interface | None
    program: IntegerProgram = field(compare=False)


@lru_cache(maxsize=8)
def _tradeoff(asked: _Asked) -> list[Sizes]:
    found: list[Sizes] = []
    try:
        folded = _folded(asked.program)
    except CircuitizeError:
        return found
    chosen: Folded | None = None
    lanes = 1
    while lanes <= MOST_LANES:
        before = chosen
        try:
            chosen = choose_sizes(folded, lanes, None, None)
            if chosen != before:
                sizes = {"lanes": lanes, **laid_out(chosen, asked.interface)}
                if not found or {**sizes, "lanes": 0} != {**found[-1], "lanes": 0}:
                    found.append(sizes)
        except CircuitizeError:
            chosen = None
        lanes *= 2
    return found


def _sizes(report: Json, streams: Sequence[Stream], state: bool, interface: Interface | None) -> Sizes:
    found = report if interface is None else with_shell(report, streams, state, interface)
    return {**{name: int(found[name]) for name in SIZES}, "families": found["families"]}
