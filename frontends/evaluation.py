"""Programs that evaluate a model: how many answers of a batch are right, and how great the loss is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from circuitize.circuits.hypergraph import compose, identity, permute, tensor
from circuitize.circuits.lowering import Precision
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import Program
from circuitize.circuits.types import Array, Fixed, Shape

from .formats import DATA, ONE_HOT, Format
from .functions import argmax_one_hot
from .layers import Model
from .optimizers import SCALAR
from .provenance import here, part, placed_at, refused
from .tensor import Tensor
from .trace import trace
from .training import Batch, Loss, inference, require

Metric = Callable[[Tensor, Tensor], Tensor]
"""A function of predictions and targets that counts right answers in a batch: one whole number, at most the batch."""


def right_answers(prediction: Tensor, target: Tensor) -> Tensor:
    """Return for how many examples the greatest score is at the place of the target's greatest element; of equal scores
    the first counts as the greatest.
    """
    return (argmax_one_hot(prediction) * argmax_one_hot(target)).sum()


def evaluation(
    model: Model,
    batch: int,
    metric: Metric = right_answers,
    loss: Loss | None = None,
    inputs: Format = DATA,
    targets: Format = ONE_HOT,
    target_shape: Shape | None = None,
    examples: Sequence[Batch] = (),
    precision: Precision = Precision(),  # noqa: B008 - frozen
) -> Program:
    """Return a program from parameters, model state, `inputs` and `targets` to `right`, and to `loss` if a loss is
    given.

    The output `right` is how many of the `batch` examples are answered right according to the metric; `loss` is the
    loss of the whole batch. The outputs of an evaluation are public; every other port is committed, and has the name
    and the format of the same port of a training step of the model. The argument `target_shape` of an evaluation is the
    shape of one example's target, by default the shape of a prediction.
    """
    require(model, loss, None, inputs, targets, examples)
    data = model.batch_type(batch)
    forward, held = inference(model, batch)
    prediction = forward.target[0]
    with placed_at(here()), part("evaluation"):
        target = prediction if target_shape is None else Array((batch, *target_shape))
        judged = [trace(metric, prediction, target), *([] if loss is None else [trace(loss, prediction, target)])]
    for name, arrow in zip(("metric", "loss"), judged, strict=False):
        if arrow.target != (SCALAR,):
            raise refused(f"expected a {name} that is one number, found {arrow.target}; take its sum or mean")
    both = tensor(forward, identity(target))
    chosen = [0, len(both.target) - 1] * len(judged)
    arrow = compose(both, permute(both.target, chosen), tensor(*judged))
    committed = Visibility.COMMITTED
    ports = [
        *held,
        Port("inputs", committed, inputs.of(data.shape)),
        Port("targets", committed, targets.of(target.shape)),
    ]
    right = Port("right", Visibility.PUBLIC, Fixed((), 0, 0, batch))
    return Program(
        arrow,
        tuple(ports),
        (right, Port("loss", Visibility.PUBLIC))[: len(judged)],
        tuple(examples),
        precision,
    )
