"""Whole programs run tile by tile: each group gives what the arrow gives, and moves and holds what was counted."""

from __future__ import annotations

import numpy as np
import pytest
import tiers
import tiled
from example_programs import example

import circuitize as cz
from circuitize.backends.transfers.fusing import alone, fuse
from circuitize.backends.transfers.group import Wiring
from circuitize.backends.transfers.primitive import primitive
from circuitize.backends.transfers.schedule import schedule
from circuitize.backends.transfers.search import best
from circuitize.backends.transfers.words import partition
from circuitize.circuits.arrays import Softmax
from circuitize.circuits.values import to_integers
from circuitize.frontends.attention import softmax_attention
from circuitize.sims.real import to_floats

PROGRAMS = [
    *("iris.py:step", "digits.py:step"),
    *(
        pytest.param(name, marks=pytest.mark.deep)
        for name in ("cnn.py:step", "transformer.py:step", "transformer.py:spherical_step")
    ),
]


@pytest.mark.parametrize("name", PROGRAMS)
def test_groups_of_a_step_run_as_counted(name: str) -> None:
    program = example(name).given
    wiring = Wiring(primitive(program.arrow))
    values = tiled.wires(wiring.arrow, [to_floats(port, program.examples[0][port.name]) for port in program.inputs])
    apart, groups = alone(wiring, 2000), fuse(wiring, 2000)
    computed = sorted(edge for found in groups for edge in found.group.edges if wiring.computes(edge))
    assert computed == sorted(found.group.edges[0] for found in apart), "each operation is in one group"
    written: set[int] = set()
    for found in groups:
        made = found.partition
        assert made is not None and made.held <= 2000
        assert all(
            wiring.writer[found.group.arrays[array].wire] in written
            or not wiring.computes(wiring.writer[found.group.arrays[array].wire])
            for array in found.group.entering
            if wiring.writer[found.group.arrays[array].wire] >= 0
        ), "groups run in an order in which what is read was written"
        written.update(found.group.edges)
        tiled.run(made, values)
    assert sum(made.moved for made in tiled.fits(found.partition for found in groups)) < 0.7 * sum(
        made.moved for made in tiled.fits(found.partition for found in apart)
    )


@pytest.mark.parametrize("name", ["iris.py:step", "digits.py:predict"])
def test_integers_are_the_same_to_the_bit(name: str) -> None:
    program = example(name).integer
    wiring = Wiring(program.arrow)
    values = tiled.wires(
        program.arrow, [to_integers(port, program.examples[0][port.name], "inputs") for port in program.inputs]
    )
    for made in tiled.fits(found.partition for found in (*fuse(wiring, 1500), *alone(wiring, 1500))):
        tiled.run(made, values)


def test_any_tiles() -> None:
    """Extents of tiles that nobody would choose, over each axis that may be streamed, or none."""
    program = example("transformer.py:step").given
    wiring = Wiring(primitive(program.arrow))
    values = tiled.wires(wiring.arrow, [to_floats(port, program.examples[0][port.name]) for port in program.inputs])
    groups = [found.group for found in fuse(wiring, 4096)]
    tried = 0
    for seed in tiers.seeds(12, 600):
        random = np.random.default_rng(seed)
        group = groups[random.integers(len(groups))]
        for stream in (None, *group.streamed):
            made = schedule(group, stream)
            if made is None:
                continue
            axes = [axis for axis in (*group.cut, stream) if axis is not None]
            tiles = {axis: -(-group.extents[axis] // int(random.integers(1, 4))) for axis in axes}
            tiled.run(partition(made, tiles), values)
            tried += 1
    assert tried > tiers.count(12, 600)


def test_one_array_read_in_two_ways_is_two() -> None:
    """x x^T: rows and columns of the result are cut apart, as of two matrices; where the group makes x they are not."""
    wiring = Wiring(primitive(cz.trace(lambda x: x @ x.T, (12, 5))))
    made = tiled.whole(wiring)
    assert made.apart
    wiring = Wiring(primitive(cz.trace(lambda x: cz.exp(x) @ cz.exp(x).T, (12, 5))))
    group = tiled.whole(wiring)
    values = tiled.normal(wiring.arrow, 0)
    assert not group.apart and not group.cut
    (partition_of_all,) = tiled.fits([best(group, 10**6)])
    tiled.run(partition_of_all, values)
    for found in fuse(wiring, 60):
        assert found.partition is not None
        tiled.run(found.partition, values)


@pytest.mark.parametrize("memory", [25, 60, 200])
def test_a_softmax_by_itself_has_whole_rows(memory: int) -> None:
    def attend(query: cz.Tensor, key: cz.Tensor, value: cz.Tensor) -> cz.Tensor:
        return softmax_attention(query, key, value)

    wiring = Wiring(primitive(cz.trace(attend, (6, 4), (9, 4), (9, 4))))
    values = tiled.normal(wiring.arrow, memory)
    groups = [*alone(wiring, memory), *fuse(wiring, memory)]
    assert any(isinstance(wiring.operations[found.group.edges[0]], Softmax) for found in groups)
    for made in tiled.fits(found.partition for found in groups):
        tiled.run(made, values)
