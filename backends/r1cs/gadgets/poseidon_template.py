"""The constraints of one Poseidon permutation, which are worked out once and can be placed any number of times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from operator import itemgetter, mul

import numpy as np
from numpy.typing import NDArray

from ...field import BN254
from ...native import Boxes, native
from ...poseidon_constants import PoseidonParameters
from ..builder import CountingBuilder
from ..system import Order, Rows
from .poseidon import Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """A layer of S-boxes that read only earlier values: the input x[i] of S-box i is the sum over j of coefficients[i,
    j] * locals[sources[j]].

    The local values of a permutation are numbered in this order: the constant 1, the permutation's inputs, then each
    S-box's output.
    """

    sources: NDArray[np.int64]
    coefficients: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class PoseidonTemplate:
    """A Poseidon permutation as a list of S-boxes y = x^5 whose inputs x are linear combinations of earlier outputs.

    Everything linear (constants, matrices, the idle lanes of partial rounds) is part of the combinations, so that each
    S-box takes exactly three rows and three wires: x * x = x2, x2 * x2 = x4, x4 * x = x5. Each S-box in the first layer
    of a permutation reads one input of the permutation. A permutation of width 17 with a constant capacity takes 203
    S-boxes, which are 609 rows.

    Soundness: the third entry of every row of a Poseidon permutation is one wire, which the first two entries
    determine, and these contain only inputs and earlier wires; each assignment of the inputs therefore extends to the
    wires in exactly one way, over any field.
    """

    parameters: PoseidonParameters
    inputs: int
    layers: tuple[Layer, ...]
    output: Layer

    @property
    def boxes(self) -> int:
        """Return the number of S-boxes in the permutation, each of which takes three rows."""
        return sum(len(layer.coefficients) for layer in self.layers)

    @property
    def wires(self) -> int:
        """Return the number of wires of one permutation: x2, x4 and x5 of each S-box."""
        return 3 * self.boxes

    def trace(self, inputs: Numbers) -> tuple[Numbers, Numbers]:
        """Return the wires `object[n, wires]` and the first lanes `object[n]` of n permutations, computed from the
        inputs `object[n, inputs]`.
        """
        boxes = _native_boxes(self)
        if boxes is None:
            return _traced(self, inputs)
        field = self.parameters.field
        raw = boxes.trace(field.from_integers(inputs.reshape(-1)))
        numbers = np.array(field.to_integers(np.frombuffer(raw, dtype="<u8").reshape(-1, 4)), object)
        lines = numbers.reshape(len(inputs), self.wires + 1)
        return lines[:, :-1], lines[:, -1]

    def emit(self, builder: CountingBuilder, inputs: Rows, edge: int, role: str = "poseidon") -> tuple[int, Rows]:
        """Emit a Poseidon permutation for each group of `self.inputs` consecutive linear combinations, which may be
        constant.

        Return the number of the first new wire, from which the wires follow in the order of `trace`, and one
        combination per permutation: the first lane of its final state.
        """
        count = inputs.count // self.inputs
        if count * self.inputs != inputs.count:
            raise ValueError(f"{inputs.count} combinations for permutations of {self.inputs} inputs")
        first = builder.wires(count * self.wires, edge, role, (count, self.boxes, 3))
        origins = first + np.arange(count, dtype=np.int64) * self.wires
        entering = plus_constants(builder, inputs, [int(line[0]) for line in self.layers[0].coefficients])
        rounds = self._place(builder, self.layers[1:], origins)
        for combinations, boxes in ((entering, slice(0, self.inputs)), (rounds, slice(self.inputs, None))):
            squares = origins[:, None] + 3 * np.arange(self.boxes, dtype=np.int64)[boxes]
            x2, x4, x5 = (Rows.wire(squares + power) for power in range(3))
            a = interleave([combinations, x2, x4])
            b = interleave([combinations, x2, combinations])
            builder.rows(a, b, interleave([x2, x4, x5]), edge, role, Order(count, 3 * squares.shape[1]))
        return first, self._place(builder, (self.output,), origins)

    def _place(self, builder: CountingBuilder, layers: tuple[Layer, ...], origins: NDArray[np.int64]) -> Rows:
        """Return the linear combinations of the layers in each permutation; the numbers of a permutation's wires begin
        at its origin.
        """
        lengths, outputs, values = _terms(self, layers)
        codes = builder.large_constants(values)
        wires = np.where(outputs < 0, 0, origins[:, None] + outputs)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.tile(lengths, len(origins)))])
        return Rows(offsets, wires.reshape(-1), np.tile(codes, len(origins)))


def _traced(template: PoseidonTemplate, inputs: Numbers) -> tuple[Numbers, Numbers]:
    """Return the same as `PoseidonTemplate.trace`, computed in Python integers, over any field."""
    prime = template.parameters.field.prime
    *layers, (read, (last,)) = _sums(template)
    wires = np.empty((len(inputs), template.boxes, 3), dtype=object)
    outputs = np.empty(len(inputs), dtype=object)
    for number, line in enumerate((inputs % prime).tolist()):
        known, traced = [1, *line], []
        for values_of, coefficients in layers:
            values = values_of(known)
            for row in coefficients:
                x = sum(map(mul, row, values)) % prime
                square = x * x % prime
                fourth = square * square % prime
                known.append(fourth * x % prime)
                traced.append((square, fourth, known[-1]))
        wires[number] = np.array(traced, dtype=object)
        outputs[number] = sum(map(mul, last, read(known))) % prime
    return wires.reshape(len(inputs), template.wires), outputs


@lru_cache(maxsize=64)
def _native_boxes(template: PoseidonTemplate) -> Boxes | None:
    """Return the S-boxes of a permutation over BN254 for the native part of the package; None for another field, or if
    the native part is not installed.
    """
    part, field = native(), template.parameters.field
    if part is None or field != BN254:
        return None
    layers = (*template.layers, template.output)
    lines = [(layer.sources[line != 0], line[line != 0]) for layer in layers for line in layer.coefficients]
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(sources) for sources, _ in lines])])
    sources = np.concatenate([sources for sources, _ in lines])
    coefficients = field.from_integers(np.concatenate([line for _, line in lines]))
    return part.Boxes(offsets, sources, coefficients, template.inputs)


@lru_cache(maxsize=64)
def _sums(template: PoseidonTemplate) -> list[tuple[Callable[[list[int]], tuple[int, ...]], list[list[int]]]]:
    """Return, for each layer of S-boxes and finally for the permutation's output, a function that takes the layer's
    sources from all local values, and the layer's coefficients as Python integers.
    """
    layers = (*template.layers, template.output)
    return [(itemgetter(*layer.sources.tolist()), layer.coefficients.tolist()) for layer in layers]


@lru_cache(maxsize=64)
def _terms(
    template: PoseidonTemplate, layers: tuple[Layer, ...]
) -> tuple[NDArray[np.int64], NDArray[np.int64], tuple[int, ...]]:
    """Return the linear combinations of the layers after the first: their lengths, the places of their wires in a
    permutation (-1 is the constant 1), and their coefficients.
    """
    used = [layer.coefficients != 0 for layer in layers]
    pairs = list(zip(layers, used, strict=True))
    sources = np.concatenate([np.broadcast_to(layer.sources, mask.shape)[mask] for layer, mask in pairs])
    return (
        np.concatenate([mask.sum(axis=1) for mask in used]),
        np.where(sources == 0, -1, 3 * (sources - 1 - template.inputs) + 2),
        tuple(value for layer, mask in pairs for value in layer.coefficients[mask]),
    )


@cache
def poseidon_template(parameters: PoseidonParameters, capacity: int | None = 0) -> PoseidonTemplate:
    """Return the template of a Poseidon permutation whose first lane starts as the constant `capacity`, or, if that is
    None, as the first input.

    A constant capacity costs no rows, since the output of its first S-box is constant. Making the template of a
    Poseidon permutation takes about 0.1 s for width 17, once per process.
    """
    prime, width = parameters.field.prime, parameters.width
    matrix = np.array(parameters.matrix, dtype=object)
    inputs = width if capacity is None else width - 1
    half = parameters.full_rounds // 2
    layers: list[Layer] = []
    # The state in terms of `sources`, one line per lane; the first source is the constant.
    sources, state = np.arange(inputs + 1), _lanes(width, inputs, capacity or 0)
    for number, constants in enumerate(parameters.constants):
        if number == half:
            sources, state = _partial_rounds(parameters, layers, sources, state)
        if not parameters.is_full(number):
            continue
        state[:, 0] += constants
        state %= prime
        fixed = number == 0 and capacity is not None
        layers.append(Layer(sources, state[1:] if fixed else state))
        fresh = len(layers[-1].coefficients)
        first = inputs + 1 + sum(len(layer.coefficients) for layer in layers[:-1])
        sources = np.concatenate([[0], np.arange(first, first + fresh)])
        state = matrix @ _lanes(width, fresh, pow(int(state[0, 0]), 5, prime) if fixed else 0) % prime
    return PoseidonTemplate(parameters, inputs, tuple(layers), Layer(sources, state[:1]))


def _lanes(width: int, count: int, first: int) -> Numbers:
    """Return the state of a permutation whose first lane holds a constant, and whose last `count` lanes are the sources
    that follow the constant.
    """
    state = np.zeros((width, count + 1), dtype=object)
    state[width - count :, 1:] = np.eye(count, dtype=object)
    state[0, 0] = first
    return state


def _partial_rounds(
    parameters: PoseidonParameters, layers: list[Layer], sources: NDArray[np.int64], state: Numbers
) -> tuple[NDArray[np.int64], Numbers]:
    """Append a layer with one S-box for each partial round, and return the state after these rounds.

    The output of an S-box enters the state through the first column of the matrix and then passes the same linear map
    in each round: `tails[i]` has the factors by which it is multiplied, i rounds later, in each lane.
    """
    prime = parameters.field.prime
    matrix = np.array(parameters.matrix, dtype=object)
    idle = matrix[:, 1:]
    tails = [matrix[:, 0]]
    outputs = np.zeros(0, dtype=np.int64)
    half, count = parameters.full_rounds // 2, parameters.partial_rounds
    last = int(sources[-1])
    for number in range(count):
        state[:, 0] += parameters.constants[half + number]
        earlier = np.array([tail[0] for tail in tails[number - 1 :: -1]] if number else [], dtype=object)
        layers.append(Layer(np.concatenate([sources, outputs]), np.concatenate([state[0], earlier])[None] % prime))
        outputs = np.append(outputs, last + 1 + number)
        state = idle @ state[1:] % prime
        tails.append(idle @ tails[-1][1:] % prime)
    columns = [tail[:, None] for tail in tails[:count][::-1]]
    return np.concatenate([sources, outputs]), np.concatenate([state, *columns], axis=1)


def plus_constants(builder: CountingBuilder, rows: Rows, constants: Sequence[int]) -> Rows:
    """Return the combinations rows[i] + constants[i % len(constants)]."""
    lengths = np.diff(rows.offsets)
    heads = np.append(rows.wires, 1)[rows.offsets[:-1]]
    has = (lengths > 0) & (heads == 0)
    offsets = rows.offsets + np.concatenate([np.zeros(1, np.int64), np.cumsum(~has)])
    places = np.arange(len(rows.wires)) + np.repeat(offsets[:-1] - rows.offsets[:-1] + ~has, lengths)
    wires = np.zeros(int(offsets[-1]), dtype=np.int64)
    values = np.zeros(int(offsets[-1]), dtype=np.int64)
    wires[places], values[places] = rows.wires, rows.coefficients
    sums: dict[tuple[int, int], int] = {}
    codes = values[offsets[:-1]]
    codes[~has] = 0
    for place, code in enumerate(codes.tolist()):
        constant = constants[place % len(constants)]
        if (code, constant) not in sums:
            sums[code, constant] = builder.large_constant(builder.coefficient_value(code) + constant)
        codes[place] = sums[code, constant]
    values[offsets[:-1]] = codes
    return Rows(offsets, wires, values)


def interleave(parts: Sequence[Rows]) -> Rows:
    """Return the rows of several parts, interleaved: row i of the first part, row i of the second part and so on, then
    row i + 1 of the first part.
    """
    lengths = np.stack([np.diff(part.offsets) for part in parts], axis=1)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    wires = np.empty(int(offsets[-1]), dtype=np.int64)
    values = np.empty(int(offsets[-1]), dtype=np.int64)
    for place, part in enumerate(parts):
        shift = offsets[place : -1 : len(parts)] - part.offsets[:-1]
        places = np.arange(len(part.wires)) + np.repeat(shift, lengths[:, place])
        wires[places], values[places] = part.wires, part.coefficients
    return Rows(offsets, wires, values)
