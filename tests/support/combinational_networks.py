"""Random combinational logic: functions that da4ml and alkaid trace alike, of every operation that they have."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Network = Callable[[Any, Any], Any]
"""From a traced input and the tracing package's operations to traced outputs."""

ROUNDINGS, OVERFLOWS = ("TRN", "RND"), ("WRAP", "SAT", "SAT_SYM")


def perceptron(
    seed: int, sizes: tuple[int, ...] = (4, 6, 3), mixed: bool = False, modes: tuple[str, str] | None = None
) -> Network:
    """Matrices, rectifiers and roundings of random bits, with `mixed` by element, of these modes or any as drawn."""

    def network(x: Any, ops: Any) -> Any:
        random = np.random.default_rng(seed)

        def rounded(x: Any, signed: int) -> Any:
            shape = (x.shape[-1],) if mixed else ()
            integer, fraction = random.integers(1, 4, shape), random.integers(0, 4, shape)
            drawn = str(random.choice(OVERFLOWS if signed else OVERFLOWS[:2])), str(random.choice(ROUNDINGS))
            return ops.quantize(x, np.full(shape, signed), integer, fraction, *(modes or drawn))

        x = rounded(x, 1)
        for rows, columns in pairwise(sizes):
            x = x @ (random.integers(-16, 16, (rows, columns)) / 8.0) + random.integers(-8, 8, columns) / 4.0
            last = columns == sizes[-1]
            x = rounded(x if last else ops.relu(x), int(last))
        return x

    return network


def mixture(seed: int) -> Network:
    """Products, magnitudes, the greater and the lesser of two, tables, and what is not used: of four inputs."""

    def network(x: Any, ops: Any) -> Any:
        random = np.random.default_rng(seed)
        x = ops.quantize(x, 1, 2, 3)
        a, b = x[:2], x[2:]
        table = ops.quantize(np.sin(a), 1, 0, 5, "SAT", "RND")
        product = a * b
        greater = np.maximum(a, b * 2) - np.minimum(a, b)
        sizes = np.maximum(a - b, b - a)
        weights = random.integers(-9, 9, (2, 3)) / 4.0
        sums = (table + product) @ weights
        return np.concatenate([ops.quantize(sums, 1, 3, 2, "SAT", "RND"), greater, sizes, product, x[:1] * 0 + 0.75])

    return network


def bits(seed: int) -> Network:
    """Operations of bits, comparisons, and choices by what they say: of four inputs."""

    def network(x: Any, ops: Any) -> Any:
        random = np.random.default_rng(seed)
        x = ops.quantize(x, 1, 2, random.integers(0, 4))
        a, b, c = x[:2], x[2:], ops.quantize(ops.relu(x[:2]), 0, 2, 2)
        found = [a & b, a | b, a ^ b, ~a, c & 1.25, c | a, a > b, a >= b, a < 0.5, (a != b), a == b, ~c]
        return np.concatenate(found)

    return network


def traced(package: str, network: Network, inputs: int, formats: tuple[Any, Any, Any] = (1, 2, 3)) -> Any:
    """The CombLogic of a network, by the package `da4ml` or `alkaid`; inputs have a sign, integer and fraction bits."""
    bits = [np.broadcast_to(given, inputs) for given in formats]
    if package == "da4ml":
        from da4ml.trace import FixedVariableArray, HWConfig, comb_trace, ops

        entering = FixedVariableArray.from_kif(*bits, HWConfig(1, -1, -1))
        return comb_trace(entering, network(entering, ops))
    from alkaid import trace

    arriving = trace.FVArray.from_kif(*bits, trace.HWConfig(1, -1, -1))
    return trace.trace(arriving, network(arriving, trace.ops))


def frames(low: NDArray[Any], high: NDArray[Any], count: int, seed: int) -> NDArray[np.int64]:
    """Integers [count, n] from these intervals: the ends of each, corners, then any."""
    random = np.random.default_rng(seed)
    drawn = random.integers(low, np.asarray(high) + 1, (count, len(low)))
    corners = random.integers(0, 2, (count // 4, len(low)))
    drawn[: count // 4] = np.where(corners, low, high)
    drawn[0], drawn[1], drawn[2] = low, high, 0
    return drawn
