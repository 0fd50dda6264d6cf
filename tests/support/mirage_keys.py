"""The circuit whose secrets everybody knows, for forgeries of Mirage."""

from __future__ import annotations

from collections.abc import Sequence

from mirage_cases import Permutation, Witness

from circuitize.backends.r1cs.system import ConstraintSystem
from circuitize.provers.mirage.keys import ProvingKey
from circuitize.provers.mirage.proof import Proof

Proved = tuple[ConstraintSystem, Witness, ProvingKey, Proof, Sequence[int]]
SEED = b"everybody knows"
CASE = Permutation(3, first=42)
