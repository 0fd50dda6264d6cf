"""Finding the contractions whose sums are all bounded by a later Shift, so that a circuit may pack several sums into
one field element.
"""

from __future__ import annotations

import numpy as np

from circuitize.circuits import integers
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.types import Fixed

from ..windows import Window, deviation, quotients
from .commitments import layout
from .gadgets.accumulation import Pin


def pins(
    arrow: Arrow, checks: dict[int, tuple[integers.Check, int]], signs: set[int], bound: frozenset[int]
) -> dict[int, Pin]:
    """Return, for each wire that a Contract writes and a later Shift bounds, and for that Shift's target, what the
    Shift says of the sums.

    Between the Contract and the Shift there may be only linear operations that keep every element (Add, Subtract,
    Scale, a permutation by Reindex), and nothing else may read the wires between them; if two contractions meet on the
    way, the first one counts. The argument `checks` holds, for a wire that only a Check reads, that Check and its
    target; `signs` holds the wires whose signs some operation needs; `bound` holds the wires that a commitment binds.
    """
    readers = arrow.readers()
    rows = arrow.rows
    operations = arrow.operations
    reader = {wire: index for index, (_, sources, _, _) in enumerate(rows) for wire in sources}
    leaving = set(arrow.outputs.tolist())
    owned: set[int] = set()
    found = {}
    for operation, _, targets, _ in rows:
        if not isinstance(operations[operation], integers.Contract):
            continue
        wire, factor, chain = targets[0], 1, []
        while readers[wire] == 1 and wire not in leaving and wire not in owned:
            chain.append(wire)
            kind, sources, following, _ = rows[reader[wire]]
            step = operations[kind]
            type = arrow.format(wire)
            if type.low == type.high:
                break
            if isinstance(step, integers.Shift) and step.bits:
                check = checks.get(following[0])
                sign = following[0] in signs or (check is not None and check[1] in signs)
                chosen = _window(step, type, arrow.format(following[0]), check, sign)
                if chosen is not None:
                    committed = bound & {following[0], *([] if check is None else [check[1]])}
                    leaves = any(_fits(arrow, wire, chosen) for wire in committed)
                    bits = step.bits + (0 if leaves else chosen.bits)
                    pin = Pin(deviation(type, step.bits, chosen), factor, bits, leaves)
                    found[targets[0]] = found[following[0]] = pin
                    owned.update(chain)
                break
            if isinstance(step, integers.Scale):
                factor *= step.factor
            elif isinstance(step, integers.Subtract) and sources[1] == wire:
                factor = -factor
            elif isinstance(step, integers.Reindex):
                places = step.view.indices().reshape(-1)
                if not np.array_equal(np.sort(places), np.arange(type.size)):
                    break
            elif not isinstance(step, integers.Add | integers.Subtract):
                break
            wire = following[0]
    return found


def _fits(arrow: Arrow, wire: int, chosen: Window) -> bool:
    """Return whether a commitment to the wire distinguishes all quotients in the window.

    The digits in a commitment are quotients minus the least value of the format, at places as wide as the format: they
    are unique if the window is no wider than the format. If the window is wider than the format, in order to include a
    sign, a prover who breaks the sums can choose between two vectors of quotients for one packed element: (q, q') and
    (q - 2^width, q' + 1).
    """
    return chosen.bits <= layout(arrow.format(wire)).width


def _window(
    shift: integers.Shift, type: Fixed, target: Fixed, check: tuple[integers.Check, int] | None, sign: bool
) -> Window | None:
    """Return the window of a Shift's quotients, or None if no value passes the Shift's Check, in which case the
    lowering of the Shift raises an error.
    """
    low, high = (target.low, target.high) if check is None else (check[0].low, check[0].high)
    if high < type.low >> shift.bits or type.high >> shift.bits < low:
        return None
    return quotients(type, shift.bits, low, high, sign)[2]
