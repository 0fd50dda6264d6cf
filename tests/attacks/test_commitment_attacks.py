"""What a prover might try with commitments: other values under one digest, ports that share a wire, unread inputs."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from r1cs_programs import chain, program
from small_programs import draw, random_program
from witness_search import Search

from circuitize.backends.field import BN254, Limbs
from circuitize.backends.r1cs.checker import failing_rows
from circuitize.backends.r1cs.commitments import PACKED, absorb, commit, layout, pack, tag
from circuitize.backends.r1cs.emit import Emission, emit
from circuitize.backends.r1cs.gadgets.transcript import Transcript
from circuitize.backends.r1cs.witness import random_salts, witness
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import TypingError, Undefined
from circuitize.circuits.port import Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed, signed
from circuitize.sims import integer

PUBLIC, PRIVATE, COMMITTED = Visibility.PUBLIC, Visibility.PRIVATE, Visibility.COMMITTED
FORMAT = Fixed((5,), 0, -3, 9)
VALUES = np.array([-3, 9, 0, 4, -1])


def wires_of(emission: Emission, role: str) -> slice:
    block = next(block for block in emission.system.wire_blocks if block.edge < 0 and block.role == role)
    return slice(block.first, block.first + block.count)


def set_wires(emission: Emission, found: Limbs, role: str, values: list[int]) -> None:
    found[wires_of(emission, role)] = BN254.from_integers(values)


def broken_roles(emission: Emission, found: Limbs) -> set[str]:
    blocks = emission.system.blocks
    starts = [block.first_row for block in blocks]
    places = np.searchsorted(starts, failing_rows(emission.system, found), side="right") - 1
    return {blocks[place].role for place in places.tolist()}


def known(emission: Emission, inputs: dict[str, NDArray[np.int64]], salts: dict[str, int]) -> dict[int, int]:
    """The wires that a prover may choose."""
    found = {wires_of(emission, f"{name} salt").start: salt for name, salt in salts.items()}
    for name, values in inputs.items():
        found |= dict(enumerate(values.reshape(-1).tolist(), wires_of(emission, f"input {name}").start))
    return found


def made(
    given: IntegerProgram, inputs: dict[str, NDArray[np.int64]], seed: int = 1
) -> tuple[Emission, dict[str, int], Limbs]:
    emission = emit(given)
    salts = {name: seed + place for place, name in enumerate(emission.plan.salts)}
    found = witness(emission.plan, integer.trace(given, inputs), salts)
    assert not len(failing_rows(emission.system, found))
    return emission, salts, found


def test_carries_between_packed_values_are_out_of_range() -> None:
    """(v, w) and (v + 2^k, w - 1) are one packed element: the digest is the same, and only the ranges refuse."""
    given = chain(FORMAT, integers.Scale(1, 0)).with_visibility(in0=COMMITTED)
    emission, _, found = made(given, {"in0": VALUES})
    width = layout(FORMAT).width
    for place, sign in product(range(4), (1, -1)):
        carried = VALUES.tolist()
        carried[place] += sign << width
        carried[place + 1] -= sign
        assert pack(np.array(carried), FORMAT) == pack(VALUES, FORMAT)
        forged = found.copy()
        set_wires(emission, forged, "input in0", carried)
        set_wires(emission, forged, "output out0", carried)
        assert broken_roles(emission, forged) - {"input range in0 bound"} == {"input range in0"}


def test_field_elements_that_pack_alike_are_out_of_range() -> None:
    """v = -w 2^k modulo p packs as 0 does."""
    given = chain(FORMAT, integers.Scale(1, 0)).with_visibility(in0=COMMITTED, out0=PUBLIC)
    emission, _, found = made(given, {"in0": np.full(5, FORMAT.low)})
    width = layout(FORMAT).width
    for value in (1, BN254.prime - 1, 1 << 200):
        other = [FORMAT.low + value, FORMAT.low - value * pow(1 << width, -1, BN254.prime), *[FORMAT.low] * 3]
        forged = found.copy()
        set_wires(emission, forged, "input in0", other)
        set_wires(emission, forged, "output out0", other)
        assert "input range in0" in broken_roles(emission, forged)
        assert "input in0 commitment" not in broken_roles(emission, forged)


def unread(visibility: Visibility) -> IntegerProgram:
    """y = x; u is an input that nothing reads."""
    builder = Builder()
    x, _ = builder.inputs([Fixed((2,), 0, 0, 5), FORMAT])
    given = program(builder.build([x]))
    return given.with_visibility(in1=visibility)


@pytest.mark.parametrize("visibility", Visibility)
def test_unread_inputs_are_in_their_format_and_bound(visibility: Visibility) -> None:
    inputs = {"in0": np.array([1, 5]), "in1": VALUES}
    given = unread(visibility)
    emission, salts, found = made(given, inputs)
    for outside in (FORMAT.low - 1, FORMAT.high + 1, BN254.prime // 2):
        forged = found.copy()
        set_wires(emission, forged, "input in1", [outside, *VALUES[1:].tolist()])
        assert any(role.startswith("input range in1") for role in broken_roles(emission, forged))
    other = {**inputs, "in1": VALUES[::-1].copy()}
    again = witness(emission.plan, integer.trace(given, other), salts)
    publics = 1 + emission.system.public
    assert (found[:publics] == again[:publics]).all() == (visibility is PRIVATE)
    assert Search(emission.system).solutions(known(emission, other, salts)) == [BN254.to_integers(again)]


def test_ports_that_share_a_wire_cannot_disagree() -> None:
    """One input leaves by five ports: twice public, twice committed, once private; and a constant by two."""
    builder = Builder()
    x = builder.input(FORMAT)
    seven = builder.add(integers.Constant.splat(7, (3,)))
    given = program(builder.build([x, x, x, x, x, seven, seven])).with_visibility(
        in0=COMMITTED, out0=PUBLIC, out1=COMMITTED, out2=PRIVATE, out3=COMMITTED, out4=PUBLIC, out5=COMMITTED
    )
    inputs = {"in0": VALUES}
    emission, salts, found = made(given, inputs)
    numbers = BN254.to_integers(found)
    for public in emission.publics:
        values = {"in0": VALUES, "out5": np.full(3, 7), "out6": np.full(3, 7)}.get(public.name, VALUES)
        read = numbers[public.first : public.first + public.count]
        if public.committed:
            assert read == [commit(values, public.format, salts[f"{public.side} {public.name}"])]
        else:
            assert read == [value % BN254.prime for value in values.tolist()]
    search = Search(emission.system)
    assert search.solutions(known(emission, inputs, salts)) == [numbers]
    for wire in range(1, 1 + emission.system.public):
        assert search.solutions({**known(emission, inputs, salts), wire: numbers[wire] + 1}) == []


def test_a_constant_is_committed_to_by_its_format() -> None:
    """No element is packed, but the tag holds the value and the salt hides nothing else."""
    digests = {commit(np.full(3, value), Fixed((3,), 0, value, value), 5) for value in range(-4, 5)}
    assert len(digests) == 9
    assert commit(np.full(3, 2), Fixed((3,), 0, 2, 2), 6) not in digests


def test_no_two_formats_have_one_tag() -> None:
    shapes = [(), (1,), (1, 1), (12,), (1, 2), (2, 1), (12, 3), (1, 23), (123,), (1, 2, 3)]
    intervals = [(0, 1), (0, 11), (-1, 1), (-11, 1), (1, 1), (0, 111), (-1, 11), (10, 11)]
    formats = [Fixed(s, f, low, high) for s in shapes for f in (-1, 0, 1, 11, 10) for low, high in intervals]
    tags = [tag(format) for format in formats]
    assert len(set(tags)) == len(formats)
    assert max(tags) < BN254.prime
    assert Transcript().tag not in tags


def test_every_place_of_a_long_tensor_counts() -> None:
    """Ends of packed elements and of permutations, the first and the last value."""
    format = signed((2000,), 18, 0)
    plan = layout(format)
    values = np.random.default_rng(0).integers(format.low, format.high, format.shape)
    whole = commit(values, format, 1)
    block = plan.per_element * PACKED
    for place in (0, 1, plan.per_element - 1, plan.per_element, block - 1, block, 2 * block - 1, 1999):
        other = values.copy()
        other[place] += 1
        assert commit(other, format, 1) != whole
        swapped = values.copy()
        swapped[[place, place - 1]] = swapped[[place - 1, place]]
        assert commit(swapped, format, 1) != whole


def test_a_digest_cannot_be_extended() -> None:
    """The chain goes on from a digest, but under another tag: a longer tensor's digest needs all values."""
    short = signed((14 * PACKED,), 18, 0)
    long = signed((2 * 14 * PACKED,), 18, 0)
    assert (layout(short).permutations, layout(long).permutations) == (1, 2)
    values = np.arange(long.size) - 100
    digest = commit(values[: short.size], short, 3)
    more = pack(values[short.size :], short)
    assert absorb(tag(long), digest, more)[1][-1] != commit(values, long, 3)
    assert absorb(tag(short), digest, more)[1][-1] != commit(values, long, 3)


def test_digests_of_equal_values_are_told_apart_by_their_salts_alone() -> None:
    builder = Builder()
    x, y = builder.inputs([FORMAT, FORMAT])
    given = program(builder.build([builder.add(integers.Add(), x, y)])).with_visibility(in0=COMMITTED, in1=COMMITTED)
    emission, salts, found = made(given, {"in0": VALUES, "in1": VALUES})
    first, second = (wires_of(emission, f"input in{i} commitment").start for i in (0, 1))
    assert (found[first] != found[second]).any()
    swapped = found.copy()
    swapped[[first, second]] = found[[second, first]]
    assert broken_roles(emission, swapped) == {"input in0 commitment digest", "input in1 commitment digest"}
    same = witness(
        emission.plan, integer.trace(given, {"in0": VALUES, "in1": VALUES}), dict.fromkeys(salts, BN254.prime - 1)
    )
    assert (same[first] == same[second]).all()


def test_an_input_of_another_format_has_another_digest() -> None:
    """A step's new weights do not pass for the old ones of a step that reads them in another format."""
    wider = Fixed(FORMAT.shape, 0, FORMAT.low - 1, FORMAT.high)
    finer = Fixed(FORMAT.shape, 1, FORMAT.low, FORMAT.high)
    assert len({commit(VALUES, format, 4) for format in (FORMAT, wider, finer)}) == 3


def test_random_programs_with_commitments() -> None:
    """Inputs and salts leave no choice, and each digest is that of the executor's values."""
    defined = 0
    for seed in range(12):
        random = np.random.default_rng(seed)
        drawn = random_program(random, 5)
        seen = list(Visibility)
        sides = [
            tuple(replace(port, visibility=seen[random.integers(3)]) for port in ports)
            for ports in (drawn.inputs, drawn.outputs)
        ]
        given = IntegerProgram(drawn.arrow, sides[0], sides[1])
        try:
            emission = emit(given) if given.binds() else None
        except TypingError:
            continue
        if emission is None:
            continue
        inputs, salts = draw(given, random), random_salts(emission.plan)
        found = Search(emission.system).solutions(known(emission, inputs, salts))
        try:
            trace = integer.trace(given, inputs)
        except Undefined:
            assert found == []
            continue
        assert found == [BN254.to_integers(witness(emission.plan, trace, salts))]
        defined += 1
        values = dict(zip([port.name for port in given.outputs], given.arrow.outputs.tolist(), strict=True))
        for public in emission.publics:
            if public.committed:
                value = inputs[public.name] if public.side == "input" else trace[values[public.name]]
                salt = salts[f"{public.side} {public.name}"]
                assert found[0][public.first] == commit(value, public.format, salt)
    assert defined > 3
