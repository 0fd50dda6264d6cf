"""A program's Plonkish system as a target that is compared with the integer executor."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.plonkish.checker import describe, first_failure
from circuitize.backends.plonkish.emit import Emission, Filling, emit
from circuitize.backends.plonkish.witness import random_salts
from circuitize.backends.r1cs.commitments import commit
from circuitize.circuits.errors import Undefined
from circuitize.circuits.program import IntegerProgram

from .agree import named

Trace = Sequence[NDArray[np.int64]]


class Plonkish:
    """The Plonkish system of a program, as a target of a comparison. If no emitted system is given, the program is
    emitted, and the CircuitizeErrors of `emit` are raised.

    Challenges, which a prover would draw after phase 0, are drawn at random for the comparison.
    """

    name = "plonkish"

    def __init__(self, program: IntegerProgram, emission: Emission | None = None) -> None:
        self.program = program
        self.emission = emit(program) if emission is None else emission

    def difference(self, trace: Trace) -> str | None:
        """Return how the cells differ from a run; None if the cells satisfy the system and state the run's own values.

        The cells of a Plonkish system are checked by a checker that is independent of the code that makes the cells.
        The instance of public ports is compared with the executor's integers, and that of committed ports with the
        native hash of these integers.
        """
        filling = self._filled(trace)
        told = self._failure(filling)
        if told is not None:
            return told
        arrow, program = self.program.arrow, self.program
        values: dict[tuple[str, str], NDArray[np.int64]] = {}
        for side, ports, wires in (("input", program.inputs, arrow.inputs), ("output", program.outputs, arrow.outputs)):
            values |= {(side, port.name): trace[wire] for port, wire in zip(ports, wires.tolist(), strict=True)}
        field = self.emission.system.field
        instance = field.to_integers(filling.instance()[0])
        for public in self.emission.publics:
            name, run = f"{public.side} {public.name}", values[public.side, public.name]
            own = run.reshape(-1).tolist()
            expected = [commit(run, public.format, filling.salt(name))] if public.committed else own
            found = instance[public.first - 1 : public.first - 1 + public.count]
            for element, (cell, value) in enumerate(zip(found, expected, strict=True)):
                if cell != value % field.prime:
                    return f"{name}, element {element}: {cell} in the instance, {value} in the run"
        return None

    def accepts(self, forged: Trace) -> bool:
        """Return whether the cells made from given values of wires satisfy the system."""
        try:
            return self._failure(self._filled(forged)) is None
        except Undefined:
            return False

    def of(self, program: IntegerProgram) -> Plonkish:
        """Return a Plonkish target of the same kind for another program."""
        return Plonkish(program)

    def _filled(self, trace: Trace) -> Filling:
        return Filling(self.emission.plan, trace, random_salts(self.emission.plan))

    def _failure(self, filling: Filling) -> str | None:
        system, arrow = self.emission.system, self.program.arrow
        drawn = [secrets.randbelow(system.field.prime) for _ in range(system.challenges)]
        advice = [*filling.first(), *filling.second(drawn)]
        found = first_failure(system, advice, filling.instance(), drawn)
        if found is None:
            return None
        return describe(system, found, lambda edge: named(arrow.edge(edge)) if edge >= 0 else "program")
