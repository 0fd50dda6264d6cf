"""Circuits of provers with keys: rank-one constraint systems, and Plonkish layouts of more and fewer rows."""

from __future__ import annotations

from collections.abc import Iterator

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
    """The design problems of rank-one systems, which have no choice: first the length of a proof, which is the same for
    every circuit, then the count of the circuit.
    """

    def __init__(self, target: str, steps: int) -> None:
        self.target, self.steps = TARGETS[target], steps

    @property
    def two_phases(self) -> bool:
        """Return whether the prover commits to a part of the witness before a challenge is drawn."""
        return self.target.name == "mirage"

    def sized(self, design: Design) -> Iterator[Design]:
        """Yield the design with the costs that are known before a row is counted."""
        yield design.decided({}, {"bytes": self.steps * proof_bytes(self.two_phases)})

    def counted(self, design: Design) -> Iterator[Design]:
        """Yield the design with the number of its rows, and the model's CPU-seconds and bytes of memory.

        Raise CircuitizeError if the program has no circuit of the target.
        """
        require_countable(self.target, design.program)
        found = self.target.estimate(design.program, {})
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
    and then the proof's bytes.

    The prover halo2 takes the layout of least proving cost; other layouts are for `compile`.
    """

    def __init__(self, steps: int, in_bytes: bool) -> None:
        self.steps, self.in_bytes = steps, in_bytes

    def laid_out(self, design: Design) -> Iterator[Design]:
        """Yield the design with each number of rows, 2^k, and its costs.

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
        """Yield the design with the length of a proof, which needs the system itself; yield it unchanged if the query
        does not ask for bytes.
        """
        if not self.in_bytes:
            yield design
            return
        system = emit(design.program, int(design.choices["k"])).summed.system
        yield design.decided({}, {"bytes": self.steps * halo2.sizes(system)["proof_bytes"]})
