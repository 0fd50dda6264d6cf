"""What every Plonkish system must pass: the executor's outputs, no failure, and no cell that could be anything else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from plonkish_mutation import Survivors, survivors
from r1cs_programs import program

from circuitize.backends.field import BN254, Limbs
from circuitize.backends.plonkish.checker import describe, first_failure
from circuitize.backends.plonkish.emit import Emission, Filling, emit
from circuitize.backends.plonkish.layout import DoesNotFit
from circuitize.backends.plonkish.witness import random_salts
from circuitize.backends.r1cs.commitments import commit
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.port import Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.sims import integer

Vector = Mapping[str, NDArray[np.int64]]


@dataclass(frozen=True)
class Run:
    """The cells of one run."""

    emission: Emission
    advice: list[Limbs]
    instance: list[Limbs]
    challenges: list[int]
    filling: Filling

    def failure(self, advice: Sequence[Limbs] | None = None, instance: Sequence[Limbs] | None = None) -> str | None:
        """What fails first, described; None where the cells satisfy the system."""
        system, arrow = self.emission.system, self.filling.plan.arrow
        found = first_failure(system, advice or self.advice, instance or self.instance, self.challenges)
        if found is None:
            return None
        return describe(system, found, lambda edge: arrow.edge(edge).operation.name if edge >= 0 else "program")

    def mutants(self, random: np.random.Generator) -> Survivors:
        """The cells that may hold another value, drawn near by or anywhere."""
        system = self.emission.system
        changed = []
        for limbs in self.advice:
            steps = random.choice(np.array([1, -1, 2, 1 << 40]), len(limbs)).tolist()
            numbers = BN254.to_integers(limbs)
            changed.append(BN254.from_integers([number + step for number, step in zip(numbers, steps, strict=True)]))
        return survivors(system, self.advice, self.instance, self.challenges, changed)


def layer(visibility: Visibility = Visibility.PUBLIC) -> IntegerProgram:
    """relu(check(shift(x W + 2 b))), batch 6, 8 inputs, 5 neurons."""
    builder = Builder()
    x, w = builder.input(Fixed((6, 8), 4, -64, 63)), builder.input(Fixed((8, 5), 6, -128, 127))
    b = builder.input(Fixed((6, 5), 9, -50, 50))
    sums = builder.add(integers.Contract("bi,ij->bj"), x, w)
    sums = builder.add(integers.Add(), sums, builder.add(integers.Scale(2, 1), b))
    ranged = builder.add(integers.Check(-512, 511), builder.add(integers.Shift(5), sums))
    return program(builder.build([builder.add(integers.ReLU(), ranged)]), visibility)


def vector(given: IntegerProgram, seed: int = 1) -> Vector:
    random = np.random.default_rng(seed)
    return {
        p.name: random.integers(p.format.low, p.format.high, p.format.shape, endpoint=True)
        for p in given.inputs
        if p.format
    }


def smallest(given: IntegerProgram) -> Emission:
    """The system with the fewest rows."""
    for k in range(4, 24):
        try:
            return emit(given, k)
        except DoesNotFit:
            continue
    raise AssertionError("no k is large enough")


def fill(emission: Emission, given: IntegerProgram, vector: Vector, seed: int = 0) -> Run:
    """The cells of a run. Raise Undefined where the program has no value."""
    return fill_trace(emission, integer.trace(given, vector), seed)


def fill_trace(emission: Emission, trace: Sequence[NDArray[np.int64]], seed: int = 0) -> Run:
    random = np.random.default_rng(seed)
    filling = Filling(emission.plan, trace, random_salts(emission.plan))
    advice = filling.first()
    drawn = [int.from_bytes(random.bytes(31), "little") for _ in range(emission.system.challenges)]
    return Run(emission, advice + filling.second(drawn), filling.instance(), drawn, filling)


def require_outputs(run: Run, given: IntegerProgram, vector: Vector) -> None:
    """The instance holds the executor's outputs, the public inputs, and the roots of committed ports."""
    trace = integer.trace(given, vector)
    arrow = given.arrow
    values = {("input", p.name): trace[w] for p, w in zip(given.inputs, arrow.inputs.tolist(), strict=True)}
    values |= {("output", p.name): trace[w] for p, w in zip(given.outputs, arrow.outputs.tolist(), strict=True)}
    numbers = BN254.to_integers(run.instance[0])
    for public in run.emission.publics:
        own, name = values[public.side, public.name], f"{public.side} {public.name}"
        found = numbers[public.first - 1 : public.first - 1 + public.count]
        expected = (
            [commit(own, public.format, run.filling.salt(name))] if public.committed else own.reshape(-1).tolist()
        )
        assert found == [value % BN254.prime for value in expected], name
