"""Every case of the real language as a quantized program, and how far it may be from the float meaning."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
from operations.real import Case, Floats, Integers, Source

from circuitize.circuits import arrays
from circuitize.circuits.arrays.curves.smooth import Smooth
from circuitize.circuits.builder import Builder
from circuitize.circuits.lowering import Precision
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram, Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.types import Fixed

APPROXIMATED = (Smooth, arrays.Sin, arrays.Cos, arrays.Exp, arrays.Log)
"""Operations with a proved error."""
UNIT = Source((), 0.0, 1.0)
EXAMPLES = 6


def sources(case: Case) -> tuple[Source, ...]:
    """The case's own, and an unused scalar where it has none: a circuit that takes nothing binds nothing."""
    return case.sources or (UNIT,)


def drawn(case: Case) -> list[dict[str, Integers]]:
    """Awkward inputs of the program, by name."""
    random = np.random.default_rng(8)
    return [{f"x{i}": source.awkward(random) for i, source in enumerate(sources(case))} for _ in range(EXAMPLES)]


def reals(case: Case, inputs: dict[str, Integers]) -> list[Floats]:
    return [source.real(inputs[f"x{i}"]) for i, source in enumerate(sources(case))]


@lru_cache(maxsize=256)
def real_program(case: Case) -> Program:
    """The case with every port public, calibrated on its awkward inputs."""
    builder = Builder()
    wires = builder.inputs([source.array for source in sources(case)])
    target = builder.add(case.operation, *(wires if case.sources else []))
    ports = tuple(Port(f"x{i}", Visibility.PUBLIC, source.fixed) for i, source in enumerate(sources(case)))
    examples = tuple({f"x{i}": value for i, value in enumerate(reals(case, inputs))} for inputs in drawn(case))
    return Program(builder.build([target]), ports, (Port("y", Visibility.PUBLIC),), examples)


@lru_cache(maxsize=256)
def program(case: Case) -> IntegerProgram:
    return quantize(real_program(case))


def normalized(d: Floats, r: Floats) -> Floats:
    """Of d r: half a unit each in the variance, its root's reciprocal r, d and the product; factors are of 16 bits.

    The first counts d r^3 / 2.
    """
    return 1.05 * (0.5 + r / 2 + d / 2 + d * r**3 / 4)


def greatest_tolerance(case: Case, result: Fixed) -> float:
    """That of any inputs, or, but for normalisation, of those drawn."""
    operation = case.operation
    if isinstance(operation, arrays.Normalize | arrays.RootMeanSquareNormalize):
        (source,) = case.sources
        count = np.prod([source.shape[axis] for axis in operation.axes])
        variances = np.linspace(0, source.high**2, 1 << 12)
        most = np.sqrt(variances * (count - isinstance(operation, arrays.Normalize)))
        return float(normalized(most, 1 / np.sqrt(variances + operation.epsilon)).max())
    return max(tolerance(case, inputs, result) for inputs in drawn(case))


def tolerance(case: Case, inputs: dict[str, Integers], result: Fixed) -> float:
    """In units of the last bit of the output, from the float result.

    What is proved of an approximation. Of others what the case allows, half a unit for the one rounding at the end
    unless nothing is rounded, and for a factor that is no short dyadic number its own error. Softmax: an exponential,
    a reciprocal and two roundings.
    """
    operation = case.operation
    if case.units is None:
        return 0.0
    if isinstance(operation, arrays.Softmax):
        return 4.0
    if isinstance(operation, APPROXIMATED):
        return operation.proved_error(sources(case)[0].fixed, result)
    if isinstance(operation, arrays.Normalize | arrays.RootMeanSquareNormalize):
        (x,) = reals(case, inputs)
        d = x - x.mean(operation.axes, keepdims=True) if isinstance(operation, arrays.Normalize) else x
        r = 1 / np.sqrt((d * d).mean(operation.axes, keepdims=True) + operation.epsilon)
        return float(normalized(abs(d), r).max())
    factor = None
    if isinstance(operation, arrays.Scale):
        factor, greatest = operation.factor, max(float(np.abs(x).max()) for x in reals(case, inputs))
    elif isinstance(operation, arrays.Mean):
        (x,) = reals(case, inputs)
        sums = x.sum(axis=operation.axes)
        factor, greatest = sums.size / x.size, float(np.abs(sums).max())
    if factor is not None:
        numerator, k = Precision().coefficient(factor)
        error = abs(Fraction(factor) - numerator * Fraction(2) ** -k)
        return float(error * Fraction(2) ** result.fraction_bits) * greatest + 0.5
    exact = operation.rounding in (arrays.Rounding.LINEAR, arrays.Rounding.FORMAT) and not isinstance(
        operation, arrays.Constant
    )
    return case.units + 0.5 * (not exact)
