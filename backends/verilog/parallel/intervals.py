"""The bounds of sums, which do not depend on the order of additions: terms that cancel on the way are counted only
once.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sparse

from ...verilog.netlist import Integers, Kind, Netlist


def ends(net: Netlist, node: Integers) -> tuple[Integers, Integers]:
    """Return the least and the greatest value of each node, as a sum of nodes that are not sums themselves, seen
    through shifts and clamps.

    A node's own interval treats its two operands as independent, although operands with common terms are not.
    """
    low, high = net.low[node].copy(), net.high[node].copy()
    kind = net.kind[node]
    through = (kind == Kind.SHIFT) | (kind == Kind.CLAMP)
    for chosen, inner in ((through, _of_operands), (~through, _of_sums)):
        if chosen.any():
            least, most = inner(net, node[chosen])
            low[chosen], high[chosen] = (np.clip(end, low[chosen], high[chosen]) for end in (least, most))
    return low, high


def _of_operands(net: Netlist, node: Integers) -> tuple[Integers, Integers]:
    """Return the bounds of nodes that are shifts or clamps, before the ends of a clamp are applied."""
    by = np.where(net.kind[node] == Kind.SHIFT, net.n[node], 0)
    low, high = ends(net, net.a[node].astype(np.int64))
    return low >> by, high >> by


def _of_sums(net: Netlist, node: Integers) -> tuple[Integers, Integers]:
    """Return the bounds of nodes that are sums, after expanding sums backward, one level at a time, until none is
    left.
    """
    within = np.flatnonzero(net.live(node))
    place = np.zeros(net.count, np.int64)
    place[within] = np.arange(len(within))
    kind, a, b, n, m = (column[within].astype(np.int64) for column in (net.kind, net.a, net.b, net.n, net.m))
    added, moved, joined = kind == Kind.ADD, kind == Kind.LEFT, kind == Kind.JOIN
    one = np.int64(1)
    first = one << np.where(added, np.maximum(-m, 0), np.where(moved, n, 0))
    second = np.where(n == 1, -1, 1)[added] * (one << np.maximum(m[added], 0))
    sums, rows = added | moved | joined, np.arange(len(within))
    parts = [
        (np.ones(int((~sums).sum()), np.int64), rows[~sums], rows[~sums]),
        (first[sums], rows[sums], place[a[sums]]),
        (second, rows[added], place[b[added]]),
        (one << m[joined], rows[joined], place[b[joined]]),
    ]
    factor, row, column = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    size = len(within)
    steps = sparse.csr_array(sparse.coo_array((factor, (row, column)), shape=(size, size)))
    picked = (np.ones(len(node), np.int64), (np.arange(len(node)), place[node]))
    found = sparse.csr_array(sparse.coo_array(picked, shape=(len(node), size)))
    while sums[found.indices].any():
        found = sparse.csr_array(found @ steps)
        found.eliminate_zeros()
    low, high = net.low[within].copy(), net.high[within].copy()
    leaf = np.unique(found.indices)
    leaf = leaf[np.isin(kind[leaf], (Kind.SHIFT, Kind.CLAMP))]
    if len(leaf):
        low[leaf], high[leaf] = ends(net, within[leaf])
    up, down = found.maximum(0), (-found).maximum(0)
    return up @ low - down @ high, up @ high - down @ low
