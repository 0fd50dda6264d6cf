"""ONNX operators that measure predictions, and those that train: losses and optimisers."""

from __future__ import annotations

from collections.abc import Sequence

from circuitize.frontends.functions import log_softmax, one_hot, reciprocal, square_root, where
from circuitize.frontends.tensor import Tensor

from .node import Node, operator


@operator("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def _likelihood(node: Node) -> list[Tensor]:
    """Return the loss of scores [B, C, ...] and labels [B, ...], in which ignored labels have weight 0, and the
    logarithms of the classes' probabilities.
    """
    scores, labels = node.ranked(node.tensor(0), 2), node.tensor(1)
    if labels.shape != (scores.shape[0], *scores.shape[2:]):
        raise node.fault(
            f"expected a label for each of {list(scores.shape)} but its classes, found {list(labels.shape)}; reshape"
        )
    if node.has(2) and node.tensor(2).shape != (scores.shape[1],):
        raise node.fault(f"expected {scores.shape[1]} weights, found shape {list(node.tensor(2).shape)}; correct them")
    made = log_softmax(scores, 1) if node.operator == "SoftmaxCrossEntropyLoss" else scores
    classes = scores.shape[1]
    ignored = node.attributes.get("ignore_index")
    counted = None
    if ignored is not None:
        counted = 1.0 - (labels > float(ignored)) - (labels < float(ignored))
        counted = 1.0 - counted
        labels = where(counted, labels, 0.0)
    hot = one_hot(labels, classes)
    own = (hot * made.transpose(0, *range(2, made.ndim), 1)).sum(-1)
    weights = hot @ node.tensor(2) if node.has(2) else None
    if counted is not None:
        weights = counted if weights is None else weights * counted
    each = -own if weights is None else -own * weights
    reduction = node.choice("reduction", "mean", "sum", "none")
    if reduction == "mean":
        loss = each.mean() if weights is None else each.sum() / weights.sum()
    else:
        loss = each.sum() if reduction == "sum" else each
    return [loss, made]


def _groups(node: Node, count: int) -> list[list[Tensor]]:
    """Return the inputs of an ONNX optimiser's node after the rate and the step, regrouped: parameter, gradient and
    state for each parameter in turn.
    """
    tensors = [node.tensor(index) for index in range(2, len(node.inputs))]
    if not tensors or len(tensors) % count:
        raise node.fault(f"expected {count} inputs for each parameter, found {len(tensors)}; correct the node")
    each = len(tensors) // count
    return [tensors[part * each : (part + 1) * each] for part in range(count)]


def _flat(groups: Sequence[Sequence[Tensor]]) -> list[Tensor]:
    """Return the results of an ONNX optimiser's node, regrouped from parameter by parameter to kind by kind."""
    return [group[kind] for kind in range(len(groups[0])) for group in groups]


@operator("Momentum")
def _momentum(node: Node) -> list[Tensor]:
    rate, step = node.tensor(0), node.scalar(1, "the step")
    alpha, beta, decay = (node.attributes[name] for name in ("alpha", "beta", "norm_coefficient"))
    nesterov = node.choice("mode", "standard", "nesterov") == "nesterov"
    fresh = 1.0 if int(step) == 0 else beta
    results = []
    for x, gradient, velocity in zip(*_groups(node, 3), strict=True):
        slope = gradient + x * decay
        faster = velocity * alpha + slope * fresh
        results.append([x - (slope + faster * alpha if nesterov else faster) * rate, faster])
    return _flat(results)


@operator("Adagrad")
def _adagrad(node: Node) -> list[Tensor]:
    rate, step = node.tensor(0), float(node.scalar(1, "the step"))
    decay, epsilon, weight = (node.attribute(name, 0.0) for name in ("decay_factor", "epsilon", "norm_coefficient"))
    results = []
    for x, gradient, squares in zip(*_groups(node, 3), strict=True):
        slope = gradient + x * weight
        grown = squares + slope * slope
        results.append([x - slope * rate * (1 / (1 + step * decay)) / (square_root(grown) + epsilon), grown])
    return _flat(results)


@operator("Adam")
def _adam(node: Node) -> list[Tensor]:
    rate, step = node.tensor(0), int(node.scalar(1, "the step"))
    alpha, beta = node.number("alpha", 0.9), node.number("beta", 0.999)
    epsilon, weight = node.number("epsilon", 1e-6), node.number("norm_coefficient", 0.0)
    after = node.number("norm_coefficient_post", 0.0)
    correction = (1 - beta**step) ** 0.5 / (1 - alpha**step) if step else 1.0
    results = []
    for x, gradient, first, second in zip(*_groups(node, 4), strict=True):
        slope = gradient + x * weight
        mean = first * alpha + slope * (1 - alpha)
        squares = second * beta + slope * slope * (1 - beta)
        moved = x - mean * rate * correction * reciprocal(square_root(squares) + epsilon)
        results.append([moved * (1 - after), mean, squares])
    return _flat(results)
