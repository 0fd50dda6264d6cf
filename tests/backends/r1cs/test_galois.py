"""galois, an independent implementation of finite fields, checks our files over the real field, and a QAP."""

from __future__ import annotations

import struct
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import arrays_cases
import galois
import integers_cases
import numpy as np
import pytest
import quantized_cases
from agreement import Vector, mutations
from every_case import every_case
from example_programs import example
from operations.integer import Case
from r1cs_programs import chain, single
from tiers import TIER

from circuitize.backends.field import BN254, Field
from circuitize.backends.r1cs.emit import emit
from circuitize.backends.r1cs.r1cs_file import write_r1cs
from circuitize.backends.r1cs.system import ConstraintSystem
from circuitize.backends.r1cs.witness import random_salts, witness
from circuitize.backends.r1cs.wtns_file import write_wtns
from circuitize.circuits import integers
from circuitize.circuits.errors import Undefined
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import raw, to_integers
from circuitize.sims import integer

MOST = 12
"""Elements of the sources of the operations that are checked; larger ones repeat the same gadgets."""

Term = tuple[int, int, int]
"""Row, wire and coefficient."""


@cache
def large_field() -> Any:
    """Without `primitive_element` and `verify=False`, galois would factor r - 1 and search."""
    return galois.GF(BN254.prime, primitive_element=5, verify=False)


def sections(data: bytes, magic: bytes) -> dict[int, bytes]:
    assert data[:4] == magic
    (count,) = struct.unpack_from("<I", data, 8)
    found, at = {}, 12
    for _ in range(count):
        kind, size = struct.unpack_from("<IQ", data, at)
        found[kind] = data[at + 12 : at + 12 + size]
        at += 12 + size
    assert at == len(data)
    return found


def number(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 32], "little")


def read_system(path: Path) -> tuple[int, list[list[Term]]]:
    """Wires, and (row, wire, coefficient) of the terms of A, B and C, read plainly from the format's description."""
    parts = sections(path.read_bytes(), b"r1cs")
    header = parts[1]
    assert struct.unpack_from("<I", header)[0] == 32 and number(header, 4) == BN254.prime
    wires, _, _, _, _, rows = struct.unpack_from("<4IQI", header, 36)
    terms: list[list[Term]] = [[], [], []]
    data, at = parts[2], 0
    for row in range(rows):
        for matrix in terms:
            (count,) = struct.unpack_from("<I", data, at)
            at += 4
            for _ in range(count):
                matrix.append((row, *struct.unpack_from("<I", data, at), number(data, at + 4)))
                at += 36
    assert at == len(data)
    return wires, terms


def read_witness(path: Path) -> Any:
    parts = sections(path.read_bytes(), b"wtns")
    assert number(parts[1], 4) == BN254.prime
    (count,) = struct.unpack_from("<I", parts[1], 36)
    return large_field()([number(parts[2], 32 * i) for i in range(count)])


def combine(terms: list[Term], values: Any, rows: int) -> Any:
    """The combinations of one matrix at these values, all arithmetic by galois."""
    result = large_field().Zeros(rows)
    if terms:
        row, wire, coefficient = map(list, zip(*terms, strict=True))
        products = large_field()(coefficient) * values[wire]
        starts = np.flatnonzero(np.diff(row, prepend=-1))
        result[np.array(row)[starts]] = np.add.reduceat(products, starts)
    return result


def check(given: IntegerProgram, inputs: Vector, folder: Path) -> None:
    """Write both files; galois accepts the witness, and rejects it with one wire changed."""
    emission = emit(given)
    made = witness(emission.plan, integer.trace(given, inputs), random_salts(emission.plan))
    write_r1cs(folder / "a.r1cs", emission.system)
    write_wtns(folder / "a.wtns", BN254, made)
    wires, terms = read_system(folder / "a.r1cs")
    values = read_witness(folder / "a.wtns")
    rows = emission.system.constraints
    assert (wires, len(values)) == (emission.system.wires, wires)
    assert sum(map(len, terms)) == emission.system.nonzeros
    a, b, c = (combine(matrix, values, rows) for matrix in terms)
    assert np.array_equal(a * b, c)
    for wire, value in mutations(emission.system, made, 2):
        concerned = {row for matrix in terms for row, other, _ in matrix if other == wire}
        part = [[term for term in matrix if term[0] in concerned] for matrix in terms]
        changed = values.copy()
        changed[wire] = value
        a, b, c = (combine(matrix, changed, rows) for matrix in part)
        assert not np.array_equal(a * b, c)


def defined(given: IntegerProgram, case: Case) -> Vector:
    random = np.random.default_rng(0)
    while True:
        inputs = {f"in{i}": value for i, value in enumerate(case.draw(random))} or {"in0": np.array(1)}
        try:
            integer.run(given, raw(inputs))
        except Undefined:
            continue
        return inputs


def small_cases() -> list[Any]:
    """The smallest case of each integer operation; in the deep tier of real ones too, and all small ones."""
    cases: list[Any] = [*(arrays_cases.cases() if TIER == "deep" else ()), *integers_cases.cases()]
    found = [case for case in cases if max((prod(source.shape) for source in case.sources), default=0) <= MOST]
    cases.sort(key=lambda case: -max((prod(source.shape) for source in case.sources), default=0))
    smallest = {case.operation.name: case for case in cases}
    return found + [case for case in smallest.values() if case not in found] if TIER == "deep" else [*smallest.values()]


@every_case(small_cases())
def test_circuits_of_operations(case: Any, tmp_path: Path) -> None:
    if isinstance(case, Case):
        given = single(case.operation, *case.sources)
        check(given, defined(given, case), tmp_path)
    else:
        check(quantized_cases.program(case), quantized_cases.drawn(case)[0], tmp_path)


def test_iris(tmp_path: Path) -> None:
    given = example("iris.py:predict").integer
    batch = given.examples[0]
    check(given, {port.name: to_integers(port, batch[port.name], "example") for port in given.inputs}, tmp_path)


def columns(system: ConstraintSystem, domain: Any) -> list[list[galois.Poly]]:
    """For A, B and C, and each wire, the polynomial that has the wire's coefficients on the domain."""
    field, points = type(domain), len(domain)
    found = []
    for matrix in (system.a, system.b, system.c):
        table = np.zeros((points, system.wires), np.int64)
        table[np.repeat(np.arange(matrix.rows), np.diff(matrix.offsets)), matrix.wires] = matrix.coefficients
        found.append([galois.lagrange_poly(domain, field(column % field.order)) for column in table.T])
    return found


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(chain(Fixed((), 0, -3, 4), integers.Scale(3, 0), integers.Shift(1)), marks=pytest.mark.deep),
        pytest.param(single(integers.Multiply(), Fixed((2,), 0, -2, 1), Fixed((2,), 0, 0, 1)), marks=pytest.mark.deep),
        chain(Fixed((), 0, -3, 4), integers.Scale(1, 0), integers.ReLU()),
    ],
    ids=lambda given: given.arrow.operations[-1].name,
)
def test_quadratic_arithmetic_programs(given: IntegerProgram) -> None:
    """Gennaro, Gentry, Parno and Raykova: rows hold where, and only where, the vanishing polynomial divides AB - C."""
    prime = 257
    emission = emit(given, Field(prime))
    system, field = emission.system, galois.GF(prime, compile="python-calculate")
    size = 1 << (system.constraints - 1).bit_length()
    domain = field(field.primitive_element) ** (np.arange(size) * ((prime - 1) // size))
    vanishing = galois.Poly.Roots(domain)
    assert vanishing == galois.Poly.Degrees([size, 0], [1, prime - 1], field=field)
    polynomials = columns(system, domain)

    def remainder(values: Any) -> galois.Poly:
        a, b, c = (
            sum((p * int(v) for p, v in zip(matrix, values, strict=True)), galois.Poly.Zero(field))
            for matrix in polynomials
        )
        return (a * b - c) % vanishing

    random = np.random.default_rng(3)
    for _ in range(4):
        inputs = {
            port.name: random.integers(port.format.low, port.format.high + 1, port.format.shape)
            for port in given.inputs
            if port.format is not None
        }
        values = witness(emission.plan, integer.trace(given, inputs))[:, 0].astype(np.int64)
        assert remainder(values) == 0
        for wire in range(1 + system.public, system.wires):
            changed = values.copy()
            changed[wire] = (changed[wire] + random.integers(1, prime)) % prime
            assert remainder(changed) != 0
