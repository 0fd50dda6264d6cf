"""Words moved and held equal the closed forms of the literature, and what a run by tiles counts."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
import tiers
import tiled
from every_case import every_case

import circuitize as cz
from circuitize.backends.transfers.group import Wiring
from circuitize.backends.transfers.primitive import primitive
from circuitize.backends.transfers.search import best
from circuitize.circuits.arrays import Einsum, Softmax, SphericalAttention
from circuitize.circuits.builder import Builder, generator
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.integers import Contract
from circuitize.circuits.types import Array, Fixed

SIZES = 20


def sizes(seed: int, count: int) -> tuple[list[int], list[int]]:
    """Extents of axes, and a divisor of each for its tile."""
    random = np.random.default_rng(seed)
    tiles = [int(tile) for tile in random.integers(1, 7, count)]
    return [tile * int(times) for tile, times in zip(tiles, random.integers(1, 6, count), strict=True)], tiles


@every_case(tiers.seeds(SIZES, 400))
def test_matmul(seed: int) -> None:
    """H = abc (1/g_a + 1/g_c) + ac and M = g_a g_c + g_a s_b + s_b g_c: arXiv 2412.03317, section 3."""
    (a, b, c), (g_a, s_b, g_c) = sizes(seed, 3)
    arrow = generator(Einsum("ab,bc->ac"), Array((a, b)), Array((b, c)))
    stream = "b" if b > 1 else None
    made = tiled.named(tiled.whole(Wiring(arrow)), {"a": g_a, "c": g_c} | ({"b": s_b} if stream else {}), stream)
    assert made.moved == a * b * c // g_a + a * b * c // g_c + a * c
    assert made.held == g_a * g_c + g_a * s_b + s_b * g_c
    memory = tiled.run(made, tiled.normal(arrow, seed))
    assert (memory.loaded, memory.stored) == (made.moved - a * c, a * c)


@every_case(tiers.seeds(SIZES, 400))
def test_matmul_of_integers_whose_tiles_do_not_divide(seed: int) -> None:
    random = np.random.default_rng(seed)
    a, b, c, g_a, s_b, g_c = (int(n) for n in random.integers(2, 14, 6))
    g_a, s_b, g_c = min(a, g_a), min(b, s_b), min(c, g_c)
    arrow = generator(Contract("ab,bc->ac"), Fixed((a, b), 0, -99, 99), Fixed((b, c), 0, -99, 99))
    made = tiled.named(tiled.whole(Wiring(arrow)), {"a": g_a, "b": s_b, "c": g_c}, "b")
    assert made.moved == a * b * -(-c // g_c) + b * c * -(-a // g_a) + a * c
    values = [random.integers(-99, 100, shape) for shape in ((a, b), (b, c))]
    tiled.run(made, tiled.wires(arrow, values))


def test_what_may_be_cut_and_what_streamed() -> None:
    """Of a contraction the axes of the result may be cut, those that are summed streamed; one axis is both of none."""
    for equation, cut, streamed in (("ad,dc->ac", "ac", "d"), ("abd,cbd->ac", "ac", "bd"), ("xy,xy->xy", "xy", "")):
        x, y, _ = Einsum(equation).letters
        shapes = [Array(tuple(3 for _ in letters)) for letters in (x, y)]
        group = tiled.whole(Wiring(generator(Einsum(equation), *shapes)))
        assert {group.names[axis] for axis in group.cut} == set(cut)
        assert {group.names[axis] for axis in group.streamed} == set(streamed)


def attention(q: int, x: int, d: int, spherical: bool) -> Arrow:
    builder = Builder()
    query, key, value = builder.inputs([Array((q, d)), Array((x, d)), Array((x, d))])
    scores = builder.add(Einsum("qd,xd->qx"), query, key)
    if spherical:
        return primitive(builder.build([builder.add(SphericalAttention(), scores, value)]))
    return primitive(builder.build([builder.add(Einsum("qx,xe->qe"), builder.add(Softmax(1), scores), value)]))


@every_case(product(tiers.seeds(SIZES, 400), [False, True]))
def test_attention(seed: int, spherical: bool) -> None:
    """H = 2qd + 2qxd/g, which is 2qd + 4 q x d^2 / M for the M = 2gd that query and result hold: arXiv 2412.03317."""
    (q, x, d), (g, s, _) = sizes(seed, 3)
    x += s
    d += 3  # Words of rows are more than those of their statistics.
    made = tiled.named(tiled.whole(Wiring(attention(q, x, d, spherical))), {"q": g, "x": s}, "x")
    assert made.moved == 2 * q * d + 2 * q * x * d // g
    held = 2 * g * d
    assert (made.moved - 2 * q * d) * held == 4 * q * x * d**2
    # Beside them a maximum and a sum, or a sum of squares, of each row; scores with keys, with weights, or with values.
    beside = g + g * s + s * d if spherical else 2 * g + max(s * d + g * s, 2 * g * s)
    # Of the division: dividend and quotient, norm, floor and divisor.
    assert made.held == max(held + beside, held + 2 * g if spherical else 0)
    tiled.run(made, tiled.normal(made.schedule.group.wiring.arrow, seed))


@pytest.mark.parametrize("memory", [300, 1000, 4000, 16000])
def test_the_best_partition_is_near_the_least_words(memory: int) -> None:
    wiring = Wiring(generator(Einsum("ab,bc->ac"), Array((960, 512)), Array((512, 840))))
    made = best(tiled.whole(wiring), memory)
    assert made is not None and made.held <= memory
    least = 2 * 960 * 512 * 840 / math.sqrt(memory) + 960 * 840
    assert least <= made.moved < 1.1 * least
    wiring = Wiring(attention(4096, 4096, 16, False))
    made = best(tiled.whole(wiring), memory)
    assert made is not None and made.held <= memory
    least = 2 * 4096 * 16 + 4 * 4096 * 4096 * 16**2 / memory
    assert least <= made.moved < 1.25 * least


def test_words_of_half_the_bytes() -> None:
    """Bytes go with w^(1 + beta): 2.83 for a product of matrices, 4 for attention, where a memory's bytes stay."""
    for arrow, factor in (
        (generator(Einsum("ab,bc->ac"), Array((5040, 5040)), Array((5040, 5040))), 2**1.5),
        (attention(1 << 15, 1 << 15, 32, False), 4.0),
    ):
        group = tiled.whole(Wiring(arrow))
        wide, narrow = tiled.fits([best(group, 10_000), best(group, 20_000)])
        assert abs(2 * wide.moved / narrow.moved / factor - 1) < 0.03


@every_case(tiers.seeds(SIZES, 100))
def test_softmax_written_out_takes_three_passes(seed: int) -> None:
    """The maximum, the sum, the weights: keys come three times, values once, where rounding keeps it from streaming."""
    (q, x, d), (g, s, _) = sizes(seed, 3)
    x += s

    def written(query: cz.Tensor, key: cz.Tensor, value: cz.Tensor) -> cz.Tensor:
        weights = (query @ key.T).apply(Softmax(1)) * 0.5
        return weights @ value

    arrow = primitive(cz.trace(written, (q, d), (x, d), (x, d)))
    made = tiled.named(tiled.whole(Wiring(arrow)), {"x": g, "z": s}, "z")
    assert made.moved == 2 * q * d + 4 * q * x * d // g
    assert sum(phase.streams for phase in made.schedule.phases) == 3
    tiled.run(made, tiled.normal(arrow, seed))
