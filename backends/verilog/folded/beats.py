"""Elements a beat of the streams of a folded design."""

from __future__ import annotations

from ..signals import element
from .counter import in_block
from .folding import Exit, Fold
from .tiling import divisor

BESIDE = 8
"""New state in block memory leaves in one part in so many of the clocks of a stage, a few elements a beat."""
BESIDE_WIDEST = 32
"""At most so many."""


def sending(fold: Fold, exit: Exit, target: int, units: int) -> int:
    """Clocks in which an output leaves: few for new state in block memory, which is not read meanwhile by a stage.

    Where nothing is reduced, it leaves as many elements a beat as are written a clock: it lies in so many memories.
    """
    size, width = exit.at.size, element(fold.format(exit.wire)).width
    if fold.modal is not None or exit.wire not in fold.states.values() or not in_block(2 * size, width):
        return target
    return -(-size // units) if units > 1 else max(target // BESIDE, -(-size // BESIDE_WIDEST), 1)


def least_beat(fold: Fold, exit: Exit) -> int:
    """Return the elements wanted in a beat.

    New state that shared lanes made leaves by powers of two, as it lies in memories.
    """
    return fold.elements_per_beat or int(bool(fold.members) and exit.wire in fold.states.values())


def stream_lanes(size: int, target: int, wanted: int) -> int:
    """Return the elements of a beat: the fewest that keep to the target.

    If some are wanted, they are a power of two or the whole tensor.
    """
    least = min(size, -(-size // max(1, target)))
    if wanted:
        return min(size, 1 << (max(least, wanted) - 1).bit_length())
    even = divisor(size, least)
    return even if even <= 2 * least else least
