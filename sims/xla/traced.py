"""An arrow as a function that JAX traces: from constants and inputs to values of wires, and whether Checks hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import and_

import jax
import jax.numpy as jnp
import numpy as np

from circuitize.circuits.hypergraph import Arrow, fold
from circuitize.circuits.integers import Contract
from circuitize.circuits.operation import Operation, Values
from circuitize.circuits.requirement import noting
from circuitize.circuits.types import Fixed, Shape

from . import rules
from .blocks import is_great
from .contraction import COSTS
from .regions import regions
from .regions import run as run_region
from .widths import Width, width

EMBEDDED = 1 << 10
"""The number of elements up to which a constant is part of the compiled program; larger constants are its arguments."""


class Traced:
    """An arrow of either language as a function that JAX traces. In a traced arrow, integers are as wide as their
    formats need, and reals are float64.
    """

    def __init__(self, arrow: Arrow, kind: str) -> None:
        self.arrow = arrow
        self._costs = COSTS[kind]
        self._by_blocks = kind == "cpu" and all(isinstance(type, Fixed) for type in arrow.types)
        self._constants: dict[int, Values] = {}
        """The constants, by edge, that are part of the compiled program or that it makes from one number."""
        self.handed: dict[int, Values] = {}
        """The constants, by edge, that are arguments of the compiled program."""
        for index, (operation, sources, targets, _) in enumerate(arrow.rows):
            if not sources:
                (made,) = arrow.operations[operation].run()
                amounts = made.reshape(-1)[:1].reshape(()) if not any(made.strides) and made.size else made
                known = amounts.astype(self.dtype(targets[0]))
                (self.handed if known.size > EMBEDDED else self._constants)[index] = known
        single = {index for index, known in self._constants.items() if known.ndim == 0}
        self.regions = {region.last: region for region in regions(arrow, single)} if self._by_blocks else {}
        """The regions of an arrow, by their last edge."""

    def dtype(self, wire: int) -> Width | type[np.float64]:
        """Return the dtype of a wire's values."""
        format = self.arrow.type(wire)
        return width(format) if isinstance(format, Fixed) else np.float64

    def _place(self, index: int) -> rules.Place:
        _, sources, (wire,), _ = self.arrow.rows[index]
        formats = tuple(map(self.arrow.format, sources))
        return rules.Place(formats, self.arrow.format(wire), self._costs, self._by_blocks)

    def wires(
        self, handed: Sequence[jax.Array], inputs: Sequence[jax.Array], keep: bool = False, spent: bool = False
    ) -> tuple[list[jax.Array | None], dict[int, jax.Array]]:
        """Return the value of every wire, or, unless `keep` is true, at least of the outputs, and for each edge whether
        it has a value.

        Edges that have a value on all inputs have no flag, and a region has one flag, that of its last edge. If the
        flag of an edge is false, values that depend on that edge are meaningless; with `spent`, which says that inputs
        may be overwritten, all values are then meaningless.
        """
        known = dict(zip(self.handed, handed, strict=True))
        flags: dict[int, jax.Array] = {}
        given: list[jax.Array | None] = [
            one if self._by_blocks and is_great(one.shape) else one.astype(self.dtype(wire))
            for wire, one in zip(self.arrow.inputs.tolist(), inputs, strict=True)
        ]
        regions = {} if keep else self.regions
        members = {edge for region in regions.values() for edge in region.edges}
        inner = {edge for region in regions.values() for edge in region.inner}
        read: dict[int, jax.Array] = {}

        def constant(index: int, shape: Shape) -> jax.Array:
            return jnp.broadcast_to(known[index] if index in known else jnp.asarray(self._constants[index]), shape)

        def run(index: int, operation: Operation, values: list[jax.Array | None]) -> Sequence[jax.Array | None]:
            _, sources, (wire,), _ = self.arrow.rows[index]
            target = self.arrow.type(wire)
            computed = {wire: value for wire, value in zip(sources, values, strict=True) if value is not None}
            if index in members:
                read.update(computed)
            if index in inner:
                return [None]
            if index in regions:
                before = defined(flags.values() if spent else ())
                whole, flag = run_region(regions[index], self.arrow, read, constant, self._place, before)
                if flag is not None:
                    flags[index] = flag
                return [whole]
            if not sources:
                return [constant(index, target.shape)]
            operands = [computed[wire] for wire in sources]
            if not isinstance(operation, Contract):  # which cuts what is great into blocks first
                operands = [one.astype(self.dtype(wire)) for wire, one in zip(sources, operands, strict=True)]
            with noting() as noted:
                if isinstance(target, Fixed):
                    found = [rules.value(operation, self._place(index), operands)]
                else:
                    found = list(operation.run(*operands))  # type: ignore[arg-type]  # arrays of another module
            if noted:
                flags[index] = reduce(and_, map(jnp.asarray, noted))
            return found

        return fold(self.arrow, given, run, keep), flags


def defined(flags: Iterable[jax.Array]) -> jax.Array:
    """Return whether all flags are true; a flag says that an edge has a value."""
    return reduce(and_, flags, jnp.array(True))
