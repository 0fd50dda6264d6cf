"""Programs from ONNX files: settings that a file does not state are chosen by the names of inputs, and the program is
calibrated on examples or on random values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.lowering import Precision
from circuitize.circuits.phases import Progress, silent
from circuitize.circuits.port import Role
from circuitize.circuits.program import Program
from circuitize.circuits.types import Shape
from circuitize.frontends import adam, adaptive, losses, optimizers
from circuitize.frontends.formats import DATA, ONE_HOT, Format, labels
from circuitize.frontends.imported import WEIGHTS, require_names
from circuitize.frontends.layers import Model
from circuitize.frontends.onnx.model import read
from circuitize.frontends.onnx.models import from_onnx
from circuitize.frontends.onnx.network import Network, default_format, network, shape_of, types_of
from circuitize.frontends.onnx.protos import ModelProto
from circuitize.frontends.optimizers import Optimizer
from circuitize.frontends.training import Loss, start, training_step
from circuitize.sims import real

from .batches import MOST_STEPS, Batches, Draw, batches_of

Reals = NDArray[np.float64]
Batch = Mapping[str, Reals]

LOSSES: Mapping[str, Loss] = {
    "cross_entropy": losses.cross_entropy,
    "label_cross_entropy": losses.label_cross_entropy,
    "binary_cross_entropy": losses.binary_cross_entropy,
    "mean_squared_error": losses.mean_squared_error,
    "huber": losses.huber,
}
OPTIMIZERS: Mapping[str, Callable[[], Optimizer]] = {
    "sgd": optimizers.SGD,
    "momentum": optimizers.Momentum,
    "adam": adam.Adam,
    "adamw": adam.AdamW,
    "rmsprop": adaptive.RMSprop,
    "lion": adaptive.Lion,
    "lamb": adaptive.LAMB,
}
MOST_EXAMPLES = 32
"""The number of batches on which a program is calibrated; from a training run as many steps are taken, spread
evenly.
"""


@dataclass(frozen=True)
class Training:
    """The settings that make a training step of a network: its loss, its optimizer, and how the step is calibrated.

    The setting `steps` is the number of training steps on which the program is calibrated: by default one pass through
    the examples, but at most 256 steps. A training step does not change the parameters that `frozen` names.
    """

    loss: str
    optimizer: str = "sgd"
    learning_rate: Fraction = Fraction(1, 10)
    steps: int | None = None
    frozen: Sequence[str] = ()


@dataclass(frozen=True)
class Choices:
    """The settings that an ONNX file does not state: see docs/networks.md. The setting `examples` is the path of an
    .npz file whose arrays, by input name, have an example in each row.
    """

    dims: Mapping[str, int] = field(default_factory=dict)
    formats: Mapping[str, Format] = field(default_factory=dict)
    visibility: Mapping[str, str] = field(default_factory=dict)
    known: Mapping[str, float] = field(default_factory=dict)
    constants: Sequence[str] = ()
    outputs: Sequence[str] = ()
    examples: Path | None = None
    training: Training | None = None
    fold_batch_norms: bool = False


def program_of(path: Path, choices: Choices, say: Progress = silent) -> Program:
    """Return the program of an ONNX file, with examples, the first of which has the weights of the file; `say` is
    called if the examples are drawn at random.

    Raise CircuitizeError for a name that does not occur in the ONNX file, for examples that do not fit, and for the
    reasons for which `network` raises it.
    """
    model = read(path)
    made = _inference(model, choices) if choices.training is None else _step(model, choices, choices.training)
    program = _seen(made.program, choices.visibility)
    return replace(program, examples=made.examples(batches_of(path, choices.examples, say)))


class Made(NamedTuple):
    """A program without examples, and a function that turns batches into examples of the program."""

    program: Program
    examples: Callable[[Batches], tuple[Batch, ...]]


def _inference(model: ModelProto, choices: Choices) -> Made:
    types = types_of(model)
    for name in set(types) - {*choices.formats, *choices.known}:
        default_format(name, types[name])
    intervals = _intervals(types, choices.formats)
    made: Network = network(
        model,
        choices.dims,
        constants=choices.constants,
        outputs=choices.outputs,
        intervals=intervals,
        known=_known(model, choices, types),
        fold_batch_norms=choices.fold_batch_norms,
    )
    require_names("formats", choices.formats, made.inputs)
    formats = {
        name: choices.formats.get(name) or default_format(name, made.types[name])
        for name in made.inputs
        if name not in made.parameters
    }
    program = made.program({**choices.formats, **formats})

    def examples(batches: Batches) -> tuple[Batch, ...]:
        starting = _starting(program, made.parameters)
        data = [port for port in program.inputs if port.role is Role.DATA]
        return tuple({**starting, **batch} for batch in batches(data, {})[:MOST_EXAMPLES]) if data else (starting,)

    return Made(program, examples)


def _starting(program: Program, values: Batch) -> dict[str, Reals]:
    """Return, for each parameter in an ONNX file, the nearest values in the parameter's format; training starts from
    these values too.
    """
    ports = {port.name: port.format for port in program.inputs}
    return {
        name: Format(ports[name].fraction_bits, ports[name].low, ports[name].high).nearest(given)
        for name, given in values.items()
    }


def _step(model: ModelProto, choices: Choices, training: Training) -> Made:
    types = types_of(model)
    fed = [name for name in types if name not in choices.known]
    name = fed[0] if fed else ""
    if len(choices.outputs) > 1:
        raise CircuitizeError(
            f"outputs: expected one, the prediction that is trained, found {list(choices.outputs)}; name one"
        )
    taken = {k: v for k, v in choices.formats.items() if k not in (name, "inputs", "targets")}
    data = choices.formats.get("inputs") or choices.formats.get(name)
    found = from_onnx(
        model,
        choices.dims,
        constants=choices.constants,
        output=choices.outputs[0] if choices.outputs else None,
        intervals=_intervals(types, {name: data} if data is not None else {}),
        known=_known(model, choices, types),
        formats=taken,
    ).freeze(*training.frozen)
    batch = _batch(choices.dims, model, name)
    loss, optimizer = LOSSES[training.loss], OPTIMIZERS[training.optimizer]()
    optimizer.values(1, training.learning_rate)
    prediction = found.arrow(found.batch_type(batch)).target[0]
    shape: Shape = getattr(prediction, "shape", ())
    told, target_shape, draw = _targets(training.loss, shape)
    program = training_step(
        found,
        loss,
        optimizer,
        batch,
        inputs=data or default_format(name, types[name]),
        targets=choices.formats.get("targets") or told,
        target_shape=target_shape,
        precision=Precision(margin=4.0),
    )

    def examples(batches: Batches) -> tuple[Batch, ...]:
        ports = [port for port in program.inputs if port.name in ("inputs", "targets")]
        return _moments(program, found, optimizer, training, batches(ports, {"targets": draw} if draw else {}))

    return Made(program, examples)


def _moments(
    program: Program, model: Model, optimizer: Optimizer, training: Training, data: list[dict[str, Reals]]
) -> tuple[Batch, ...]:
    """Return steps of a training run as examples, the first step first; the run starts from the model's own values."""
    steps = training.steps or min(len(data), MOST_STEPS)
    batches = [
        {**data[t % len(data)], **model.drawn(t), **optimizer.values(t + 1, training.learning_rate)}
        for t in range(steps)
    ]
    return real.record(program, start(program, model, 0), batches, min(steps, MOST_EXAMPLES))


def _targets(loss: str, prediction: Shape) -> tuple[Format, Shape | None, Draw | None]:
    """Return the targets that a loss expects: their format, the shape of one target if it differs from the prediction's
    shape, and a function that draws targets at random.
    """
    if loss in ("cross_entropy", "label_cross_entropy") and len(prediction) == 2:
        batch, classes = prediction
        if loss == "cross_entropy":
            return ONE_HOT, None, lambda g: np.eye(classes)[g.integers(0, classes, batch)]
        return labels(classes), (), lambda g: g.integers(0, classes, batch).astype(np.float64)
    return (ONE_HOT if loss == "binary_cross_entropy" else DATA), None, None


def _batch(dims: Mapping[str, int], model: ModelProto, name: str) -> int:
    """Return the number of examples in a step, which is the first extent of the network's one input."""
    return shape_of(model, dims, name)[0]


def _known(model: ModelProto, choices: Choices, types: Mapping[str, str]) -> dict[str, Reals]:
    """Return arrays for the inputs that have one known number in every run, filled with that number."""
    require_names("known", choices.known, types)
    return {name: np.full(shape_of(model, choices.dims, name), number) for name, number in choices.known.items()}


def _intervals(types: Mapping[str, str], formats: Mapping[str, Format]) -> dict[str, tuple[int, int]]:
    """Return the intervals of those inputs that are whole numbers, from their formats."""
    found = {}
    for name, format in formats.items():
        if types.get(name, "").lstrip("u").startswith("int"):
            if format.fraction_bits > 0:
                raise CircuitizeError(
                    f"formats: expected no fraction bits for {name!r}, which is of {types[name]}, found "
                    f"{format.fraction_bits}; give an interval alone"
                )
            found[name] = format.low, format.high
    return found


def _seen(program: Program, visibility: Mapping[str, str]) -> Program:
    """Return the program with the visibilities that are given by port name, or for all parameters together."""
    own = {port.name for port in (*program.inputs, *program.outputs)}
    weights = [port.name for port in program.inputs if port.role is Role.PARAMETER]
    found: dict[str, str] = {}
    for name, seen in visibility.items():
        if name == WEIGHTS and name not in own:
            if not weights:
                raise CircuitizeError(f"--{seen} {WEIGHTS}: expected a file with parameters, found none; leave it out")
            found |= dict.fromkeys(weights, seen)
    found |= {name: seen for name, seen in visibility.items() if name != WEIGHTS or name in own}
    return program.with_visibility(**found) if found else program
