"""The design problems of circuits whose provers need keys: rank-one constraint systems, and Plonkish layouts with more
or fewer rows.
"""

from __future__ import annotations

from collections.abc import Iterator

from circuitize.api.counted import counted
from circuitize.api.estimate import require_countable
from circuitize.api.targets.registry import TARGETS
from circuitize.backends.plonkish.cost import search
from circuitize.backends.plonkish.emit import emit
from circuitize.provers.halo2 import cost as halo2
from circuitize.provers.mirage.cost import proof_bytes, sizes

from .design import Design

COLUMN_BYTES = halo2.POINT + halo2.SCALAR
"""The bytes of a column in a proof, which commits to it and opens it at least once."""


class RankOne:
    """The design problems of rank-one constraint systems, which leave no choice: first the length of the proofs, which
    is the same for every circuit, and then the number of constraints.
    """

    def __init__(self, target: str, steps: int) -> None:
        self.target, self.steps = TARGETS[target], steps

    @property
    def two_phases(self) -> bool:
        """Return whether the prover commits to part of the witness before it draws a challenge."""
        return self.target.name == "mirage"

    def sized(self, design: Design) -> Iterator[Design]:
        """Yield the design with those costs that are known before the rows of its circuit are counted."""
        yield design.decided({}, {"bytes": self.steps * proof_bytes(self.two_phases)})

    def counted(self, design: Design) -> Iterator[Design]:
        """Yield the design with the number of rows of its circuit, and with the prover's CPU-seconds and bytes of
        memory that a model predicts.

        Raise CircuitizeError if the program has no circuit of the given target.
        """
        require_countable(self.target, design.program)
        found = counted(self.target, design.program)
        told = sizes(found, self.two_phases)
        yield design.decided(
            {},
            {
                "rows": found["constraints"],
                "seconds": self.steps * told["prover_cpu_seconds"],
                "memory": told["prover_bytes"],
            },
        )


class Plonkish:
    """The two design problems of Plonkish systems: the number of rows, which determines the width of limbs and tables,
    and then the length of the proofs.

    The prover halo2 always takes the layout with the least proving cost; other layouts can only be compiled.
    """

    def __init__(self, steps: int, in_bytes: bool) -> None:
        self.steps, self.in_bytes = steps, in_bytes

    def laid_out(self, design: Design) -> Iterator[Design]:
        """Yield the design once for each possible number of rows, 2^k, with the costs of that layout.

        Raise CircuitizeError if the program has no Plonkish circuit.
        """
        require_countable(TARGETS["plonkish"], design.program)
        for layout in search(design.program):
            takes = {
                "cells": layout.layout.rows * layout.advice,
                "seconds": self.steps * layout.seconds,
                "memory": layout.bytes,
            }
            least = {"bytes": self.steps * COLUMN_BYTES * (layout.advice + layout.sums)} if self.in_bytes else {}
            yield design.decided({"k": layout.layout.k}, {**takes, **least})

    def emitted(self, design: Design) -> Iterator[Design]:
        """Yield the design with the length of its proofs, for which the whole system must be emitted; if the query does
        not ask for bytes, yield the design unchanged.
        """
        if not self.in_bytes:
            yield design
            return
        system = emit(design.program, int(design.choices["k"])).summed.system
        yield design.decided({}, {"bytes": self.steps * halo2.sizes(system)["proof_bytes"]})
