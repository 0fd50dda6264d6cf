"""A transformation that moves a rectifier from before a rounding to after it, if the result is the same: the rectifier
then has fewer bits.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sparse

from .forms import Forms
from .logic import SLOTS, Kind, Logic
from .numbers import Rows


def rectified_last(logic: Logic, found: Forms, rows: Rows, depth: int) -> Forms:
    """Return sums over atoms that are equal to the given ones but lack those rectifiers of a given depth which only
    roundings of one number read.

    Moving a rectifier after a rounding relies on floor(s max(p, 0) + c) = max(floor(s p + c), 0) for s > 0 and 0 <= c <
    1, in units of the rounding's last bit; the rectifier must neither round its operand p nor wrap. A rounding to which
    a rectifier was moved reads the rectifier's operand and rectifies its own result. A rectifier before a rounding that
    wraps is not moved: its adder is short, and after the rounding it would need all bits for the sign.
    """
    atoms = np.flatnonzero((found.depth == depth) & (found.kind == Kind.RELU))
    if not len(atoms):
        return found
    operands, constant = found.matrix[SLOTS * atoms], found.constant[SLOTS * atoms]
    unit = -logic.fraction[found.atoms[atoms]]
    reach = rows.reach(sparse.csr_array(operands), constant)
    whole = rows.units(sparse.csr_array(operands), constant) >= unit
    whole &= reach <= np.ldexp(1.0, logic.integer[found.atoms[atoms]])
    by_atom = sparse.csc_array(found.matrix)[:, atoms]
    readers = np.diff(by_atom.indptr)
    owner, row, factor = np.repeat(np.arange(len(atoms)), readers), by_atom.indices, by_atom.data
    own = np.minimum(row // SLOTS, found.count - 1)
    single = np.diff(found.matrix.indptr)[row] == 1
    rounds = (row < SLOTS * found.count) & (row % SLOTS == 0) & (found.kind[own] == Kind.QUANTIZE)
    last = np.ldexp(1.0, -logic.fraction[found.atoms[own]])
    added = found.constant[row]
    fits = single & rounds & (factor > 0) & (added >= 0) & (added < last)
    fits &= factor * reach[owner] + added <= np.ldexp(1.0, logic.integer[found.atoms[own]])
    all_fit = whole & (readers > 0)
    all_fit[owner[~fits]] = False
    turned = all_fit[owner]
    if not turned.any():
        return found
    rows_of, sources, factors = row[turned], SLOTS * atoms[owner[turned]], factor[turned]
    size = found.matrix.shape[0]
    moved = sparse.csr_array(sparse.coo_array((factors, (rows_of, sources)), shape=(size, size)))
    kept = np.setdiff1d(np.arange(size), rows_of)
    diagonal = sparse.csr_array(sparse.coo_array((np.ones(len(kept)), (kept, kept)), shape=(size, size)))
    matrix = sparse.csr_array((diagonal + moved) @ found.matrix)
    matrix.eliminate_zeros()
    kind = found.kind.copy()
    kind[own[turned]], kind[atoms[all_fit]] = Kind.RELU, Kind.LINEAR
    constants = found.constant + moved @ found.constant
    return replace(found, kind=kind, matrix=matrix, constant=constants)
