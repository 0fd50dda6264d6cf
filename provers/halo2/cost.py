"""The sizes of a Plonkish system's keys and proofs, computed without making them, and equal to the sizes of the
files.
"""

from __future__ import annotations

import numpy as np

from circuitize.backends.plonkish.expressions import Kind
from circuitize.backends.plonkish.system import PlonkishSystem
from circuitize.circuits.operation import Values
from circuitize.circuits.reading import Json
from circuitize.provers.framing import HEADER_BYTES

POINT, SCALAR = 64, 32
HEAD = 16 + 4 + 4 + 32 + 8
CHECKSUM = 32


def degree(system: PlonkishSystem) -> int:
    """Return the degree of halo2's whole argument: the greatest of gates, of lookups with their products, and of
    copies.
    """
    degrees = system.degrees
    lookups = [
        max(4, 2 + max(1, *(int(degrees[node]) for node in lookup.inputs)) + _most(degrees, lookup.table))
        for lookup in system.lookups
    ]
    return max(3, system.degree, *lookups)


def sizes(system: PlonkishSystem) -> Json:
    """Return the exact number of bytes of a proof's file and of both keys' files, and the degree of the argument."""
    high = degree(system)
    copied, lookups = len(system.permuted), len(system.lookups)
    sets = -(-copied // (high - 2))
    points = system.advice + 3 * lookups + sets + 1 + (high - 1) + 2
    values = _queries(system) + 1 + copied + max(0, 3 * sets - 1) + 5 * lookups
    verifying = HEAD + _shape(system) + 2 * POINT + POINT * (len(system.fixed) + copied) + CHECKSUM
    return {
        "degree": high,
        "proof_bytes": HEADER_BYTES + POINT * points + SCALAR * values,
        "verifying_key_bytes": verifying,
        "proving_key_bytes": 16 + 4 + 8 + verifying + 2 * POINT * (1 << system.k) + CHECKSUM,
    }


def _queries(system: PlonkishSystem) -> int:
    """Return the number of advice and fixed cells, relative to a row, that gates, lookups and copies read."""
    needed = np.zeros(len(system.nodes), bool)
    roots = [gate.node for gate in system.gates]
    roots += [node for lookup in system.lookups for node in (*lookup.inputs, *lookup.table)]
    needed[roots] = True
    for place in range(len(system.nodes) - 1, -1, -1):
        kind, a, b = system.nodes[place].tolist()
        if needed[place] and kind in (Kind.ADD, Kind.MULTIPLY, Kind.NEGATE):
            needed[a] = True
            if kind != Kind.NEGATE:
                needed[b] = True
    needed &= np.isin(system.nodes[:, 0], (Kind.ADVICE, Kind.FIXED))
    cells = {tuple(cell) for cell in system.nodes[needed].tolist()}
    fixed = system.advice + len(system.fixed)
    for column in system.permuted:
        if column < system.advice:
            cells.add((Kind.ADVICE, column, 0))
        elif column < fixed:
            cells.add((Kind.FIXED, column - system.advice, 0))
    return len(cells)


def _shape(system: PlonkishSystem) -> int:
    """Return the number of bytes in a verifying key that are not commitments."""
    counts = 3 + sum(1 + len(part) for part in (system.advice_phases, system.instance, system.permuted))
    counts += 2 + 3 * len(system.nodes) + 1 + len(system.gates) + 1
    counts += sum(2 + 2 * len(lookup.inputs) for lookup in system.lookups)
    return 4 * counts + SCALAR * len(system.constants)


def _most(degrees: Values, nodes: tuple[int, ...]) -> int:
    return max(1, *(int(degrees[node]) for node in nodes))
