"""Cutting tensors into blocks: axes are cut at powers of two if padding the whole tensor would waste too much."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, product

from circuitize.circuits.integers.view import View
from circuitize.circuits.types import Shape

BLOCK = 1 << 12
"""The cost of one more block in a proof, in padded elements: the prover's work on the block's claims, and the bytes of
those claims.
"""


@dataclass(frozen=True)
class Block:
    """A block of a tensor: along each axis i, the places starts[i] to starts[i] + shape[i] - 1."""

    starts: Shape
    shape: Shape

    def of(self, whole: Shape) -> View:
        """Return the view that takes the block from a tensor."""
        return View.slice(whole, self.starts, tuple(map(sum, zip(self.starts, self.shape, strict=True))))

    def pad(self, whole: Shape) -> View:
        """Return the view that puts the block into a tensor that is 0 elsewhere."""
        after = (n - start - own for n, start, own in zip(whole, self.starts, self.shape, strict=True))
        return View.pad(self.shape, self.starts, tuple(after))

    @property
    def places(self) -> tuple[slice, ...]:
        """Return the slices by which the block indexes its tensor."""
        return tuple(slice(start, start + own) for start, own in zip(self.starts, self.shape, strict=True))


@lru_cache(maxsize=1024)
def blocks(shape: Shape, whole: int = 0) -> tuple[Block, ...]:
    """Return the blocks into which a tensor is cut, in row-major order: 784 x 128 is cut into 512 x 128, 256 x 128 and
    16 x 128.

    Each axis is cut into powers of two, the greatest first, as long as this lowers the cost; the rest of the axis is
    the last piece. The first `whole` axes of the tensor are not cut. The blocks of a tensor depend only on its shape.
    The blocks of a tensor are chosen so that their number of padded elements is least, where each block counts as BLOCK
    more elements.
    """
    best: tuple[float, tuple[Shape, ...]] = math.inf, ()
    if padded(shape) - math.prod(shape) <= BLOCK:
        best = 0, tuple((extent,) for extent in shape)
    else:
        ways = [[(extent,)] if axis < whole else list(_cuts(extent)) for axis, extent in enumerate(shape)]
        for cuts in product(*ways):
            size = math.prod(sum(padded((piece,)) for piece in pieces) for pieces in cuts)
            best = min(best, (size + BLOCK * math.prod(map(len, cuts)), cuts))
    starts = [tuple(accumulate((0, *pieces[:-1]))) for pieces in best[1]]
    return tuple(map(Block, product(*starts), product(*best[1])))


def _cuts(extent: int) -> Iterator[Shape]:
    cut: list[int] = []
    while extent:
        yield (*cut, extent)
        cut.append(1 << (extent.bit_length() - 1))
        extent -= cut[-1]


def padded(shape: Shape) -> int:
    """Return the number of elements of a tensor after its axes are padded to powers of two."""
    return math.prod(1 << (extent - 1).bit_length() for extent in shape)


def in_one(shape: Shape) -> tuple[Block, ...]:
    """Return a whole tensor as its only block."""
    return (Block((0,) * len(shape), shape),)
