"""A Plonkish constraint system as the native prover holds it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from circuitize._native import Halo2System
from circuitize.backends.field import BN254, Limbs
from circuitize.backends.plonkish.system import PlonkishSystem
from circuitize.circuits.errors import CircuitizeError


def native_system(system: PlonkishSystem) -> Halo2System:
    """A Plonkish system in the native prover's form, with a copy of its columns.

    Raise CircuitizeError for a system over another field, and for one that halo2 cannot prove soundly: a gate that is
    not zero where all fixed columns are, a table without the tuple that rows of zeros add to it, no instance values.
    """
    if system.field.prime != BN254.prime:
        raise CircuitizeError(
            f"halo2 here works over BN254, expected its scalar field {BN254.prime}, found a system over "
            f"{system.field.prime}; remedy: emit the circuit over BN254"
        )
    try:
        return Halo2System(
            system.rows,
            list(system.advice_phases),
            [_column(column) for column in system.fixed],
            list(system.instance),
            system.challenges,
            np.ascontiguousarray(system.nodes, np.int32),
            BN254.from_integers(system.constants),
            [gate.node for gate in system.gates],
            [(list(lookup.inputs), list(lookup.table)) for lookup in system.lookups],
            np.ascontiguousarray(system.copies, np.int32),
        )
    except ValueError as error:
        raise CircuitizeError(f"halo2 cannot take this system: {error}") from error


def _column(column: NDArray[np.int64] | Limbs) -> NDArray[np.int64] | Limbs:
    if column.ndim == 1:
        return np.ascontiguousarray(column, np.int64)
    return np.ascontiguousarray(column, np.uint64)
