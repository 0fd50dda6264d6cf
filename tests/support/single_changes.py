"""Which wires of a witness may alone take another value: for every wire and every value of the field, not a sample.

With one wire moved by d, a row (Aw)(Bw) = Cw, where it has coefficients a, b, c, is off by d (a Bw + b Aw - c + d a b).
So a row allows d = 0 alone, or one other d, or any; a wire may move where all its rows allow one same other d.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.field import Limbs
from circuitize.backends.r1cs.system import LARGE, ConstraintSystem, Matrix

Integers = NDArray[np.int64]
Numbers = NDArray[np.object_]


def free_wires(system: ConstraintSystem, witness: Limbs) -> dict[int, int | None]:
    """Of the wires that no one chooses (all but inputs): those that may move, and by how much, None for anything.

    The witness satisfies the system. O(nonzeros log nonzeros), big integers only for wires that no linear row fixes.
    """
    outputs, inside = system.public_outputs, 1 + system.public + system.private_inputs
    wanted = np.zeros(system.wires, np.bool_)
    wanted[1 : 1 + outputs] = wanted[inside:] = True
    wanted[_fixed_by_linear_rows(system)] = False
    places = _places(system, wanted)
    values = _numbers(system.field.to_integers(witness))
    rows, row = np.unique(places.rows, return_inverse=True)
    at_a, at_b = (_products(system, matrix, rows, values)[row] for matrix in (system.a, system.b))
    prime = system.field.prime
    slope = cast(Numbers, (places.a * at_b + places.b * at_a - places.c) % prime)
    square = cast(Numbers, places.a * places.b % prime)
    allowed: dict[int, int | None] = dict.fromkeys(np.flatnonzero(wanted).tolist())
    for wire, linear, quadratic in zip(places.wires.tolist(), slope, square, strict=True):
        if wire not in allowed or not (linear or quadratic):
            continue
        move = -linear * pow(quadratic, -1, prime) % prime if quadratic else 0
        if not move or allowed[wire] not in (None, move):
            del allowed[wire]
        else:
            allowed[wire] = move
    return allowed


@dataclass(frozen=True)
class _Places:
    """Rows in which wires occur, with their coefficients there."""

    rows: Integers
    wires: Integers
    a: Numbers
    b: Numbers
    c: Numbers


def _keys(system: ConstraintSystem, matrix: Matrix) -> Integers:
    """Ascending: row * wires + wire, of each term."""
    return np.repeat(np.arange(matrix.rows), np.diff(matrix.offsets)) * system.wires + matrix.wires


def _fixed_by_linear_rows(system: ConstraintSystem) -> Integers:
    """Wires in a row's C alone, or in its A alone where its B is a constant."""
    a, b, c = (_keys(system, matrix) for matrix in (system.a, system.b, system.c))
    in_c = _without(c, a, b)
    single = np.flatnonzero(np.diff(system.b.offsets) == 1)
    constant = single[system.b.wires[system.b.offsets[single]] == 0]
    in_a = _without(a, b, c)
    in_a = in_a[np.isin(in_a // system.wires, constant)]
    return _distinct(np.concatenate([in_c, in_a]) % system.wires)


def _distinct(keys: Integers) -> Integers:
    """Ascending. By sorting: numpy's own way hashes, which takes twenty times as long for keys such as these."""
    keys = np.sort(keys)
    return keys[np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])]


def _without(keys: Integers, *others: Integers) -> Integers:
    """Those of distinct keys that none of the others has."""
    known = np.sort(np.concatenate(others))
    places = np.searchsorted(known, keys)
    return keys[known[np.minimum(places, len(known) - 1)] != keys] if len(known) else keys


def _places(system: ConstraintSystem, wanted: NDArray[np.bool_]) -> _Places:
    matrices = (system.a, system.b, system.c)
    chosen = [np.flatnonzero(wanted[matrix.wires]) for matrix in matrices]
    keys = [_keys(system, matrix)[own] for matrix, own in zip(matrices, chosen, strict=True)]
    every = _distinct(np.concatenate(keys))
    coefficients = []
    for matrix, own, key in zip(matrices, chosen, keys, strict=True):
        spread = _numbers([0] * len(every))
        spread[np.searchsorted(every, key)] = _coefficients(system, matrix.coefficients[own])
        coefficients.append(spread)
    return _Places(every // system.wires, every % system.wires, *coefficients)


def _products(system: ConstraintSystem, matrix: Matrix, rows: Integers, values: Numbers) -> Numbers:
    """A matrix times the witness, in these rows."""
    starts, stops = matrix.offsets[rows], matrix.offsets[rows + 1]
    counts = stops - starts
    terms = np.repeat(stops - np.cumsum(counts), counts) + np.arange(counts.sum())
    each = _coefficients(system, matrix.coefficients[terms]) * values[matrix.wires[terms]]
    sums = _numbers([0] * len(rows))
    filled = np.flatnonzero(counts)
    if len(filled):
        sums[filled] = np.add.reduceat(each, (np.cumsum(counts) - counts)[filled])
    return sums


def _coefficients(system: ConstraintSystem, codes: Integers) -> Numbers:
    found = codes.astype(object)
    large = np.flatnonzero(codes >= LARGE)
    found[large] = _numbers(system.field.to_integers(system.large))[codes[large] - LARGE]
    return found


def _numbers(values: list[int]) -> Numbers:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
