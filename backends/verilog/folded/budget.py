"""The sizes of all stages and streams of a folded design within a budget, and the timing that follows from the
sizes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from ..design import Stream
from ..modes import Mode
from . import model
from .beats import entering, leaving, stream_lanes
from .folding import Exit, Fold
from .following import followed
from .lane_text import lane_bits
from .order import Rule
from .pool import READ, WAITS, depth, held, last_read, works
from .prices import BESIDE_UNIT, LANE, WHOLE_LANE, Pace, priced, prices_of, readers_of
from .rematerialization import BITS
from .rounds import room
from .sizes import Reader, Sizes
from .terms import equal
from .tiling import Choice, choices_shared, choose
from .turns import with_turns


def sizes(
    fold: Fold,
    target: int,
    halved: Mapping[int, int] = MappingProxyType({}),
    pool_size: int | None = None,
    given: Mapping[int, Choice] = MappingProxyType({}),
    pace: Pace | None = None,
    joins: bool = False,
    rule: Rule | None = None,
    borrows: bool = False,
) -> Sizes:
    """Return the cheapest sizes with which each stage takes at most `target` clocks a frame, if there are such sizes.

    The stages of a program with state run one after another. The sum of the clocks of such stages is least if the lanes
    of each stage are in proportion to the square root of its work: `target` is the target of the stage with the most
    work, and the target of any other stage is smaller in proportion to the square root of its work. Stages that share
    lanes count as one stage here; the pool has `pool_size` lanes or, if this is None, as many as keep to the target.
    `halved` says for some stages how often their targets are halved, and `given` gives the sizes of some stages. With a
    `pace` of steps, the stages that only steps run have the sizes that cost least by the pace's worth of a LUT. `joins`
    is the field of the sizes. In a design that lends multipliers, stages take turns by `rule` or, if this is None, by
    the rule that is best by the model; if `borrows` is true, they may borrow those of shared lanes.
    """
    stages = fold.stages
    products = sum(works(fold).values())
    shared_lanes = min(pool_size or -(-products // target), products)
    prices = prices_of(fold, shared_lanes, pace)
    waits = WAITS if fold.members else 0
    choices: list[Choice] = []
    dsp = lanes = 0
    actors: list[model.Actor] = []
    lane_of = {
        e.stream: entering(fold, e.passage, stream_lanes(e.passage.format.size, target, fold.elements_per_beat))
        for e in fold.entries
    }
    writer = {entry.wire: k for k, entry in enumerate(fold.entries)}
    first = len(fold.entries)
    spans: list[tuple[int, int]] = []
    most = max([products, *(stage.size * stage.terms for stage in stages)])
    for number, stage in enumerate(stages):
        path = fold.paths(number, 1)[0]
        share = math.sqrt(stage.size * stage.terms / most) if fold.updates else 1.0
        widths = widths_of(fold, number)
        ordered, leads = bool(fold.modal) and stage.wire in fold.states.values(), number in fold.leaders.values()
        choice = (
            given[number]
            if number in given
            else _cheapest(
                fold,
                number,
                choices_shared(stage, shared_lanes, fold.axes[number], widths, prices[number], ordered, leads),
                prices[number],
            )
            if number in fold.members
            else choose(
                stage,
                priced(stage, widths, path.dsp, prices[number])
                if fold.members or (pace is not None and number in fold.learning)
                else max(1, round(target * share) >> halved.get(number, 0)),
                fold.axes[number],
                widths,
                ordered,
                fold.updates and (fold.modal is None or bool(fold.members)),
            )
        )
        if number in fold.leaders and number not in given:
            choice = followed(stage, choices[fold.leaders[number]]) or choice
        choices.append(choice)
        writer[stage.wire] = first + number
        path, after, inner, before = fold.paths(number, choice.split)
        late_terms, late_results = choice.late(stage)
        dsp += choice.units * path.dsp
        if number in fold.members:
            last, drain = last_read(choice, stage.terms), held(choice)
            result = last + READ + 1 + depth(fold, number, choice) + drain - 1
        elif inner is not None:
            lanes, dsp = lanes + choice.lanes * choice.split, dsp + choice.lanes * choice.split * inner.dsp
            reading, drain = -(-stage.terms // choice.split), -(-choice.lanes // choice.units)
            clocks = max(reading, drain)
            last = (choice.passes - 1) * clocks + reading
            result = last + late_terms + before + 2 + (drain > 1) + drain - 1
        else:
            last = result = choice.passes
        spans.append((last, result))
        actors.append(model.Actor(stage.name, choice.cycles + waits, result + 1 + late_results + after, waits=waits))
    units = {stage.wire: choice.units for stage, choice in zip(stages, choices, strict=True)}
    mapped = {stage.wire: units[stage.wire] for stage in stages if not stage.reduction}
    for wire, load in fold.loads.items():
        name = next(entry.stream for entry in fold.entries if entry.wire == load)
        lane_of[name] = units.get(fold.states[wire], stream_lanes(1, 1, fold.elements_per_beat))
    in_lanes = [lane_of[entry.stream] for entry in fold.entries]
    counts = [-(-e.passage.format.size // width) for e, width in zip(fold.entries, in_lanes, strict=True)]
    actors = [model.Actor(f"in{e.wire}", count, count) for e, count in zip(fold.entries, counts, strict=True)] + actors
    loaded = {wire: in_lanes[writer[load]] for wire, load in fold.loads.items()}
    out_lanes = [
        loaded[exit.wire]
        if exit.passage.modes == {Mode.READ}
        else leaving(fold, exit, target, mapped.get(exit.wire, 1))
        for exit in fold.exits
    ]
    readers = []
    for number, stage in enumerate(stages):
        for operand in stage.operands:
            if operand.amounts is None:
                reads = spans[number][0 if operand.in_reduction else 1]
                readers.append(Reader(operand.wire, writer[stage.wire], operand.name, reads, operand.in_reduction))
    shared: dict[int, int] = {}
    for exit, width in zip(fold.exits, out_lanes, strict=True):
        beats = -(-exit.at.size // width)
        found = _read_in_order(fold, choices, readers, first, exit, width)
        if found is None:
            readers.append(Reader(exit.wire, len(actors), None, beats))
        else:
            shared[len(actors)] = found
        actors.append(model.Actor(f"out{exit.wire}", beats, 0, beats + 1 + waits))
    status = len(actors)
    actors.append(model.Actor("status", 1 + waits, 0, 0, waits))
    state = {wire: writer[new] for wire, new in fold.states.items()}
    rooms = {entry.wire: room(fold, entry) for entry in fold.entries}
    leaves = {first + len(stages) + number: room(fold, exit) for number, exit in enumerate(fold.exits)}
    links = [
        model.Link(
            state.get(r.wire, writer.get(r.wire, 0)),
            r.actor,
            r.reads,
            leaves.get(r.actor) or rooms.get(r.wire),
            r.wire in state,
        )
        for r in readers
    ]
    links += [model.Link(k, status, 0, rooms[entry.wire]) for k, entry in enumerate(fold.entries)]
    links += [model.Link(writer[stages[k].wire], status, 0) for k in fold.flagged]
    if fold.modal is None:
        first_room = next(iter(rooms.values()), None)
        links += [model.Link(0, actor, 0, first_room) for actor in _untriggered(fold, writer, links)]
        return with_turns(
            Sizes(fold, target, choices, in_lanes, out_lanes, actors, links, readers, lanes, dsp), rule, borrows
        )
    modes = [entry.passage.modes for entry in fold.entries] + fold.stage_modes
    modes += [*(exit.passage.modes for exit in fold.exits), frozenset(fold.modal.modes)]
    read_back = [first + len(stages) + k for k, exit in enumerate(fold.exits) if exit.wire in fold.states]
    links += [model.Link(k, status, 0) for k in read_back]
    admitted = [*range(1, first), *_untriggered(fold, writer, links), *read_back]
    links += [model.Link(0, actor, 0) for actor in admitted]
    made = Sizes(fold, target, choices, in_lanes, out_lanes, actors, links, readers, lanes, dsp, shared, modes)
    return with_turns(replace(made, pace=pace, longest=None if pace is None else pace.most, joins=joins))


def _cheapest(fold: Fold, number: int, choices: list[tuple[float, Choice]], price: float) -> Choice:
    """Return the cheapest sizes of a stage on shared lanes, with the block memory that copies take; `choices` are in
    the order of their other costs, in clocks, and a LUT counts as `price` clocks.
    """
    best: tuple[float, Choice] | None = None
    for cost, choice in choices:
        if best is not None and cost >= best[0]:
            break
        whole = cost + price * LANE / WHOLE_LANE * sum(fold.spread(number, choice).values()) / BITS
        best = (whole, choice) if best is None or whole < best[0] else best
    assert best is not None
    return best[1]


def widths_of(fold: Fold, number: int) -> tuple[int, int, int]:
    """Return the relative costs of a multiplier, of a lane and of a unit of a stage."""
    stage, path = fold.stages[number], fold.paths(number, 1)[0]
    beside = BESIDE_UNIT * readers_of(fold, stage.wire) if number in fold.members else 0
    unit = 40 + path.lut + path.ff // (4 if fold.members else 2) + 20 * path.dsp + beside
    return 20, lane_bits(stage, 1) if stage.reduction else 0, unit


def _read_in_order(
    fold: Fold, choices: list[Choice], readers: list[Reader], first: int, exit: Exit, width: int
) -> int | None:
    """Return the number of a reader that reads the elements of a state in order, `width` of them a clock, or None.

    An output that reads a state back in the same order can use the memory of such a reader.
    """
    if exit.passage.modes != {Mode.READ}:
        return None
    for number, reader in enumerate(readers):
        if reader.wire != exit.wire or reader.operand is None:
            continue
        stage, choice = fold.stages[reader.actor - first], choices[reader.actor - first]
        (operand,) = [operand for operand in stage.operands if operand.name == reader.operand]
        inside = operand.in_reduction or stage.wire not in fold.states.values()
        if not inside and choice.units == width and equal(operand.at, exit.at):
            return number
    return None


def _untriggered(fold: Fold, writer: Mapping[int, int], links: list[model.Link]) -> list[int]:
    """Return the actors that are stages which read only constants and state; they start when a frame of the first input
    starts.
    """
    fed = {link.reader for link in links if not link.state}
    return [writer[stage.wire] for stage in fold.stages if writer[stage.wire] not in fed]


def streams(sizes: Sizes) -> tuple[list[Stream], list[Stream]]:
    """Return the input streams and the output streams of a design, without the status."""
    fold = sizes.fold
    ins = [
        Stream(e.stream, e.passage.port, False, e.passage.format, width, user=True)
        for e, width in zip(fold.entries, sizes.in_lanes, strict=True)
    ]
    outs = [
        Stream(e.stream, e.passage.port, True, e.passage.format, width)
        for e, width in zip(fold.exits, sizes.out_lanes, strict=True)
    ]
    return ins, outs


def least_cycles(fold: Fold) -> int:
    """Return the number of clocks that the longest stage takes if nothing is done in parallel."""
    longest = [stage.size * stage.terms for stage in fold.stages]
    return max([*longest, *(entry.passage.format.size for entry in fold.entries), 1])
