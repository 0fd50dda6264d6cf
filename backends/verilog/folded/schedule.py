"""The folded scheduler: it lays a program out on a few multiply-accumulate lanes within a budget of lanes, multiplier
blocks or clocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.micro_batches import in_rounds
from circuitize.circuits.operation import Values
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.reading import Json
from circuitize.circuits.types import Fixed

from ..design import STATUS, Design, Stream
from ..devices.family import by_family
from ..modes import Modal, Mode
from ..rounds import in_turn
from ..state import initial_values
from . import model
from .budget import streams
from .estimate import estimate
from .folding import Fold, fold
from .plan import Plan, plan
from .search import choose_sizes
from .sizes import Sizes
from .top import TOP, emit

Integers = NDArray[np.int64]


def schedule(
    program: IntegerProgram,
    initial: Mapping[str, Values] | None = None,
    lanes: int | None = None,
    dsp_budget: int | None = None,
    interval_budget: int | None = None,
    elements_per_beat: int = 0,
    modal: Modal | None = None,
    train_interval: int | None = None,
    micro_batch: int | None = None,
) -> Design:
    """Return a folded design of an integer program.

    Held inputs that an output of the same name updates are state, which starts with the values in `initial` (integers,
    or reals that are rounded once). At most one budget may be given: `lanes` that multiply and add at once in all
    stages together, `dsp_budget` multiplier blocks, or `interval_budget` clocks from one frame to the next. If
    `elements_per_beat` is not 0, each beat has at least so many elements, and a power of two or the whole tensor; if it
    is 0, beats have as few elements as keep up with the stages. `modal`, whose training step is `program`, describes a
    design whose frames write its state, read it, predict or train. In a design that predicts and trains,
    `train_interval` is the most clocks of a training step: the budget is then for predictions, and what only steps run
    takes the fewest LUTs with which steps keep to their clocks. If `micro_batch` is given, the design takes so many
    examples of a batch at a time, and needs memory for no more of them. Raise CircuitizeError, with the least possible
    budget, if a budget cannot be met.
    """
    folded = folded_program(program, elements_per_beat, modal, micro_batch)
    start = _initial(folded, initial or {})
    made = plan(choose_sizes(folded, lanes, dsp_budget, interval_budget, train_interval))
    emission = emit(made, start)
    kept = () if folded.rounds is None else folded.rounds.kept
    held = tuple(port.name for port in folded.held.values() if port.name not in kept)
    ports, modes = all_streams(made.sizes), modes_of(made.sizes)
    return Design(TOP, "folded", emission.files, ports, held, report(made), modes=modes)


def folded_program(
    program: IntegerProgram, elements_per_beat: int = 0, modal: Modal | None = None, micro_batch: int | None = None
) -> Fold:
    """Return a program cut into stages; the arguments are those of `schedule`."""
    if micro_batch is None:
        return fold(program, elements_per_beat, modal)
    if modal is not None:
        raise CircuitizeError("--micro-batch: expected no --loadable or --predict, found one; leave one out")
    rounds = in_rounds(program, micro_batch)
    if rounds.count == 1:
        return fold(program, elements_per_beat)
    return fold(rounds.program, elements_per_beat, rounds=rounds)


def all_streams(chosen: Sizes) -> tuple[Stream, ...]:
    """Return the streams of a design: its inputs, its outputs and the status."""
    ins, outs = streams(chosen)
    rounds = chosen.fold.rounds
    if rounds is not None:
        ins = in_turn(rounds, [stream for stream in ins if stream.port != rounds.teller])
        outs = in_turn(rounds, outs)
    return (*ins, *outs, Stream(STATUS, "", True, Fixed((), 0, 0, 1), 1))


def modes_of(chosen: Sizes) -> dict[str, tuple[Mode, ...]]:
    """Return for each stream the modes in whose frames it carries a tensor; the result is empty if the design has no
    modes.
    """
    fold = chosen.fold
    if fold.modal is None:
        return {}
    entering = {entry.stream: tuple(sorted(entry.passage.modes)) for entry in fold.entries}
    return entering | {exit.stream: tuple(sorted(exit.passage.modes)) for exit in fold.exits}


def report(made: Plan) -> Json:
    """Return the report of a plan, in which `families` holds the sizes for each family of FPGAs."""
    chosen, sized = made.sizes, by_family(lambda family: estimate(made, family))
    return {
        "lut": sized["lut"],
        "ff": sized["ff"],
        "dsp": chosen.dsp,
        "bram_bits": sized["bram_bits"],
        "families": sized["families"],
        "latency_cycles": chosen.latency,
        "interval_cycles": chosen.interval * chosen.fold.round_count,
        "lanes": chosen.lanes,
        **({"rounds": chosen.fold.round_count} if chosen.fold.rounds is not None else {}),
        **_prediction(chosen),
    }


def _prediction(chosen: Sizes) -> dict[str, int]:
    """Return the latency and the interval of a prediction in a design that also makes training steps."""
    return {
        f"predict_{word}_cycles": found
        for program in chosen.programs[1:]
        for word, found in (("latency", model.latency(*program)), ("interval", model.interval(*program)))
    }


def table(program: IntegerProgram, intervals: Sequence[int]) -> list[Json]:
    """Return the report of a design for each interval budget that can be met; no Verilog is written."""
    folded = fold(program)
    rows = []
    for interval in intervals:
        try:
            rows.append(report(plan(choose_sizes(folded, None, None, interval))))
        except CircuitizeError:
            continue
    return rows


def _initial(folded: Fold, initial: Mapping[str, Values]) -> dict[str, Integers]:
    """Return the initial values of state by port name, after checking them."""
    kept = () if folded.rounds is None else folded.rounds.kept
    ports = [port for port in folded.held.values() if port.name not in kept]
    zeros = {port.name: np.zeros(port.format.shape, np.int64) for port in folded.held.values() if port.name in kept}
    return zeros | initial_values(ports, initial)
