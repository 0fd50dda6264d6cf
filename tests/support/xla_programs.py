"""Programs side by side by XLA, compared with numpy: one compilation for many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray
from operations.integer import awkward
from side_by_side import side_by_side

from circuitize.circuits.errors import Undefined
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.program import IntegerProgram
from circuitize.sims.executor import Executor
from circuitize.sims.xla.traced import Traced

Integers = NDArray[np.int64]
Compiled = Callable[[list[Any], list[Integers]], tuple[list[Any], dict[int, Any]]]

AS_USED = {
    "xla_cpu_use_fusion_emitters": True,
    "xla_backend_optimization_level": 3,
    "xla_llvm_disable_expensive_passes": False,
}
"""The options by which XLA compiles where none are given; those of `make test` compile in less time."""


def compiled(
    arrow: Arrow, options: dict[str, Any] | None = None
) -> Callable[[Sequence[Integers]], tuple[list[Integers], set[int]]]:
    """The arrow by XLA: its outputs, and the edges that say they have no value."""
    traced = Traced(arrow, "cpu")

    @partial(jax.jit, compiler_options=options)
    def run(handed: list[Any], inputs: list[Any]) -> tuple[list[Any], dict[int, Any]]:
        wires, flags = traced.wires(handed, inputs)
        return [wires[wire] for wire in arrow.outputs.tolist()], flags

    def outputs(inputs: Sequence[Integers]) -> tuple[list[Integers], set[int]]:
        with jax.enable_x64(True):
            made, flags = run(list(traced.handed.values()), list(inputs))
        return [np.asarray(one) for one in made], {edge for edge, fine in flags.items() if not fine}

    return outputs


def compare(
    programs: Sequence[IntegerProgram],
    draws: Sequence[Sequence[list[Integers]]],
    options: dict[str, Any] | None = None,
) -> tuple[int, int]:
    """Each program on inputs of its own, all of them side by side; how many runs had a value, and how many none."""
    together = compiled(side_by_side(programs).arrow, options)
    ends = np.cumsum([0, *(one.arrow.edge_count for one in programs)])
    defined = undefined = 0
    for drawn in draws:
        made, without = together([value for values in drawn for value in values])
        found = iter(made)
        for k, (program, values) in enumerate(zip(programs, drawn, strict=True)):
            own = [next(found) for _ in program.outputs]
            silent = without.isdisjoint(range(ends[k], ends[k + 1]))
            try:
                expected = Executor(program.arrow).outputs(values)
            except Undefined as error:
                assert not silent, f"program {k}: a value by XLA, none by numpy: {error}"
                undefined += 1
                continue
            assert silent, f"program {k}: no value by XLA, one by numpy"
            defined += 1
            for port, one, other in zip(program.outputs, own, expected, strict=True):
                assert one.shape == other.shape, f"program {k}, {port.name}"
                np.testing.assert_array_equal(one, other, f"program {k}, {port.name}: {program.arrow}")
    return defined, undefined


def draw(program: IntegerProgram, random: np.random.Generator) -> list[Integers]:
    """Values of all inputs: uniform, or awkward ones."""
    found = []
    for port in program.inputs:
        format = port.format
        uniform = random.integers(format.low, format.high, format.shape, endpoint=True)
        odd = random.choice(awkward(format.low, format.high), format.shape)
        found.append(np.asarray(odd if random.random() < 0.5 else uniform, np.int64))
    return found
