"""How often the roots of a run's dataset may be opened in zero knowledge."""

from __future__ import annotations

from collections.abc import Iterable

from circuitize.backends.tensor.dataset import batch_ports, whole
from circuitize.circuits.port import Port
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed

SHARING = 12
"""The most proofs of steps that open one root of a small dataset in zero knowledge, since each further opening makes
all proofs longer.
"""

ELEMENTS_EACH = 1 << 14
"""The number of elements of a large dataset for which one more proof may open its root, so that the random words are at
most a quarter of the elements.
"""

BESIDE_STEPS = 4
"""The other openings of a dataset's root: by the proof that makes the root, by one that renews it, and by two of a
following run.
"""


def tensors(program: IntegerProgram, size: int) -> tuple[Port[Fixed], ...]:
    """Return the ports of a dataset with `size` examples."""
    return tuple(whole(port, size) for port in batch_ports(program))


def sharing(dataset: Iterable[Port[Fixed]], proofs: int) -> int:
    """Return the number of a run's proofs of steps that open the same root of its dataset in zero knowledge."""
    elements = sum(port.format.size for port in dataset if port.format is not None)
    return min(proofs, max(SHARING, elements // ELEMENTS_EACH))


def openings(dataset: Iterable[Port[Fixed]], proofs: int) -> int:
    """Return how often a root of the dataset may be opened in zero knowledge, if a run of `proofs` proofs makes the
    root.
    """
    return sharing(dataset, proofs) + BESIDE_STEPS
