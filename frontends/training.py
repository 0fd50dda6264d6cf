"""Builders of programs: a training step from a model, a loss and an optimiser, and a prediction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.arrays import Constant
from circuitize.circuits.builder import generator
from circuitize.circuits.differentiate import reverse_derivative
from circuitize.circuits.hypergraph import Arrow, compose, identity, permute, tensor
from circuitize.circuits.lowering import Precision
from circuitize.circuits.port import Port, Role, Visibility
from circuitize.circuits.program import Program
from circuitize.circuits.types import Array, Fixed, Shape, Type
from circuitize.circuits.unroll import ranges

from .formats import DATA, ONE_HOT, Format
from .layers import Model, Parameter, require_model
from .operands import named
from .optimizers import SCALAR, Optimizer
from .provenance import here, part, placed_at, refused
from .tensor import Tensor
from .trace import trace

Loss = Callable[[Tensor, Tensor], Tensor]
Batch = Mapping[str, NDArray[np.float64]]


def training_step(
    model: Model,
    loss: Loss,
    optimizer: Optimizer,
    batch: int,
    inputs: Format = DATA,
    targets: Format = ONE_HOT,
    target_shape: Shape | None = None,
    examples: Sequence[Batch] = (),
    precision: Precision = Precision(),  # noqa: B008 - frozen
) -> Program:
    """Return the program of one training step: parameters, optimiser state, model state, `inputs`, `targets`, scalars
    -> new parameters, new optimiser state and model state, and `loss`.

    A training step takes `batch` examples; `target_shape` is the shape of one example's target, by default the shape of
    a prediction (the shape of a label is `()`). Parameters and state leave a training step in exactly the format in
    which they enter, under the same names, so that steps compose. In a training step parameters, state and data are
    committed, and scalars and the loss are public. The `examples` of a training step map every input's name to real
    values, and the step is calibrated on them.
    """
    require(model, loss, optimizer, inputs, targets, examples)
    data = model.batch_type(batch)
    forward = model.arrow(data)
    prediction, *renewed = forward.target
    with placed_at(here()), part("loss"):
        target = prediction if target_shape is None else Array((batch, *target_shape))
        beside = [len(forward.target), *range(1, len(forward.target))]
        measured = compose(
            tensor(forward, identity(target)),
            permute([*forward.target, target], [0, *beside]),
            tensor(trace(loss, prediction, target), identity(*renewed)),
        )
    if measured.target[0] != SCALAR:
        raise refused(f"expected a loss that is one number, found {measured.target[0]}; take its mean")
    kept = [
        (p, *(replace(s, name=f"{p.name}.{s.name}") for s in optimizer.state(p) if not p.frozen))
        for p in model.parameters
    ]
    arrow = _step(measured, model, optimizer, [[entry.type for entry in group[1:]] for group in kept])

    committed = Visibility.COMMITTED
    states = [s for group in kept for s in group[1:]]
    roles = ((Role.PARAMETER, model.parameters), (Role.OPTIMIZER, states), (Role.STATE, model.state))
    carried = [
        Port(p.name, committed, p.format.of(p.shape), Role.DATA if p.fresh else Role.FROZEN if p.apart else role)
        for role, kept in roles
        for p in kept
    ]
    leaving = [index for index, port in enumerate(carried) if port.role not in (Role.DATA, Role.FROZEN)]
    arrow = compose(arrow, permute(arrow.target, [*leaving, len(carried)]))
    batch_ports = [
        Port("inputs", committed, inputs.of(data.shape)),
        Port("targets", committed, targets.of(target.shape)),
    ]
    scalars = [Port(name, Visibility.PUBLIC, format.of(()), Role.SCALAR) for name, format in optimizer.scalars.items()]
    return Program(
        arrow,
        (*carried, *batch_ports, *scalars),
        (*(carried[index] for index in leaving), Port("loss", Visibility.PUBLIC)),
        tuple(examples),
        precision,
    )


def require(
    model: Model,
    loss: Loss | None,
    optimizer: Optimizer | None,
    inputs: Format,
    targets: Format | None,
    examples: Sequence[Batch],
) -> None:
    """Raise TypingError, with the user's line, if an argument of a training step is of the wrong kind, most often a
    function that should have been called.
    """
    require_model(model, "model")
    if loss is not None and (not callable(loss) or isinstance(loss, (Model, Optimizer))):
        raise refused(
            f"loss: expected a function of predictions and targets, found {named(loss)}; "
            "write training_step(model, mean_squared_error, SGD(), batch)"
        )
    if optimizer is not None and not isinstance(optimizer, Optimizer):
        called = isinstance(optimizer, type) and issubclass(optimizer, Optimizer)
        remedy = f"write {optimizer.__name__}()" if called else "give one, such as SGD()"
        raise refused(f"optimizer: expected an optimiser, found {named(optimizer)}; {remedy}")
    for word, format in (("inputs", inputs), ("targets", targets)):
        if format is not None and not isinstance(format, Format):
            raise refused(
                f"{word}: expected a Format, found {named(format)}; write Format.between(0.0, 1.0, fraction_bits=4)"
            )
    if isinstance(examples, Mapping):
        raise refused("examples: expected a list of batches, found one; write examples=[batch]")


def _scalars(program: Program) -> set[str]:
    return {port.name for port in program.inputs if port.role is Role.SCALAR}


def _held(program: Program) -> set[str]:
    return {port.name for port in program.inputs if port.held}


def _step(measured: Arrow, model: Model, optimizer: Optimizer, states: list[list[Array]]) -> Arrow:
    """Return the arrow of a training step, P x O x M x X x T x S -> P' x O' x M' x loss, made from the loss's arrow P x
    M x X x T -> loss x M'.

    The letters in a training step's type stand for parameters (P), the optimiser's state (O), the model's state (M),
    inputs (X), targets (T) and scalars (S).
    """
    weights: list[Type] = [p.type for p in model.parameters]
    state: list[Type] = [type for group in states for type in group]
    kept: list[Type] = [p.type for p in model.state]
    scalars: list[Type] = [SCALAR] * len(optimizer.scalars)
    example = list(measured.source[len(weights) + len(kept) :])
    p, o, m, x, s = ranges(weights, state, kept, example, scalars)
    with placed_at(here()):
        with part("learning rate"):
            seeded = tensor(identity(*weights, *kept, *example), optimizer.cotangent())
        updates = []
        for parameter in model.parameters:
            with part(f"{parameter.name} update"):
                updates.append(_unchanged(parameter, scalars) if parameter.frozen else optimizer.update(parameter))
    backward = compose(seeded, reverse_derivative(compose(measured, permute(measured.target, [0]))))
    gradients = compose(backward, permute(backward.target, range(len(weights))))
    together = optimizer.together([p.type for p in model.parameters])
    if together is not None:
        gradients = compose(tensor(gradients, identity(*scalars)), together)

    every = [*weights, *state, *kept, *example, *scalars]
    again = [*p, *m, *x, *s, *s] if together is not None else [*p, *m, *x, *s]
    spread = permute(every, [*p, *m, *x, *again, *p, *o, *s])
    differentiated = tensor(measured, gradients, identity(*weights, *state, *scalars))
    # Now: loss, M', dP, P, O, S. Each update takes its parameter, its states, its gradient and all scalars.
    at_loss, at_kept, at_gradient, at_weight, at_state, at_scalar = ranges(
        [SCALAR], kept, weights, weights, state, scalars
    )
    unread = iter(at_state)
    choice = []
    for index, group in enumerate(states):
        choice += [at_weight[index], *(next(unread) for _ in group), at_gradient[index], *at_scalar]
    gathered = permute(differentiated.target, [*choice, *at_kept, *at_loss])
    updated = tensor(*updates, identity(*kept, SCALAR))
    # Now: P1, O1, P2, O2, ..., M', loss. Parameters first, then states, then what the model keeps, then the loss.
    starts = np.cumsum([0, *(1 + len(group) for group in states)]).tolist()
    carried = [at + 1 + k for at, group in zip(starts, states, strict=False) for k in range(len(group))]
    rest = range(starts[-1], starts[-1] + len(kept) + 1)
    sorted_ = permute(updated.target, [*starts[:-1], *carried, *rest])
    return compose(spread, differentiated, gathered, updated, sorted_)


def _unchanged(parameter: Parameter, scalars: list[Type]) -> Arrow:
    """Return the arrow from a frozen parameter x its gradient x scalars to the parameter."""
    return permute([parameter.type, parameter.type, *scalars], [0])


def predict(
    model: Model,
    batch: int,
    inputs: Format = DATA,
    examples: Sequence[Batch] = (),
    precision: Precision = Precision(),  # noqa: B008 - frozen
) -> Program:
    """Return the program of the forward pass: parameters, model state and `inputs` -> `outputs`; parameters and model
    state are held, and everything but the outputs is committed.
    """
    require(model, None, None, inputs, None, examples)
    arrow, ports = inference(model, batch)
    return Program(
        arrow,
        (*ports, Port("inputs", Visibility.COMMITTED, inputs.of(model.batch_type(batch).shape))),
        (Port("outputs", Visibility.PUBLIC),),
        tuple(examples),
        precision,
    )


def inference(model: Model, batch: int) -> tuple[Arrow, list[Port[Fixed]]]:
    """Return the arrow from parameters, model state and data to predictions, with the ports of parameters and model
    state.
    """
    data = model.batch_type(batch)
    every = (*model.parameters, *model.state)
    # What is fresh in every step is no part of a prediction.
    entering = [generator(Constant.zeros(p.shape)) if p.fresh else identity(p.type) for p in every]
    arrow = compose(tensor(*entering, identity(data)), (model.inference or model.arrow)(data))
    roles = ((Role.PARAMETER, model.parameters), (Role.STATE, [p for p in model.state if not p.fresh]))
    return arrow, [
        Port(p.name, Visibility.COMMITTED, p.format.of(p.shape), Role.FROZEN if p.apart else role)
        for role, kept in roles
        for p in kept
    ]


def start(program: Program, model: Model, seed: int | bytes) -> dict[str, NDArray[np.float64]]:
    """Return the values that a training run begins with: the model's initial values by name, and zeros for the
    optimiser's state.
    """
    carried = {port.name for port in program.outputs}
    formats = {port.name: port.format for port in program.inputs if port.name in carried}
    zero = {name: np.zeros(format.shape) for name, format in formats.items() if format is not None}
    return zero | model.initial(seed)


def with_examples(program: Program, *examples: Batch) -> Program:
    """Return the program with the given examples, reduced to the inputs that the program takes.

    Raise CircuitizeError for an example that lacks an input.
    """
    names = [port.name for port in program.inputs]
    for number, batch in enumerate(examples, 1):
        if not isinstance(batch, Mapping):
            raise refused(
                f"expected examples that map the names of inputs to arrays, found {named(batch)} as example {number}; "
                "write with_examples(program, *examples)"
            )
        missing = [name for name in names if name not in batch]
        if missing:
            raise refused(
                f"expected a value for input {missing[0]!r} in example {number}, found {sorted(map(str, batch))}; "
                "add it"
                + (", such as optimizer.values(t, learning_rate)" if missing[0] in _scalars(program) else "")
                + (", as model.initial(seed) has them" if missing[0] in _held(program) else "")
            )
    return replace(program, examples=tuple({name: batch[name] for name in names} for batch in examples))
