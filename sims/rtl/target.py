"""Emitted Verilog as a target that `sims.agree` compares, one frame at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.verilog.design import Design
from circuitize.circuits.program import IntegerProgram

from .compare import Expected, compare, state_names
from .simulate import Frames, Simulation

Integers = NDArray[np.int64]
Trace = Sequence[Integers]
Schedule = Callable[[IntegerProgram, Mapping[str, Integers]], Design]
"""A function from a program, and the state that it starts from, to a design."""


class Verilog:
    """A target that is a program scheduled as hardware and simulated with random gaps and stalls. Making a Verilog
    target raises the CircuitizeErrors of the scheduler.

    The design of a program without state is built once; that of a program with state is built anew for each run, and
    starts from that run's state.
    """

    def __init__(self, program: IntegerProgram, schedule: Schedule, name: str, simulator: str = "icarus") -> None:
        self.program = program
        self.name = name
        self._schedule = schedule
        self._simulator = simulator
        self._state = state_names(program)
        self._built = None if self._state else Simulation(schedule(program, {}), simulator)
        self._seed = 0

    def difference(self, trace: Trace) -> str | None:
        """Return the first difference between the design and a run, by stream and element; None if the status is 0 and
        all outputs agree.
        """
        values = [trace[wire][None] for wire in self.program.arrow.outputs.tolist()]
        wanted = Expected(
            dict(zip([port.name for port in self.program.outputs], values, strict=True)), np.zeros(1, np.bool_)
        )
        return compare(self._run(trace), wanted).first_difference

    def accepts(self, forged: Trace) -> bool:
        """Return whether the design's status is 0 on the given inputs: the design computes every other value itself."""
        return not self._run(forged).failed[0]

    def of(self, program: IntegerProgram) -> Verilog:
        """Return a Verilog target for another program, with the same schedule and simulator."""
        return Verilog(program, self._schedule, self.name, self._simulator)

    def _run(self, trace: Trace) -> Frames:
        wires = self.program.arrow.inputs.tolist()
        inputs = {port.name: trace[wire] for port, wire in zip(self.program.inputs, wires, strict=True)}
        frame = {name: value[None] for name, value in inputs.items() if name not in self._state}
        self._seed += 1
        if self._built is not None:
            return self._built.run(frame, self._seed)
        design = self._schedule(self.program, {name: inputs[name] for name in self._state})
        with Simulation(design, self._simulator) as simulation:
            return simulation.run(frame, self._seed)
