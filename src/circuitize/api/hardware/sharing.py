"""Sharing of multipliers: each layer has its own multipliers, used in each frame as often as the configuration states;
if no multiplier is shared, the parallel scheduler makes the design.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from circuitize.backends.verilog.bound import Bound
from circuitize.backends.verilog.design import Design
from circuitize.backends.verilog.folded.budget import sizes
from circuitize.backends.verilog.folded.folding import Fold, fold
from circuitize.backends.verilog.folded.plan import plan
from circuitize.backends.verilog.folded.schedule import all_streams, report
from circuitize.backends.verilog.folded.sizes import Sizes
from circuitize.backends.verilog.folded.top import TOP, emit
from circuitize.backends.verilog.shell import Interface, enclosed
from circuitize.backends.verilog.timing import Clock, clocked, timed
from circuitize.circuits.encode import program_digest
from circuitize.circuits.program import IntegerProgram

PARALLEL, FOLDED = "parallel", "folded"


def shared(
    program: IntegerProgram,
    reuse: Callable[..., int],
    interface: Interface,
    options: Mapping[str, object],
    clock: Clock,
) -> Design:
    """Return the design in which each stage takes at most `reuse(*layers)` clocks for each frame, where `layers` are
    the layers of the stage, as far as that is possible.

    If every layer states a reuse of 1, the result is the parallel design, made with the `options` for the `clock`. For
    a stage that must take fewer clocks than the slowest stage, the slowest stage's clocks are halved until they are at
    most the stated number, so that the stage has at most twice as many multipliers as requested.
    """
    parts = {program.arrow.provenances[row[3]].part for row in program.arrow.rows}
    if all(reuse(part) == 1 for part in parts):
        return clocked(Bound(program, {}), PARALLEL, options, interface, clock)
    folded = fold(program, 1 if interface.bus_bits is not None else 0)
    chosen = by_reuse(folded, reuse)
    made = plan(chosen)
    design = Design(TOP, FOLDED, emit(made, {}).files, all_streams(chosen), (), report(made))
    return timed(enclosed(design, interface, program_digest(program)), clock.family)


def by_reuse(folded: Fold, reuse: Callable[..., int]) -> Sizes:
    """Return the cheapest sizes of a folded design in which each stage takes as many clocks as its layers allow."""
    parts = [{stage.provenance.part, *(node.provenance.part for node in stage.nodes)} for stage in folded.stages]
    wanted = [reuse(*names) for names in parts]
    most = max(wanted)
    halved = {number: (-(-most // clocks) - 1).bit_length() for number, clocks in enumerate(wanted) if clocks < most}
    return sizes(folded, most, halved)
