"""Canonical bytes and digests, saved programs, and well-formedness."""

from __future__ import annotations

import hashlib
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from circuitize.circuits.arrays import Add, Multiply, Negate, Scale
from circuitize.circuits.builder import Builder
from circuitize.circuits.encode import canonical, digest, encode, program_digest
from circuitize.circuits.errors import FormatError, TypingError
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.port import Port, Role, Visibility
from circuitize.circuits.program import Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.saved import load, save
from circuitize.circuits.types import Array, signed
from circuitize.circuits.validate import validate


def sums(swapped: bool = False, factor: float = 2.0) -> Arrow:
    """2 (x * y) + (-x), its edges added in one of two orders."""
    builder = Builder()
    x, y = builder.inputs([Array((2,)), Array((2,))])
    if swapped:
        less = builder.add(Negate(), x)
    product = builder.add(Scale(factor), builder.add(Multiply(), x, y))
    if not swapped:
        less = builder.add(Negate(), x)
    return builder.build([builder.add(Add(), product, less)])


def example() -> Program:
    x = Port("x", Visibility.PUBLIC, signed((2,), 12, 8), Role.PARAMETER)
    ports = (x, replace(x, name="y", role=Role.DATA))
    batch = {"x": np.array([0.5, -1.0]), "y": np.array([2.0, 3.0])}
    return Program(sums(), ports, (Port("z", Visibility.PUBLIC),), (batch,))


def test_the_digest_ignores_the_order_in_which_edges_were_added() -> None:
    assert encode(sums()) == encode(sums(swapped=True))
    assert digest(sums()) == hashlib.sha256(encode(sums())).hexdigest()


def test_the_digest_sees_parameters_wiring_and_interface() -> None:
    arrow = sums()
    others = [
        sums(factor=2.0 + 2.0**-40),
        replace(arrow, outputs=arrow.outputs[[0, 0]]),
        replace(arrow, inputs=arrow.inputs[::-1].copy()),
    ]
    assert len({digest(arrow), *map(digest, others)}) == 4


def test_the_canonical_form_is_a_form_of_the_same_arrow() -> None:
    arrow = canonical(sums(swapped=True))
    validate(arrow)
    assert encode(canonical(arrow)) == encode(arrow)


def test_a_programs_digest_covers_names_visibility_formats_and_roles() -> None:
    program = quantize(example())
    first, *rest = program.inputs
    renamed = replace(program, inputs=(replace(first, name="renamed"), *rest))
    hidden = program.with_visibility(x=Visibility.COMMITTED)
    outputs = replace(program, outputs=(replace(program.outputs[0], visibility=Visibility.COMMITTED),))
    held = replace(program, inputs=(replace(first, role=Role.STATE), *rest))
    astral, surrogates = (
        replace(program, inputs=(replace(first, name=n), *rest)) for n in ("\U00010000", "\U00010001")
    )
    digests = [program_digest(p) for p in (program, renamed, hidden, outputs, held, astral, surrogates)]
    assert len(set(digests)) == 7
    assert program_digest(replace(program, examples=())) == digests[0], "examples are not part of it"


@pytest.mark.parametrize("language", ["real", "integer"])
def test_a_saved_program_comes_back(tmp_path: Path, language: str) -> None:
    program = example() if language == "real" else quantize(example())
    save(program, tmp_path / "program.arrow", examples=True)
    back = load(tmp_path / "program.arrow")
    assert encode(back.arrow) == encode(program.arrow)
    assert (back.inputs, back.outputs, back.precision) == (program.inputs, program.outputs, program.precision)
    assert [port.held for port in back.inputs] == [True, False]
    assert np.array_equal(back.examples[0]["x"], program.examples[0]["x"])
    assert [e.provenance for e in back.arrow.edges()] == [e.provenance for e in program.arrow.edges()]


def test_every_damaged_byte_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "program.arrow"
    save(example(), path, examples=True)
    whole = path.read_bytes()
    for at in range(0, len(whole), 7):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(FormatError, match=r"program\.arrow"):
            load(path)
    for length in range(0, len(whole), 13):
        path.write_bytes(whole[:length])
        with pytest.raises(FormatError, match=r"program\.arrow"):
            load(path)
    with pytest.raises(FormatError, match="check the path"):
        load(tmp_path / "missing.arrow")


def test_a_well_signed_file_with_wrong_content_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "program.arrow"
    save(example(), path, examples=True)
    for old, new in (
        (b"real.negate", b"real.negatf"),
        (b'"shape":[2]', b'"shape":[3]'),
        (b'"parameter"', b'"paremeter"'),
    ):
        body = path.read_bytes()[:-32]
        assert old in body
        wrong = tmp_path / "wrong.arrow"
        body = body.replace(old, new)
        wrong.write_bytes(body + hashlib.sha256(body).digest())
        with pytest.raises(FormatError, match=r"wrong\.arrow"):
            load(wrong)


def test_a_well_signed_file_of_a_malformed_arrow_is_refused(tmp_path: Path) -> None:
    """Its first edge reads the wire that is written last."""
    path, arrow = tmp_path / "program.arrow", example().arrow
    save(example(), path)
    body = bytearray(path.read_bytes()[:-32])
    (length,) = struct.unpack_from("<Q", body, 8)
    before = len(arrow.wire_types) + len(arrow.edge_operations) + len(arrow.source_offsets)
    struct.pack_into("<i", body, 16 + length + 4 * before, arrow.wire_count - 1)
    path.write_bytes(body + hashlib.sha256(body).digest())
    with pytest.raises(FormatError, match="writers before readers"):
        load(path)


def test_validate_names_what_is_wrong() -> None:
    arrow = sums()
    two_writers = arrow.target_wires.copy()
    two_writers[1] = two_writers[0]
    late = arrow.source_wires.copy()
    late[0] = arrow.target_wires[-1]
    other_type = replace(arrow, types=(Array((3,)),))
    cases = [
        (replace(arrow, target_wires=two_writers), "written"),
        (replace(arrow, source_wires=late), "writers before readers"),
        (replace(arrow, outputs=np.array([99], np.int32)), "wires below"),
        (replace(arrow, edge_operations=arrow.edge_operations + 9), "edge_operations"),
        (replace(arrow, source_offsets=arrow.source_offsets[:-1]), "source_offsets"),
    ]
    for broken, message in cases:
        with pytest.raises(TypingError, match=message):
            validate(broken)
    validate(other_type)
    mixed = replace(arrow, types=(*arrow.types, Array((3,))), wire_types=arrow.wire_types.copy())
    mixed.wire_types[-1] = len(arrow.types)
    with pytest.raises(TypingError, match="expected targets"):
        validate(mixed)
