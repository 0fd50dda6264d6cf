"""Table lookups in an R1CS circuit: products of index bits for each half of the bits, and one product for each set of
high bits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.types import Fixed

from ...forms import Integers, LinearForms, constant, stack, uniform, wires, zeros
from ...values import AllBits, SetProducts, Value
from ..system import Order
from .assembly import Assembly, Handle
from .bits import Bits, decompose

HALF = 31
"""Tables whose coefficients would pass 62 bits are looked up as low and high parts, split at this bit."""


def lookup(assembly: Assembly, x: Handle, low: int, table: Integers, type: Fixed, value: Value) -> Handle:
    """Return the entry table[x - low]; a table of 2^w entries takes w rows for bits (unless they are known) and about 3
    * 2^(w/2) more. The argument `type` is the type of the looked-up entry.

    The index n = x - least of a lookup is cut into high and low bits; if M_R is the product of the bits in a set R,
    every function of n is a sum of c[R, S] * M_R * M_S over sets R of high bits and sets S of low bits. A lookup
    therefore has a wire for each product of two or more bits within each half, and for each set R a product M_R * (sum
    over S of c[R, S] * M_S). In a lookup, the product for the empty set R is linear and takes no row.

    Soundness: the index n of a lookup is in [0, 2^w) by its type and its bits, and every further wire is the third
    entry of a row whose first two entries are determined, so that there is only one witness. Entries after the end of
    the table are 0 and are never read, since the type of the index x is within the table.
    """
    least = x.type.low
    entries = np.asarray(table, np.int64)[least - low : x.type.high - low + 1]
    width = (x.type.high - least).bit_length()
    count = len(x.forms)
    if width == 0:
        return Handle(constant(np.full(count, int(entries[0]))), value, type)
    padded = np.zeros(1 << width, np.int64)
    padded[: len(entries)] = entries
    assembly.no_wrap(1 << width, int(np.abs(padded).max()))
    bits = index_bits(assembly, x, least, width)
    below = width - width // 2
    coefficients = _coefficients(padded.reshape(-1, 1 << below))
    if coefficients is None:
        halves = [padded & ((1 << HALF) - 1), padded >> HALF]
        tables = [_coefficients(half.reshape(-1, 1 << below)) for half in halves]
    else:
        tables = [coefficients]
    lower = _products_of_bits(assembly, bits, x.value, least, 0, below)
    upper = _products_of_bits(assembly, bits, x.value, least, below, width)
    forms = zeros(count)
    for place, part in enumerate(tables):
        assert part is not None, "31-bit entries of at most 2^16 give coefficients below 2^48"
        forms = forms + _evaluate(assembly, part, lower, upper, x.value, least).scale(1 << (HALF * place))
    return Handle(forms, value, type)


def index_bits(assembly: Assembly, x: Handle, least: int, width: int) -> Bits:
    """Return the `width` bits of x - least, which x's type restricts to [0, 2^width); they take no rows if they are
    known already.
    """
    if x.bits is not None and x.bits.low == least and x.bits.count == width:
        return x.bits
    assembly.no_wrap(1 << width, x.type.high - least)
    bits = decompose(assembly, x.forms, x.value, least, width, "index")
    x.bits = x.bits or bits
    return bits


def _coefficients(table: Integers) -> Integers | None:
    """Return the coefficients c such that table[h, l] is the sum of c[R, S] over R inside h and S inside l, where
    numbers stand for sets of bits, or None if the coefficients would exceed 62 bits.
    """
    if int(np.abs(table).max()) * table.size >= 1 << 62:
        return None
    return moebius(moebius(table, 0), 1)


def moebius(table: Integers, axis: int) -> Integers:
    """Return the Möbius transform d of a table along an axis: table[n] is the sum of d[S] over S inside n, where
    numbers stand for sets of bits.
    """
    result = np.moveaxis(table.copy(), axis, 0)
    places = np.arange(len(result))
    step = 1
    while step < len(result):
        has = np.flatnonzero(places & step)
        result[has] -= result[has - step]
        step *= 2
    return np.moveaxis(result, 0, axis)


def _products_of_bits(
    assembly: Assembly, bits: Bits, value: Value, least: int, start: int, stop: int
) -> NDArray[np.int64]:
    """Return wires [elements, 2^(stop - start)]: column m is the product of those bits start + i for which m has bit i,
    and column 0 is unused.
    """
    count = len(bits.rows)
    table = np.zeros((count, 1 << (stop - start)), np.int64)
    for place in range(start, stop):
        table[:, 1 << (place - start)] = single_bit(assembly, bits, place, value, least).wires
    for size in range(2, stop - start + 1):
        sets = np.array([m for m in range(table.shape[1]) if m.bit_count() == size])
        masks = tuple((sets << start).tolist())
        first = assembly.wires(AllBits(value, -least, masks), count * len(sets), "index product", (count, len(sets)))
        lowest = sets & -sets
        a, b = (_single(table[:, chosen]) for chosen in (lowest, sets - lowest))
        assembly.rows(a, b, wires(first, count * len(sets)), "index product", Order(count, len(sets)))
        table[:, sets] = first + np.arange(count * len(sets)).reshape(count, len(sets))
    return table


def single_bit(assembly: Assembly, bits: Bits, place: int, value: Value, least: int) -> LinearForms:
    """Return a bit of value - least as a wire; this takes one more row if the bit is known only as a combination of the
    value and its other bits.

    Soundness: the row form * 1 = wire is linear, so that the wire equals the form.
    """
    form = bits.bit(place)
    if form.is_single_wires:
        return form
    single = wires(assembly.wires(AllBits(value, -least, (1 << place,)), len(form), "index bit"), len(form))
    assembly.equal(form, single, "index bit")
    return single


def _single(table: NDArray[np.int64]) -> LinearForms:
    flat = table.reshape(-1).astype(np.int32)
    return LinearForms(np.arange(len(flat) + 1, dtype=np.int64), flat, np.ones(len(flat), np.int64))


def _evaluate(
    assembly: Assembly,
    coefficients: Integers,
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
    value: Value,
    least: int,
) -> LinearForms:
    """Return the sum of c[R, S] * upper[R] * lower[S] over all sets R and S; the term for the empty set R is linear."""
    count, products = len(lower), len(coefficients) - 1
    ascending = np.argsort(lower[0])
    lower, coefficients = lower[:, ascending], coefficients[:, ascending]
    tables = [_uniform(lower, line) for line in coefficients]
    if not products:
        return tables[0]
    partial = moebius_inverse(coefficients[:, np.argsort(ascending)])
    content = SetProducts(value, -least, partial)
    first = assembly.wires(content, count * products, "lookup", (count, products))
    made = wires(first, count * products)
    order = np.arange(count * products).reshape(products, count).T.reshape(-1)
    b = stack(tables[1:]).gather(order)
    assembly.rows(_single(upper[:, 1:]), b, made, "lookup", Order(count, products))
    return tables[0].beside(made.sum_groups(np.arange(count + 1, dtype=np.int64) * products))


def moebius_inverse(coefficients: Integers) -> Integers:
    """Return, for each set R and each l, the sum of c[R, S] over all S inside l, as the inverse of the Möbius
    transform.
    """
    result = coefficients.copy()
    places = np.arange(result.shape[1])
    step = 1
    while step < result.shape[1]:
        has = np.flatnonzero(places & step)
        result[:, has] += result[:, has - step]
        step *= 2
    return result


def _uniform(table: NDArray[np.int64], coefficients: Integers) -> LinearForms:
    used = np.flatnonzero(coefficients)
    return uniform(table[:, used], coefficients[used])
