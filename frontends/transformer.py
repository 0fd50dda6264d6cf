"""Transformers: blocks of attention and of dense layers, each with a residual connection."""

from __future__ import annotations

from dataclasses import replace

from circuitize.circuits.hypergraph import Arrow, compose, identity, permute, tensor
from circuitize.circuits.types import Array

from .attention import Attention, lecun_normal, multi_head_attention, softmax_attention
from .formats import WEIGHTS, Format
from .functions import gather
from .layers import Initializer, Model, Parameter, dense, gelu, sequential, traced
from .normalization import layer_norm
from .provenance import part
from .tensor import Tensor
from .trace import trace

EPSILON = 2.0**-10
"""The default epsilon that the layer norms of transformers add to a variance."""


def residual(model: Model, kind: str = "residual") -> Model:
    """Return the model x + model(x), a residual connection: the result of the given model is added to its input x.
    Residual connections are from He et al., arXiv 1512.03385.
    """
    kept = [p.type for p in (*model.parameters, *model.state)]

    def beside(inner: Arrow, batch: Array) -> Arrow:
        renewed = inner.target[1:]
        types, x = [*kept, batch], len(kept)
        return compose(
            permute(types, [*range(len(types)), x]),
            tensor(inner, identity(batch)),
            permute([*inner.target, batch], [0, 1 + len(renewed), *range(1, 1 + len(renewed))]),
            tensor(trace(lambda y, x: x + y, inner.target[0], batch), identity(*renewed)),
        )

    def arrow(batch: Array) -> Arrow:
        return beside(model.arrow(batch), batch)

    inference = model.inference
    other = None if inference is None else lambda batch: beside(inference(batch), batch)
    return Model(model.parameters, arrow, kind, model.inputs, model.state, other)


def transformer_block(
    width: int,
    heads: int,
    hidden: int | None = None,
    attention: Attention = softmax_attention,
    causally: bool = False,
    epsilon: float = EPSILON,
    format: Format = WEIGHTS,
    activation: Model | None = None,
) -> Model:
    """Return a transformer block: x + attention(norm(x)), then y + dense(gelu(dense(norm(y)))): [B, x, width] -> [B, x,
    width].

    In a transformer block layer norms come first, and the activation, unless `activation` is given, is GELU with a
    hyperbolic tangent, both as in GPT-2; `hidden`, the width between the dense layers, is 4 * width by default.
    """
    hidden, activation = hidden or 4 * width, activation or gelu(approximate=True)
    attend = multi_head_attention(width, heads, attention, causally, format)
    first = dense(width, hidden, format=format)
    second = dense(hidden, width, format=format, initializer=lecun_normal)
    block = sequential(
        residual(sequential(layer_norm(width, epsilon, format), attend), "attention"),
        residual(sequential(layer_norm(width, epsilon, format), first, activation, second), "dense"),
    )
    return Model(block.parameters, block.arrow, "block")


def tokens(count: int, width: int) -> Model:
    """Return a layer that cuts an example into `count` consecutive pieces: [B, count * width] -> [B, count, width]."""
    return traced(lambda x: x.reshape(x.shape[0], count, width), inputs=(count * width,), kind="tokens")


def positions(count: int, width: int, format: Format = WEIGHTS, deviation: float = 0.1) -> Model:
    """Return a layer that adds a trained vector to each position of a sequence.

    The parameter of position vectors is table [count, width], whose elements start as normal numbers of mean 0 and the
    given standard deviation. If all tokens may be equal, a greater standard deviation of the position vectors keeps the
    next layer norm from dividing by almost 0.
    """
    table = Parameter("table", (count, width), _near_zero(deviation), format)
    return traced(lambda table, x: x + table, [table], kind="positions")


def average() -> Model:
    """Return a layer that gives the mean over the positions of a sequence: [B, x, width] -> [B, width]."""
    return traced(lambda x: x.mean(axis=1), kind="average")


def gpt2(
    vocabulary: int = 50257,
    context: int = 1024,
    width: int = 768,
    blocks: int = 12,
    heads: int = 12,
    length: int | None = None,
    attention: Attention = softmax_attention,
    format: Format = WEIGHTS,
    epsilon: float = EPSILON,
    hidden: int | None = None,
    activation: Model | None = None,
    tied: bool = True,
    last: bool = False,
) -> Model:
    """Return GPT-2, by default the small one of 124,439,808 parameters: tokens [B, length] to logits [B, length,
    vocabulary].

    With `last`, `gpt2` computes only the logits [B, vocabulary] of the last position.

    The network of `gpt2` is that of Radford et al., "Language models are unsupervised multitask learners", 2019: a
    table of tokens, which also gives the logits (unless `tied` is false: then a separate table, `head`, gives them), a
    table of `context` positions, of which `length` are used, causal blocks and a last layer norm. The argument
    `epsilon` is the epsilon of all layer norms: GPT-2's is 1e-5, and the default is a number that integers represent
    with few fraction bits; `hidden` and `activation` are as in `transformer_block`.
    """
    length = length or context
    block = transformer_block(width, heads, hidden, attention, True, epsilon, format, activation)
    norm = layer_norm(width, epsilon, format)
    parts = [(f"block{number}", block) for number in range(1, blocks + 1)] + [("layer_norm", norm)]
    parameters = [
        Parameter("tokens", (vocabulary, width), _near_zero(0.02), format),
        Parameter("positions", (context, width), _near_zero(0.01), format),
        *(replace(p, name=f"{name}.{p.name}") for name, model in parts for p in model.parameters),
    ]
    if not tied:
        parameters.append(Parameter("head", (vocabulary, width), _near_zero(0.02), format))

    def logits(tokens: Tensor, positions: Tensor, *rest: Tensor) -> Tensor:
        *weights, indices = rest
        x = gather(tokens, indices) + positions[:length]
        for name, model in parts:
            own, weights = weights[: len(model.parameters)], weights[len(model.parameters) :]
            with part(name):
                x = applied(model, *own, x[:, -1] if last and name == parts[-1][0] else x)
        return x @ (weights[0] if weights else tokens).T

    return traced(logits, parameters, (length,), "gpt2")


def applied(model: Model, *tensors: Tensor) -> Tensor:
    """Return the result of a stateless model for its parameters, in order, and a batch, inside a trace."""
    *weights, x = tensors
    (made,) = x.builder.splice(model.arrow(Array(x.shape)), [tensor.wire for tensor in (*weights, x)])
    return Tensor(x.builder, made)


def _near_zero(deviation: float) -> Initializer:
    """Draw normal values with mean 0 and the given standard deviation."""
    return lambda generator, shape: generator.normal(0.0, deviation, shape)
