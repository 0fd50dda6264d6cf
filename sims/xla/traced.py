"""An arrow as a function that JAX traces: constants and inputs in, values of wires out, and whether checks hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from circuitize.circuits.hypergraph import Arrow, fold
from circuitize.circuits.operation import Operation, Values
from circuitize.circuits.requirement import noting
from circuitize.circuits.types import Fixed

from . import rules
from .contraction import COSTS
from .widths import width

EMBEDDED = 1 << 10
"""Elements up to which a constant is part of the compiled program; larger ones are handed to it."""


class Traced:
    """An arrow of either language. Integers are as wide as their formats ask for, reals float64."""

    def __init__(self, arrow: Arrow, kind: str) -> None:
        self.arrow = arrow
        self._costs = COSTS[kind]
        self._constants: dict[int, Values] = {}
        """By edge, those that are part of the program, or that it makes of one number."""
        self.handed: dict[int, Values] = {}
        """By edge, those that are handed to it."""
        for index, (operation, sources, targets, _) in enumerate(arrow.rows):
            if not sources:
                (made,) = arrow.operations[operation].run()
                amounts = made.reshape(-1)[:1].reshape(()) if not any(made.strides) and made.size else made
                known = amounts.astype(self.dtype(targets[0]))
                (self.handed if known.size > EMBEDDED else self._constants)[index] = known

    def dtype(self, wire: int) -> Any:
        """The dtype of a wire's values."""
        format = self.arrow.type(wire)
        return width(format) if isinstance(format, Fixed) else np.float64

    def wires(
        self, handed: Sequence[jax.Array], inputs: Sequence[jax.Array], keep: bool = False
    ) -> tuple[list[jax.Array | None], jax.Array]:
        """The value of every wire, or unless `keep` of the outputs at least, and whether all of them are defined."""
        known = dict(zip(self.handed, handed, strict=True))
        wires = self.arrow.inputs.tolist()
        given = [one.astype(self.dtype(wire)) for wire, one in zip(wires, inputs, strict=True)]

        def run(index: int, operation: Operation, values: list[Any]) -> Sequence[Any]:
            _, sources, targets, _ = self.arrow.rows[index]
            if not sources:
                made = known[index] if index in known else jnp.asarray(self._constants[index])
                return [jnp.broadcast_to(made, self.arrow.type(targets[0]).shape)]
            target = self.arrow.type(targets[0])
            if not isinstance(target, Fixed):
                return operation.run(*values)
            place = rules.Place(tuple(map(self.arrow.format, sources)), target, self._costs)
            return [rules.value(operation, place, values)]

        with noting() as noted:
            found: list[jax.Array | None] = fold(self.arrow, given, run, keep)
        return found, jnp.stack(noted).all() if noted else jnp.array(True)
