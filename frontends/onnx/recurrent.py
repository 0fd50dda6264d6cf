"""ONNX's recurrent layers, LSTM, GRU and RNN, written out step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from circuitize.frontends.activations import softplus
from circuitize.frontends.functions import clip, concatenate, exp, maximum, relu, sigmoid, tanh
from circuitize.frontends.tensor import Tensor

from .node import Node, operator

Activation = Callable[[Tensor], Tensor]

PLAIN: dict[str, Activation] = {
    "relu": relu,
    "tanh": tanh,
    "sigmoid": sigmoid,
    "softsign": lambda x: x / (maximum(x, -x) + 1.0),
    "softplus": softplus,
}
WITH_ALPHA: dict[str, tuple[float, Callable[[Tensor, float], Tensor]]] = {
    "leakyrelu": (0.01, lambda x, a: relu(x) - relu(-x) * a),
    "thresholdedrelu": (1.0, lambda x, a: x * (x > a)),
    "elu": (1.0, lambda x, a: relu(x) + (exp(-relu(-x)) - 1.0) * a),
}
WITH_BOTH: dict[str, tuple[float, float, Callable[[Tensor, float, float], Tensor]]] = {
    "affine": (1.0, 0.0, lambda x, a, b: x * a + b),
    "scaledtanh": (1.0, 1.0, lambda x, a, b: tanh(x * b) * a),
    "hardsigmoid": (0.2, 0.5, lambda x, a, b: clip(x * a + b, 0.0, 1.0)),
}
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
DEFAULTS = {"LSTM": ("Sigmoid", "Tanh", "Tanh"), "GRU": ("Sigmoid", "Tanh"), "RNN": ("Tanh",)}


@dataclass(frozen=True)
class Cell:
    """One direction of a recurrent layer: its weights, [4H, I] and [4H, H] or similar, biases [4H] for both, and its
    activation functions.
    """

    hidden: int
    recurrence: Tensor
    bias: Tensor | None
    peepholes: Tensor | None
    functions: Sequence[Activation]
    limit: float
    after_reset: bool

    def gate(self, function: int, x: Tensor) -> Tensor:
        """Return one of a recurrent cell's functions of x, where x is clipped first if the layer has a limit."""
        return self.functions[function](clip(x, -self.limit, self.limit) if self.limit else x)

    def lstm(self, x: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        """Return the states after one step of an LSTM, with gates in the order input, output, forget, cell."""
        i, o, f, new = self._parts(x + h @ self.recurrence.T)
        seen = self._parts(self.peepholes) if self.peepholes is not None else None
        i = self.gate(0, i + c * seen[0] if seen else i)
        f = self.gate(0, f + c * seen[2] if seen else f)
        c = f * c + i * self.gate(1, new)
        o = self.gate(0, o + c * seen[1] if seen else o)
        return o * self.functions[2](c), c

    def gru(self, x: Tensor, h: Tensor) -> Tensor:
        """Return the hidden state after one step of a GRU, with gates in the order update, reset, hidden."""
        rows = self.hidden
        inner, own = self.recurrence[: 2 * rows], self.recurrence[2 * rows :]
        update, reset = self._parts(x[:, : 2 * rows] + h @ inner.T)
        z, r = self.gate(0, update), self.gate(0, reset)
        bias = 0.0 if self.bias is None else self.bias[2 * rows :]
        seen = r * (h @ own.T + bias) if self.after_reset else (r * h) @ own.T + bias
        return (1.0 - z) * self.gate(1, x[:, 2 * rows :] + seen) + z * h

    def rnn(self, x: Tensor, h: Tensor) -> Tensor:
        """Return the next hidden state [batch, hidden] of a plain recurrent cell, where x is the input's
        contribution.
        """
        return self.gate(0, x + h @ self.recurrence.T)

    def _parts(self, x: Tensor) -> list[Tensor]:
        return [x[..., start : start + self.hidden] for start in range(0, x.shape[-1], self.hidden)]


@operator("LSTM", "GRU", "RNN", ignores=("hidden_size",))
def _layer(node: Node) -> list[Tensor]:
    """Return the results of all steps of a recurrent layer on x [T, B, I]; examples that are shorter keep their state,
    and read 0 beyond their end.
    """
    name, gates = node.operator, GATES[node.operator]
    by_batch = node.flag("layout", 0)
    x = node.ranked(node.tensor(0), 3, 3)
    x = x.transpose(1, 0, 2) if by_batch else x
    _, batch, width = x.shape
    weights, recurrence = node.ranked(node.tensor(1), 3, 3), node.ranked(node.tensor(2), 3, 3)
    directions, hidden = weights.shape[0], recurrence.shape[2]
    direction = node.choice("direction", "forward", "reverse", "bidirectional")
    wanted = [directions, gates * hidden]
    if (
        directions != (2 if direction == "bidirectional" else 1)
        or list(weights.shape) != [*wanted, width]
        or list(recurrence.shape) != [*wanted, hidden]
        or int(node.attribute("hidden_size", hidden)) != hidden
    ):
        found = f"{list(weights.shape)} and {list(recurrence.shape)}"
        raise node.fault(
            f"expected weights [{directions}, {gates} * hidden, ...] for {direction}, found {found}; correct them"
        )
    if name == "LSTM" and node.flag("input_forget", 0):
        raise node.fault("expected gates of their own, found input and forget gate coupled; leave input_forget out")
    biases = _optional(node, 3, (directions, 2 * gates * hidden))
    lengths = _optional(node, 4, (batch,))
    states = [_state(node, index, x, directions, hidden, by_batch) for index in ((5, 6) if name == "LSTM" else (5,))]
    peepholes = _optional(node, 7, (directions, 3 * hidden)) if name == "LSTM" else None
    functions = _functions(node, directions)
    limit = node.number("clip", 0.0)
    after_reset = name == "GRU" and node.flag("linear_before_reset", 0)
    outputs, ends = [], []
    for number in range(directions):
        bias = None if biases is None else biases[number]
        read = x @ weights[number].T
        own = None
        if bias is not None:
            first, second = bias[: gates * hidden], bias[gates * hidden :]
            # Of a GRU the hidden gate's second bias is inside the reset.
            kept = 2 * hidden if name == "GRU" else gates * hidden
            added = (
                first + second if kept == gates * hidden else concatenate([first[:kept] + second[:kept], first[kept:]])
            )
            read, own = read + added, second
        cell = Cell(
            hidden,
            recurrence[number],
            own,
            None if peepholes is None else peepholes[number],
            functions[number],
            limit,
            after_reset,
        )
        backward = direction == "reverse" or number == 1
        made, end = _unrolled(cell, name, read, [state[number] for state in states], lengths, backward)
        outputs.append(made)
        ends.append(end)
    every = _stacked(outputs, 1)
    last = [_stacked([end[kind] for end in ends], 0) for kind in range(len(states))]
    if by_batch:
        every, last = every.transpose(2, 0, 1, 3), [state.transpose(1, 0, 2) for state in last]
    return [every, *last]


def _unrolled(
    cell: Cell, name: str, read: Tensor, states: list[Tensor], lengths: Tensor | None, backward: bool
) -> tuple[Tensor, list[Tensor]]:
    """Return the hidden states [T, B, H] and the last states, given what inputs add to the gates [T, B, gates * H]."""
    steps = read.shape[0]
    made: list[Tensor | None] = [None] * steps
    for step in reversed(range(steps)) if backward else range(steps):
        if name == "LSTM":
            new = [*cell.lstm(read[step], *states)]
        else:
            new = [(cell.gru if name == "GRU" else cell.rnn)(read[step], *states)]
        if lengths is None:
            states, made[step] = new, new[0]
            continue
        live = (lengths > float(step)).reshape(-1, 1)
        states = [old + (fresh - old) * live for old, fresh in zip(states, new, strict=True)]
        made[step] = new[0] * live
    return _stacked([part for part in made if part is not None], 0), states


def _stacked(parts: list[Tensor], axis: int) -> Tensor:
    wide = [part.reshape(*part.shape[:axis], 1, *part.shape[axis:]) for part in parts]
    return concatenate(wide, axis) if len(wide) > 1 else wide[0]


def _optional(node: Node, index: int, shape: tuple[int, ...]) -> Tensor | None:
    if not node.has(index):
        return None
    found = node.tensor(index)
    if found.shape != shape:
        raise node.fault(f"expected input {index} of shape {list(shape)}, found {list(found.shape)}; correct it")
    return found


def _state(node: Node, index: int, x: Tensor, directions: int, hidden: int, by_batch: bool) -> Tensor:
    """Return the starting states [directions, B, H] of a recurrent layer: zeros if none are given."""
    batch = x.shape[1]
    found = _optional(node, index, (batch, directions, hidden) if by_batch else (directions, batch, hidden))
    if found is None:
        return x.constant(np.zeros((directions, batch, hidden)))
    return found.transpose(1, 0, 2) if by_batch else found


def _functions(node: Node, directions: int) -> list[list[Activation]]:
    """Return the activation functions of each direction of a recurrent layer; the listed parameters go, in order, to
    the functions that take parameters.
    """
    each = DEFAULTS[node.operator]
    names = list(node.attribute("activations", []) if "activations" in node.attributes.given else each * directions)
    names = [entry.decode() if isinstance(entry, bytes) else str(entry) for entry in names]
    if len(names) != directions * len(each):
        raise node.fault(f"expected {directions * len(each)} activations, found {names}; correct them")
    alphas, betas = (list(node.attribute(name, [])) for name in ("activation_alpha", "activation_beta"))
    made = [_function(node, name.lower(), alphas, betas) for name in names]
    return [made[number * len(each) : (number + 1) * len(each)] for number in range(directions)]


def _function(node: Node, name: str, alphas: list[float], betas: list[float]) -> Activation:
    if name in PLAIN:
        return PLAIN[name]
    if name in WITH_ALPHA:
        default, single = WITH_ALPHA[name]
        alpha = alphas.pop(0) if alphas else default
        return lambda x: single(x, alpha)
    if name not in WITH_BOTH:
        known = sorted([*PLAIN, *WITH_ALPHA, *WITH_BOTH])
        raise node.fault(f"expected activations among {known}, found {name!r}; correct it")
    default, other, double = WITH_BOTH[name]
    alpha, beta = alphas.pop(0) if alphas else default, betas.pop(0) if betas else other
    return lambda x: double(x, alpha, beta)
