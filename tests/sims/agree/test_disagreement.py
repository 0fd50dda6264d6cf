"""Disagreement is found: other values, broken rows, and witnesses where the program has no value."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from r1cs_programs import chain, program, single

from circuitize import Format, Port, Program, quantize, trace
from circuitize.backends.r1cs.emit import emit
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError, Undefined
from circuitize.circuits.operation import Provenance
from circuitize.circuits.port import Visibility
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import raw
from circuitize.sims import integer
from circuitize.sims.agree import R1CS, agree
from circuitize.sims.forgery import forgeries


def fixed(low: int, high: int, *shape: int) -> Fixed:
    return Fixed(shape, 0, low, high)


def test_another_programs_circuit_differs() -> None:
    """On 0 both say 0."""
    meant, made = (chain(fixed(-8, 7), operation) for operation in (integers.Scale(2, 0), integers.Scale(3, 0)))
    circuit = R1CS(meant, replace(emit(made), plan=emit(meant).plan))
    found = agree(meant, [{"in0": np.array(0)}, {"in0": np.array(3)}], [circuit])
    assert (found.vectors, found.mismatches, found.undefined) == (2, 1, 0)
    assert found.first_difference is not None and found.first_difference.startswith("input 2: r1cs: constraint")


@pytest.mark.parametrize("visibility", [Visibility.PUBLIC, Visibility.COMMITTED])
def test_other_outputs_differ_by_name(visibility: Visibility) -> None:
    """Every row holds, but two outputs have changed places."""
    builder = Builder()
    x = builder.input(fixed(-8, 7, 3))
    flipped = builder.add(integers.Reindex(integers.View.flip((3,), (0,))), x)
    given = program(builder.build([x, flipped])).with_visibility(out0=visibility, out1=visibility)
    emission = emit(given)
    first, second, *inputs = emission.publics
    swapped = (replace(first, first=second.first), replace(second, first=first.first), *inputs)
    target = R1CS(given, replace(emission, publics=swapped))
    same = {"in0": np.array([5, 2, 5])}
    assert agree(given, [{"in0": np.array([1, 2, 3])}], [R1CS(given, emission)]).mismatches == 0
    found = agree(given, [same, {"in0": np.array([1, 2, -3])}], [target])
    assert found.first_difference is not None
    if visibility is Visibility.PUBLIC:
        assert found.mismatches == 1
        assert found.first_difference.startswith("input 2: r1cs: output out0, element 0: 21888")
        assert found.first_difference.endswith("in the circuit, 1 in the run")
    else:
        assert found.mismatches == 2, "salts differ"
        assert found.first_difference.startswith("input 1: r1cs: output out0, element 0: ")


def test_a_broken_row_is_named() -> None:
    builder = Builder()
    x = builder.input(fixed(-8, 7, 2))
    builder.provenance = Provenance("layer 1", "net.py", 12)
    given = program(builder.build([builder.add(integers.Multiply(), x, x)]))
    emission = emit(given)
    c = emission.system.c
    changed = c.coefficients.copy()
    changed[-1] += 1
    broken = replace(emission.system, c=replace(c, coefficients=changed))
    found = agree(given, [{"in0": np.array([2, 3])}], [R1CS(given, replace(emission, system=broken))])
    assert found.mismatches == 1
    assert found.first_difference is not None and "net.py:12" in found.first_difference


@pytest.mark.parametrize(("low", "high"), [(-3, 4), (-9, 3), (-8, 8)])
def test_a_witness_where_the_program_is_undefined_is_a_mismatch(low: int, high: int) -> None:
    meant = chain(fixed(-9, 9), integers.Scale(1, 0), integers.Check(-3, 3))
    made = chain(fixed(-9, 9), integers.Scale(1, 0), integers.Check(low, high))
    vectors = [{"in0": np.array(value)} for value in range(-9, 10)]
    right = agree(meant, vectors)
    assert (right.undefined, right.mismatches) == (12, 0)
    assert right.first_undefined is not None and right.first_undefined.startswith("input 1: integer.check")
    wrong = agree(meant, vectors, [R1CS(meant, emit(made))])
    assert wrong.undefined == 12
    assert wrong.mismatches == (min(high, 9) - max(low, -9) + 1) - 7
    assert wrong.first_difference is not None and "a value outside its Check passed" in wrong.first_difference


def test_a_circuit_that_saturates_is_a_mismatch() -> None:
    meant, made = (chain(fixed(-9, 9), operation) for operation in (integers.Check(-3, 3), integers.Clamp(-3, 3)))
    found = agree(meant, [{"in0": np.array(5)}], [R1CS(meant, emit(made))])
    assert found.mismatches == 1
    assert found.first_difference is not None and "end of the interval" in found.first_difference


def test_forgeries_keep_what_can_be_kept() -> None:
    builder = Builder()
    x = builder.input(fixed(-9, 9, 2))
    inside = builder.add(integers.Check(1, 4), x)
    given = program(builder.build([builder.add(integers.Divide(), x, inside)]))
    passed, clipped = (forged for _, forged in forgeries(given, {"in0": np.array([9, -3])}))
    assert [values.tolist() for values in passed] == [[9, -3], [9, -3], [2, -3]]
    assert [values.tolist() for values in clipped] == [[9, -3], [4, 1], [2, -3]]


def test_forgeries_of_expansions_are_those_of_their_definitions() -> None:
    given = single(integers.Gather(0), fixed(-9, 9, 3), fixed(-1, 3, 2))
    inputs = {"in0": np.array([4, 5, 6]), "in1": np.array([3, 1])}
    with pytest.raises(Undefined):
        integer.run(given, raw(inputs))
    assert [forged[-1].tolist() for _, forged in forgeries(given, inputs)][1] == [6, 5]


def test_float_errors_are_of_the_inputs_that_have_a_value() -> None:
    given = chain(fixed(-9, 9), integers.Check(-3, 3))
    assert agree(given, [{"in0": np.array(9)}]).float_error == {}


def test_float_errors_are_the_greatest() -> None:
    ports = (Port("x", Visibility.PUBLIC, Format.signed(8, fraction_bits=4).of(())),), (Port("y", Visibility.PUBLIC),)
    given = Program(trace(lambda x: x * 0.3, ()), *ports, ({"x": np.array(7.0)},))
    made, vectors = quantize(given), [{"x": np.array(value)} for value in (0, 3, 0)]
    each = [agree(made, [vector], given=given).float_error["y"] for vector in vectors]
    assert min(each) == 0 and agree(made, vectors, given=given).float_error == {"y": max(each)} != {"y": each[-1]}


def test_inputs_that_do_not_fit_are_errors_not_mismatches() -> None:
    with pytest.raises(CircuitizeError, match="in0"):
        agree(chain(fixed(0, 3), integers.Scale(2, 0)), [{"in0": np.array(4)}])


def test_every_target_is_tried_by_default() -> None:
    given = chain(fixed(0, 3), integers.Scale(2, 0))
    assert agree(given, [{"in0": np.array(2)}]).mismatches == 0
