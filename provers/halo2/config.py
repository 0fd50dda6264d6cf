"""A Plonkish constraint system in the form of the native prover."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from circuitize._native import Halo2System
from circuitize.backends.field import BN254, Limbs
from circuitize.backends.plonkish.system import PlonkishSystem
from circuitize.circuits.errors import CircuitizeError


def native_system(system: PlonkishSystem) -> Halo2System:
    """Return a Plonkish system in the native prover's form, which contains a copy of the system's columns.

    Raise CircuitizeError for a system over another field, and for a system that halo2 cannot prove soundly: if a gate
    is not zero where all fixed columns are zero, if a table lacks the tuple that rows of zeros add to it, or if there
    are no instance values.
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
