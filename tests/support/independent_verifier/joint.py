"""One opening of several tables, hidden or not: that their weighted sums add up to a number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .arithmetic import (
    HALF,
    Elements,
    Field,
    Numbers,
    dot,
    equality,
    equality_at,
    evaluated,
    multiply,
    one,
    powers,
    same,
    stack,
    total,
    zero,
)
from .checks import Clear, sumcheck
from .geometry import CARRIED, Block, Geometry, Vector, vectors
from .masked import Masked
from .opening import (
    FOLD,
    FOREIGN,
    fold,
    opened_leaves,
    powers_at,
    reversed_bits,
    root_of_unity,
    roots_to,
    symbols,
)
from .transcript import Refused, Transcript


@dataclass(frozen=True)
class Oracle:
    """What is queried: a root, and what it is made of the top of a tree by; leaves of so many words."""

    geometry: Geometry
    width: int
    carried: int
    root: bytes
    salted: bool
    root_of: Callable[[bytes], bytes] = bytes


@dataclass(frozen=True)
class Answers:
    """The points that leaves stand for, with their indices, the words of each, and what is carried beside them."""

    indices: list[int]
    z: Numbers
    words: Numbers
    carried: Numbers


@dataclass(frozen=True)
class Powers:
    """Weights of a block of a vector: the sum of factors times z^b."""

    block: Block
    z: Numbers
    factors: Elements


@dataclass(frozen=True)
class Folded:
    """A vector, the challenges that its folds are along, and weights on it: of carried pads, if any, and of answers."""

    vector: Vector
    point: Elements
    pads: Elements | None
    powers: list[Powers]

    def weight(self, at: Elements) -> Elements:
        """The extension of these weights at a point."""
        found, carried = zero(at.shape[-1]), self.vector.carried
        if self.pads is not None and carried is not None:
            pads = dot(self.pads, equality_at(at[: carried.bits], range(CARRIED)))
            found = multiply(pads, within(carried, at))
        for bits, length in {(own.block.bits, own.block.length) for own in self.powers}:
            alike = [own for own in self.powers if (own.block.bits, own.block.length) == (bits, length)]
            factors = np.concatenate([multiply(own.factors, within(own.block, at)) for own in alike])
            found = found + powers_at(factors, np.concatenate([own.z for own in alike]), length, at[:bits])
        return found


def within(block: Block, point: Elements) -> Elements:
    """What the block's own extension counts in that of its vector."""
    return equality_at(point[block.bits :], [block.offset >> block.bits])[0]


def ask(transcript: Transcript, oracle: Oracle) -> Answers:
    depth = oracle.geometry.depth
    places = transcript.positions("whir.queries", oracle.geometry.queries, depth)
    words, carried, top = opened_leaves(transcript, places, depth, oracle.width, oracle.carried, oracle.salted)
    if oracle.root_of(top) != oracle.root:
        raise Refused(FOREIGN)
    indices = [reversed_bits(place, depth) for place in places]
    return Answers(indices, roots_to(root_of_unity(depth), indices), words, carried)


def rounds(transcript: Transcript, target: Elements, hides: bool) -> tuple[Elements, Elements, Elements | None]:
    """Those of one fold: what is left of the claim, the point, and weights on the pads that hide them."""
    if not hides:
        return *sumcheck(Clear(transcript), "whir.fold", 2, FOLD, target), None
    masked = Masked(transcript)
    left, point = sumcheck(masked, "whir.fold", 2, FOLD, masked.constant(target))
    known, _ = masked.equation([left], one(transcript.degree)[None])
    return known.constant, point, -known.pads


def over_four(
    tables: Sequence[Oracle], weight_at: Callable[[int, Elements], Elements]
) -> Callable[[int, Elements], Elements]:
    """The weights of tables as if all bound four variables: half as much for each that one lacks."""

    def extension_of(number: int, at: Elements) -> Elements:
        bound = tables[number].geometry.fold
        weight = weight_at(number, np.concatenate([at[:bound], at[FOLD:]]))
        for _ in range(bound, FOLD):
            weight = weight * HALF
        return weight

    return extension_of


def check_joint(
    transcript: Transcript,
    tables: Sequence[Oracle],
    target: Elements,
    weight_at: Callable[[int, Elements], Elements],
    hides: bool,
) -> None:
    """Raise Refused unless the sum over tables of <f, w> is the target; `weight_at` is w's extension, by number."""
    degree = transcript.degree
    oracles, passed = list(tables), []
    extension_of = over_four(tables, weight_at)
    last, root = Field.zeros((0, degree)), b""
    for vector in vectors([table.geometry for table in tables], hides):
        left, point, pads = rounds(transcript, target, hides)
        if vector.last and not hides:
            last = transcript.elements("whir.last", vector.geometry.end)
        else:
            root = transcript.bytes("whir.root", 32)
        answers = [ask(transcript, oracle) for oracle in oracles]
        claims: list[tuple[Block, Numbers, Elements]] = []
        for oracle, found, block in zip(oracles, answers, vector.folds, strict=True):
            own_point = point[: oracle.geometry.fold]
            leaves = symbols(found.words, len(own_point), degree)
            claims.append((block, found.z, fold(leaves, found.indices, oracle.geometry.domain, own_point)))
            if vector.carried is not None and oracle.carried:
                claims.append((vector.carried, found.z, found.carried))
        factors = powers(transcript.challenge("whir.combine"), sum(len(z) for _, z, _ in claims))
        target = left + dot(factors, np.concatenate([values for *_, values in claims]))
        ends = np.cumsum([len(z) for _, z, _ in claims]).tolist()
        own = [Powers(block, z, factors[end - len(z) : end]) for (block, z, _), end in zip(claims, ends, strict=True)]
        passed.append(Folded(vector, point, pads, own))
        sizes = (2 * degree, 0) if vector.last else (degree << vector.geometry.fold, degree * hides)
        oracles = [Oracle(vector.geometry, *sizes, root, hides)]
    if hides:
        last, target = shown(transcript, oracles[0], target)
    left, at = sumcheck(Clear(transcript), "whir.fold", 2, oracles[0].geometry.bits, target)
    value = dot(equality(at)[: len(last)], last)
    weight, factor = zero(degree), one(degree)
    for folded in reversed(passed):
        weight = weight + multiply(factor, folded.weight(at))
        parts = [(within(block, at), np.concatenate([folded.point, at[: block.bits]])) for block in folded.vector.folds]
        if folded is not passed[0]:
            ((own_factor, at),) = parts
            factor = multiply(factor, own_factor)
        else:
            extensions = [multiply(part, extension_of(number, before)) for number, (part, before) in enumerate(parts)]
            weight = weight + multiply(factor, total(stack(extensions)))
    if not same(multiply(value, weight), left):
        raise Refused("a commitment does not open to the claimed values")


def shown(transcript: Transcript, oracle: Oracle, target: Elements) -> tuple[Elements, Elements]:
    """The hidden end: u = g + mu v is sent whole, where v is the last vector and g a mask; u, and its weighted sum."""
    degree, geometry = transcript.degree, oracle.geometry
    (masked,) = transcript.elements("whir.mask", 1)
    mu = transcript.challenge("whir.mask")
    last = transcript.elements("whir.last", geometry.filled)
    found = ask(transcript, oracle)
    own, mask = found.words[:, :degree], found.words[:, degree:]
    if not same(mask + multiply(own, mu[None]), evaluated(last, found.z)):
        raise Refused("the last vector of an opening is not the one that was committed to")
    return last, masked + multiply(mu, target)
