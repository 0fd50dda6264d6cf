"""Random integer programs as constraint systems: what one gadget leaves to the next is right and sound."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from enumeration import check_all_assignments
from r1cs_programs import program
from tiers import seeds

from circuitize.backends.field import BN254
from circuitize.backends.r1cs.checker import failing_rows
from circuitize.backends.r1cs.cost import estimate
from circuitize.backends.r1cs.emit import emit
from circuitize.backends.r1cs.witness import witness
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import OverflowRisk, TypingError, Undefined
from circuitize.circuits.integers import View
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import raw
from circuitize.sims import integer

SOURCES = [Fixed((3,), 0, -20, 19), Fixed((3,), 0, 1, 12)]


def random_program(random: np.random.Generator, sources: list[Fixed], length: int, magnitude: int) -> IntegerProgram:
    """A few operations on wires drawn at random, none of more than `magnitude`; Checks near what the wire can hold."""
    builder = Builder()
    wires = builder.inputs(sources)

    def draw() -> tuple[int, Fixed]:
        wire = wires[-1] if random.random() < 0.5 else int(random.choice(wires))
        found = builder.type(wire)
        assert isinstance(found, Fixed)
        return wire, found

    while len(wires) < len(sources) + length:
        (x, source), (y, other) = draw(), draw()
        shape, middle = source.shape, (source.low + source.high) // 2
        near = sorted(random.integers(source.low - 2, source.high + 3, 2).tolist())
        alike = source.shape == other.shape and source.fraction_bits == other.fraction_bits
        choices: list[tuple[integers.IntegerOperation, tuple[int, ...]]] = [
            (integers.Check(min(near[0], middle), max(near[1], middle)), (x,)),
            (integers.Shift(int(random.integers(1, 4))), (x,)),
            (integers.Scale(int(random.integers(-3, 4)), 0), (x,)),
            (integers.IsNegative(), (x,)),
            (integers.ReLU(), (x,)),
            (integers.Clamp(*near), (x,)),
            (integers.Constant.splat(int(random.integers(-3, 4)), shape, source.fraction_bits), ()),
        ]
        if shape:
            choices += [
                (integers.Reindex(View.flip(shape, (0,))), (x,)),
                (integers.Reindex(View.window(shape, (0,), (1,)).then(View.reshape((*shape, 1), shape))), (x,)),
                (
                    integers.Reindex(View.pad((shape[0],), (1,), (0,)).then(View.slice((shape[0] + 1,), (0,), shape))),
                    (x,),
                ),
                (integers.ArgMaxOneHot(0), (x,)),
            ]
        if alike:
            choices += [(kind(), (x, y)) for kind in (integers.Add, integers.Subtract, integers.Maximum)]
        if source.shape == other.shape:
            choices.append((integers.Multiply(), (x, y)))
            if other.low >= 1:
                choices.append((integers.Divide(), (x, y)))
        if source.low >= 0 and source.fraction_bits % 2 == 0:
            choices.append((integers.SquareRoot(), (x,)))
        operation, read = choices[int(random.integers(len(choices)))]
        with suppress(TypingError, OverflowRisk):
            (target,) = operation.target_types(*(builder.type(wire) for wire in read))
            if max(-target.low, target.high) <= magnitude:
                wires.append(builder.add(operation, *read))
    return program(builder.build([wires[-1], int(random.choice(wires))]))


@pytest.mark.parametrize("seed", seeds(60, deep=1500))
def test_random_programs_over_a_large_field(seed: int) -> None:
    random = np.random.default_rng(seed)
    given = random_program(random, SOURCES, 8, 1 << 40)
    try:
        emission = emit(given)
    except TypingError as error:
        assert "Check" in str(error)
        return
    system, sizes = emission.system, estimate(given)
    assert (sizes["constraints"], sizes["wires"], sizes["nonzeros"]) == (
        system.constraints,
        system.wires,
        system.nonzeros,
    )
    for _ in range(10):
        inputs = {
            p.name: random.integers(p.format.low, p.format.high, 3, endpoint=True) for p in given.inputs if p.format
        }
        with suppress(Undefined):
            outputs = integer.run(given, raw(inputs))
            found = witness(emission.plan, integer.trace(given, inputs))
            assert not len(failing_rows(system, found))
            for public in emission.publics:
                if public.side == "output":
                    numbers = BN254.to_integers(found[public.first : public.first + public.count])
                    assert [BN254.signed(number) for number in numbers] == outputs[public.name].reshape(-1).tolist()


@pytest.mark.parametrize("seed", seeds(75, deep=3000))
def test_random_programs_over_a_small_field(seed: int) -> None:
    """All assignments; programs that such a field is too small for are refused."""
    random = np.random.default_rng(seed)
    shape = ((), (2,))[seed % 2]
    sources = [Fixed(shape, 0, -3, 2)] if shape else [Fixed((), 0, -5, 4), Fixed((), 0, 1, 3)]
    given = random_program(random, sources, 4, 60)
    with suppress(TypingError, OverflowRisk):
        check_all_assignments(given, 257)
