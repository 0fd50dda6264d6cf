"""Models: named parameters, and an arrow from parameters and a batch to predictions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import TypingError
from circuitize.circuits.hypergraph import Arrow, compose, identity, permute, tensor
from circuitize.circuits.types import Array, Shape

from . import functions
from .formats import WEIGHTS, Format
from .provenance import here, part, placed_at
from .trace import Tensor, trace

Initializer = Callable[[np.random.Generator, Shape], NDArray[np.float64]]


def zeros(generator: np.random.Generator, shape: Shape) -> NDArray[np.float64]:
    return np.zeros(shape)


def he_normal(generator: np.random.Generator, shape: Shape) -> NDArray[np.float64]:
    """Normal with variance 2 / fan-in, fan-in the first extent. He et al., arXiv 1502.01852, equation 10."""
    return generator.normal(0.0, np.sqrt(2.0 / shape[0]), shape)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A trained array: its name, shape, how it starts, and the exact format it keeps from step to step."""

    name: str
    shape: Shape
    initializer: Initializer = he_normal
    format: Format = WEIGHTS

    @property
    def type(self) -> Array:
        return Array(self.shape)


@dataclass(frozen=True)
class Model:
    """Parameters P and, for each type of batch X, an arrow P x X -> Y.

    `kind` names the model inside a larger one (`dense` becomes `dense1`, `dense2`); `inputs` is the shape of one
    example, or None where any shape will do. The first axis of a batch counts its examples.
    """

    parameters: tuple[Parameter, ...]
    arrow: Callable[[Array], Arrow]
    kind: str
    inputs: Shape | None = None

    def batch_type(self, batch: int) -> Array:
        """The type of a batch of examples; raises TypingError when the model does not know the shape of one."""
        if self.inputs is None:
            raise TypingError(
                f"expected a model that knows the shape of an example, found {self.kind!r} that takes any; "
                "give inputs=(...) to traced, or begin with dense"
            )
        return Array((batch, *self.inputs))

    def initial(self, seed: int) -> dict[str, NDArray[np.float64]]:
        """Starting values by name, from one seeded generator in the order of the parameters, nearest in each format."""
        generator = np.random.default_rng(seed)
        return {p.name: p.format.nearest(p.initializer(generator, p.shape)) for p in self.parameters}


def traced(
    function: Callable[..., Tensor],
    parameters: Sequence[Parameter] = (),
    inputs: Shape | None = None,
    kind: str = "",
) -> Model:
    """A model written as a Python function of its parameters, in order, and then a batch.

    Edges are labelled with the line of the function they come from, or with the caller's line where it is not the
    user's.
    """
    ours = (function.__module__ or "").partition(".")[0] == __name__.partition(".")[0]
    place = here() if ours else None
    types = [parameter.type for parameter in parameters]

    def arrow(batch: Array) -> Arrow:
        with placed_at(place):
            return trace(function, *types, batch)

    return Model(tuple(parameters), arrow, kind or function.__name__, inputs)


def dense(
    inputs: int, outputs: int, bias: bool = True, format: Format = WEIGHTS, initializer: Initializer = he_normal
) -> Model:
    """x @ weight + bias: weight [inputs, outputs], bias [outputs] starting at zero."""
    parameters = [Parameter("weight", (inputs, outputs), initializer, format)]
    if bias:
        parameters.append(Parameter("bias", (outputs,), zeros, format))

    def affine(weight: Tensor, *rest: Tensor) -> Tensor:
        *offset, x = rest
        product = x @ weight
        return product + offset[0] if offset else product

    return traced(affine, parameters, (inputs,), "dense")


def embedding(count: int, width: int, inputs: Shape = (), format: Format = WEIGHTS) -> Model:
    """A row of a table for each index: whole numbers of shape [B, *inputs] -> [B, *inputs, width].

    The parameter is table [count, width], standard normal over the square root of width. An index outside
    [0, count) is undefined.
    """

    def normal(generator: np.random.Generator, shape: Shape) -> NDArray[np.float64]:
        return generator.normal(0.0, width**-0.5, shape)

    return traced(functions.gather, [Parameter("table", (count, width), normal, format)], inputs, "embedding")


def relu() -> Model:
    """max(x, 0), element by element."""
    return traced(functions.relu)


def sequential(*models: Model) -> Model:
    """One model after the other. Parameters are named `dense1.weight`: kind, number among its kind, and own name."""
    counts = Counter(model.kind for model in models)
    seen: Counter[str] = Counter()
    names = []
    for model in models:
        seen[model.kind] += 1
        numbered = bool(model.parameters) or counts[model.kind] > 1
        names.append(f"{model.kind}{seen[model.kind]}" if numbered else model.kind)
    parameters = [
        tuple(replace(p, name=f"{name}.{p.name}") for p in model.parameters)
        for name, model in zip(names, models, strict=True)
    ]
    types = [tuple(p.type for p in group) for group in parameters]

    def arrow(batch: Array) -> Arrow:
        # Pn ... P1 X  ->  Pn ... P2 Y1  ->  ...  ->  Yn: each model takes its parameters and what the last one made.
        pending = [type for group in reversed(types) for type in group]
        stages, passed = [_reverse_groups(types, batch)], batch
        for name, model, group in zip(names, models, types, strict=True):
            with part(name):
                stage = model.arrow(passed)
            del pending[len(pending) - len(group) :]
            stages.append(tensor(identity(*pending), stage))
            (target,) = stage.target
            assert isinstance(target, Array)
            passed = target
        return compose(*stages)

    return Model(tuple(p for group in parameters for p in group), arrow, "sequential", models[0].inputs)


def _reverse_groups(groups: Sequence[tuple[Array, ...]], last: Array) -> Arrow:
    """The wiring (P1, ..., Pn, X) -> (Pn, ..., P1, X)."""
    types = [type for group in groups for type in group]
    numbered = iter(range(len(types)))
    positions = [[next(numbered) for _ in group] for group in groups]
    return permute([*types, last], [at for group in reversed(positions) for at in group] + [len(types)])
