"""Programs run in rounds, as a design with micro-batches runs them, and random programs with a batch."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from folded_programs import named
from numpy.typing import NDArray

from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import (
    Add,
    ArgMax,
    Check,
    Constant,
    Contract,
    IntegerOperation,
    Maximum,
    Multiply,
    Reindex,
    ReLU,
    Shift,
    Sum,
    View,
)
from circuitize.circuits.micro_batches import LAST, LATER, Rounds
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import Raw
from circuitize.sims import integer

Integers = NDArray[np.int64]


def run_rounds(
    rounds: Rounds, whole: IntegerProgram, inputs: Mapping[str, Integers], seed: int = 0, steady: bool = False
) -> dict[str, Integers]:
    """The outputs of a whole program from its rounds; whatever no round may use is random."""
    draw = np.random.default_rng(seed)
    formats = {port.name: port.format for port in rounds.program.inputs}

    def any_value(name: str) -> Integers:
        return draw.integers(formats[name].low, formats[name].high + 1, formats[name].shape)

    state = {port.name for port in whole.inputs if port.held} & {port.name for port in whole.outputs}
    kept = {name: any_value(name) for name in rounds.kept}
    made: dict[str, list[Integers]] = {port.name: [] for port in whole.outputs}
    for number in range(rounds.count):
        given = dict(kept)
        for port in whole.inputs:
            if port.name in rounds.cut_inputs:
                given[port.name] = np.split(inputs[port.name], rounds.count)[number]
            else:
                used = port.name in state or number == 0 or steady
                given[port.name] = inputs[port.name] if used else any_value(port.name)
        if rounds.teller:
            given[rounds.teller] = np.array([int(number > 0), int(number == rounds.count - 1)])[[LATER, LAST]]
        found = integer.run(rounds.program, {name: Raw(value) for name, value in given.items()})
        kept = {name: found[name] for name in rounds.kept}
        for name, several in made.items():
            several.append(found[name])
            if name in state and number < rounds.count - 1 and not steady:
                np.testing.assert_array_equal(found[name], inputs[name])
    return {name: np.concatenate(own) if name in rounds.cut_outputs else own[-1] for name, own in made.items()}


class RandomProgram:
    """A random program of an input x with a batch, weights w, and a number r that each frame has once."""

    def __init__(self, seed: int) -> None:
        self.draw = np.random.default_rng(seed)
        self.builder = Builder()
        self.batch = int(self.draw.choice([2, 4, 6]))
        first = (self.batch, int(self.draw.choice([2, 3, 4])), int(self.draw.choice([2, 3])))
        inputs = [Fixed(first, 0, -5, 6), Fixed(first[1:], 0, -3, 3), Fixed((), 0, 1, 4)]
        self.wires = self.builder.inputs(inputs)
        for _ in range(int(self.draw.integers(3, 12))):
            self._grow()

    def program(self) -> IntegerProgram:
        """The program, whose outputs are the last wires that it made, or sums of them over the first axis."""
        outputs = []
        for wire in self.wires[:3:-1][:3]:
            shape = self.builder.format(wire).shape
            over = bool(shape) and self.draw.random() < 0.7
            outputs.append(self.builder.add(Sum(View.broadcast(shape, (0,))), wire) if over else wire)
        updated = self.builder.add(Check(-3, 3), self.builder.add(Shift(0), self.wires[1]))
        return named(self.builder, ["x", "w", "r"], [updated, *outputs], ["w"])

    def inputs(self) -> dict[str, Integers]:
        """Random values of the inputs."""
        formats = (("x", 0), ("w", 1), ("r", 2))
        found = {}
        for name, wire in formats:
            format = self.builder.format(wire)
            found[name] = self.draw.integers(format.low, format.high + 1, format.shape)
        return found

    def _grow(self) -> None:
        draw, builder = self.draw, self.builder
        wire = int(draw.choice(self.wires))
        format = builder.format(wire)
        shape = format.shape
        if max(-format.low, format.high) > 1 << 18:
            self.wires.append(builder.add(Shift(12), wire))
            return
        operations: list[IntegerOperation] = [ReLU(), Shift(1)]
        if format.high > 2 and format.low < -2:
            operations.append(Check(format.low * 3 // 4, format.high * 3 // 4))
        if shape:
            axes = tuple(k for k in range(len(shape)) if draw.random() < 0.4)
            operations += [Sum(View.broadcast(shape, axes)), Reindex(View.flip(shape, axes[1:]))]
            operations += [Reindex(View.transpose(shape, [int(k) for k in draw.permutation(len(shape))]))]
            operations += [Reindex(View.pad(shape, (0,) * len(shape), (*(0,) * (len(shape) - 1), 1)))]
            operations += [Reindex(View.broadcast((*shape, 2), (len(shape),)))] if len(shape) < 4 else []
            operations += [ArgMax(int(draw.integers(len(shape))))]
        if len(shape) > 1:
            operations.append(Reindex(View.reshape(shape, (shape[0] * shape[1], *shape[2:]))))
            if shape[-1] > 1:
                operations.append(Reindex(View.window(shape, (len(shape) - 1,), (2,))))
        likes = [(one, builder.format(one)) for one in self.wires]
        others = [one for one, like in likes if (like.shape, like.fraction_bits) == (shape, format.fraction_bits)]
        chosen = int(draw.integers(len(operations) + 4))
        if chosen < len(operations):
            made = builder.add(operations[chosen], wire)
        elif chosen == len(operations):
            amounts = draw.integers(-2, 3, shape) if draw.random() < 0.3 else np.full(shape, 3)
            constant = builder.add(Constant.of(amounts, format.fraction_bits))
            made = builder.add(Multiply() if draw.random() < 0.5 else Add(), wire, constant)
        elif chosen == len(operations) + 1 and 0 < len(shape) < 4:
            other = int(draw.choice(others))
            letters = "abcd"[: len(shape)]
            kept = "".join(letter for letter in letters if draw.random() < 0.6)
            made = builder.add(Contract(f"{letters},{letters}->{kept}"), wire, other)
        elif shape == builder.format(self.wires[1]).shape[1:] and draw.random() < 0.5:
            made = wire
        else:
            made = builder.add(Maximum() if draw.random() < 0.5 else Add(), wire, int(draw.choice(others)))
        self.wires.append(made)
