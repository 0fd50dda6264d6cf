"""The comparison of an integer program's results on all targets that this machine can run: first whether a target has a
value, then the values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.r1cs.challenge import Challenge
from circuitize.backends.r1cs.checker import describe, failing_rows
from circuitize.backends.r1cs.commitments import commit
from circuitize.backends.r1cs.emit import Emission, emit
from circuitize.backends.r1cs.witness import random_salts, witness
from circuitize.circuits.errors import CircuitizeError, Undefined
from circuitize.circuits.operation import Edge
from circuitize.circuits.program import IntegerProgram, Program, as_integers
from circuitize.circuits.values import Raw, raw, to_integers, to_reals

from . import integer, real
from .device import Device
from .forgery import forgeries
from .localise import first_that_differs
from .prepared import Prepared
from .xla.device import Xla

Integers = NDArray[np.int64]
Trace = Sequence[Integers]


class Target(Protocol):
    """A target whose values should be those that the integer executor computes."""

    @property
    def name(self) -> str:
        """Return the name that messages give the target."""

    def difference(self, trace: Trace) -> str | None:
        """Return the first difference between the target and a run, given as the value of each of the arrow's wires;
        None if everything agrees.
        """

    def accepts(self, forged: Trace) -> bool:
        """Return whether the target accepts forged values of every wire for a run."""

    def of(self, program: IntegerProgram) -> Target:
        """Return a target of the same kind for another program."""


class R1CS:
    """The constraint system of a program, as a target of a comparison. If no emitted circuit is given, the program is
    emitted, and the CircuitizeErrors of `emit` are raised.

    A challenge that a prover of two phases would draw is drawn at random for the comparison.
    """

    def __init__(
        self, program: IntegerProgram, emission: Emission | None = None, challenge: Challenge = Challenge.HASHED
    ) -> None:
        self.program, self.challenge = program, challenge
        self.emission = emit(program, challenge=challenge) if emission is None else emission

    @property
    def name(self) -> str:
        """Return the name that messages give the target."""
        return "r1cs with a commitment" if self.challenge is Challenge.COMMITTED else "r1cs"

    def difference(self, trace: Trace) -> str | None:
        """Return how the witness differs from a run; None if the witness satisfies every row and states the run's own
        values.

        Every row of a constraint system is checked by a checker that is independent of the code that makes the witness.
        The values of public ports are read from the witness and compared with the executor's integers; the commitments
        of committed ports are compared with those that the native hash gives.
        """
        system, arrow = self.emission.system, self.program.arrow
        salts = random_salts(self.emission.plan)
        made = witness(self.emission.plan, trace, salts)
        rows = failing_rows(system, made)
        if len(rows):
            row = int(rows[0])
            return describe(system, row, lambda edge: named(arrow.edge(edge)) if edge >= 0 else "program")
        values = self._terminals(trace)
        for public in self.emission.publics:
            name, run = f"{public.side} {public.name}", values[public.side, public.name]
            expected = [commit(run, public.format, salts[name])] if public.committed else run.reshape(-1).tolist()
            found = system.field.to_integers(made[public.first : public.first + public.count])
            for element, (wire, value) in enumerate(zip(found, expected, strict=True)):
                if wire != value % system.field.prime:
                    return f"{name}, element {element}: {wire} in the circuit, {value} in the run"
        return None

    def accepts(self, forged: Trace) -> bool:
        """Return whether the witness made from given values of wires satisfies every row."""
        plan = self.emission.plan
        try:
            made = witness(plan, forged, random_salts(plan))
        except Undefined:
            return False
        return not len(failing_rows(self.emission.system, made))

    def of(self, program: IntegerProgram) -> R1CS:
        """Return an R1CS target for another program, with the same kind of challenge."""
        return R1CS(program, challenge=self.challenge)

    def _terminals(self, trace: Trace) -> dict[tuple[str, str], Integers]:
        """Return the values of a run by side and port name."""
        sides = (
            ("input", self.program.inputs, self.program.arrow.inputs),
            ("output", self.program.outputs, self.program.arrow.outputs),
        )
        return {
            (side, port.name): trace[wire]
            for side, ports, wires in sides
            for port, wire in zip(ports, wires.tolist(), strict=True)
        }


class OnDevice:
    """The integer executor on another device: every wire must have the value that it has in the run, bit for bit."""

    def __init__(self, program: IntegerProgram, device: Device) -> None:
        self.program = program
        self.device = device

    @property
    def name(self) -> str:
        """Return the device's name."""
        return self.device.name

    def difference(self, trace: Trace) -> str | None:
        """Return the first operation whose value on a device differs from its value in the run.

        If a device compiles programs as a whole, outputs are compared first, and all wires only if outputs differ.
        """
        arrow = self.program.arrow
        try:
            if isinstance(self.device, Xla) and self._same_outputs(trace):
                return None
            made = self._wires(trace)
        except Undefined as error:
            return f"undefined: {error}"
        for edge in arrow.edges():
            for wire in edge.targets:
                if not np.array_equal(made[wire], trace[wire]):
                    at = tuple(int(i) for i in np.argwhere(made[wire] != trace[wire])[0])
                    return f"{named(edge)}, element {list(at)}: {made[wire][at]} there, {trace[wire][at]} in the run"
        if not isinstance(self.device, Xla) or self._same_outputs(trace):
            return None
        return "outputs that are those of the run where all wires are computed, and others without them"

    def accepts(self, forged: Trace) -> bool:
        """Return whether the executor on the device has a value for given inputs."""
        try:
            self._outputs(forged)
        except Undefined:
            return False
        return True

    def of(self, program: IntegerProgram) -> OnDevice:
        """Return the target for another program on the same device."""
        return OnDevice(program, self.device)

    def _same_outputs(self, trace: Trace) -> bool:
        wires = self.program.arrow.outputs.tolist()
        return all(np.array_equal(made, trace[wire]) for made, wire in zip(self._outputs(trace), wires, strict=True))

    def _outputs(self, trace: Trace) -> list[Integers]:
        return [self.device.take(value) for value in self._prepared.outputs(self._inputs(trace))]

    def _wires(self, trace: Trace) -> list[Integers]:
        return [self.device.take(value) for value in self._prepared.wires(self._inputs(trace))]

    def _inputs(self, trace: Trace) -> list[Integers]:
        return [self.device.put(trace[wire]) for wire in self.program.arrow.inputs.tolist()]

    @property
    def _prepared(self) -> Prepared:
        return integer.executor(self.program, self.device)


@dataclass
class Agreement:
    """The result of comparing targets with the integer executor. Inputs on which the program has no value are counted
    separately: no target may have a value on such inputs.

    The field `float_error` of a comparison is for each output the greatest difference from the real program, in real
    units, over the inputs on which the integer program has a value.
    """

    vectors: int = 0
    undefined: int = 0
    mismatches: int = 0
    first_difference: str | None = None
    float_error: dict[str, float] = field(default_factory=dict)
    first_undefined: str | None = None


def agree(
    program: IntegerProgram,
    vectors: Iterable[Mapping[str, Integers | Raw]],
    targets: Sequence[Target] | None = None,
    given: Program | None = None,
) -> Agreement:
    """Run an integer program on inputs, integers of their formats as `sims.integer.trace` takes them, and compare every
    target with the executor.

    The argument `targets` of a comparison is by default all targets; `given` is the real program that was quantized to
    the integer program, if there is one. An input is counted as a mismatch if the executor has a value and some target
    has another value or none, and if the executor has no value but a target accepts a forgery. Raise CircuitizeError
    for inputs that do not fit the program.
    """
    targets = [R1CS(program)] if targets is None else targets
    found = Agreement()
    for vector in vectors:
        found.vectors += 1
        try:
            trace = integer.trace(program, vector)
        except Undefined as error:
            found.undefined += 1
            found.first_undefined = found.first_undefined or f"input {found.vectors}: {error}"
            difference = _accepted(program, vector, targets, error)
        else:
            difference = _difference(program, trace, targets, blame=found.first_difference is None)
            if given is not None and as_integers(given) is None:
                _add_float_error(found.float_error, program, given, vector, trace)
        if difference is not None:
            found.mismatches += 1
            found.first_difference = found.first_difference or f"input {found.vectors}: {difference}"
    return found


def named(edge: Edge) -> str:
    """Return an operation's name together with the user's line."""
    return f"{edge.operation.name} in {edge.provenance}"


def _difference(program: IntegerProgram, trace: Trace, targets: Sequence[Target], blame: bool) -> str | None:
    """Return the first target that differs and how; with `blame`, also the operation at fault if a single operation
    is.
    """
    for target in targets:
        told = target.difference(trace)
        if told is not None:
            edge = first_that_differs(program.arrow, trace, _differs(target)) if blame else None
            return f"{target.name}: {told}" + (f"; the fault is in {named(edge)}" if edge else "")
    return None


def _differs(target: Target) -> Callable[[IntegerProgram, Trace], bool]:
    """Return whether a target differs from the executor for an operation alone; False if the operation alone has no
    circuit.
    """

    def differs(program: IntegerProgram, trace: Trace) -> bool:
        try:
            return target.of(program).difference(trace) is not None
        except CircuitizeError:
            return False

    return differs


def _accepted(
    program: IntegerProgram, vector: Mapping[str, Integers | Raw], targets: Sequence[Target], undefined: Undefined
) -> str | None:
    """Return the target that accepts a forgery on inputs where the program has no value; None if every target refuses
    all forgeries.
    """
    for done, forged in forgeries(program, vector):
        for target in targets:
            if target.accepts(forged):
                return f"{target.name}: it accepts a run in which {done}, but there is no value: {undefined}"
    return None


def _add_float_error(
    errors: dict[str, float],
    program: IntegerProgram,
    given: Program,
    vector: Mapping[str, Integers | Raw],
    trace: Trace,
) -> None:
    """Update the greatest errors by one run; the real program runs on the rounded inputs of the integer program."""
    reals, known = {}, raw(vector)
    for port in program.inputs:
        reals[port.name] = to_reals(port.format, to_integers(port, known[port.name], "inputs"))
    with np.errstate(all="ignore"):
        exact = real.run(given, reals)
    for port, wire in zip(program.outputs, program.arrow.outputs.tolist(), strict=True):
        error = float(np.abs(to_reals(port.format, trace[wire]) - exact[port.name]).max())
        errors[port.name] = max(errors.get(port.name, 0.0), error)
