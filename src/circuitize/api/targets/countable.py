"""Which programs are small enough for their circuits to be counted without being emitted."""

from __future__ import annotations

from circuitize.circuits.cost import products
from circuitize.circuits.program import Program

from .contract import LeftOut

MOST_COUNTED = 1 << 26
"""Products beyond which constraints are not counted: the emitter counts them, in time and memory as they are many."""


def require_countable(program: Program) -> None:
    """Raises LeftOut for a program of too many products."""
    named = products(program.arrow)
    if named > MOST_COUNTED:
        raise LeftOut(
            f"not counted, {named:,} products are more than {MOST_COUNTED:,}; compile --target r1cs counts them"
        )
