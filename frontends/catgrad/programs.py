"""Programs from catgrad models: a prediction, a training step with catgrad's derivative, and a model for circuitize's
own derivative.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError, TypingError
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.port import Port, Role, Visibility
from circuitize.circuits.program import Program
from circuitize.circuits.simplify import simplify
from circuitize.circuits.types import Array, Fixed, Shape
from circuitize.frontends.formats import WEIGHTS, Format
from circuitize.frontends.layers import Model, Parameter

from .diagrams import arrow, forward
from .installed import module
from .objects import Lens, OpenHypergraph
from .roles import is_diagram, require_roles, require_three

Batch = Mapping[str, NDArray[np.float64]]

FEATURES = Format.between(-1.0, 1.0, 8)
"""The default format of the inputs of catgrad models: from -1 to 1, eight fraction bits."""


def predict(
    model: object, *, inputs: Format = FEATURES, parameters: Format = WEIGHTS, examples: Sequence[Batch] = ()
) -> Program:
    """Return a program from the parameters `parameter1`, ... and `inputs` (or `inputs1`, ...) to `outputs` (or
    `outputs1`, ...), simplified.

    In a program from a catgrad model, parameters and inputs are committed, and outputs are public. If no examples are
    given for calibration, an example is made from a fixed seed: normal parameters of variance 1 / fan-in and uniform
    inputs.
    """
    made, count = forward(model)
    return _program(simplify(made), count, 0, inputs, parameters, examples)


def step(
    model: OpenHypergraph,
    optimizer: Lens,
    loss: Lens,
    *,
    inputs: Format = FEATURES,
    targets: Format = FEATURES,
    parameters: Format = WEIGHTS,
    examples: Sequence[Batch] = (),
) -> Program:
    """Return a program from parameters, `inputs` and `targets` to new parameters: the training step as catgrad itself
    derives it, simplified.

    The arguments `optimizer` and `loss` are what catgrad's `compile_model` takes: for instance `sgd(0.01)`, and `mse`,
    whose gradient is that of half the sum of squares. All ports of catgrad's training step are committed. For a
    training step with circuitize's own derivative, with other losses and optimisers, give `network(model)` to
    `training_step`. Raise CircuitizeError if optimiser and loss are exchanged, or if one of them is neither an
    optimiser nor a loss.
    """
    diagram, count, width = step_diagram(model, optimizer, loss)
    return _program(simplify(arrow(diagram, "step")), count, width, inputs, parameters, examples, targets)


def step_diagram(model: OpenHypergraph, optimizer: Lens, loss: Lens) -> tuple[OpenHypergraph, int, int]:
    """Return catgrad's diagram P x X x Y -> P of a training step, and how many parameters and targets there are."""
    operations, functor = module("catgrad.bidirectional.operation"), module("catgrad.bidirectional.functor")
    identity = module("catgrad.combinators").identity
    parameters, parametrised = module("catgrad.special.parameter").factor_parameters(model)
    p, x, y = parameters.target, model.source, model.target
    require_roles(optimizer, p, loss, y)
    composed = (optimizer(p) @ identity(x)) >> parametrised >> loss(y)
    both = functor.Bidirectional()
    reverse = both.adapt(both(composed), composed.source, composed.target)
    kept = operations.discard(y) @ identity(p) @ operations.discard(x)
    return reverse >> kept, len(p), len(y)


def network(model: object, parameters: Format = WEIGHTS) -> Model:
    """Return a catgrad model as a `Model`, for `training_step` and `predict` in `frontends.training`. The `Model` of a
    catgrad model fits only the batch size that the catgrad model was built for.

    Raise CircuitizeError for a catgrad model of several inputs or outputs.
    """
    made, count = forward(model)
    if len(made.source) != count + 1 or len(made.target) != 1:
        raise CircuitizeError(
            f"model: expected one input and one output, found {len(made.source) - count} and {len(made.target)}; "
            "use predict or step"
        )
    batch = _array(made.source[count])

    def fitted(given: Array) -> Arrow:
        if given != batch:
            raise TypingError(f"expected a batch of shape {list(batch.shape)}, found {list(given.shape)}; rebuild it")
        return made

    names = [f"parameter{n + 1}" for n in range(count)]
    kept = [
        Parameter(name, _array(type).shape, _normal, parameters) for name, type in zip(names, made.source, strict=False)
    ]
    return Model(tuple(kept), fitted, "catgrad", batch.shape[1:])


def program_of(found: object) -> Program | None:
    """Return the program that a catgrad model, or a tuple (model, optimizer, loss), stands for; None for anything else.

    Raise CircuitizeError for a tuple that has a diagram in it but is not (model, optimizer, loss).
    """
    if isinstance(found, (tuple, list)) and any(map(is_diagram, found)):
        require_three(found)
        return step(*found)
    return predict(found) if is_diagram(found) else None


def _program(
    made: Arrow,
    count: int,
    width: int,
    inputs: Format,
    parameters: Format,
    examples: Sequence[Batch],
    targets: Format | None = None,
) -> Program:
    """Return the program whose inputs are `count` parameters, then inputs, then `width` targets."""
    shapes = [_array(type).shape for type in made.source]
    committed = Visibility.COMMITTED
    names = [f"parameter{n + 1}" for n in range(count)]
    kept = [
        Port(name, committed, parameters.of(shape), Role.PARAMETER) for name, shape in zip(names, shapes, strict=False)
    ]
    data = shapes[count : len(shapes) - width]
    fed = [Port(name, committed, inputs.of(shape)) for name, shape in zip(_names("inputs", data), data, strict=True)]
    if targets is not None:
        wanted = shapes[len(shapes) - width :]
        fed += [
            Port(name, committed, targets.of(shape))
            for name, shape in zip(_names("targets", wanted), wanted, strict=True)
        ]
        outputs: Sequence[Port[Fixed | None]] = kept
    else:
        results = [_array(type).shape for type in made.target]
        outputs = [Port(name, Visibility.PUBLIC) for name in _names("outputs", results)]
    ports = (*kept, *fed)
    return Program(made, ports, tuple(outputs), tuple(examples) or (_invented(ports),))


def _names(word: str, shapes: Sequence[Shape]) -> list[str]:
    return [word] if len(shapes) == 1 else [f"{word}{n + 1}" for n in range(len(shapes))]


def _invented(ports: Sequence[Port[Fixed]]) -> Batch:
    generator = np.random.default_rng(0)
    made = {}
    for port in ports:
        format = Format(port.format.fraction_bits, port.format.low, port.format.high)
        if port.role is Role.PARAMETER:
            values = _normal(generator, port.format.shape)
        else:
            low, high = np.ldexp([float(format.low), float(format.high)], -format.fraction_bits)
            values = generator.uniform(low, high, port.format.shape)
        made[port.name] = format.nearest(values)
    return made


def _normal(generator: np.random.Generator, shape: Shape) -> NDArray[np.float64]:
    """Draw normal values with variance 1 / fan-in, where the fan-in is the product of all extents but the last."""
    return generator.normal(0.0, 1.0, shape) / math.sqrt(max(1, math.prod(shape[:-1])))


def _array(type: object) -> Array:
    assert isinstance(type, Array)
    return type
