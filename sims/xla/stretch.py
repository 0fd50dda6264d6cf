"""Many steps of a training in one program that is compiled with a loop, once for any number of steps."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.integers import Check
from circuitize.circuits.operation import Values
from circuitize.circuits.program import Program
from circuitize.circuits.types import Type

from .device import Xla
from .traced import Traced, defined

MOST_STEPS = 128
MOST_BYTES = 1 << 26
"""The most bytes that a stretch of steps may take for inputs besides held values and for disclosed outputs."""
State = tuple[jax.Array, jax.Array, list[jax.Array], list[jax.Array]]
"""Between two steps: the number of steps, whether all have a value, the held values, and what is told of each step."""


@dataclass(frozen=True)
class Stretch:
    """The result of a stretch of steps: `told[name][k]`, an output of the k-th step, and the values held after the last
    step, which stay on the device.
    """

    told: Mapping[str, Values]
    held: dict[str, Values]


class Stretches:
    """A step whose outputs are fed back into the inputs of the same names, and which is executed many times in one
    call.

    The argument `arrow` is the program's arrow, of integers or of reals; `told` names the outputs that are returned for
    each step; `most` is the greatest number of steps in one call. The held values of a stretch are on the device, in
    the width that their formats need.
    """

    def __init__(
        self, program: Program, arrow: Arrow, device: Xla, told: Collection[str], most: int = MOST_STEPS
    ) -> None:
        self._asked = most
        self.device = device
        self.traced = Traced(arrow, device.kind)
        self._handed = [device.put(value) for value in self.traced.handed.values()]
        inputs, outputs = arrow.inputs.tolist(), arrow.outputs.tolist()
        self._inputs = dict(zip([port.name for port in program.inputs], inputs, strict=True))
        self._outputs = dict(zip([port.name for port in program.outputs], outputs, strict=True))
        self.held = [name for name in self._inputs if name in self._outputs]
        self.fresh = [name for name in self._inputs if name not in self._outputs]
        self.told = [name for name in self._outputs if name in told]
        self.compile_seconds = 0.0

    @cached_property
    def most(self) -> int:
        """Return the greatest number of steps that are executed in one call."""
        wires = [self._inputs[name] for name in self.fresh] + [self._outputs[name] for name in self.told]
        taken = sum(math.prod(self.traced.arrow.type(wire).shape) * self._dtype(wire).itemsize for wire in wires)
        return max(1, min(MOST_STEPS, self._asked, MOST_BYTES // max(taken, 1)))

    def put(self, held: Mapping[str, Values]) -> dict[str, Values]:
        """Move held values to the device; return them."""
        return {name: self.device.put(held[name].astype(self._dtype(self._inputs[name]))) for name in self.held}

    def take(self, held: Mapping[str, Values]) -> dict[str, Values]:
        """Return held values as numpy arrays, int64 or float64."""
        return {name: self.device.take(held[name]) for name in self.held}

    def run(self, held: Mapping[str, Values], batches: Mapping[str, Values]) -> Stretch | None:
        """Execute the steps on `batches[name][k]`, at most `most` of them; return None if some step has no value.

        The integers in batches must be in their formats, which the caller checks. The memory of the values that are
        held before the steps is not overwritten.
        """
        count = len(next(iter(batches.values()))) if batches else 1
        padded = [self._padded(name, batches[name]) for name in self.fresh]
        given = [self.device.put(one) for one in padded]
        with jax.enable_x64(True):
            after, told, has_value = self._compiled(
                self._handed, [held[name] for name in self.held], given, self.device.put(np.array(count, np.int32))
            )
        if not has_value:
            return None
        values = {name: self.device.take(one)[:count] for name, one in zip(self.told, told, strict=True)}
        return Stretch(values, dict(zip(self.held, after, strict=True)))

    def compile(self) -> float:
        """Compile the program of many steps once; return the seconds that it took."""
        _ = self._compiled
        return self.compile_seconds

    @cached_property
    def _compiled(self) -> jax.stages.Compiled:
        start = time.perf_counter()
        held = [self._shape(self._inputs[name]) for name in self.held]
        fresh = [self._shape(self._inputs[name], self.most) for name in self.fresh]
        count = jax.ShapeDtypeStruct((), np.int32)
        handed = [jax.ShapeDtypeStruct(one.shape, one.dtype) for one in self._handed]
        with jax.enable_x64(True), jax.default_device(self.device.place):
            made = jax.jit(self._steps).lower(handed, held, fresh, count).compile()
        self.compile_seconds = time.perf_counter() - start
        return made

    def _steps(
        self, handed: list[jax.Array], held: list[jax.Array], fresh: list[jax.Array], count: jax.Array
    ) -> tuple[list[jax.Array], list[jax.Array], jax.Array]:
        rooms = [jnp.zeros((self.most, *self._of(name).shape), self._dtype(self._outputs[name])) for name in self.told]

        later = self._later

        def in_format(held: list[jax.Array]) -> jax.Array:
            known = dict(zip(self.held, held, strict=True))
            found = [((known[name] >= check.low) & (known[name] <= check.high)).all() for name, check in later.values()]
            return jnp.stack(found).all() if found else jnp.array(True)

        def goes_on(state: State) -> jax.Array:
            step, so_far, *_ = state
            return (step < count) & so_far

        def go(state: State) -> State:
            step, _, held, rooms = state
            before = in_format(held)
            # What is read depends on that check, which so comes before what is held is written over: no copy of it.
            place = jnp.where(before, step, 0)
            now = dict(zip(self.held, held, strict=True))
            now |= {
                name: lax.dynamic_index_in_dim(one, place, 0, keepdims=False)
                for name, one in zip(self.fresh, fresh, strict=True)
            }
            wires, flags = self.traced.wires(handed, [now[name] for name in self._inputs], spent=True)
            own = defined(flag for edge, flag in flags.items() if edge not in later)
            made = {name: value for name, wire in self._outputs.items() if (value := wires[wire]) is not None}
            rooms = [
                lax.dynamic_update_index_in_dim(room, made[name], step, 0)
                for name, room in zip(self.told, rooms, strict=True)
            ]
            return step + 1, own & before, [made[name] for name in self.held], rooms

        _, so_far, held, rooms = lax.while_loop(goes_on, go, (jnp.int32(0), jnp.array(True), held, rooms))
        return held, rooms, so_far & in_format(held)

    @cached_property
    def _later(self) -> dict[int, tuple[str, Check]]:
        """Return for each edge the Checks of held values that are made when the value is stored, since the value is in
        memory then.

        A Check of held values may be moved only if the numbers before it have the width of those that pass.
        """
        arrow, found = self.traced.arrow, {}
        names = {self._outputs[name]: name for name in self.held}
        for index, (operation, sources, targets, _) in enumerate(arrow.rows):
            check = arrow.operations[operation]
            if index in self.traced.regions:
                continue
            if isinstance(check, Check) and targets[0] in names and self._dtype(sources[0]) == self._dtype(targets[0]):
                found[index] = (names[targets[0]], check)
        return found

    def _padded(self, name: str, values: Values) -> Values:
        wire = self._inputs[name]
        made = np.zeros((self.most, *self.traced.arrow.type(wire).shape), self._dtype(wire))
        made[: len(values)] = values
        return made

    def _dtype(self, wire: int) -> np.dtype[np.generic]:
        return np.dtype(self.traced.dtype(wire))

    def _of(self, name: str) -> Type:
        return self.traced.arrow.type(self._outputs[name])

    def _shape(self, wire: int, *axes: int) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct((*axes, *self.traced.arrow.type(wire).shape), self._dtype(wire))
