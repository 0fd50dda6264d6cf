"""How often the roots of a run's dataset may be opened, in zero knowledge."""

from __future__ import annotations

from collections.abc import Iterable

from circuitize.backends.tensor.dataset import batch_ports, whole
from circuitize.circuits.port import Port
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed

SHARING = 12
"""So many proofs of steps open one root of a dataset in zero knowledge, more of a large one: each makes all longer."""

ELEMENTS_EACH = 1 << 14
"""Of a large dataset, one proof for so many elements: its random words are then a quarter as many, at most."""

BESIDE_STEPS = 4
"""Other openings of a dataset's root: by the proof that makes it, one that renews it, and two of a run that follows."""


def tensors(program: IntegerProgram, size: int) -> tuple[Port[Fixed], ...]:
    """The ports of a dataset of so many examples."""
    return tuple(whole(port, size) for port in batch_ports(program))


def sharing(dataset: Iterable[Port[Fixed]], proofs: int) -> int:
    """How many proofs of steps, of a run of so many, open one root of its dataset in zero knowledge."""
    elements = sum(port.format.size for port in dataset if port.format is not None)
    return min(proofs, max(SHARING, elements // ELEMENTS_EACH))


def openings(dataset: Iterable[Port[Fixed]], proofs: int) -> int:
    """How often a root of a dataset may be opened that a run of so many proofs makes, in zero knowledge."""
    return sharing(dataset, proofs) + BESIDE_STEPS
