"""Commitments: the circuit's digests against a second computation, what they bind, and what is refused."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from numpy.typing import NDArray
from r1cs_programs import chain, program
from tiers import count

from circuitize.backends.field import BN254, Field
from circuitize.backends.poseidon_constants import poseidon_parameters
from circuitize.backends.r1cs.checker import failing_rows
from circuitize.backends.r1cs.commitments import commit
from circuitize.backends.r1cs.emit import Emission, emit
from circuitize.backends.r1cs.gadgets.poseidon import permute
from circuitize.backends.r1cs.witness import random_salts, witness
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.port import Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed, signed, unsigned
from circuitize.circuits.values import raw
from circuitize.sims import integer

GOLDEN = 8482620597193105129083276015933299477867046744174655624053888411081468841102

FORMATS = [
    unsigned((), 1, 0),
    unsigned((300,), 1, 0),
    Fixed((7, 3), 4, 0, 16),
    signed((5, 50), 18, 14),
    signed((30,), 62, 3),
    Fixed((4,), 0, -3, -3),
    Fixed((211,), 0, -100, 1 << 17),
]


def draw(format: Fixed, seed: int = 1) -> NDArray[np.int64]:
    return np.random.default_rng(seed).integers(format.low, format.high, format.shape, endpoint=True)


def plain(values: NDArray[np.int64], format: Fixed, salt: int) -> int:
    """The definition in `commit`'s docstring, in Python integers."""
    shape = "x".join(map(str, format.shape))
    text = f"circuitize poseidon commitment 1|{shape}|{format.fraction_bits}|{format.low}|{format.high}"
    lane = int(hashlib.sha256(text.encode()).hexdigest(), 16) // 8
    width = (format.high - format.low).bit_length()
    numbers = [int(value) - format.low for value in values.reshape(-1)] if width else []
    each = 253 // max(width, 1)
    packed = [
        sum(n << (width * i) for i, n in enumerate(numbers[at : at + each])) for at in range(0, len(numbers), each)
    ]
    digest = salt
    for at in range(0, max(len(packed), 1), 15):
        block = (packed[at : at + 15] + [0] * 15)[:15]
        digest = int(permute(np.array([[lane, digest, *block]], dtype=object), poseidon_parameters(17))[0, 0])
    return digest


def commit_all(given: IntegerProgram) -> IntegerProgram:
    return given.with_visibility(**{port.name: Visibility.COMMITTED for port in (*given.inputs, *given.outputs)})


def digests(emission: Emission, found: NDArray[np.uint64]) -> dict[tuple[str, str], int]:
    return {
        (public.side, public.name): BN254.to_integers(found[public.first : public.first + 1])[0]
        for public in emission.publics
        if public.committed
    }


@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_native_circuit_and_plain_digests_agree(format: Fixed) -> None:
    given = commit_all(chain(format, integers.Scale(1, 0)))
    emission = emit(given)
    values = draw(format)
    salts = {"input in0": 5, "output out0": BN254.prime - 1}
    found = witness(emission.plan, integer.trace(given, {"in0": values}), salts)
    assert not len(failing_rows(emission.system, found))
    for (side, name), digest in digests(emission, found).items():
        salt = salts[f"{side} {name}"]
        assert digest == commit(values, format, salt) == plain(values, format, salt)


def test_outputs_of_any_form_are_bound() -> None:
    """Bits, sums that share wires, constants, and wires: all committed to as the integers they are."""
    builder = Builder()
    x = builder.input(signed((20,), 18, 14))
    y = builder.add(integers.Check(-4, 3), builder.add(integers.Shift(15), builder.add(integers.Scale(1, 0), x)))
    twice = builder.add(integers.Reindex(integers.View.broadcast((2, 20), (0,))), x)
    mixed = builder.add(integers.Concatenate(1), twice, builder.add(integers.Constant.splat(-9, (2, 3), 14)))
    sums = builder.add(integers.Add(), twice, builder.add(integers.Reindex(integers.View.flip((2, 20), (1,))), twice))
    given = commit_all(program(builder.build([y, twice, mixed, sums, x])))
    emission = emit(given)
    inputs = {"in0": draw(signed((20,), 18, 14))}
    salts = random_salts(emission.plan)
    found = witness(emission.plan, integer.trace(given, inputs), salts)
    assert not len(failing_rows(emission.system, found))
    outputs = integer.run(given, raw(inputs))
    formats = {port.name: port.format for port in given.outputs}
    for (side, name), digest in digests(emission, found).items():
        if side == "output":
            format = formats[name]
            assert format is not None
            assert digest == commit(outputs[name], format, salts[f"output {name}"])


def test_a_digest_names_values_format_and_salt() -> None:
    format = signed((5, 50), 18, 14)
    values = draw(format)
    other = values.copy()
    other[4, 49] += 1 if other[4, 49] < format.high else -1
    found = {
        commit(values, format, 1),
        commit(values, format, 2),
        commit(other, format, 1),
        commit(values.reshape(50, 5), format.with_shape((50, 5)), 1),
        commit(values, Fixed(format.shape, 13, format.low, format.high), 1),
        commit(values, Fixed(format.shape, 14, format.low - 1, format.high), 1),
        commit(values, Fixed(format.shape, 14, format.low, format.high + 1), 1),
    }
    assert len(found) == 7


def test_the_scheme_stays_what_it_is() -> None:
    """Digests are kept by others: a change of layout or constants needs a new scheme version."""
    assert commit(np.arange(-8, 8).reshape(4, 4), signed((4, 4), 4, 2), 1234567) == GOLDEN


def test_an_output_commitment_of_one_program_is_the_input_commitment_of_the_next() -> None:
    format = signed((40,), 18, 14)
    first = commit_all(chain(format, integers.Scale(-1, 0), integers.Check(format.low, format.high)))
    second = commit_all(chain(format, integers.ReLU()))
    values = np.abs(draw(format)) - 5
    made = integer.run(first, raw({"in0": values}))["out0"]
    salts = {"input in0": 7, "output out0": 8}
    emissions = emit(first), emit(second)
    before = witness(emissions[0].plan, integer.trace(first, {"in0": values}), salts)
    after = witness(emissions[1].plan, integer.trace(second, {"in0": made}), {"input in0": 8, "output out0": 9})
    assert digests(emissions[0], before)["output", "out0"] == digests(emissions[1], after)["input", "in0"]


def test_every_changed_wire_is_noticed() -> None:
    given = commit_all(chain(signed((300,), 18, 14), integers.Scale(3, 0), integers.Shift(1)))
    emission = emit(given)
    found = witness(
        emission.plan, integer.trace(given, {"in0": draw(signed((300,), 18, 14))}), random_salts(emission.plan)
    )
    for wire in np.random.default_rng(2).integers(1, emission.system.wires, count(15, deep=40)).tolist():
        mutated = found.copy()
        mutated[wire] = BN254.from_integers([BN254.to_integers(found[wire : wire + 1])[0] + 1])[0]
        assert len(failing_rows(emission.system, mutated)), f"wire {wire}"


def test_bad_salts_values_and_fields_are_refused() -> None:
    format = signed((3,), 8, 0)
    given = commit_all(chain(format, integers.Scale(2, 0)))
    emission = emit(given)
    trace = integer.trace(given, {"in0": np.array([1, 2, 3])})
    for salts in (
        {},
        {"input in0": 1},
        {"input in0": 1, "output out0": -1},
        {"input in0": BN254.prime, "output out0": 1},
    ):
        with pytest.raises(CircuitizeError, match="salt"):
            witness(emission.plan, trace, salts)
    with pytest.raises(CircuitizeError, match="trace of"):
        witness(emission.plan, trace[1:], random_salts(emission.plan))
    with pytest.raises(CircuitizeError, match="shape"):
        witness(emission.plan, [value[:2] for value in trace], random_salts(emission.plan))
    with pytest.raises(CircuitizeError, match="format"):
        commit(np.array([1, 2, 128]), format, 1)
    with pytest.raises(CircuitizeError, match="format"):
        commit(np.array([1, 2]), format, 1)
    with pytest.raises(CircuitizeError, match="salt"):
        commit(np.array([1, 2, 3]), format, BN254.prime)
    with pytest.raises(CircuitizeError, match="BN254"):
        emit(given, Field((1 << 127) - 1))
