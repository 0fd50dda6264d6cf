"""The number of elements in a beat of each stream of a folded design."""

from __future__ import annotations

from dataclasses import replace

from ..modes import Passage
from ..signals import element
from .counter import in_block
from .folding import Exit, Fold
from .pool import WAITS
from .sizes import Sizes
from .tiling import divisor

BESIDE = 8
"""New state in block memory leaves in one part in so many of the clocks of a stage, a few elements a beat."""
BESIDE_WIDEST = 32
"""At most so many."""


def sending(fold: Fold, exit: Exit, target: int, units: int) -> int:
    """Return the clocks in which an output leaves: few for new state in block memory, which no stage reads meanwhile.

    New state from a stage without a reduction leaves with as many elements a beat as the stage writes a clock, because
    it is kept in as many memories.
    """
    size, width = exit.at.size, element(fold.format(exit.wire)).width
    if fold.modal is not None or exit.wire not in fold.states.values() or not in_block(2 * size, width):
        return target
    return -(-size // units) if units > 1 else max(target // BESIDE, -(-size // BESIDE_WIDEST), 1)


def least_beat(fold: Fold, exit: Exit) -> int:
    """Return the least number of elements that a beat of an output must have, or 0 if any number will do.

    New state from shared lanes leaves in beats of a power of two elements, or of the whole tensor.
    """
    return fold.elements_per_beat or int(bool(fold.members) and exit.wire in fold.states.values())


def stream_lanes(size: int, target: int, wanted: int) -> int:
    """Return the number of elements in a beat of a stream: the fewest with which a tensor takes at most `target`
    clocks, or a divisor of its size that is at most twice as large.

    If `wanted` is not 0, the number of elements in a beat is at least `wanted`, and a power of two or the whole tensor.
    """
    least = min(size, -(-size // max(1, target)))
    if wanted:
        return min(size, 1 << (max(least, wanted) - 1).bit_length())
    even = divisor(size, least)
    return even if even <= 2 * least else least


def entering(fold: Fold, passage: Passage, lanes: int) -> int:
    """Return the number of elements in a beat of an input, `lanes` of them if that may be: in a design with rounds, no
    beat has elements of two rounds.
    """
    if fold.rounds is None:
        return lanes
    if passage.port == fold.rounds.teller:
        return passage.format.size
    return _within_round(fold, passage.format.size, lanes) if passage.port in fold.rounds.cut_inputs else lanes


def leaving(fold: Fold, exit: Exit, target: int, units: int) -> int:
    """Return the number of elements in a beat of an output: in a design with rounds, no beat has elements of two
    rounds. The arguments are those of `sending`.
    """
    lanes = stream_lanes(exit.at.size, sending(fold, exit, target, units), least_beat(fold, exit))
    if fold.rounds is None or exit.passage.port not in fold.rounds.cut_outputs:
        return lanes
    return _within_round(fold, exit.at.size, lanes)


def _within_round(fold: Fold, size: int, lanes: int) -> int:
    """Return the least divisor of a size that is at least `lanes`; if beats have a least number of elements, return the
    least power of two that is, or the greatest that divides the size.
    """
    if not fold.elements_per_beat:
        return divisor(size, lanes)
    powers = [1 << k for k in range(size.bit_length()) if size % (1 << k) == 0]
    return next((power for power in powers if power >= lanes), powers[-1])


def with_beat(sizes: Sizes, place: int, width: int) -> Sizes:
    """Return sizes in which a beat of the output number `place` has so many elements."""
    beats, waits = -(-sizes.fold.exits[place].at.size // width), WAITS if sizes.fold.members else 0
    actor = len(sizes.fold.entries) + len(sizes.fold.stages) + place
    lanes, actors, links, readers = ([*own] for own in (sizes.out_lanes, sizes.actors, sizes.unbanked, sizes.readers))
    lanes[place] = width
    actors[actor] = replace(actors[actor], cycles=beats, shows=beats + 1 + waits)
    for number, reader in enumerate(readers):
        if reader.actor == actor:
            readers[number], links[number] = replace(reader, reads=beats), replace(links[number], reads=beats)
    return replace(sizes, out_lanes=lanes, actors=actors, unbanked=links, readers=readers)
