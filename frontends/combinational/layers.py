"""One layer of nonlinear instructions of combinational logic: instructions of the same kind, sign, table and bound are
written together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sparse

from circuitize.circuits.integers import (
    Add,
    Check,
    Clamp,
    Constant,
    IsNegative,
    Lookup,
    Multiply,
    Scale,
    Select,
    Shift,
    Wrap,
)

from .forms import Forms
from .logic import SLOTS, Integers, Kind, Logic, Reals
from .numbers import Numbers, Rows
from .rounding import fit, rectify

LEAST, GREATEST = 100, 101
"""The kinds of choices that are the lesser, or the greater, of a sum and a number."""

Block = tuple[sparse.csr_array, Reals, Integers]
Write = Callable[[list[Numbers]], Numbers]
Planned = tuple[list[Block], Write]
"""The sums that a group of instructions needs, as coefficients, constants and units; and the function that computes its
numbers from them.
"""


@dataclass(frozen=True, eq=False)
class Group:
    """The instructions of a layer of combinational logic that share kind, sign, table and bound: their atoms and their
    instruction numbers.
    """

    atoms: Integers
    at: Integers
    kind: int
    operands: list[tuple[sparse.csr_array, Reals]]
    bound: int

    @property
    def signed(self) -> bool:
        """Return whether the operands of a bitwise operation are signed."""
        return self.bound < 0


def layer(logic: Logic, found: Forms, rows: Rows, atoms: Integers) -> None:
    """Write the instructions of a layer of combinational logic: all sums that need a matrix by one matrix product, then
    each group.
    """
    groups = _groups(logic, found, rows, atoms)
    planned = [PLANS[group.kind](rows, logic, group) for group in groups]
    sums = rows.sums([block for blocks, _ in planned for block in blocks])
    for group, (blocks, write) in zip(groups, planned, strict=True):
        read, sums = sums[: len(blocks)], sums[len(blocks) :]
        rows.keep(group.atoms, rows.narrowed(write(read)))


def _groups(logic: Logic, found: Forms, rows: Rows, atoms: Integers) -> list[Group]:
    at = found.atoms[atoms]
    kind, first, bound = found.kind[atoms].copy(), np.zeros(len(at), np.int64), logic.low[at].copy()
    chosen = np.flatnonzero((kind == Kind.SELECT) | (kind == Kind.WRAPPED_SELECT))
    if len(chosen):
        lesser, slot, number = _bounded(found, rows, atoms[chosen])
        simple = chosen[lesser != 0]
        kind[simple] = np.where(lesser[lesser != 0] > 0, LEAST, GREATEST)
        first[simple], bound[simple] = slot[lesser != 0], number[lesser != 0]
    sign = np.where(
        np.isin(kind, (Kind.QUANTIZE, Kind.RELU, Kind.WRAPPED_SELECT, LEAST, GREATEST)), logic.signed[at], 0
    )
    keys = np.stack([kind, sign, np.where(kind == Kind.TABLE, logic.table[at], 0), bound, first])
    distinct, member = np.unique(keys, axis=1, return_inverse=True)
    made = []
    for place, key in enumerate(distinct.T.tolist()):
        own = atoms[member.reshape(-1) == place]
        own = own[_order(found, rows, found.matrix[SLOTS * own + key[4]], own)]
        operands = [(found.matrix[SLOTS * own + slot], found.constant[SLOTS * own + slot]) for slot in range(SLOTS)]
        if key[0] in (LEAST, GREATEST):
            operands = operands[key[4] :]
        made.append(Group(own, found.atoms[own], key[0], operands, key[3]))
    return made


def _order(found: Forms, rows: Rows, matrix: sparse.csr_array, atoms: Integers) -> Integers:
    """Return the atoms of a group of instructions in the order of the single atom that each reads, so that the atoms
    they read are neighbours in a row.

    In a group of instructions, atoms that read several atoms are in the order of the outputs that are multiples of
    these atoms.
    """
    single = np.diff(matrix.indptr) == 1
    first = np.zeros(len(atoms), np.int64)
    first[single] = matrix.indices[matrix.indptr[:-1][single]]
    row, position = (np.where(single, column[first], 0) for column in (rows.row, rows.position))
    return np.lexsort((atoms, found.output[atoms], position, row))


def _bounded(found: Forms, rows: Rows, atoms: Integers) -> tuple[Integers, Integers, Integers]:
    """Return for each choice: 1 if the choice is the lesser of a sum and a number, -1 if it is the greater, else 0;
    which operand the sum is; and the number, in units of the sum's last bit.

    The lesser of v and a number c is written as the choice `v < c ? v : c`, where the key is v - c or c - v.
    """
    key, first, second = (found.matrix[SLOTS * atoms + slot] for slot in range(SLOTS))
    constants = found.constant[SLOTS * atoms[:, None] + np.arange(SLOTS)]
    kind, slot, number = (np.zeros(len(atoms), np.int64) for _ in range(3))
    for place, sums, other, sign in (
        (1, first, second, 1),
        (1, first, second, -1),
        (2, second, first, 1),
        (2, second, first, -1),
    ):
        bound = constants[:, 3 - place]
        apart = sparse.csr_array(sums - sign * key)
        apart.eliminate_zeros()
        same = (np.diff(apart.indptr) == 0) & (np.diff(other.indptr) == 0) & (np.diff(sums.indptr) > 0)
        same &= constants[:, place] - sign * constants[:, 0] == bound
        unit = rows.units(sparse.csr_array(sums), constants[:, place])
        units = np.ldexp(bound, -unit)
        same &= (units == np.rint(units)) & (np.abs(units) < 2.0**53) & (kind == 0)
        # The key is negative where v < c for v - c, so that the first operand is taken there.
        kind = np.where(same, sign if place == 1 else -sign, kind)
        slot, number = np.where(same, place, slot), np.where(same, units, number).astype(np.int64)
    return kind, slot, number


def _last_bits(rows: Rows, operand: tuple[sparse.csr_array, Reals]) -> Integers:
    return rows.units(*operand)


def _rounded(rows: Rows, logic: Logic, group: Group) -> Planned:
    wanted = -logic.fraction[group.at]
    dropped = int(np.maximum(wanted - _last_bits(rows, group.operands[0]), 0).max())

    def write(read: list[Numbers]) -> Numbers:
        sums = rectify(rows, read[0]) if group.kind == Kind.RELU else read[0]
        return fit(rows, logic, group.at, sums, dropped)

    return [(*group.operands[0], wanted - dropped)], write


def _bound(rows: Rows, logic: Logic, group: Group) -> Planned:
    """Return the lesser or the greater of a sum and a number, for a group of such choices."""
    unit = _last_bits(rows, group.operands[0])

    def write(read: list[Numbers]) -> Numbers:
        (x,) = read
        type = rows.builder.format(x.wire)
        low = max(type.low, group.bound) if group.kind == GREATEST else min(type.low, group.bound)
        high = max(type.high, group.bound) if group.kind == GREATEST else min(type.high, group.bound)
        clamp = Clamp(group.bound, high) if group.kind == GREATEST else Clamp(low, group.bound)
        ends = [np.clip(end, clamp.low, clamp.high) for end in (x.low, x.high)]
        made = Numbers(rows.builder.add(clamp, x.wire), x.unit, *ends)
        return _wrapped(rows, logic, group, made)

    return [(*group.operands[0], unit)], write


def _select(rows: Rows, logic: Logic, group: Group) -> Planned:
    key, chosen, other = group.operands
    units = np.minimum(_units_of(rows, chosen), _units_of(rows, other))
    units = np.where(units == NOTHING, 0, units)

    def write(read: list[Numbers]) -> Numbers:
        condition, x, y = read
        negative = rows.builder.add(IsNegative(), condition.wire)
        wire = rows.builder.add(Select(), negative, x.wire, y.wire)
        made = Numbers(wire, units, np.minimum(x.low, y.low), np.maximum(x.high, y.high))
        return _wrapped(rows, logic, group, made)

    return [(*key, _last_bits(rows, key)), (*chosen, units), (*other, units)], write


NOTHING = np.iinfo(np.int64).max


def _units_of(rows: Rows, operand: tuple[sparse.csr_array, Reals]) -> Integers:
    """Return the exponents of the units of sums that `_last_bits` gives, and NOTHING for sums without any term."""
    nothing = (np.diff(operand[0].indptr) == 0) & (operand[1] == 0)
    return np.where(nothing, NOTHING, _last_bits(rows, operand))


def _wrapped(rows: Rows, logic: Logic, group: Group, made: Numbers) -> Numbers:
    """Return a choice between numbers, wrapped to its instruction's bits if da4ml or alkaid rounds such choices to
    these bits.
    """
    if not (logic.kind[group.at] == Kind.WRAPPED_SELECT).any():
        return made
    wanted = -logic.fraction[group.at]
    dropped = int(np.maximum(wanted - made.unit, 0).max())
    up = made.unit - (wanted - dropped)
    wire = rows.times(made.wire, np.int64(1) << up)
    return fit(rows, logic, group.at, Numbers(wire, wanted - dropped, made.low << up, made.high << up), dropped)


def _product(rows: Rows, logic: Logic, group: Group) -> Planned:
    def write(read: list[Numbers]) -> Numbers:
        x, y = read
        wire = rows.builder.add(Multiply(), x.wire, y.wire)
        ends = np.stack([x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high])
        return Numbers(wire, x.unit + y.unit, ends.min(axis=0), ends.max(axis=0))

    return [(*operand, _last_bits(rows, operand)) for operand in group.operands[:2]], write


def _table(rows: Rows, logic: Logic, group: Group) -> Planned:
    table = logic.tables[int(logic.table[group.at[0]])]
    least, most = group.bound, group.bound + len(table.entries) - 1
    block, whole = _whole(rows, group.operands[0])

    def write(read: list[Numbers]) -> Numbers:
        x = whole(read[0])
        type, wire = rows.builder.format(x.wire), x.wire
        if type.low < least or type.high > most:
            wire = rows.builder.add(Check(least, most), wire)
        wire = rows.builder.add(Lookup(least, table.entries, 0), wire)
        ends = (np.full(x.count, end) for end in (table.entries.min(), table.entries.max()))
        return Numbers(wire, np.full(x.count, -table.fraction_bits), *ends)

    return [block], write


def _whole(rows: Rows, operand: tuple[sparse.csr_array, Reals]) -> tuple[Block, Callable[[Numbers], Numbers]]:
    """Return a block that computes sums of whole numbers, and a function that removes the zero bits at the sums' end if
    their parts have finer units.
    """
    zeros = -int(_last_bits(rows, operand).min(initial=0))

    def whole(x: Numbers) -> Numbers:
        if not zeros:
            return x
        wire = rows.builder.add(Scale(1, zeros), rows.builder.add(Shift(zeros), x.wire))
        return Numbers(wire, x.unit + zeros, x.low >> zeros, x.high >> zeros)

    return (*operand, np.full(operand[0].shape[0], -zeros)), whole


def _bits(rows: Rows, logic: Logic, group: Group) -> Planned:
    """Return the result of ANY or ALL: whether any bit of an operand is 1, or whether all bits are 1."""
    block, whole = _whole(rows, group.operands[0])

    def write(read: list[Numbers]) -> Numbers:
        x = whole(read[0])
        builder, ones = rows.builder, np.ones(x.count, np.int64)
        target = 0 if group.kind == Kind.ANY else -1 if group.signed else (1 << group.bound) - 1
        below = builder.add(IsNegative(), rows.plus(x.wire, -target * ones))
        above = builder.add(IsNegative(), rows.plus(builder.add(Scale(-1, 0), x.wire), target * ones))
        wire = builder.add(Add(), below, above)
        if group.kind == Kind.ALL:
            wire = rows.plus(builder.add(Scale(-1, 0), wire), ones)
        return Numbers(wire, 0 * ones, 0 * ones, ones)

    return [block], write


def _common(rows: Rows, logic: Logic, group: Group) -> Planned:
    """Return the bits that two numbers have in common, computed a bit at a time; the sign's bit counts negatively."""
    both = [_whole(rows, operand) for operand in group.operands[:2]]

    def write(read: list[Numbers]) -> Numbers:
        read = [whole(x) for x, (_, whole) in zip(read, both, strict=True)]
        builder, total = rows.builder, abs(group.bound)
        wire = None
        for bit in range(total):
            low = [builder.add(Scale(1, bit), builder.add(Shift(bit), x.wire)) if bit else x.wire for x in read]
            x, y = (builder.add(Wrap(1, False), wire) for wire in low)
            factor = -(1 << bit) if group.signed and bit == total - 1 else 1 << bit
            term = builder.add(Scale(factor, 0), builder.add(Multiply(), x, y))
            wire = term if wire is None else builder.add(Add(), wire, term)
        if wire is None:
            wire = builder.add(Constant.splat(0, (rows.batch, read[0].count)))
        least = -(1 << total - 1) if group.signed else 0
        ends = (np.full(read[0].count, end) for end in (least, least + (1 << total) - 1))
        return Numbers(wire, np.zeros(read[0].count, np.int64), *ends)

    return [block for block, _ in both], write


PLANS: dict[int, Callable[[Rows, Logic, Group], Planned]] = {
    Kind.QUANTIZE: _rounded,
    Kind.RELU: _rounded,
    Kind.SELECT: _select,
    Kind.WRAPPED_SELECT: _select,
    LEAST: _bound,
    GREATEST: _bound,
    Kind.PRODUCT: _product,
    Kind.TABLE: _table,
    Kind.ANY: _bits,
    Kind.ALL: _bits,
    Kind.AND: _common,
}
