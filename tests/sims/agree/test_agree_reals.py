"""Every operation of the real language, quantized: floats, integers, circuits, proofs and hardware agree.

In `make test` one case of each operation in integers, and the smallest of each in each kind of circuit; of composites,
which are what they define, every fourth in circuits, and none in hardware.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import tiers
from agreement import check_agreement
from arrays_cases import cases, language
from every_case import every_case
from operations.real import Case
from quantized_cases import drawn, program, real_program, reals, tolerance
from side_by_side import side_by_side, values_of
from tensor_proofs import committed_inputs, proved

from circuitize.backends.verilog import folded, parallel
from circuitize.circuits import arrays
from circuitize.circuits.errors import Undefined
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.values import raw
from circuitize.sims import integer, real
from circuitize.sims.agree import agree
from circuitize.sims.plonkish import Plonkish
from circuitize.sims.rtl import check_design


@every_case(tiers.of_each(cases()))
def test_integers_are_within_the_stated_bound_of_floats(case: Case) -> None:
    given, integers = real_program(case), program(case)
    (port,) = integers.outputs
    assert port.format is not None
    for inputs in drawn(case):
        found = integer.run(integers, raw(inputs))["y"]
        expected = real.run(given, dict(zip(inputs, reals(case, inputs), strict=True)))["y"]
        assert found.shape == expected.shape
        units = np.abs(found - np.ldexp(expected, port.format.fraction_bits)).max()
        assert units <= tolerance(case, inputs, port.format) + 2.0**-20


def extent(case: Case) -> int:
    return sum(source.fixed.width * source.fixed.size for source in case.sources) * case.target.size


SMALLEST = tiers.of_each(sorted(cases(), key=extent), first=True)
"""Of each operation the case of the fewest elements and bits, in `deep` all."""
COMPOSITE = [case for case in SMALLEST if isinstance(case.operation, arrays.Composite)]
SIMPLE = [case for case in SMALLEST if not isinstance(case.operation, arrays.Composite)]


@pytest.mark.parametrize("case", [*SIMPLE, *COMPOSITE[:: tiers.count(4, deep=1)]], ids=str)
def test_circuits_are_the_integers(case: Case) -> None:
    assert check_agreement(program(case), drawn(case)).undefined == 0


@pytest.mark.deep
@pytest.mark.parametrize("case", cases(), ids=str)
def test_plonkish_systems_are_the_integers(case: Case) -> None:
    made = program(case)
    found = agree(made, drawn(case)[:3], [Plonkish(made)])
    assert (found.mismatches, found.undefined) == (0, 0), found.first_difference


TOGETHER = 14
COUNT = len(SMALLEST)
SIMULATED = COUNT if tiers.TIER == "deep" else len(SIMPLE)
ALONE = tiers.count(4, deep=40)
"""The largest: side by side they would wait for the slowest, in shift registers that take longer than simulations. In
`make test` what they are made of is simulated, in tests of integer operations.
"""


@cache
def ordered() -> list[Case]:
    """The smallest operation first; in `make test` composites are last."""

    def order(case: Case) -> tuple[bool, int]:
        last = tiers.TIER != "deep" and isinstance(case.operation, arrays.Composite)
        return last, program(case).arrow.edge_count * case.target.size

    return sorted(SMALLEST, key=order)


@cache
def share(places: range) -> tuple[list[str], IntegerProgram, list[dict[str, np.ndarray]]]:
    """Names of cases of about the same size, their programs as one, and three inputs of it."""
    chosen = [ordered()[place] for place in places]
    vectors = [values_of([drawn(case)[which] for case in chosen]) for which in range(3)]
    return [str(case) for case in chosen], side_by_side([program(case) for case in chosen]), vectors


@pytest.mark.proof
@pytest.mark.parametrize("first", range(0, COUNT, TOGETHER))
def test_tensor_proofs_are_the_integers(first: int) -> None:
    _, made, vectors = share(range(first, min(first + TOGETHER, COUNT)))
    proved(committed_inputs(made), vectors[0])


@pytest.mark.rtl
@pytest.mark.parametrize("first", range(0, SIMULATED - ALONE, TOGETHER))
def test_hardware_of_both_schedulers_is_the_integers(first: int) -> None:
    check_hardware(range(first, min(first + TOGETHER, SIMULATED - ALONE)))


@pytest.mark.deep
@pytest.mark.rtl
@pytest.mark.parametrize("place", range(SIMULATED - ALONE, SIMULATED))
def test_hardware_of_the_largest_is_the_integers(place: int) -> None:
    check_hardware(range(place, place + 1))


def check_hardware(places: range) -> None:
    """In `make test` each scheduler has every other case: integer operations are tried on both."""
    step = tiers.count(2, deep=1)
    for number, scheduler in enumerate((parallel, folded)):
        names, made, vectors = share(places[number % step :: step])
        frames = {name: np.stack([vector[name] for vector in vectors]) for name in vectors[0]}
        found = check_design(scheduler.schedule(made), made, frames, backpressure=1)
        assert (found.mismatches, found.undefined) == (0, 0), (found.first_difference, list(enumerate(names)))


@every_case(language())
def test_every_class_has_a_case(kind: type[arrays.RealOperation]) -> None:
    """A new operation is tested here as soon as tests/support/operations/reals/ has a case of it."""
    assert any(type(case.operation) is kind for case in cases()), "describe it in tests/support/operations/reals/"


UNDEFINED = [case for case in SMALLEST if isinstance(case.operation, arrays.Reciprocal | arrays.Exp)]


@pytest.mark.parametrize("case", UNDEFINED, ids=str)
def test_where_calibration_never_came_there_is_no_witness(case: Case) -> None:
    """The integers nearest 0 have no reciprocal in the format, those past the greatest have no exponential."""
    integers = program(case)
    (port,) = integers.inputs
    assert port.format is not None
    beyond = 0 if isinstance(case.operation, arrays.Reciprocal) else port.format.high
    vectors = []
    for inputs in drawn(case):
        values = inputs["x0"].copy()
        values.reshape(-1)[-1] = min(max(beyond, port.format.low), port.format.high)
        vectors.append({"x0": values})
    found = check_agreement(integers, [*drawn(case), *vectors])
    try:
        integer.run(integers, raw(vectors[0]))
    except Undefined:
        assert found.undefined == len(vectors)
    else:
        assert found.undefined == 0
