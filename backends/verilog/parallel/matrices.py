"""Products with constant matrices by few additions: common subexpressions are shared, and found by da4ml if it is
installed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...verilog.netlist import Integers, Netlist
from .elements import Elements, add, concatenate, signed_digits, total

ROWS, LARGE, LARGE_ROWS = 64, 1 << 13, 24
"""The most rows of a matrix that are optimised at a time; larger matrices are cut into narrower parts: searches take
more than quadratic time in the number of rows.
"""

DEEPER, LARGE_DEEPER = 2, 0
"""How many levels of additions a column may have beyond its least depth if that saves additions."""


@dataclass
class Plan:
    """A plan of the product y = x W by additions of earlier slots: the slots 0 to rows - 1 are the elements of x, and
    each step adds a slot a + (-1)^minus b 2^shift.

    The field `steps` of a plan has rows (a, b, shift, minus), and `terms` has the terms of each column of W as rows
    (slot, column, shift, negative).
    """

    rows: int
    columns: int
    steps: list[tuple[int, int, int, bool]] = field(default_factory=list)
    terms: list[tuple[int, int, int, bool]] = field(default_factory=list)


Counts = NDArray[np.float32]

Optimiser = Callable[[Integers, Integers, Integers, bool], Plan]
"""A function from a matrix, the least and the greatest value of each element of x, and whether to search quickly, to a
plan of additions.
"""


def optimiser() -> Optimiser:
    """Return the function that makes plans of products by additions: da4ml's search if da4ml is installed, and
    otherwise the package's own search.
    """
    try:
        from da4ml.cmvm import solve
    except ImportError:
        return greedy

    def search(matrix: Integers, low: Integers, high: Integers, large: bool) -> Plan:
        weights = matrix.astype(np.float32).tobytes()
        return _searched(solve, weights, matrix.shape[1], tuple(low.tolist()), tuple(high.tolist()), large)

    return search


@lru_cache(maxsize=64)
def _searched(
    solve: Callable[..., Any], matrix: bytes, columns: int, low: tuple[int, ...], high: tuple[int, ...], large: bool
) -> Plan:
    """Return the plan that da4ml finds; plans are cached, so that an estimate, or the same program with other options,
    need not search again.
    """
    intervals = [(float(a), float(b), 1.0) for a, b in zip(low, high, strict=True)]
    weights = np.frombuffer(matrix, np.float32).reshape(len(low), columns).copy()
    found = solve(weights, qintervals=intervals, hard_dc=LARGE_DEEPER if large else DEEPER)
    plan = Plan(*weights.shape)
    wires = [(slot, 0, False) for slot in range(plan.rows)]
    for logic in found.solutions:
        made: list[tuple[int, int, bool]] = []
        for op in logic.ops:
            if op.opcode == -1:
                slot, shift, negative = wires[op.id0]
                made.append((slot, shift + int(logic.inp_shifts[op.id0]), negative))
                continue
            (a, by, turned), (b, shift, negative) = made[op.id0], made[op.id1]
            plan.steps.append((a, b, shift + op.data - by, negative ^ turned ^ (op.opcode == 1)))
            made.append((plan.rows + len(plan.steps) - 1, by, turned))
        wires = [
            (-1, 0, False) if at < 0 else (made[at][0], made[at][1] + int(by), made[at][2] ^ bool(turn))
            for at, by, turn in zip(logic.out_idxs, logic.out_shifts, logic.out_negs, strict=True)
        ]
    plan.terms = [(slot, column, by, turn) for column, (slot, by, turn) in enumerate(wires) if slot >= 0]
    return plan


def greedy(matrix: Integers, low: Integers, high: Integers, large: bool) -> Plan:
    """Return the plan that a greedy search finds: it starts from canonical signed digits, and makes the most frequent
    pair of terms a new term until no pair occurs twice.

    A pair consists of two terms of a column at a certain distance and with a certain relative sign (Hartley,
    "Subexpression sharing in filters using canonic signed digit multipliers", 1996).
    """
    rows, columns = matrix.shape
    digits = signed_digits(matrix)
    depth = max((position for position, _ in digits), default=0) + 1
    table = np.zeros((rows, depth, columns), np.float32)
    for position, digit in digits:
        table[:, position] = digit
    plan = Plan(rows, columns)
    slots = np.arange(rows)
    most, kind = _commonest(table, slots, slots)
    while most.size and most.max() >= 2:
        a, b = (int(i) for i in np.unravel_index(int(most.argmax()), most.shape))
        sign, apart = divmod(int(kind[a, b]), depth)
        plan.steps.append((a, b, apart, sign == 1))
        table = np.concatenate([table, np.zeros((1, depth, columns), np.float32)])
        factor = 1.0 if sign == 0 else -1.0
        for position in range(depth - apart):
            first, second = table[a, position], table[b, position + apart]
            hit = (first != 0) & (second == factor * first)
            table[-1, position][hit] = first[hit]
            table[a, position][hit] = 0
            table[b, position + apart][hit] = 0
        if len(table) > len(most):
            most, kind = np.pad(most, (0, ROWS)), np.pad(kind, (0, ROWS))
        slots = np.arange(len(table))
        changed = np.array(sorted({a, b, len(table) - 1}))
        most[changed, : len(table)], kind[changed, : len(table)] = _commonest(table, changed, slots)
        most[: len(table), changed], kind[: len(table), changed] = _commonest(table, slots, changed)
    for slot, position, column in np.argwhere(table != 0).tolist():
        plan.terms.append((slot, column, position, bool(table[slot, position, column] < 0)))
    return plan


def _commonest(table: Counts, first: Integers, second: Integers) -> tuple[Counts, Integers]:
    """Return, for each pair of slots `first` and `second`, the relative position of the two that occurs most often, and
    the number of its occurrences.

    The relative position of two slots is sign * depth + apart: the second is `apart` places above the first, with an
    equal sign (0) or the opposite sign (1). Among equally frequent relative positions, the first is returned.
    """
    depth = table.shape[1]
    left, right = table[first], table[second]
    found = np.zeros((len(first), len(second), 2, depth), np.float32)
    for apart in range(depth):
        x = left[:, : depth - apart].reshape(len(first), -1)
        y = right[:, apart:].reshape(len(second), -1)
        signed, either = x @ y.T, np.abs(x) @ np.abs(y).T
        found[:, :, 0, apart], found[:, :, 1, apart] = (either + signed) / 2, (either - signed) / 2
    found[..., 0][first[:, None] == second] = 0
    ways = found.reshape(len(first), len(second), 2 * depth)
    return ways.max(axis=2), ways.argmax(axis=2)


def matrix_product(net: Netlist, x: Elements, matrix: Integers, optimise: Optimiser) -> Elements:
    """Return the product of a tensor x of shape [samples, rows] and a constant matrix [rows, columns], with the same
    additions for every sample.
    """
    samples, columns = x.shape[0], matrix.shape[1]
    terms, groups = [], []
    large = matrix.size > LARGE
    rows = LARGE_ROWS if large else ROWS
    for start in range(0, len(matrix), rows):
        part, inputs = matrix[start : start + rows], x[:, start : start + rows]
        # Zeros that an element ends in are the matrix's, so that the search counts the bits that there are.
        zeros = inputs.shift.min(axis=0)
        part, inputs = part << zeros[:, None], inputs.times(-zeros)
        low, high = net.low[inputs.node] << inputs.shift, net.high[inputs.node] << inputs.shift
        plan = optimise(part, low.min(axis=0), high.max(axis=0), large)
        slots = run(net, plan, inputs)
        if plan.terms:
            slot, column, shift, negative = (np.array(c) for c in zip(*plan.terms, strict=True))
            terms.append(slots[:, slot].times(shift, negative).reshape((-1,)))
            groups.append((np.arange(samples)[:, None] * columns + column).reshape(-1))
    if not terms:
        return Elements.of(np.zeros((samples, columns), np.int64))
    made = total(net, concatenate(terms), np.concatenate(groups), samples * columns)
    return made.reshape((samples, columns))


def run(net: Netlist, plan: Plan, x: Elements) -> Elements:
    """Append the nodes of a plan of additions for each sample of x, and return the elements in the plan's slots. The
    steps of a plan that have the same depth are appended at once.
    """
    slots = concatenate([x, Elements.of(np.zeros((x.shape[0], len(plan.steps)), np.int64))], 1)
    depth = [0] * plan.rows
    batches: list[list[int]] = []
    for index, (a, b, _, _) in enumerate(plan.steps):
        depth.append(max(depth[a], depth[b]) + 1)
        while len(batches) < depth[-1]:
            batches.append([])
        batches[depth[-1] - 1].append(index)
    steps = np.array(plan.steps, np.int64).reshape(-1, 4)
    for batch in batches:
        a, b, shift, minus = steps[batch].T
        made = add(net, slots[:, a], slots[:, b].times(shift, minus.astype(bool)))
        at = plan.rows + np.array(batch)
        slots.node[:, at], slots.shift[:, at], slots.negative[:, at] = made.node, made.shift, made.negative
    return slots
