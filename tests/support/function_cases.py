"""Functions made of several operations: what they are applied to, and how far their integers may be off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from operations.real import Floats, Integers, Source

from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram, Program
from circuitize.circuits.quantize import quantize
from circuitize.frontends import activations, attention, convolution, functions, movement
from circuitize.frontends.tensor import Tensor
from circuitize.frontends.trace import trace


@dataclass(frozen=True)
class FunctionCase:
    """Integers are within `units` of the exact value, and half a unit for their one rounding; None: they are exact."""

    of: Callable[..., object]
    sources: tuple[Source, ...]
    units: float | None
    function: Callable[..., Tensor]
    elementwise: bool = False

    def __str__(self) -> str:
        return f"{self.of.__name__} on {', '.join(str(list(s.shape)) for s in self.sources)}"

    @property
    def arrow(self) -> Arrow:
        return trace(self.function, *[source.shape for source in self.sources])

    @property
    def allowed(self) -> float:
        return 0.0 if self.units is None else self.units + 0.5

    def program(self, examples: list[list[Integers]]) -> IntegerProgram:
        """Quantized for these examples, every port public."""
        ports = tuple(Port(f"x{i}", Visibility.PUBLIC, source.fixed) for i, source in enumerate(self.sources))
        named = tuple({f"x{i}": x for i, x in enumerate(self.reals(values))} for values in examples)
        return quantize(Program(self.arrow, ports, (Port("y", Visibility.PUBLIC),), named))

    def reals(self, integers: list[Integers]) -> list[Floats]:
        return [source.real(values) for source, values in zip(self.sources, integers, strict=True)]

    def drawn(self, count: int) -> list[list[Integers]]:
        random = np.random.default_rng(11)
        return [[source.awkward(random) for source in self.sources] for _ in range(count)]


@lru_cache(maxsize=64)
def small_program(case: FunctionCase) -> IntegerProgram:
    """The case as it is, calibrated on six examples."""
    return case.program(case.drawn(6))


def function_cases() -> list[FunctionCase]:
    return [*_activations(), *_statistics(), *_movement(), *_windows(), *_attention()]


def _activations() -> list[FunctionCase]:
    """Where a rounded gate multiplies x, its error counts as often as x is large: at most 8 times here."""
    stated = {
        activations.leaky_relu: 0.3,
        activations.relu6: None,
        activations.hard_tanh: None,
        activations.hard_sigmoid: 0.1,
        activations.hard_swish: 2.0,
        activations.silu: 4.0,
        activations.mish: 4.0,
    }
    source = Source((6,), -8.0, 8.0, 12)
    return [FunctionCase(function, (source,), units, function, True) for function, units in stated.items()]


def _statistics() -> list[FunctionCase]:
    matrix = Source((3, 4), fraction_bits=10)
    return [
        FunctionCase(functions.standard_deviation, (matrix,), 0.5, lambda x: functions.standard_deviation(x, (0, 1))),
        FunctionCase(
            functions.standard_deviation,
            (Source((2, 3), fraction_bits=10),),
            0.5,
            lambda x: functions.standard_deviation(x, 1, 1),
        ),
        FunctionCase(functions.top_k, (matrix,), None, lambda x: functions.top_k(x, 2)[0]),
    ]


def _movement() -> list[FunctionCase]:
    matrix = Source((2, 6), fraction_bits=10)
    return [
        FunctionCase(movement.stack, (matrix, matrix), None, lambda x, y: movement.stack([x, y], 1)),
        FunctionCase(movement.split, (matrix,), None, lambda x: movement.split(x, [1, 3, 2], 1)[1]),
        FunctionCase(movement.tile, (matrix,), None, lambda x: movement.tile(x, (2, 3))),
        FunctionCase(movement.take, (matrix,), None, lambda x: movement.take(x, 1, 4, 0, -2)),
        FunctionCase(movement.strided, (matrix,), None, lambda x: movement.strided(x, slice(None), slice(1, 6, 3))),
        FunctionCase(
            movement.gather_elements,
            (matrix, Source((2, 3), 0.0, 5.0, 0, index=True)),
            0.0,
            lambda x, i: movement.gather_elements(x, i, 1),
        ),
    ]


def _windows() -> list[FunctionCase]:
    line, image = Source((1, 7, 4), fraction_bits=10), Source((1, 5, 4, 2), fraction_bits=10)
    small = Source((2, 3, 2, 1), fraction_bits=10)
    return [
        FunctionCase(
            convolution.convolution,
            (line, Source((3, 2, 4), fraction_bits=9)),
            0.0,
            lambda x, k: convolution.convolution(x, k, ((1, 2),), 2, 2, groups=2),
        ),
        FunctionCase(
            convolution.convolution,
            (image, Source((3, 2, 2, 2), fraction_bits=9)),
            0.0,
            lambda x, k: convolution.convolution(x, k, 1, (2, 1)),
        ),
        FunctionCase(
            convolution.transposed_convolution,
            (image, Source((2, 2, 3, 2), fraction_bits=9)),
            0.0,
            lambda x, k: convolution.transposed_convolution(x, k, 1, 2),
        ),
        FunctionCase(convolution.max_pool, (small,), None, lambda x: convolution.max_pool(x, 2, padding=1)),
        FunctionCase(convolution.average_pool, (image,), 0.1, lambda x: convolution.average_pool(x, (3, 2), 1)),
        FunctionCase(convolution.global_average, (image,), 0.1, convolution.global_average),
        FunctionCase(convolution.global_maximum, (small,), None, convolution.global_maximum),
    ]


def _attention() -> list[FunctionCase]:
    """Scores are rounded: half a unit of each moves weights by as much at most over the norm's floor, here 1."""
    query, key, value = (Source((1, 3, 2), fraction_bits=bits) for bits in (10, 9, 8))

    def causally(of: Callable[..., Tensor], *more: float) -> Callable[..., Tensor]:
        return lambda q, k, v: of(q, k, v, q.constant(attention.causal(3)), *more)

    sources, softmax, spherical = (query, key, value), attention.softmax_attention, attention.spherical_attention
    return [
        FunctionCase(softmax, sources, 5.0, causally(softmax)),
        FunctionCase(spherical, sources, 3.0, causally(spherical, 1.0)),
    ]
