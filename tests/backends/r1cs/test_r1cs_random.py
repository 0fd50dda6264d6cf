"""Random integer programs as constraint systems: what one gadget leaves to the next is right and sound."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from enumeration import check_all_assignments
from every_case import every_case
from random_integers import SOURCES, random_program
from tiers import seeds

from circuitize.backends.field import BN254
from circuitize.backends.r1cs.checker import failing_rows
from circuitize.backends.r1cs.cost import estimate
from circuitize.backends.r1cs.emit import emit
from circuitize.backends.r1cs.witness import witness
from circuitize.circuits.errors import OverflowRisk, TypingError, Undefined
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import raw
from circuitize.sims import integer


@every_case(seeds(20, deep=1500))
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


@every_case(seeds(24, deep=3000))
def test_random_programs_over_a_small_field(seed: int) -> None:
    """All assignments; programs that such a field is too small for are refused."""
    random = np.random.default_rng(seed)
    shape = ((), (2,))[seed % 2]
    sources = [Fixed(shape, 0, -3, 2)] if shape else [Fixed((), 0, -5, 4), Fixed((), 0, 1, 3)]
    given = random_program(random, sources, 4, 60)
    with suppress(TypingError, OverflowRisk):
        check_all_assignments(given, 257)
