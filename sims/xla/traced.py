"""An arrow as a function that JAX traces: constants and inputs in, values of wires out, and whether checks hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import and_
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
    ) -> tuple[list[jax.Array | None], dict[int, jax.Array]]:
        """The value of every wire, or unless `keep` of the outputs at least; and by edge, whether it has a value.

        Edges that have one everywhere are not among them.
        """
        known = dict(zip(self.handed, handed, strict=True))
        wires, flags = self.arrow.inputs.tolist(), {}
        given = [one.astype(self.dtype(wire)) for wire, one in zip(wires, inputs, strict=True)]

        def run(index: int, operation: Operation, values: list[Any]) -> Sequence[Any]:
            _, sources, (wire,), _ = self.arrow.rows[index]
            target = self.arrow.type(wire)
            if not sources:
                made = known[index] if index in known else jnp.asarray(self._constants[index])
                return [jnp.broadcast_to(made, target.shape)]
            with noting() as noted:
                if isinstance(target, Fixed):
                    place = rules.Place(tuple(map(self.arrow.format, sources)), target, self._costs)
                    found = [rules.value(operation, place, values)]
                else:
                    found = list(operation.run(*values))  # type: ignore[arg-type]  # arrays of another module
            if noted:
                flags[index] = reduce(and_, noted)
            return found

        found: list[jax.Array | None] = fold(self.arrow, given, run, keep)
        return found, flags


def defined(flags: Iterable[jax.Array]) -> jax.Array:
    """Whether all have a value."""
    return reduce(and_, flags, jnp.array(True))
